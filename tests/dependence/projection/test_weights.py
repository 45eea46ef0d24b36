"""Weights of pairs against their matrices written out."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramian
from gramian.dependence.projection.weights import PairWeights


def centring(n):
    """H = I − 11ᵀ/n."""
    return np.eye(n) - 1 / n


def indicators(y):
    """The one-hot matrix."""
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def label_matrix(y, balanced=False):
    """H Y diag(1 or 1/n_g) Yᵀ H."""
    Y, H = indicators(y), centring(len(y))
    return H @ Y @ np.diag(1 / Y.sum(axis=0) if balanced else np.ones(Y.shape[1])) @ Y.T @ H


labelings = st.integers(2, 90).flatmap(lambda n: st.lists(st.integers(0, 70), min_size=n, max_size=n))


@given(labelings, st.booleans())
@settings(max_examples=60, deadline=None)
def test_labels(y, balanced):
    """Weights of labels are H Y Yᵀ H, for few classes and many; all that is asked of them agrees with the matrix."""
    weights, gamma = PairWeights.of_labels(y, balanced=balanced), label_matrix(y, balanced)
    n = len(y)
    np.testing.assert_allclose(weights.dense(), gamma, atol=1e-12)
    np.testing.assert_allclose(weights.diagonal(), np.diag(gamma), atol=1e-12)
    np.testing.assert_allclose(weights.row_sums(), 0, atol=1e-12)
    assert weights.norm() == pytest.approx(np.linalg.norm(gamma), abs=1e-9)
    np.testing.assert_allclose(weights.rows(slice(1, n)), gamma[1:], atol=1e-12)
    np.testing.assert_allclose((weights.factor * weights.scale) @ weights.factor.T, gamma, atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 60])
@pytest.mark.parametrize("number", [1.0, -0.5])
def test_thin_products_of_labels(n_classes, number):
    """Sums over classes are the products with the factor, in parts that add up."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 150)
    weights = number * PairWeights.of_labels(y)
    plain = PairWeights(weights.factor, weights.scale)
    A, X, G = rng.normal(size=(150, 4)), rng.normal(size=(150, 3)), rng.normal(size=(len(weights.scale), 5))
    parts = [slice(0, 70), slice(70, 150)]
    moments = np.zeros((len(weights.scale), 3, 4))
    for rows in parts:
        weights.add_moments(moments, X[rows], A[rows], rows)
        np.testing.assert_allclose(weights.expand(G, rows), plain.expand(G, rows), atol=1e-12)
        np.testing.assert_allclose(weights.block(rows, parts[0]), plain.block(rows, parts[0]), atol=1e-12)
    total = sum(weights.project(A[rows], rows) for rows in parts)
    np.testing.assert_allclose(total, plain.factor.T @ A, atol=1e-12)
    expected = np.einsum("nd,na,nm->adm", X, plain.factor, A)
    np.testing.assert_allclose(weights.moments(moments), expected, atol=1e-11)
    plain_moments = np.zeros_like(moments)
    plain.add_moments(plain_moments, X, A, slice(0, 150))
    np.testing.assert_allclose(plain.moments(plain_moments), expected, atol=1e-11)


def test_balanced_signs():
    """Balanced weights are positive within and negative between classes, also where one-hot weights are not."""
    y = np.repeat([0, 1, 2], [80, 10, 10])
    plain, balanced = PairWeights.of_labels(y).dense(), PairWeights.of_labels(y, balanced=True).dense()
    same = y[:, None] == y
    assert plain[~same].max() > 0.4
    assert balanced[same].min() > 0
    assert balanced[~same].max() < 0


