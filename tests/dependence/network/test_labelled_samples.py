"""Labelled samples: what is checked, counted and drawn, against counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from gramian.dependence.network._labelled_samples import (
    all_equal,
    check_classes,
    class_indicators,
    count_contradictions,
    renumbered,
    scaled,
    stratified_rows,
    telling_rows,
)
from gramian.dependence.projection._estimator import ColumnScaling


class Owner(BaseEstimator):
    """An estimator to be named in messages."""


def test_classes_and_codes():
    """Classes are sorted, of the type that was passed, and codes are their numbers."""
    X, classes, codes = check_classes(Owner(), np.zeros((4, 2), np.float32), np.array(["b", "a", "b", "c"], object))
    assert X.dtype == np.float32
    np.testing.assert_array_equal(classes, ["a", "b", "c"])
    assert classes.dtype == object
    np.testing.assert_array_equal(codes, [1, 0, 1, 2])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "Owner requires y to be passed"),
        ([1, 1, 1], "y has one class only, 1;"),
        ([0, 1], "inconsistent numbers of samples"),
        ([0.5, 1.5, 2.5], "Unknown label type"),
        (np.array([0, None, 1], object), "missing values"),
    ],
)
def test_labels_that_cannot_be_learned(y, message):
    with pytest.raises(ValueError, match=message):
        check_classes(Owner(), np.zeros((3, 2)), y)


def test_indicators_are_one_hot():
    np.testing.assert_array_equal(class_indicators(np.array([2, 0, 2])), [[0, 0, 1], [1, 0, 0], [0, 0, 1]])


def test_contradictions():
    """Equal rows of different classes count, all of them; equal rows of one class do not."""
    X = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [2, 2]], float)
    assert count_contradictions(X, np.array([0, 1, 0, 1, 1, 0])) == 3
    assert count_contradictions(X, np.array([0, 0, 0, 1, 1, 2])) == 0
    assert count_contradictions(np.arange(3.0)[:, None], np.array([0, 1, 0])) == 0


def test_scaled_rows():
    """Without a scaler only the precision changes; with one, as it learned."""
    X = np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]], np.float32)
    assert scaled(None, X).dtype == np.float64
    np.testing.assert_array_equal(scaled(None, X), X)
    expected = (X[:, :1] - 3) / np.sqrt(8 / 3)
    np.testing.assert_allclose(scaled(ColumnScaling(X, standardize=True), X), expected, rtol=1e-6)


@given(
    sizes=st.lists(st.integers(1, 40), min_size=2, max_size=6),
    part=st.floats(0.2, 0.9),
    seed=st.integers(0, 1000),
)
def test_drawn_rows_keep_the_shares(sizes, part, seed):
    """Each class gives its share, at least two rows where it has them, in the order of the rows, none twice."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n_rows = max(2 * len(sizes), int(part * len(codes)))
    rows = stratified_rows(codes, n_rows, rng)
    assert np.all(np.diff(rows) > 0)
    drawn = np.bincount(codes[rows], minlength=len(sizes))
    if n_rows >= len(codes):
        assert len(rows) == len(codes)
        return
    assert np.all(drawn >= np.minimum(2, sizes))
    share = np.array(sizes) * n_rows / len(codes)
    assert np.all(np.abs(drawn - share) <= 2)


def test_more_classes_than_rows_to_draw():
    """Where two rows of each class would be far too many, the largest classes are drawn."""
    codes = np.concatenate([np.repeat(np.arange(50), 2), np.repeat([50, 51], 40)])
    rows = stratified_rows(codes, 20, np.random.default_rng(0))
    counts = np.bincount(codes[rows], minlength=52)
    assert np.all(counts[50:] >= 4)
    assert 10 <= len(rows) <= 40
    assert stratified_rows(codes, None, np.random.default_rng(0)).tolist() == list(range(len(codes)))


def test_rows_that_tell_something():
    """Where the draw takes equal rows only, it is made among the different ones."""
    X = np.zeros((200, 2))
    X[[7, 9]] = [[1, 0], [0, 1]]
    codes = np.arange(200) % 2
    rows = telling_rows(X, codes, 6, np.random.default_rng(0))
    assert not all_equal(X[rows])
    assert all_equal(np.zeros((3, 2)))


def test_codes_without_gaps():
    np.testing.assert_array_equal(renumbered(np.array([5, 2, 5, 9])), [1, 0, 1, 2])
