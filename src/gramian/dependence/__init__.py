"""How much do two sets of columns depend on each other?"""

from gramian.dependence.hsic import center_alignment, hsic
from gramian.dependence.independence import IndependenceTest, hsic_test

__all__ = ["IndependenceTest", "center_alignment", "hsic", "hsic_test"]
