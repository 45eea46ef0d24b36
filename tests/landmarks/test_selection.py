"""The ways to choose landmarks against brute force: recomputed entropies, dense leverage scores, all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.kernels import RBF, Linear, Polynomial
from gramian.landmarks import renyi_entropy, ridge_leverage_scores
from gramian.landmarks.selection import (
    approximate_leverage_scores,
    entropy_kernel,
    kmeans_landmarks,
    leverage,
    renyi,
    uniform,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def X(rng):
    return rng.normal(size=(150, 3))


# Uniform and k-means


def test_uniform_takes_every_row_equally_often(rng):
    """Over many draws every index appears with the same frequency, never twice in one draw."""
    draws = np.array([uniform(10, 4, rng) for _ in range(4000)])
    assert all(len(set(draw)) == 4 for draw in draws.tolist())
    np.testing.assert_allclose(np.bincount(draws.ravel()) / 4000, 0.4, atol=0.04)


def test_kmeans_centres_lower_the_distance_to_the_nearest(X, rng):
    """Centres of k-means are nearer to the rows than rows chosen at random."""

    def distortion(points):
        return ((X[:, None] - points[None]) ** 2).sum(-1).min(axis=1).mean()

    random = np.mean([distortion(X[uniform(150, 20, rng)]) for _ in range(20)])
    assert distortion(kmeans_landmarks(X, 20, rng)) < 0.8 * random


def test_kmeans_with_few_distinct_rows_returns_them(rng):
    """Where there are no more distinct rows than centres, the distinct rows are the centres, dense or sparse."""
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    for rows in (X, sp.csr_array(X)):
        centers = kmeans_landmarks(rows, 3, rng)
        assert sorted(centers.tolist()) == [[0.0, 2.0], [1.0, 0.0]]


def test_kmeans_counts_duplicates(rng):
    """A row that occurs often pulls its centre as often."""
    X = np.array([[0.0]] * 9 + [[1.0]] + [[50.0]])
    np.testing.assert_allclose(np.sort(kmeans_landmarks(X, 2, rng), axis=0), [[0.1], [50.0]])


def test_kmeans_keeps_the_dtype(X, rng):
    """float32 rows have float32 centres."""
    assert kmeans_landmarks(X.astype(np.float32), 10, rng).dtype == np.float32


# Rényi entropy


def test_entropy_is_the_log_of_the_mean_similarity(X):
    """renyi_entropy is −log of the mean of the kernel matrix, and the spectral form of the spec agrees."""
    K = RBF(width=0.7)(X)
    values, vectors = np.linalg.eigh(K)
    spectral = -np.log((vectors.mean(axis=0) ** 2 * values).sum())
    assert renyi_entropy(RBF(width=0.7), X) == pytest.approx(-np.log(K.mean()), abs=1e-12)
    assert renyi_entropy(RBF(width=0.7), X) == pytest.approx(spectral, abs=1e-10)


def test_entropy_needs_positive_similarities():
    """A kernel whose values sum to zero or less has no entropy, and the error says what to use."""
    with pytest.raises(ValueError, match="kernel with values >= 0"):
        renyi_entropy(Linear(), [[1.0], [-1.0]])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 80),
    share=st.floats(0.0, 1.0),
    n_trials=st.sampled_from([0, 1, 50, 700]),
)
def test_swaps_only_raise_the_entropy(seed, n, share, n_trials):
    """The entropy path never falls, and its end is the recomputed entropy of the returned rows, all different."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    m = max(1, round(share * n))
    kernel = RBF(width=0.5)
    indices, path = renyi(kernel, X, m, np.random.default_rng(seed), n_trials)
    assert len(set(indices.tolist())) == m
    assert (np.diff(path) > 0).all()
    assert path[-1] == pytest.approx(renyi_entropy(kernel, X[indices]), abs=1e-8)


def test_swaps_follow_the_one_by_one_algorithm(X):
    """Given the same proposals, the batched swaps end at the subset that recomputing every sum ends at."""
    kernel, m = RBF(width=0.5), 20
    K = kernel(X)
    indices, path = renyi(kernel, X, m, np.random.default_rng(5), 400)

    rng = np.random.default_rng(5)  # the documented order of draws: the start, then candidates and places per batch
    subset = rng.choice(len(X), m, replace=False)
    expected, left = [-np.log(K[np.ix_(subset, subset)].mean())], 400
    while left:
        batch = rng.choice(np.setdiff1d(np.arange(len(X)), subset), min(len(X) - m, left), replace=False)
        left -= len(batch)
        for q, p in zip(batch, rng.integers(m, size=len(batch)), strict=True):
            trial = subset.copy()
            trial[p] = q
            entropy = -np.log(K[np.ix_(trial, trial)].mean())
            if entropy > expected[-1]:
                subset, expected = trial, [*expected, entropy]
    np.testing.assert_array_equal(indices, subset)
    np.testing.assert_allclose(path, expected, atol=1e-10)


