"""Degrees: row sums where they are positive, and what is done and said where they are not."""

import warnings

import numpy as np
import pytest

from gramian.clustering.ksc import Degrees
from gramian.clustering.ksc.degrees import absolute_sums
from gramian.grams import DenseGram, FeatureGram
from gramian.kernels import RBF, NeighborGraph


@pytest.fixture
def K():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return np.tanh(X @ X.T - 0.4)


def test_positive_row_sums_are_the_degrees():
    gram = RBF(1.0).gram(np.random.default_rng(0).normal(size=(20, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rule in ("auto", "strict", "shift"):
            degrees = Degrees.of(gram, rule)
            np.testing.assert_array_equal(degrees.values, gram.degrees())
            np.testing.assert_allclose(degrees.weights * degrees.values, 1)
    assert degrees.inside.all()


def test_negative_sums_are_refused_or_told(K):
    count = int((K.sum(axis=1) < 0).sum())
    assert 0 < count < 30
    with pytest.raises(ValueError, match=f"degrees='strict'.*{count} of 30"):
        Degrees.of(DenseGram(K), "strict")
    with pytest.warns(UserWarning, match=f"{count} of 30 rows.*degrees='abs'"):
        found = Degrees.of(DenseGram(K))
    assert (found.rule, found.n_negative) == ("abs", count)
    np.testing.assert_allclose(found.values, np.abs(K).sum(axis=1))


def test_shift_adds_a_constant(K):
    """Row sums of K + c: differences stay, and the smallest is half the mean."""
    found = Degrees.of(DenseGram(K), "shift", quiet=True)
    np.testing.assert_allclose(np.ptp(found.values - K.sum(axis=1)), 0, atol=1e-10)
    assert found.values.min() == pytest.approx(found.values.mean() / 2)
    constant = Degrees.of(DenseGram(np.array([[1.0, -2.0], [-2.0, 1.0]])), "shift", quiet=True)
    assert (constant.values > 0).all()


def test_absolute_sums_by_blocks(K, monkeypatch):
    """Exact for few rows; of many rows some columns, scaled up, stand for all."""
    np.testing.assert_allclose(absolute_sums(DenseGram(K)), np.abs(K).sum(axis=1))
    monkeypatch.setattr("gramian.clustering.ksc.degrees._COLUMNS", 500)
    F = np.random.default_rng(1).normal(size=(2500, 2))
    np.testing.assert_allclose(absolute_sums(FeatureGram(F)), np.abs(F @ F.T).sum(axis=1), rtol=0.15)


def test_rows_like_nothing_have_no_degree():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), [[500.0, 0.0]]])
    found = Degrees.of(RBF(1.0).gram(X))
    assert found.inside.tolist() == [True] * 20 + [False]
    assert found.weights[-1] == found.values[-1] == 0


def test_small_components_are_left_out():
    X = np.vstack([np.random.default_rng(0).normal(size=(60, 2)), [[500.0, 0.0], [500.1, 0.0], [500.2, 0.0]]])
    gram = NeighborGraph(2).fit(X).gram(X)
    assert Degrees.of(gram, least=4).inside[:60].sum() >= 40
    assert not Degrees.of(gram, least=4).inside[60:].any()
    assert Degrees.of(gram).inside[60:].all()
