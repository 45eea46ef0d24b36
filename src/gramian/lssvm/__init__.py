"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

from gramian.lssvm.generative import GenerativeKernelMachine
from gramian.lssvm.multiview import MultiViewLSSVMRegressor
from gramian.lssvm.tensor import TensorKernelRegressor

__all__ = ["GenerativeKernelMachine", "MultiViewLSSVMRegressor", "TensorKernelRegressor"]
