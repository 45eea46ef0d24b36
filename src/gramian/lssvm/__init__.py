"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

from gramian.lssvm.classification import LSSVMClassifier
from gramian.lssvm.parameters import regularization_from_lambda
from gramian.lssvm.regression import LSSVMRegressor
from gramian.lssvm.reweighted_svc import ReweightedSVC
from gramian.lssvm.robust import Reweighting

__all__ = ["LSSVMClassifier", "LSSVMRegressor", "ReweightedSVC", "Reweighting", "regularization_from_lambda"]
