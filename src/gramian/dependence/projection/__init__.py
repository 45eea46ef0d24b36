"""Projections that maximise dependence: the iterative spectral method and the estimators that use it."""

from gramian.dependence.projection.alternative import AlternativeClustering, alternative_search
from gramian.dependence.projection.certificates import SecondOrder, second_order
from gramian.dependence.projection.conic import alignment_weights, combined_kernel
from gramian.dependence.projection.ism import ISMResult, ism, objective, suggest_n_components
from gramian.dependence.projection.reduction import DependenceReduction
from gramian.dependence.projection.weights import PairWeights

__all__ = [
    "AlternativeClustering",
    "DependenceReduction",
    "ISMResult",
    "PairWeights",
    "SecondOrder",
    "alignment_weights",
    "alternative_search",
    "combined_kernel",
    "ism",
    "objective",
    "second_order",
    "suggest_n_components",
]
