"""The functions of a basis, and sums by fold."""

import numpy as np
import pytest

from gramian.kernels import RBF, Linear
from gramian.landmarks import NormalEquations
from gramian.lssvm import basis as module
from gramian.lssvm.basis import Basis, FoldSums, cross_validated, drawn_rows, total


def rows(n=120, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def on(X, width=1.0, m=15, **changes):
    setting = {"selection": "uniform", "weights": None, "rng": np.random.default_rng(1)}
    return Basis.of_prototypes(RBF(width), X, m, **(setting | changes))


@pytest.mark.parametrize("width", [0.3, 3.0])
def test_similarities_summed_first_or_whitened_first_are_the_same_sums(width, monkeypatch):
    X = rows()
    y = X[:, :1]
    early = on(X, width)
    monkeypatch.setattr(module, "_CONDITION", dict.fromkeys(module._CONDITION, 0.0))
    late = on(X, width)
    assert not late.summed_first
    sums = [one.whitened(FoldSums(1, 0).add(one, X, y).folds[0]) for one in (early, late)]
    np.testing.assert_allclose(sums[0].feature_products, sums[1].feature_products, atol=1e-6)
    np.testing.assert_allclose(sums[0].cross_products, sums[1].cross_products, atol=1e-6)


def test_an_expansion_in_similarities_is_a_sum_of_features():
    X = rows()
    found = on(X)
    w = np.random.default_rng(2).normal(size=(found.size(X), 2))
    np.testing.assert_allclose(found.values(X, found.expansion(w)), found.features(X) @ w, atol=1e-9)
    np.testing.assert_allclose(
        found.features(X) @ found.columns(len(w)), RBF(1.0)(X, found.landmarks.landmarks_), atol=1e-9
    )
    linear = Basis(Linear().fit(X))
    np.testing.assert_allclose(linear.values(X, linear.expansion(w[:3])), X @ w[:3], atol=1e-12)


def test_prototypes_are_rows_of_weight():
    X, weights = rows(), (np.arange(120) < 30).astype(float)
    found = on(X, weights=weights)
    assert found.landmarks.landmark_indices_.max() < 30
    np.testing.assert_array_equal(found.landmarks.landmarks_, X[found.landmarks.landmark_indices_])


def test_folds_take_turns_and_add_up(monkeypatch):
    """Every stretch of rows is dealt evenly, in pieces of any size; all folds together are all rows."""
    monkeypatch.setattr(module, "STRIP", 8)
    X = rows()
    y = X[:, :1]
    basis = on(X)
    stream = FoldSums(5, seed=3)
    for piece in np.split(np.arange(120), [1, 2, 50, 53]):
        stream.add(basis, X[piece], y[piece])
    assert stream.n_rows == 120
    sizes = [fold.n_samples for fold in stream.folds]
    assert sum(sizes) == 120
    assert max(sizes) - min(sizes) <= 4
    expected = NormalEquations().add(basis.features(X), y)
    np.testing.assert_allclose(total(stream.whitened(basis)).feature_products, expected.feature_products, atol=1e-7)
    np.testing.assert_allclose(
        basis.whitened(stream.merged().folds[0]).cross_products, expected.cross_products, atol=1e-7
    )


def test_a_copy_goes_on_alone():
    X = rows()
    basis = on(X)
    first = FoldSums(2, 0).add(basis, X[:60], X[:60, :1])
    first.copy().add(basis, X[60:], X[60:, :1])
    assert first.n_rows == 60
    assert sum(fold.n_samples for fold in first.folds) == 60


def test_the_error_of_the_mean_is_one():
    X = rows()
    folds = FoldSums(4, 0).add(on(X), X, np.c_[X[:, 0], 100 * X[:, 1]]).whitened(on(X))
    assert cross_validated(folds, np.array([1e12]))[0] == pytest.approx(1, abs=0.1)
    assert cross_validated(folds, np.array([1e-3]))[0] < 0.5


def test_rows_are_drawn_without_a_list_of_all():
    """Of 10¹² rows on workers no number but those that are drawn is made; weights change only who may be drawn."""
    found = drawn_rows(10**12, None, 2000, np.random.default_rng(0))
    assert len(np.unique(found)) == 2000
    np.testing.assert_array_equal(found, np.sort(found))
    np.testing.assert_array_equal(drawn_rows(9, None, 9, np.random.default_rng(0)), np.arange(9))
    alone, weighted = (drawn_rows(500, v, 20, np.random.default_rng(0)) for v in (None, np.ones(500)))
    np.testing.assert_array_equal(alone, weighted)
    np.testing.assert_array_equal(drawn_rows(4, np.array([0, 1, 0, 2.0]), 9, np.random.default_rng(0)), [1, 3])
