"""Completed rows are those of scikit-learn's imputer, and columns count alike however many features they have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.impute import KNNImputer

from gramian.clustering import CompletedGraph, Completion, shared_distances
from gramian.clustering.automatic.graphs import neighbor_edges


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 40), d=st.integers(1, 6), rate=st.floats(0, 0.7))
def test_holes_are_filled_as_the_imputer_fills_them(seed, n, d, rate):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d)
    X[rng.random(X.shape) < rate] = np.nan
    X[:2] = rng.standard_normal((2, d))  # every feature has two values
    new = np.where(rng.random((5, d)) < rate, np.nan, rng.standard_normal((5, d)))
    completion = Completion().fit(X)
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    one, five = KNNImputer(n_neighbors=1).fit(Z), KNNImputer(n_neighbors=5).fit(Z)
    scaled = (new - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    for rows, units in ((X, Z), (new, scaled)):
        known = (~np.isnan(rows)).sum(axis=1) >= 3
        expected = np.where(known[:, None], five.transform(units), one.transform(units))
        np.testing.assert_allclose(completion.transform(rows), expected, atol=1e-10)


def test_parts_of_the_rows_give_the_same(monkeypatch):
    X = load_iris().data.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    whole = Completion().fit(X).transform(X)
    monkeypatch.setattr("gramian.clustering.automatic.completion._DISTANCES_AT_ONCE", 1000)
    np.testing.assert_array_equal(Completion().fit(X).transform(X), whole)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), looked_at=st.integers(1, 12), rate=st.floats(0, 0.9))
def test_it_does_not_matter_how_many_donors_are_looked_at_first(seed, looked_at, rate):
    """Where too few of the nearest rows have a value, all are asked."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 5))
    X[:, 4] = X[:, 3] + rng.standard_normal(40)  # two features that are missing together
    holes = rng.random(X.shape) < rate
    holes[:, 4] = holes[:, 3]
    X[holes] = np.nan
    X[:2] = rng.standard_normal((2, 5))
    completion = Completion().fit(X)
    whole = completion.transform(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramian.clustering.automatic.completion._LOOKED_AT", looked_at)
        np.testing.assert_allclose(completion.transform(X), whole, atol=1e-12)


def test_compared_rows_are_completed_and_know_their_nearest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    completion = Completion().fit(X[:40])
    rows, distances = completion.compare(X, 3)
    np.testing.assert_allclose(rows, completion.transform(X), atol=1e-12)
    every = np.sort(shared_distances(completion.scaled(X), completion.donors_), axis=1)
    np.testing.assert_allclose(distances, every[:, :3], atol=1e-12)
    rows, distances = completion.compare(X.astype(np.float32), 100)
    assert rows.dtype == distances.dtype == np.float32
    np.testing.assert_allclose(distances, every, atol=1e-5)


def test_features_of_one_column_count_as_much_as_another_column():
    rng = np.random.default_rng(0)
    levels = rng.integers(4, size=200)
    X = np.column_stack([rng.normal(5, 3, 200), np.eye(4)[levels], np.ones(200)])
    completion = Completion(["x", "c", "c", "c", "c", "one"]).fit(X)
    Z = completion.transform(X)
    assert completion.columns_.tolist() == [1, 0, 0, 0, 0]
    assert Z[:, 0].var() == pytest.approx(1)
    assert Z[:, 1:].var(axis=0).sum() == pytest.approx(1)
    assert Z.shape == (200, 5)  # the constant is left out


def test_columns_of_one_scale_keep_it():
    """Grey values: most pixels reach both ends, one is hardly used and stays as faint as it is."""
    rng = np.random.default_rng(0)
    X = rng.integers(17, size=(200, 5)).astype(float)
    X[:, 4] = rng.random(200) < 0.05
    X[rng.random(X.shape) < 0.1] = np.nan
    kept = Completion(keep_scale=True).fit(X)
    assert len(np.unique(kept.scale_)) == 1
    np.testing.assert_allclose(kept.scale_[0] ** 2, np.nanvar(X, axis=0).mean())
    np.testing.assert_array_equal(Completion(keep_scale=True).fit(-3 * X + 1).scale_, 3 * kept.scale_)
    np.testing.assert_allclose(Completion().fit(X).scale_, np.nanstd(X, axis=0))


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(1).standard_normal((50, 4)),  # no two columns have the same ends
        np.random.default_rng(1).integers(5, size=(50, 4)) * [1.0, 1.0, 30.0, 30.0],  # two scales
        np.random.default_rng(1).integers(2, size=(50, 4)).astype(float),  # truth values have none
        np.random.default_rng(1).integers(9, size=(50, 1)).astype(float),
    ],
)
def test_other_columns_count_in_standard_deviations(X):
    np.testing.assert_array_equal(Completion(keep_scale=True).fit(X).scale_, Completion().fit(X).scale_)


def test_auto_takes_the_plain_graph_of_columns_with_one_scale():
    rng = np.random.default_rng(0)
    grades = rng.integers(17, size=(80, 3)) / 4
    graph = CompletedGraph("auto").fit(grades)
    assert graph.kind_ == "nearest"
    expected = neighbor_edges("nearest", Completion(keep_scale=True).fit_transform(grades), least=3)
    np.testing.assert_array_equal(graph(grades).toarray(), expected.toarray())
    X = rng.standard_normal((80, 3))
    np.testing.assert_array_equal(
        CompletedGraph("auto").fit(X)(X).toarray(), CompletedGraph("continuous").fit(X)(X).toarray()
    )


def test_the_rows_given_are_left_as_they_are():
    X = np.array([[0.0, np.nan], [1.0, 2.0], [4.0, 6.0]])
    before = X.copy()
    Completion().fit_transform(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("kind", ["nearest", "mutual", "continuous", "self_tuning"])
def test_completed_graph_is_the_graph_of_completed_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1, 10, 100]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    graph = CompletedGraph(kind).fit(X)
    np.testing.assert_allclose(graph(X).toarray(), neighbor_edges(kind, Z, least=3).toarray())
    np.testing.assert_allclose(graph.gram(X).dense(), graph(X).toarray())
    holed = X[:1].copy()
    holed[0, 1] = np.nan
    donor = np.argmin(((X - holed)[:, [0, 2]] ** 2 / X.std(axis=0)[[0, 2]] ** 2).sum(axis=1))
    filled = np.where(np.isnan(holed), X[donor], holed)
    np.testing.assert_allclose(graph(holed, X).toarray(), graph(filled, X).toarray())
    np.testing.assert_allclose(graph.product(holed, X, np.eye(60)), graph(holed, X).toarray())
    assert not graph.diagonal(X).any()


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind='far' is not known; pass one of 'nearest'"):
        CompletedGraph("far").fit(np.eye(3))


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="must name the column of each of the 3 features"):
        Completion(["a"]).fit(np.eye(3))


def test_shared_distances_are_means_over_common_features():
    rows = np.array([[0.0, np.nan, 2.0], [np.nan, 1.0, np.nan]])
    others = np.array([[1.0, 5.0, 4.0], [3.0, np.nan, np.nan]])
    np.testing.assert_allclose(shared_distances(rows, others), [[(1 + 4) / 2, 9.0], [16.0, np.inf]])
