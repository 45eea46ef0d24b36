"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

from gramian.lssvm.multiview import MultiViewLSSVMRegressor

__all__ = ["MultiViewLSSVMRegressor"]
