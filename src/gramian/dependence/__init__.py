"""Dependence between samples: HSIC and its tests, projections that maximise it, and networks of such projections."""

from gramian.dependence.measures import IndependenceTest, UndefinedAlignmentError, center_alignment, hsic, hsic_test
from gramian.dependence.network import ClassAverageChain, DependenceNetwork, label_width, two_layer_widths
from gramian.dependence.projection import (
    AlternativeClustering,
    DependenceReduction,
    ISMResult,
    PairWeights,
    SecondOrder,
    alignment_weights,
    alternative_search,
    combined_kernel,
    ism,
    objective,
    second_order,
    suggest_n_components,
)

__all__ = [
    "AlternativeClustering",
    "ClassAverageChain",
    "DependenceNetwork",
    "DependenceReduction",
    "ISMResult",
    "IndependenceTest",
    "PairWeights",
    "SecondOrder",
    "UndefinedAlignmentError",
    "alignment_weights",
    "alternative_search",
    "center_alignment",
    "combined_kernel",
    "hsic",
    "hsic_test",
    "ism",
    "label_width",
    "objective",
    "second_order",
    "suggest_n_components",
    "two_layer_widths",
]
