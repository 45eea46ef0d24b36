"""What is kept of an exploration answers for the rows it was made of, and for new ones alike."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from gramian import ClusterKernel, load
from gramian.clustering import Completion
from gramian.exploration import analyse
from gramian.exploration.model import Placed, TableModel


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


def test_rows_that_were_fitted_are_not_more_typical():
    X, _ = make_blobs(1500, centers=3, n_features=5, cluster_std=2.0, random_state=0)
    fitted = np.arange(750)
    clusterer = KMeans(3, random_state=0).fit(X[fitted])
    preparation = SimpleNamespace(feature_columns_=list("abcde"))
    clusterer.used_ = np.ones(X.shape[1], bool)  # as AutoClustering says which features count
    model = TableModel(preparation, clusterer).fit(X[fitted], clusterer.labels_, fitted, ClusterKernel(random_state=0))
    np.testing.assert_allclose(model.answer(X[fitted])[1], model.fitted()[0], atol=1e-6)  # memberships
    labels, membership, rank, *_ = analyse._rows(model, X, fitted, np.arange(1500), np.arange(1500))
    place = (rank - 1) / (np.bincount(labels)[labels] - 1)
    assert abs(place[:750].mean() - place[750:].mean()) < 0.15
    assert abs(membership[:750].mean() - membership[750:].mean()) < 0.02


def test_one_pass_says_what_the_parts_say():
    """Many rows are compared with the fitted ones once, in single precision, and some rows at a time."""
    X, _ = make_blobs(500, centers=3, n_features=5, cluster_std=2.0, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    fitted, others = np.arange(300), np.arange(499, 299, -1)
    clusterer = KMeans(3, random_state=0).fit(np.nan_to_num(X[fitted]))
    clusterer.predict = lambda rows: KMeans.predict(clusterer, np.nan_to_num(rows))
    clusterer.used_ = np.ones(X.shape[1], bool)
    preparation = SimpleNamespace(feature_columns_=list("abcde"))
    model = TableModel(preparation, clusterer).fit(X[fitted], clusterer.labels_, fitted, ClusterKernel(random_state=0))
    groups, memberships, scores, oddness = model.answer(X[others])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramian.exploration.model._CHUNK", 70)
        rows, parts = zip(*model.places(X, others), strict=True)
    assert [len(part) for part in rows] == [70, 70, 60]
    np.testing.assert_array_equal(np.concatenate(rows), others)
    placed = Placed(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    np.testing.assert_array_equal(placed.groups, groups)
    own = np.arange(len(groups)), groups
    np.testing.assert_allclose(placed.membership, memberships[own], atol=1e-4)
    np.testing.assert_allclose(placed.score, scores[own], rtol=1e-3)
    np.testing.assert_allclose(placed.oddness, oddness, atol=1e-3)
    embedding = model.ranker_.transform(X[others])
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    np.testing.assert_allclose(placed.embedding, embedding, atol=1e-3)
    np.testing.assert_allclose(
        placed.completed, Completion(list("abcde")).fit(X[fitted]).transform(X[others]), atol=1e-4
    )
    again = model.fitted_places(X[fitted])
    np.testing.assert_array_equal(again.groups, model.fitted_groups_)
    assert again.completed.shape == (300, 5)


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


def test_parts_of_different_lengths_are_noticed(explored):
    """A file whose parts do not fit each other is refused when it is read, not while it answers."""
    *_, folder = explored
    model = load(folder / "model.gramian")
    model.check()
    model.number_ = model.number_[:-1]
    with pytest.raises(ValueError, match="disagree on the number of groups"):
        model.check()
