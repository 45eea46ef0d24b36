"""Columns that matter are those the target is made of; noise is not listed."""

import numpy as np
import pytest

from gramian import ClusterKernel, LSSVMClassifier, LSSVMRegressor
from gramian.kernels import RBF
from gramian.learning.matters import _folds, columns_that_matter
from gramian.tables import Column


def test_columns_of_the_formula_are_found_in_their_order():
    """y = 3a + b: without a the squared error grows by about 2·9 of the noise's unit, without b by 2·1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = 3 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=300)
    columns = [Column(name, "number", 0.0) for name in "abcd"]
    machine = LSSVMRegressor(random_state=0).fit(X, y)
    found = columns_that_matter(machine, X, y, list("abcd"), columns, rng)
    assert [item.column for item in found] == ["a", "b"]
    # Shuffled, a column adds twice its variance times its coefficient squared to the mean squared error.
    for item, coefficient in zip(found, (3, 1), strict=True):
        expected = np.sqrt((0.25 + 2 * coefficient**2) / 0.25) - 1
        assert item.increase == pytest.approx(expected, rel=0.2)
        assert item.spread < 0.2 * item.increase


def test_of_many_columns_of_noise_none_is_listed():
    """About half of them make the error a little larger by chance."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 16))
    y = X[:, 0] + 0.5 * rng.normal(size=150)
    names = [f"x{j}" for j in range(16)]
    columns = [Column(name, "number", 0.0) for name in names]
    machine = LSSVMRegressor(RBF(6.0), regularization=20.0).fit(X, y)
    machine.preparation_ = lambda rows: rows
    assert [item.column for item in columns_that_matter(machine, X, y, names, columns, rng)] == ["x0"]


def test_features_of_one_column_are_shuffled_together():
    """Two features that are one column: shuffled apart, the other would still tell."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    X = np.column_stack([a, a, rng.normal(size=200)])
    y = (a + 0.2 * rng.normal(size=200) > 0).astype(int)
    columns = [Column("twice", "category", 0.0), Column("noise", "number", 0.0)]
    machine = LSSVMClassifier(random_state=0).fit(X, y)
    found = columns_that_matter(machine, X, y, ["twice", "twice", "noise"], columns, rng)
    assert [item.column for item in found] == ["twice"]
    assert found[0].increase > 0.5


def test_classes_of_few_rows_are_in_every_fold_but_one():
    labels = np.array([0] * 40 + [1] * 2 + [2])
    folds = _folds(labels, len(labels), np.random.default_rng(0))
    assert len(set(folds["number"][40:42])) == 2
    assert set(folds["number"]) == set(range(5))


def test_rows_with_holes_are_compared_by_the_cluster_kernel():
    """Where nothing is filled in, holes are shuffled with their column."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2)) + 3 * rng.integers(0, 2, (500, 2))
    y = (X[:, 0] > 1.5).astype(int)
    X[::7, 0], X[3::7, 1] = np.nan, np.nan
    columns = [Column(name, "number", 0.0) for name in "ab"]
    machine = LSSVMClassifier(ClusterKernel(n_restarts=3, random_state=0), regularization=10.0).fit(X, y)
    found = columns_that_matter(machine, X, y, list("ab"), columns, rng)
    assert [item.column for item in found] == ["a"]