def test_several_labelings_add_up():
    """A column per labeling gives the sum of their weights."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, (20, 2))
    np.testing.assert_allclose(
        PairWeights.of_labels(y).dense(), label_matrix(y[:, 0]) + label_matrix(y[:, 1]), atol=1e-12
    )


def test_targets_and_embeddings():
    """Continuous targets and coordinates give H Y Yᵀ H."""
    rng = np.random.default_rng(2)
    Y, H = rng.normal(size=(15, 2)), centring(15)
    np.testing.assert_allclose(PairWeights.of_targets(Y).dense(), H @ Y @ Y.T @ H, atol=1e-12)
    np.testing.assert_allclose(PairWeights.of_embedding(Y).dense(), H @ Y @ Y.T @ H, atol=1e-12)
    y = Y[:, 0]
    np.testing.assert_allclose(PairWeights.of_targets(y).dense(), H @ np.outer(y, y) @ H, atol=1e-12)


def test_algebra():
    """Sums, differences, multiples and division by degrees are those of the matrices."""
    rng = np.random.default_rng(3)
    a = PairWeights(rng.normal(size=(12, 2)), [1.0, -2.0])
    b = PairWeights.of_labels(rng.integers(0, 3, 12))
    A, B, roots = a.dense(), b.dense(), rng.uniform(0.5, 2, 12)
    for found, expected in (
        (a + b, A + B),
        (b + a, A + B),
        (a - b, A - B),
        (2.5 * b, 2.5 * B),
        (a * -1.0, -A),
        (-b, -B),
        ((a + b).divided(roots), (A + B) / np.outer(roots, roots)),
    ):
        np.testing.assert_allclose(found.dense(), expected, atol=1e-12)
        np.testing.assert_allclose(found.diagonal(), np.diag(expected), atol=1e-12)
        np.testing.assert_allclose(found.row_sums(), expected.sum(axis=1), atol=1e-12)
        assert found.norm() == pytest.approx(np.linalg.norm(expected))
        assert found.n_samples == 12


def test_bad_input():
    """What cannot be weights is refused by name."""
    with pytest.raises(ValueError, match="scale has shape"):
        PairWeights(np.ones((4, 2)), [1.0])
    with pytest.raises(ValueError, match="missing labels"):
        PairWeights.of_labels([0.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="y has shape"):
        PairWeights.of_labels([1])
    with pytest.raises(ValueError, match="contains NaN"):
        PairWeights.of_targets([0.0, np.nan])
    with pytest.raises(ValueError, match="cannot be added"):
        PairWeights(np.ones((4, 2))) + PairWeights(np.ones((5, 2)))
    with pytest.raises(ValueError, match="roots must be 3 positive"):
        PairWeights(np.ones((3, 1))).divided([1.0, 0.0, 1.0])
    for wrong in (lambda w: w + 1, lambda w: w - 1, lambda w: "2" * w):
        with pytest.raises(TypeError):
            wrong(PairWeights(np.ones((3, 1))))


@pytest.mark.parametrize(
    "y",
    [
        ["a", None] * 5,
        np.array(["a", np.nan] * 5, object),
        pd.Categorical(["a", None] * 5),
        pd.array([1, None] * 5, dtype="Int64"),
        np.array(["2020-01-01", "NaT"] * 5, "M8[D]"),
        [1.0, np.inf] * 5,
        [[1.0, 2.0], [1.0, np.nan]] * 5,
    ],
    ids=["None", "object", "categorical", "integer", "date", "infinite", "table"],
)
def test_missing_labels(y):
    """Missing labels of every kind are refused, and are no class."""
    with pytest.raises(ValueError, match="y has missing labels"):
        PairWeights.of_labels(y)


def test_mixed_labels():
    """Text and numbers in one column cannot be sorted; in columns of their own they can."""
    with pytest.raises(ValueError, match="y mixes labels of types int, str"):
        PairWeights.of_labels(np.array(["a", 1] * 5, object))
    assert PairWeights.of_labels(np.array([["a", 1], ["b", 2]] * 5, object)).n_samples == 10


def test_constant_targets_weigh_nothing():
    """The mean of equal numbers is off by rounding; the weights are zero all the same."""
    assert PairWeights.of_targets(np.full(200, 0.1)).norm() == 0
    both = PairWeights.of_targets(np.column_stack([np.full(200, 0.1), np.arange(200.0)]))
    np.testing.assert_array_equal(both.factor[:, 0], 0)
    assert both.norm() == pytest.approx(PairWeights.of_targets(np.arange(200.0)).norm(), rel=1e-12)


def test_every_sample_a_class():
    """With as many classes as samples nothing of size classes by classes is made."""
    n = 2000
    weights = PairWeights.of_labels(np.arange(n))
    with gramian.config(memory_budget="1MB"):
        tracemalloc.start()
        norm = weights.norm()
        tile = weights.block(slice(0, 100), slice(50, 150))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1e6
    assert norm == pytest.approx(np.sqrt(n - 1), rel=1e-12)  # of the projection H
    np.testing.assert_allclose(tile, (np.eye(n) - 1 / n)[:100, 50:150], atol=1e-15)


def test_numbers_that_are_none():
    """Weights are not multiplied by what is no number."""
    for number in (np.nan, np.inf):
        with pytest.raises(ValueError, match="pass a finite number"):
            number * PairWeights.of_labels([0, 1, 1])
