"""A few rows, or random waves, that stand for all rows: kernels approximated by finite features."""

from gramian.landmarks.fourier import FourierFeatures
from gramian.landmarks.nystroem import Nystroem
from gramian.landmarks.primal import NormalEquations
from gramian.landmarks.selection import renyi_entropy, ridge_leverage_scores

__all__ = ["FourierFeatures", "NormalEquations", "Nystroem", "renyi_entropy", "ridge_leverage_scores"]
