"""Kernel learning without labels and without knobs."""

from gramian import kernels
from gramian.configuration import MemoryBudgetError, config

__version__ = "0.1.0.dev0"

__all__ = ["MemoryBudgetError", "config", "kernels"]
