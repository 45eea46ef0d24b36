"""k-POD against every possible partition, Lloyd and scikit-learn; imputation and the two forms of the RBF kernel."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from gramian.kernels import resolve_width
from gramian.metrics import adjusted_rand
from gramian.mixture import mcar
from reproduce.baselines import (
    FILLED,
    IMPUTATIONS,
    KPOD,
    WITH_HOLES,
    Ensemble,
    contest,
    impute,
    lloyd,
    rbf,
    standardize,
)


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
    ours, theirs = KPOD(4, random_state=0).fit(X), KMeans(4, n_init=100, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
    assert adjusted_rand(ours.labels_, theirs.labels_) == 1.0
    assert len(ours.objective_path_) == 1
    np.testing.assert_array_equal(ours.X_imputed_, X)


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
    np.testing.assert_array_equal(filled, model.X_imputed_)
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
    with pytest.raises(ValueError, match=r"n_clusters=6 is more than the 5 samples"):
        KPOD(6).fit(X)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X holds no value"):
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


# Treatments of holes -------------------------------------------------------------------------------------------------


def test_standardize_uses_observed_values_only(blobs):
    """Observed values have mean 0 and variance 1, holes stay, and a constant column becomes zero."""
    X = np.column_stack([blobs[0], np.full(90, 3.0)])
    Z = standardize(X)
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(X))
    np.testing.assert_allclose(np.nanmean(Z, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(Z, axis=0), [1] * 5 + [0], atol=1e-12)


def test_imputations_fill_what_they_are_called(rng):
    """Zero, mean, median and most frequent value of the observed part of each column."""
    X = np.array([[1.0], [1.0], [2.0], [8.0], [9.0], [np.nan]])
    found = {name: impute(X, name)[-1, 0] for name in IMPUTATIONS}
    assert found == {"zero": 0.0, "mean": 4.2, "median": 2.0, "most frequent": 1.0}


def test_the_two_forms_of_rbf_differ_by_the_factor_two(rng):
    """ "half" is exp(−d²/(2σ²)), "paper" exp(−d²/σ²), both with σ = 20 % of the median distance."""
    X = rng.standard_normal((30, 3))
    squared = cdist(X, X, "sqeuclidean")
    sigma = 0.2 * np.median(np.sqrt(squared[np.triu_indices(30, 1)]))
    assert resolve_width("median20", X) == pytest.approx(sigma)
    np.testing.assert_allclose(rbf(X, "half").fit(X)(X), np.exp(-squared / (2 * sigma**2)), atol=1e-12)
    np.testing.assert_allclose(rbf(X, "paper").fit(X)(X), np.exp(-squared / sigma**2), atol=1e-12)
    with pytest.raises(ValueError, match="rbf_convention='whole' is not known"):
        rbf(X, "whole")


# Contest -------------------------------------------------------------------------------------------------------------


def test_contest_scores_every_method_on_every_imputation(blobs):
    """Methods for holes appear once, the others once per imputation; clear groups are found by all but RBF."""
    X, _, y = blobs
    methods = (*WITH_HOLES, *FILLED)
    scores = list(contest(standardize(X), y, 0, methods=methods, ensemble=Ensemble(3, 6)))
    expected = [(method, "") for method in WITH_HOLES] + [(method, how) for method in FILLED for how in IMPUTATIONS]
    assert [(score["method"], score["imputation"]) for score in scores] == expected
    for score in scores:
        assert 0 <= score["acc"] <= 1
        assert score["seconds"] > 0
        if score["method"] in ("PCKID", "GMM, 10 starts", "k-POD"):
            assert score["acc"] > 0.9


def test_contest_answers_once_where_zero_is_the_mean(blobs):
    """On standardised columns zero and mean imputation share one answer; in raw units they do not."""
    X, _, y = blobs

    def answers(table):
        scores = contest(table, y, 0, methods=("k-means",), ensemble=Ensemble())
        return {score.pop("imputation"): score for score in scores}

    same, apart = answers(standardize(X)), answers(X)
    assert same["zero"] == same["mean"]
    assert apart["zero"] != apart["mean"]
