"""Mixture models for tables with missing values, and simulators of missing values."""

from gramian.datasets.missingness import (
    ampute,
    block,
    mar_columns,
    mar_logistic,
    mcar,
    nmar_saturation,
    quadrant,
)
from gramian.mixture.incomplete import IncompleteGaussianMixture
from gramian.mixture.mixed import IncompleteMixture

__all__ = [
    "IncompleteGaussianMixture",
    "IncompleteMixture",
    "ampute",
    "block",
    "mar_columns",
    "mar_logistic",
    "mcar",
    "nmar_saturation",
    "quadrant",
]
