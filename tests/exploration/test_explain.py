"""Importances and gaps, on tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from gramian import hsic
from gramian.exploration.explain import importances, missing_values
from gramian.kernels import RBF, Linear
from gramian.tables.table import NUMBER, Column


@pytest.fixture
def prepared():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 300)
    X = rng.standard_normal((300, 4))
    X[:, 1] += 3 * labels
    X[:, 1] = (X[:, 1] - X[:, 1].mean()) / X[:, 1].std()
    X[::7, 1] = np.nan
    return X, ["a", "b", "c", "c"], [Column(name, NUMBER, 0.0) for name in "abc"], labels


def test_the_column_that_makes_the_groups_comes_first(prepared):
    X, owners, columns, labels = prepared
    found = importances(X, owners, columns, labels)
    assert found[0].column == "b"
    assert found[0].dependence > 0.5
    assert max(item.dependence for item in found[1:]) < 0.05
    assert np.argmax([abs(item.weights[0]) for item in found]) == 0
    here = np.isfinite(X[:, 1])
    one_hot = (labels[here, None] == np.arange(3)).astype(float)
    direct = hsic(X[here, 1:2], one_hot, kernel_x=RBF(1.0), kernel_y=Linear(), estimator="unbiased", normalized=True)
    assert found[0].dependence == pytest.approx(direct)


def test_one_group_has_no_importances(prepared):
    X, owners, columns, _ = prepared
    assert {item.dependence for item in importances(X, owners, columns, np.zeros(300, int))} == {0.0}


def gaps_table(rng, informative):
    X = rng.standard_normal((400, 3))
    gone = X[:, 0] > 0.5 if informative else rng.random(400) < 0.3
    X[gone, 2] = np.nan
    X[rng.random(400) < 0.1, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abc"))
    columns = [Column(name, NUMBER, float(frame[name].isna().mean())) for name in "abc"]
    return frame, columns, X


def test_gaps_that_go_with_values_are_found():
    frame, columns, X = gaps_table(np.random.default_rng(3), informative=True)
    found = missing_values(frame, columns, X, list("abc"))
    assert [name for name, _, _ in found.informative] == ["c"]
    assert "in a" in found.informative[0][2]
    assert found.share == pytest.approx(np.isnan(X).mean())
    assert found.complete_rows == int((~np.isnan(X).any(axis=1)).sum())
    counts = frame.isna().value_counts()
    assert {tuple(names): size for names, size in found.patterns} == {
        tuple(np.array(list("abc"))[list(pattern)]): int(size) for pattern, size in counts.items() if any(pattern)
    }


def test_gaps_at_random_are_not_reported():
    """At a level of 1 % for all columns together hardly ever."""
    reported = 0
    for seed in range(30):
        frame, columns, X = gaps_table(np.random.default_rng(seed), informative=False)
        reported += bool(missing_values(frame, columns, X, list("abc")).informative)
    assert reported <= 2


def test_gaps_at_random_beside_rare_levels_are_not_reported():
    """At a level of 1 %; a gamma distribution alone reports 4 % of these."""
    names, reported = list("abcde"), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = (rng.random((60, 5)) < 0.06).astype(float)
        X = (X - X.mean(axis=0)) / np.sqrt(np.maximum(X.var(axis=0), 0.05 * 0.95))
        X[rng.random(X.shape) < 0.1] = np.nan
        columns = [Column(name, NUMBER, 0.1) for name in names]
        reported += bool(missing_values(pd.DataFrame(X, columns=names), columns, X, names).informative)
    assert reported <= 2


def test_rows_that_are_alone_in_their_group_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 1))
    columns = [Column("a", NUMBER, 0.0)]
    for labels in (np.arange(12), np.r_[np.zeros(11, int), 1]):
        (found,) = importances(X, ["a"], columns, labels)
        assert found.dependence == 0
    pairs = np.repeat([0, 1], 6)
    X[:, 0] += 5 * pairs
    (whole,) = importances(X, ["a"], columns, pairs)
    (more,) = importances(np.vstack([X, [[9.0]]]), ["a"], columns, np.r_[pairs, 2])
    assert more.dependence == pytest.approx(whole.dependence)


def test_no_gaps():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    found = missing_values(frame, [Column("a", NUMBER, 0.0)], frame.to_numpy(), ["a"])
    assert (found.share, found.complete_rows, found.patterns, found.informative) == (0.0, 2, [], [])
