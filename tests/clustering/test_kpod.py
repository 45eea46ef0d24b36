"""k-POD against every possible partition, a loop over entries, Lloyd and scikit-learn."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs

import gramian
from gramian import KPOD
from gramian.clustering.kpod import lloyd
from gramian.datasets.missingness import mcar
from gramian.metrics import adjusted_rand


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.fixture
def blobs():
    """Three groups in five dimensions with a quarter of the cells missing, the complete table, and the labels."""
    X, y = make_blobs(90, centers=3, n_features=5, cluster_std=1.5, random_state=2)
    return mcar(X, 0.25, random_state=0)[0], X, y


def least_objective(X, k):
    """The lowest sum of squares over observed cells of any partition, by trying them all."""
    best = np.inf
    for labels in product(range(k), repeat=len(X)):
        groups = [X[np.array(labels) == c] for c in set(labels)]
        best = min(best, sum(np.nansum((group - _column_means(group)) ** 2) for group in groups))
    return best


def _column_means(group):
    seen = ~np.isnan(group)
    return np.where(seen, group, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def observed_objective(X, labels, centers):
    """Σ over observed cells of (x − θ)², by loops."""
    return sum(
        (X[i, j] - centers[labels[i], j]) ** 2
        for i in range(X.shape[0])
        for j in range(X.shape[1])
        if not np.isnan(X[i, j])
    )


# k-POD ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_kpod_finds_the_best_partition_of_a_small_table(seed):
    """With clear groups k-POD reaches the least objective of all partitions; without, it never claims to beat it."""
    clear, _ = make_blobs(9, centers=[[0, 0, 0], [4, 4, 4]], random_state=seed)
    clear, _ = mcar(clear, 0.2, random_state=seed)
    assert KPOD(2, random_state=0).fit(clear).inertia_ == pytest.approx(least_objective(clear, 2), rel=1e-6)
    noise, _ = mcar(np.random.default_rng(seed).standard_normal((9, 3)), 0.3, random_state=seed)
    assert KPOD(2, random_state=0).fit(noise).inertia_ >= least_objective(noise, 2) * (1 - 1e-12)


def test_kpod_without_holes_is_kmeans(blobs):
    """On complete data the partition and the cost are those of scikit-learn's k-means, and no round of filling runs."""
    _, X, _ = blobs
    ours, theirs = KPOD(3, random_state=0).fit(X), KMeans(3, n_init=100, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
    assert adjusted_rand(ours.labels_, theirs.labels_) == 1.0
    assert len(ours.objective_path_) == 1


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_kpod_never_raises_its_objective(rng, rate, k):
    """Each round of filling and clustering leaves the objective as low or lower, and it is what it says it is."""
    X, _ = mcar(rng.standard_normal((60, 4)) + 100, rate, random_state=0)
    model = KPOD(k, n_init=5, random_state=1).fit(X)
    assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_path_[0]).all()
    assert len(model.objective_path_) > 2
    assert model.inertia_ == model.objective_path_[-1]
    assert model.inertia_ == pytest.approx(observed_objective(X, model.labels_, model.cluster_centers_), rel=1e-9)


