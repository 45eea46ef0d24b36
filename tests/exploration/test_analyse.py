"""From a table to groups: what was planted is found, noise is called noise, and every row is answered for."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from exploration.conftest import customers
from gramian import ClusterKernel, load
from gramian.exploration import analyse, explore
from gramian.exploration.model import TableModel
from gramian.metrics import adjusted_rand
from gramian.tables import read_table


def read(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return read_table(tmp_path / "table.csv")


def test_planted_groups_are_found(explored):
    found, _, _ = explored
    assert found.n_clusters == 3
    assert found.verdict == "clear"
    assert adjusted_rand(customers()[1], found.labels) > 0.8
    assert [cluster.size for cluster in found.clusters] == sorted(np.bincount(found.labels), reverse=True)


def test_what_is_told(explored):
    found, _, _ = explored
    assert found.sentences[0] == "The 150 rows fall clearly into 3 groups."
    least = {item.column: item.dependence for item in found.importances}
    assert min(least, key=least.get) == "noise"
    assert "Not used to compare rows: id and country." in found.sentences
    young = found.clusters[0]
    assert any(item.column == "age" and item.effect < 0 for item in young.differences)
    assert set(young.typical) <= set(np.flatnonzero(found.labels == 0))


def test_shapes_and_ranges(explored):
    found, _, _ = explored
    n = len(found.frame)
    assert found.coordinates.shape == (n, 2)
    assert np.isfinite(found.coordinates).all()
    np.testing.assert_allclose(np.linalg.norm(found.embedding, axis=1), 1, atol=1e-5)
    assert found.membership.min() >= 0
    assert found.membership.max() <= 1 + 1e-12
    assert sum(view.chosen for view in found.views) == 1
    assert set(found.made["seconds"]) == set(analyse._STAGES)


def test_rows_most_like_a_row(explored):
    """They are of its group, and a walk that starts there agrees with the model's own list."""
    found, model, _ = explored
    rows, scores = model.like(7, top=10)
    assert 7 not in rows
    assert (np.diff(scores) <= 0).all()
    assert (found.labels[rows] == found.labels[7]).mean() >= 0.9
    rows, _ = model.typical(1, top=5)
    assert rows.tolist() == found.clusters[1].typical
    with pytest.raises(ValueError, match="row 151 does not exist: the table has 150 rows"):
        model.like(150)


def test_noise_has_no_groups(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(200, 5)), columns=list("abcde"))
    found, _ = explore(read(frame, tmp_path))
    assert found.verdict == "none"
    assert found.sentences[0].startswith("The 200 rows form no groups: a table without any would look alike.")
    assert found.alternative is None


def test_a_dozen_rows_are_too_few_to_tell(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(12, 2)), columns=list("ab"))
    found, _ = explore(read(frame, tmp_path))
    assert found.sentences[0] == "12 rows are too few to tell whether they form groups."


def test_a_number_of_groups_may_be_asked_for(explored, customers_file):
    found, _ = explore(read_table(customers_file), n_clusters=2, alternative=False)
    assert found.n_clusters == 2
    assert found.made["parameters"]["clusters"] == 2


def test_rows_beyond_those_fitted_are_assigned(tmp_path, monkeypatch):
    """A part of the rows is fitted and the others get what new rows would get."""
    monkeypatch.setattr(analyse, "_FITTED_ROWS", 120)
    frame, group = customers(400, seed=5)
    found, model = explore(read(frame, tmp_path), alternative=False)
    assert len(model.rows_) == 120
    assert adjusted_rand(group, found.labels) > 0.75
    for label in range(found.n_clusters):
        ranks = found.rank[found.labels == label]
        assert sorted(ranks) == list(range(1, len(ranks) + 1))
        assert model.typical(label, top=5)[0].tolist() == found.clusters[label].typical
    other = int(np.setdiff1d(np.arange(400), model.rows_)[0])  # rows that were not fitted are known all the same
    rows, likeness = model.like(other, top=7)
    every = found.embedding @ found.embedding[other]
    every[other] = -1
    np.testing.assert_allclose(likeness, np.sort(every)[::-1][:7], rtol=1e-6)
    np.testing.assert_allclose(every[rows], likeness, rtol=1e-6)


def test_rows_that_were_fitted_are_not_more_typical():
    X, _ = make_blobs(1500, centers=3, n_features=5, cluster_std=2.0, random_state=0)
    fitted = np.arange(750)
    clusterer = KMeans(3, random_state=0).fit(X[fitted])
    preparation = SimpleNamespace(feature_columns_=list("abcde"))
    model = TableModel(preparation, clusterer).fit(X[fitted], clusterer.labels_, fitted, ClusterKernel(random_state=0))
    np.testing.assert_allclose(model.answer(X[fitted])[1], model.fitted()[0], atol=1e-6)  # memberships
    labels, membership, rank, _, _ = analyse._rows(model, X, fitted)
    place = (rank - 1) / (np.bincount(labels)[labels] - 1)
    assert abs(place[:750].mean() - place[750:].mean()) < 0.15
    assert abs(membership[:750].mean() - membership[750:].mean()) < 0.02


def test_rows_of_the_table_get_the_same_answers_again(explored):
    """Asked for as rows that come later, they have the groups, memberships and oddness they had."""
    found, _, folder = explored
    again = load(folder / "model.gramian")
    labels, memberships, _, oddness = again.answer(again.preparation.transform(found.frame))
    np.testing.assert_array_equal(labels, found.labels)
    np.testing.assert_allclose(memberships.sum(axis=1), 1)
    # In a neighbour graph a row that comes later has other neighbours: itself, for one.
    assert np.abs(memberships[np.arange(len(labels)), labels] - found.membership).mean() < 0.03
    np.testing.assert_allclose(oddness, found.oddness, atol=1e-9)


def test_repeatable(customers_file, explored):
    again, _ = explore(read_table(customers_file))
    np.testing.assert_array_equal(again.labels, explored[0].labels)
    np.testing.assert_array_equal(again.coordinates, explored[0].coordinates)
    assert again.sentences == explored[0].sentences


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_few_rows(tmp_path, n):
    frame = pd.DataFrame({"a": np.arange(n) * 1.5, "b": np.arange(n)[::-1] ** 2 + 0.5})
    found, _ = explore(read(frame, tmp_path))
    assert len(found.labels) == n


def test_refusals(tmp_path, customers_file):
    with pytest.raises(ValueError, match="n_clusters=200 must be from 1"):
        explore(read_table(customers_file), n_clusters=200)
    same = pd.DataFrame({"a": ["x"] * 9, "b": [1] * 9})
    with pytest.raises(ValueError, match="no column tells rows apart"):
        explore(read(same, tmp_path))
