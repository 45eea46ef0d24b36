"""Kernels approximated by finite features: Nyström landmarks, random Fourier features, streamed least squares."""

from gramian.landmarks.fourier import FourierFeatures
from gramian.landmarks.furs import furs
from gramian.landmarks.incomplete_cholesky import IncompleteCholesky, incomplete_cholesky
from gramian.landmarks.nystroem import Nystroem
from gramian.landmarks.primal import NormalEquations
from gramian.landmarks.selection import renyi_entropy, ridge_leverage_scores

__all__ = [
    "FourierFeatures",
    "IncompleteCholesky",
    "NormalEquations",
    "Nystroem",
    "furs",
    "incomplete_cholesky",
    "renyi_entropy",
    "ridge_leverage_scores",
]