def test_kpod_stops_at_a_fixed_point(blobs):
    """At the end each centre is the mean of its rows filled from it, and no filled row is nearer to another centre."""
    X, _, _ = blobs
    model = KPOD(3, tol=1e-14, max_iter=1000, random_state=0).fit(X)
    filled = np.where(np.isnan(X), model.cluster_centers_[model.labels_], X)
    means = np.array([filled[model.labels_ == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-5)
    np.testing.assert_array_equal(cdist(filled, means).argmin(axis=1), model.labels_)


def test_kpod_finds_groups_despite_holes(blobs):
    """Groups that k-means finds in the complete table are found with a quarter of it missing."""
    X, _, y = blobs
    assert adjusted_rand(KPOD(3, random_state=0).fit_predict(X), y) > 0.85


def test_kpod_starts_with_one_partition_go_on_as_one(blobs):
    """Dropping the starts that agree loses nothing: the best of all single starts is found."""
    X, _, _ = blobs
    model = KPOD(3, n_init=20, random_state=5).fit(X)
    singles = [KPOD(3, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(20)]
    assert model.inertia_ <= min(singles) * (1 + 1e-6)


def test_kpod_predict_uses_observed_coordinates(blobs):
    """A new row joins the centre that is nearest in the coordinates it has."""
    X, _, _ = blobs
    model = KPOD(3, random_state=0).fit(X)
    for row, label in zip(X, model.predict(X), strict=True):
        distances = np.nansum((row - model.cluster_centers_) ** 2, axis=1)
        assert distances[label] == pytest.approx(distances.min())


def test_kpod_repeats_and_clones(blobs):
    """The same seed gives the same answer, and ``clone`` keeps the parameters."""
    X, _, _ = blobs
    model = KPOD(3, n_init=7, max_iter=9, random_state=3)
    np.testing.assert_array_equal(model.fit(X).labels_, clone(model).fit(X).labels_)


def test_kpod_refuses_what_it_cannot_cluster(rng):
    """A column without values and more clusters than rows are named in the message."""
    X = rng.standard_normal((5, 3))
    with pytest.raises(ValueError, match=r"n_clusters=6 is more than the n_samples=5"):
        KPOD(6).fit(X)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has no observed value"):
        KPOD(2).fit(X)


def test_lloyd_from_many_starts_is_lloyd_from_each(rng):
    """Starts that run together end where each would alone, by the textbook loop."""
    X = rng.standard_normal((40, 2))
    starts = np.stack([X[rng.choice(40, 3, replace=False)] for _ in range(6)])
    labels, centers = lloyd(X, starts)
    for start, found, ends in zip(starts, labels, centers, strict=True):
        means, names, before = start, np.zeros(40), np.ones(40)
        while not np.array_equal(names, before):
            before, names = names, cdist(X, means).argmin(axis=1)
            means = np.array([X[names == c].mean(axis=0) for c in range(3)])
        np.testing.assert_array_equal(found, names)
        np.testing.assert_allclose(ends, means, atol=1e-12)


def test_lloyd_gives_an_empty_cluster_the_farthest_row():
    """A centre far from every row takes over the row that fits its own centre worst."""
    X = np.array([[0.0], [0.1], [9.0]])
    labels, centers = lloyd(X, np.array([[[0.0], [1000.0]]]))
    np.testing.assert_array_equal(labels[0], [0, 0, 1])
    np.testing.assert_allclose(centers[0, :, 0], [0.05, 9.0])


def test_lloyd_ends_with_fewer_distinct_rows_than_clusters():
    """Ties between equal centres cannot keep it going for ever."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    labels, _ = lloyd(X, np.array([[[0.0], [0.0], [1.0], [1.0]]]))
    assert labels[0, 0] == labels[0, 1] != labels[0, 2] == labels[0, 3]


def textbook(X, centers, rounds=60):
    """k-POD from given centres, a row and an entry at a time: fill, k-means to the end, fill."""
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for _ in range(rounds):
        labels = None
        while True:
            before, labels = labels, [int(np.argmin([((row - c) ** 2).sum() for c in centers])) for row in filled]
            if labels == before:
                break
            centers = np.array([filled[np.array(labels) == c].mean(axis=0) for c in range(len(centers))])
        filled = np.array(
            [
                [centers[label][j] if np.isnan(value) else value for j, value in enumerate(row)]
                for row, label in zip(X, labels, strict=True)
            ]
        )
    return np.array(labels), centers


def test_kpod_is_the_textbook_version(blobs):
    """From the same start the answer is that of a loop over rows and entries that fills and clusters in turns."""
    X = blobs[0]
    model = KPOD(3, n_init=1, tol=0, max_iter=60, random_state=2).fit(X)
    seed = int(np.random.default_rng(2).integers(2**31 - 1, size=1)[0])
    mean = np.nanmean(X, axis=0)
    start = kmeans_plusplus(np.where(np.isnan(X), 0, X - mean), 3, random_state=seed)[0] + mean
    labels, centers = textbook(X, start)
    assert adjusted_rand(labels, model.labels_) == 1
    order = [labels[np.flatnonzero(model.labels_ == c)[0]] for c in range(3)]
    np.testing.assert_allclose(model.cluster_centers_, centers[order], atol=1e-6)


def test_rows_without_values_are_set_aside(rng):
    """A row that is missing altogether has label −1 and moves no centre, in fit and predict, with a warning."""
    X = np.vstack([rng.standard_normal((10, 2)), rng.standard_normal((10, 2)) + 9])
    holed = np.insert(X, [3, 20], np.nan, axis=0)
    plain = KPOD(2, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="2 rows have no observed value and label -1"):
        model = KPOD(2, random_state=0).fit(holed)
    np.testing.assert_array_equal(model.labels_, np.insert(plain.labels_, [3, 20], -1))
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_)
    with pytest.warns(UserWarning, match="1 row has no observed value and label -1"):
        np.testing.assert_array_equal(model.predict([[np.nan, np.nan], [9.0, np.nan]]), [-1, model.labels_[-2]])
    with pytest.raises(ValueError, match="n_clusters=3 is more than the n_samples=2"), np.errstate(all="ignore"):
        KPOD(3).fit(holed[2:5])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4), shift=st.sampled_from([0.0, 1e4]))
def test_kpod_does_not_depend_on_the_origin_and_numbers_by_first_row(seed, k, shift):
    """Moving X moves the centres alone; clusters are numbered as they appear."""
    X = mcar(np.random.default_rng(seed).standard_normal((25, 3)), 0.2, random_state=seed)[0]
    X = X[~np.isnan(X).all(axis=1)]
    model = KPOD(k, random_state=0).fit(X)
    moved = KPOD(k, random_state=0).fit(X + shift)
    np.testing.assert_array_equal(model.labels_, moved.labels_)
    np.testing.assert_allclose(moved.cluster_centers_ - shift, model.cluster_centers_, atol=1e-7)
    assert list(dict.fromkeys(model.labels_)) == list(range(model.labels_.max() + 1))
    assert model.n_iter_ == len(model.objective_path_)


def test_starts_in_parts_are_the_same(blobs, monkeypatch):
    """Few starts at a time, as for many rows, change nothing; single precision stays single."""
    X = blobs[0]
    whole = KPOD(3, random_state=0).fit(X)
    monkeypatch.setattr(gramian.clustering.kpod, "_ENTRIES_AT_ONCE", 1)
    np.testing.assert_array_equal(KPOD(3, random_state=0).fit(X).labels_, whole.labels_)
    assert KPOD(3, random_state=0).fit(X.astype(np.float32)).cluster_centers_.dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number >= 1"),
        ({"n_init": 0}, "n_init=0 must be a whole number"),
        ({"max_iter": 1.5}, r"max_iter=1\.5 must be a whole number"),
        ({"tol": -1}, "tol=-1 must be a finite number >= 0"),
    ],
)
def test_bad_parameters(parameters, message, rng):
    """A bad parameter is refused by name."""
    with pytest.raises(ValueError, match=message):
        KPOD(**{"n_clusters": 2, **parameters}).fit(rng.standard_normal((9, 2)))
