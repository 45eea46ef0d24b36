"""Several Grams of the same samples mixed into several outputs, against the sum of Kronecker products."""

import numpy as np
from scipy.sparse import csr_array

from gramian.grams import CoupledGram, DenseGram, FeatureGram
from grams.gram_case import FEW_VIEWS, GramCase
from grams.test_dense import gaussian, points

MIXING = np.array([[1.0, 0.5], [-0.7, 2.0], [0.0, 1.2]])


def kronecker(matrices):
    """Σ_v (r_v r_vᵀ) ⊗ K_v by definition."""
    return sum(np.kron(np.outer(r, r), K) for r, K in zip(MIXING, matrices, strict=True))


class TestCoupled(GramCase):
    """Three matrices held in full."""

    def matrices(self):
        return [gaussian(points(20, seed=seed), width=0.6 + seed) for seed in range(3)]

    def create(self):
        return CoupledGram([DenseGram(K) for K in self.matrices()], MIXING)

    def evaluate(self):
        return kronecker(self.matrices())


class TestCoupledFloat32(TestCoupled):
    """The same in single precision."""

    dtype = np.float32
    views = FEW_VIEWS

    def create(self):
        return CoupledGram([DenseGram(K.astype(np.float32)) for K in self.matrices()], MIXING)


class TestCoupledFeatures(GramCase):
    """Features, dense in two views and sparse in one."""

    views = FEW_VIEWS

    def features(self):
        return [points(20, 2 + seed, seed=seed) for seed in range(3)]

    def create(self):
        first, *others = self.features()
        return CoupledGram([FeatureGram(csr_array(first)), *map(FeatureGram, others)], MIXING)

    def evaluate(self):
        return kronecker([F @ F.T for F in self.features()])


class TestCoupledSparseFeatures(TestCoupledFeatures):
    """Sparse features in every view."""

    def create(self):
        return CoupledGram([FeatureGram(csr_array(F)) for F in self.features()], MIXING)
