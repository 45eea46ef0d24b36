"""Semi-supervised kernel spectral clustering: the estimator, its systems, and the choice of its parameters."""

from gramian.clustering.semi_supervised.estimator import SemiSupervisedKSC

__all__ = ["SemiSupervisedKSC"]
