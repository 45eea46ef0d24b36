"""How much do two sets of columns depend on each other, and which directions carry that?"""

from gramian.dependence.measures.hsic import UndefinedAlignmentError, center_alignment, hsic
from gramian.dependence.measures.independence import IndependenceTest, hsic_test
from gramian.dependence.network.class_average import ClassAverageChain, two_layer_widths
from gramian.dependence.network.dependence_network import DependenceNetwork
from gramian.dependence.network.label_bandwidth import label_width
from gramian.dependence.projection.alternative import AlternativeClustering, alternative_search
from gramian.dependence.projection.certificates import SecondOrder, second_order
from gramian.dependence.projection.conic import alignment_weights, combined_kernel
from gramian.dependence.projection.ism import ISMResult, ism, objective, suggest_n_components
from gramian.dependence.projection.reduction import DependenceReduction
from gramian.dependence.projection.weights import PairWeights

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