def test_swaps_find_an_outlier(rng):
    """A row far from a crowd is in the subset, whatever the start."""
    X = np.vstack([rng.normal(size=(60, 2)) * 0.1, [[10.0, 10.0]]])
    assert all(60 in renyi(RBF(width=1.0), X, 5, np.random.default_rng(i), 500)[0] for i in range(10))


def test_entropy_width_follows_the_rule():
    """On many one-dimensional rows the width is √2 h with h = 1.06 n^(-1/5); the library writes exp(−d²/(2 width²))."""
    X = 100 + 7 * np.random.default_rng(0).normal(size=(60, 1))
    kernel, Z = entropy_kernel(X)
    np.testing.assert_allclose(Z, (X - X.mean()) / X.std())
    h = 1.06 * 60 ** (-1 / 5)
    sigma2 = 2 * (np.sqrt(2) * h) ** 2
    np.testing.assert_allclose(kernel(Z), np.exp(-((Z - Z.T) ** 2) / sigma2), atol=1e-12)


def test_entropy_width_has_a_floor():
    """Where the rule would make all rows strangers, the squared width is 0.05 of the median squared distance."""
    X = np.random.default_rng(0).normal(size=(200, 60))
    kernel, Z = entropy_kernel(X)
    squared = ((Z[:, None] - Z[None]) ** 2).sum(-1)[np.triu_indices(200, 1)]
    h = 1.06 * 200 ** (-1 / 64)
    assert 4 * h**2 < 0.05 * np.median(squared)
    assert 2 * kernel.width**2 == pytest.approx(0.05 * np.median(squared), rel=1e-4)


def test_entropy_kernel_of_equal_rows_and_sparse_rows():
    """Equal rows have some width; sparse rows stay sparse and have the width of their dense form."""
    assert entropy_kernel(np.full((5, 2), 0.1))[0].width == 1.0
    X = np.maximum(np.random.default_rng(0).normal(size=(50, 3)), 0)
    (dense, _), (sparse, Z) = entropy_kernel(X), entropy_kernel(sp.csr_array(X))
    assert sp.issparse(Z)
    assert sparse.width == pytest.approx(dense.width)


# Leverage scores


@pytest.mark.parametrize("kernel", [RBF(width=1.0), Linear(), Polynomial()], ids=repr)
@pytest.mark.parametrize("regularization", [1e-3, 1.0, 100.0])
def test_scores_are_the_textbook_diagonal(X, kernel, regularization):
    """ridge_leverage_scores is the diagonal of K (K + λI)^-1 from the explicit inverse."""
    K = kernel(X)
    expected = np.diagonal(K @ np.linalg.inv(K + regularization * np.eye(len(K))))
    np.testing.assert_allclose(ridge_leverage_scores(kernel, X, regularization), expected, atol=1e-8)


def test_scores_take_names_and_refuse_bad_regularization(X):
    """A kernel's name is enough; λ must be positive, and the error names it."""
    scores = ridge_leverage_scores("rbf", X, 1.0)
    np.testing.assert_allclose(scores, ridge_leverage_scores(RBF("median"), X, 1.0))
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="regularization="):
            ridge_leverage_scores("rbf", X, bad)


def test_scores_from_all_rows_as_pilot_are_exact(X):
    """With every row in the pilot the approximate scores are the exact ones."""
    kernel = RBF(width=1.0)
    approximate = approximate_leverage_scores(kernel, X, np.arange(150), 0.5)
    np.testing.assert_allclose(approximate, ridge_leverage_scores(kernel, X, 0.5), atol=1e-10)


def test_scores_from_a_pilot_are_close():
    """A pilot of a fifth of the rows gives scores whose ranking and sum follow the exact ones."""
    X = np.random.default_rng(0).normal(size=(1000, 2))
    kernel = RBF(width=1.0)
    pilot = uniform(1000, 200, np.random.default_rng(1))
    exact, approximate = ridge_leverage_scores(kernel, X, 1.0), approximate_leverage_scores(kernel, X, pilot, 1.0)
    assert np.corrcoef(exact, approximate)[0, 1] > 0.9
    assert approximate.sum() == pytest.approx(exact.sum(), rel=0.3)


def test_leverage_takes_rows_by_their_scores():
    """Rows are drawn without repetition, rare rows much more often than rows of a crowd."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.05 * rng.normal(size=(190, 2)), 5 * rng.normal(size=(10, 2))])
    draws = [leverage(RBF(width=1.0), X, 40, np.random.default_rng(i)) for i in range(30)]
    assert all(len(set(draw.tolist())) == 40 for draw in draws)
    rare = np.mean([(draw >= 190).sum() for draw in draws])
    assert rare > 6  # of 10; uniform draws take 2


def test_leverage_of_equal_rows_still_gives_m_rows(rng):
    """Where all rows are alike, and all scores nearly zero, there are m different indices all the same."""
    assert len(set(leverage(RBF(width=1.0), np.zeros((30, 2)), 7, rng).tolist())) == 7
