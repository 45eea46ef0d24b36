"""Gram matrices as linear operators: how similarities are stored, views of them, eigenpairs and linear systems."""

from gramian.grams.base import Gram
from gramian.grams.coupled import CoupledGram
from gramian.grams.dense import DenseGram
from gramian.grams.features import FeatureGram, KernelFactor, MatrixFactor
from gramian.grams.krein import KreinGram
from gramian.grams.lazy import LazyGram
from gramian.grams.signature import Signature
from gramian.grams.sparse import SparseGram
from gramian.grams.views import SandwichGram, ShiftedGram

__all__ = [
    "CoupledGram",
    "DenseGram",
    "FeatureGram",
    "Gram",
    "KernelFactor",
    "KreinGram",
    "LazyGram",
    "MatrixFactor",
    "SandwichGram",
    "ShiftedGram",
    "Signature",
    "SparseGram",
]
