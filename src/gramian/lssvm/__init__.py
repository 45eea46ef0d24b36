"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

from gramian.lssvm.classification import LSSVMClassifier
from gramian.lssvm.fixed_size import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor
from gramian.lssvm.generative import GenerativeKernelMachine
from gramian.lssvm.multiview import MultiViewLSSVMRegressor
from gramian.lssvm.parameters import regularization_from_lambda
from gramian.lssvm.pegasos import PegasosClassifier
from gramian.lssvm.regression import LSSVMRegressor
from gramian.lssvm.reweighted_svc import ReweightedSVC
from gramian.lssvm.rkm import RestrictedKernelMachine
from gramian.lssvm.robust import Reweighting
from gramian.lssvm.tensor import TensorKernelRegressor

__all__ = [
    "FixedSizeLSSVMClassifier",
    "FixedSizeLSSVMRegressor",
    "GenerativeKernelMachine",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "MultiViewLSSVMRegressor",
    "PegasosClassifier",
    "RestrictedKernelMachine",
    "ReweightedSVC",
    "Reweighting",
    "TensorKernelRegressor",
    "regularization_from_lambda",
]
