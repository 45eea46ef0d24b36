"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

from gramian.lssvm.fixed_size import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor
from gramian.lssvm.pegasos import PegasosClassifier

__all__ = ["FixedSizeLSSVMClassifier", "FixedSizeLSSVMRegressor", "PegasosClassifier"]
