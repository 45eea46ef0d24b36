"""Grams of features that count positive or negative: arrays, CSR, recomputed chunks, features that cancel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramian.grams import FeatureGram, KreinGram
from gramian.grams.eigen import spectrum, triangle
from gramian.grams.krein import signed_dot
from grams.gram_case import FEW_VIEWS, GramCase
from grams.test_features import features, recomputed


def signs(m):
    """Every third feature counts negative."""
    return np.where(np.arange(m) % 3 == 1, -1, 1)


class TestArray(GramCase):
    """F as an array."""

    n, m, density = 43, 9, 1.0

    def matrix(self):
        return features(self.n, self.m, density=self.density).astype(self.dtype) - self.dtype(0.3)

    def signs(self):
        return signs(self.m)

    def create(self):
        return KreinGram(self.matrix(), self.signs())

    def evaluate(self):
        F = self.matrix().astype(np.float64)
        return sum((s * np.outer(f, f) for s, f in zip(self.signs(), F.T, strict=True)), np.zeros((self.n, self.n)))


class TestArrayFloat32(TestArray):
    """F in single precision."""

    views = FEW_VIEWS

    dtype = np.float32


class TestArrayLarge(TestArray):
    """Enough samples that "auto" uses the signed dual or iterates."""

    views = FEW_VIEWS

    lapack_size = 60
    n, m = 130, 12


class TestArrayLargeFloat32(TestArrayLarge):
    """The same in single precision."""

    dtype = np.float32


class TestMoreFeaturesThanSamples(TestArray):
    """The dual is larger than the Gram."""

    views = FEW_VIEWS

    n, m = 30, 70


class TestRankBelowK(TestArray):
    """One positive and one negative eigenvalue: zeros stand between them, with orthonormal vectors."""

    views = FEW_VIEWS

    m = 2


class TestAllNegative(TestArray):
    """No feature counts positive, so the largest eigenvalues are zeros."""

    views = FEW_VIEWS

    m = 3

    def signs(self):
        return -np.ones(3)


class TestSparse(TestArray):
    """F as a CSR matrix."""

    views = FEW_VIEWS

    density = 0.4

    def matrix(self):
        return features(self.n, self.m, density=self.density).astype(self.dtype)

    def create(self):
        return KreinGram(csr_array(self.matrix()), self.signs())


class TestRecomputed(TestArray):
    """F recomputed eight rows at a time."""

    views = FEW_VIEWS

    def create(self):
        return KreinGram(recomputed(self.matrix(), 8).factor, self.signs())


def test_all_positive_signs_are_features():
    """With all signs 1 it is the Gram of its features, and says so."""
    F = features(20, 4)
    gram = KreinGram(F, np.ones(4))
    assert gram.factor is not None
    np.testing.assert_array_equal(gram.dense(), FeatureGram(F).dense())


@pytest.mark.parametrize("bad", [[1, 0, 1], [1, 1], [1, 2, 1], ["1", "1", "1"], [1, np.nan, 1], 1])
def test_signs_that_are_none_are_refused(bad):
    """A sign is 1 or −1, one for each feature."""
    with pytest.raises(ValueError, match="must be 3 numbers that are 1 or -1, one for each feature"):
        KreinGram(features(10, 3), bad)


def test_features_that_cancel_keep_their_digits():
    """F J Fᵀ 10⁸ times smaller than F Fᵀ: the dual through R keeps eight digits, FᵀF would keep none."""
    rng = np.random.default_rng(0)
    a, u = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 200)))
    gram = KreinGram(np.column_stack([a, a + 1e-8 * u]), [1, -1])
    # −ε (a uᵀ + u aᵀ) − ε² u uᵀ has the eigenvalues −ε (aᵀu ± 1), to ε².
    expected = -1e-8 * np.array([a @ u - 1, a @ u + 1])
    np.testing.assert_allclose(gram.eigenpairs(2, "magnitude", method="dual")[0], expected, rtol=1e-6)


def test_dense_is_symmetric_to_the_last_bit():
    """Two symmetric products leave no asymmetry; so does the product of prepared sides."""
    F = features(60, 7) - 0.5
    for K in (KreinGram(F, signs(7)).dense(), signed_dot(F, F, signs(7))):
        np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(signed_dot(F, F[:9], signs(7)), (F * signs(7)) @ F[:9].T, atol=1e-14)
    np.testing.assert_allclose(signed_dot(csr_array(F), csr_array(F), signs(7)), (F * signs(7)) @ F.T, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**16), n=st.integers(2, 40), m=st.integers(1, 50), negative=st.floats(0, 1))
def test_inertia(seed, n, m, negative):
    """F J Fᵀ has no more negative eigenvalues than negative features, nor more positive ones than positive features."""
    rng = np.random.default_rng(seed)
    F, J = rng.standard_normal((n, m)), np.where(rng.random(m) < negative, -1, 1)
    gram = KreinGram(F, J)
    found = gram.signature()
    assert found.n_negative <= (J < 0).sum()
    assert found.n_positive <= (J > 0).sum()
    np.testing.assert_allclose(spectrum(gram), np.linalg.eigvalsh((F * J) @ F.T), atol=1e-11 * (F**2).sum())


def test_triangle_of_many_chunks():
    """R from chunks is that of the whole F, up to the signs of its rows."""
    F = features(5000, 6)
    np.testing.assert_allclose(
        np.abs(triangle(FeatureGram(F).factor)), np.abs(np.linalg.qr(F, mode="r")), rtol=0, atol=1e-10
    )
