"""How much do two sets of columns depend on each other, and which directions carry that?"""

from gramian.dependence.certificates import SecondOrder, second_order
from gramian.dependence.class_average import ClassAverageChain, two_layer_widths
from gramian.dependence.conic import alignment_weights, combined_kernel
from gramian.dependence.dependence_network import DependenceNetwork
from gramian.dependence.hsic import center_alignment, hsic
from gramian.dependence.independence import IndependenceTest, hsic_test
from gramian.dependence.ism import ISMResult, ism, objective, suggest_n_components
from gramian.dependence.label_bandwidth import label_width
from gramian.dependence.reduction import DependenceReduction
from gramian.dependence.weights import PairWeights

__all__ = [
    "ClassAverageChain",
    "DependenceNetwork",
    "DependenceReduction",
    "ISMResult",
    "IndependenceTest",
    "PairWeights",
    "SecondOrder",
    "alignment_weights",
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
