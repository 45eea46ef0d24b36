"""Measures of dependence between two samples: HSIC, centred kernel alignment, tests of independence."""

from gramian.dependence.measures.hsic import UndefinedAlignmentError, center_alignment, hsic
from gramian.dependence.measures.independence import IndependenceTest, hsic_test

__all__ = ["IndependenceTest", "UndefinedAlignmentError", "center_alignment", "hsic", "hsic_test"]
