"""Gaussian mixtures for tables with holes, and simulators that make such holes."""

from gramian.mixture.incomplete import IncompleteGaussianMixture
from gramian.mixture.missingness import (
    ampute,
    block,
    mar_columns,
    mar_logistic,
    mcar,
    nmar_saturation,
    quadrant,
)

__all__ = [
    "IncompleteGaussianMixture",
    "ampute",
    "block",
    "mar_columns",
    "mar_logistic",
    "mcar",
    "nmar_saturation",
    "quadrant",
]
