"""The joint embedding: its identities with Green's function, new samples, and samples of low degree."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.grams import DenseGram
from gramian.kernels import RBF
from gramian.ranking.kernel_walk.joint_embedding import (
    LaplacianPlacement,
    laplacian_axes,
    low_degrees,
    normalized_axes,
    unpruned,
    walk_axes,
    warn_localized,
)
from gramian.ranking.kernel_walk.walk import Walk

ALPHA = 0.15
BETA = ALPHA / (1 - ALPHA)


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((40, 2))


def green(K):
    """((1 + β) D − K)^-1."""
    return np.linalg.inv((1 + BETA) * np.diag(K.sum(axis=1)) - K)


def pagerank(K, S, restart=ALPHA):
    """π = (1 − α) Pᵀ π + α s, by a dense solve."""
    P = K / K.sum(axis=1, keepdims=True)
    return restart * np.linalg.solve(np.eye(len(K)) - (1 - restart) * P.T, S)


@given(st.integers(0, 2**32), st.integers(4, 25))
@settings(max_examples=25, deadline=None)
def test_all_columns(seed, n):
    """Z Zᵀ = β vol G_β for both embeddings (the constant column added back), distances are resistances."""
    K = RBF(1.0)(np.random.default_rng(seed).standard_normal((n, 2)))
    walk, d = Walk(DenseGram(K)), K.sum(axis=1)
    goal = BETA * d.sum() * green(K)
    found = laplacian_axes(walk, ALPHA, n)
    mu, Z = found.values, found.embedding
    np.testing.assert_allclose(Z @ Z.T, goal, rtol=1e-7, atol=1e-9 * goal.max())
    assert BETA * d.min() * (1 - 1e-6) <= mu[0] <= ((1 + BETA) * d - np.diag(K)).min() * (1 + 1e-9)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    Zn = normalized_axes(walk, ALPHA, (values[:-1], vectors[:, :-1])).embedding
    np.testing.assert_allclose(Zn @ Zn.T + 1, goal, rtol=1e-7, atol=1e-9 * goal.max())
    resistance = BETA * (np.diag(green(K))[:, None] + np.diag(green(K)) - 2 * green(K))
    distances = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, d.sum() * resistance, atol=1e-8 * goal.max())
    s = np.eye(n)[:, :3]
    np.testing.assert_allclose(d[:, None] * (Z @ (Z.T @ s)) / d.sum(), pagerank(K, s), atol=1e-9)


def test_walk_axes_are_the_eigenvectors_of_the_walk(X):
    """P Y = Y Λ for Y = D^-½ E, without the constant one, falling, and none of eigenvalue zero or below."""
    K = RBF(0.5)(X)
    values, vectors = walk_axes(Walk(DenseGram(K)), 6)
    d = K.sum(axis=1)
    Y = vectors / np.sqrt(d)[:, None]
    np.testing.assert_allclose(K / d[:, None] @ Y, Y * values, atol=1e-8)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(d @ Y, 0, atol=1e-8)
    three = Walk(DenseGram(np.kron(np.eye(3), np.ones((4, 4)))))
    np.testing.assert_allclose(walk_axes(three, 8)[0], [1, 1], atol=1e-10)


@pytest.mark.parametrize("published", [True, False])
def test_placement(published, X):
    """A new sample is placed by the eigenvector equation, a fitted one where it is; pruned samples do not count."""
    kernel = RBF(0.8).fit(X)
    inside = np.ones(40, bool)
    inside[[3, 17]] = False
    K = kernel(X[inside])
    walk = Walk(DenseGram(K))
    axes = laplacian_axes(walk, ALPHA, 3) if published else normalized_axes(walk, ALPHA, walk_axes(walk, 3))
    place = axes.placement(kernel, X, DenseGram(kernel(X)), inside)
    found, alone = place(X[inside])
    np.testing.assert_allclose(found, axes.embedding, atol=1e-7 * np.abs(axes.embedding).max())
    assert not alone.any()
    new = np.array([[0.1, 0.2], [1.0, -1.0]])
    block = kernel(new, X[inside])
    degrees = block.sum(axis=1, keepdims=True)
    divisors = (1 + BETA) * degrees - axes.values if published else degrees * axes.values
    np.testing.assert_allclose(place(new)[0], block @ axes.embedding / divisors, rtol=1e-6)
    assert isinstance(place, LaplacianPlacement) is published


def test_a_new_sample_on_a_pole_has_no_place(X):
    """Where (1 + β) d(x) = μ_j the extension divides by zero; such a coordinate is left out instead."""
    kernel = RBF(0.8).fit(X)
    walk = Walk(DenseGram(kernel(X)))
    axes = laplacian_axes(walk, ALPHA, 2)
    place = axes.placement(kernel, X, walk.gram, np.ones(40, bool))
    degrees = np.array([[axes.values[1] / (1 + BETA)], [5.0]])
    divisors = place.divisors(degrees)
    assert divisors[0, 1] == 0
    np.testing.assert_allclose(divisors[1], (1 + BETA) * 5 - axes.values)


def test_low_degrees_come_before_the_constant_vector(X):
    """Flagged are those whose own vector has a smaller Rayleigh quotient under L_β than the constant one."""
    K = RBF(0.3)(np.vstack([X, [[9.0, 9.0]]]))
    K[-1, -1] = 0.2
    L = (1 + BETA) * np.diag(K.sum(axis=1)) - K
    ones = np.ones(41) / np.sqrt(41)
    np.testing.assert_array_equal(low_degrees(Walk(DenseGram(K)), ALPHA), np.diag(L) < ones @ L @ ones)
    assert low_degrees(Walk(DenseGram(K)), ALPHA)[-1]


def test_low_degrees_count_without_the_sample_itself():
    """(1 + β) d_i − K_ii < β vol / n: a sample that is like itself alone is flagged at half the usual degree."""
    K = np.zeros((5, 5))
    K[:4, :4], K[4, 4] = 0.25, 0.5
    assert (1 + BETA) * 0.5 - 0.5 < BETA * 4.5 / 5 < (1 + BETA) * 0.5
    np.testing.assert_array_equal(low_degrees(Walk(DenseGram(K)), ALPHA), [False] * 4 + [True])


def test_unpruned():
    """Samples of lowest degree are left out by number, those of a mask by "auto", none by default."""
    degrees, low = np.array([3.0, 1.0, 2.0, 1.0, 5.0]), np.array([False, True, False, False, False])
    assert unpruned(None, degrees, low).all()
    np.testing.assert_array_equal(unpruned("auto", degrees, low), ~low)
    np.testing.assert_array_equal(np.flatnonzero(~unpruned(2, degrees, low)), [1, 3])
    np.testing.assert_array_equal(np.flatnonzero(~unpruned(3, degrees, low)), [1, 2, 3])
    assert unpruned(0, degrees, low).all()
    for bad in (4, -1, 1.5, "all", True):
        with pytest.raises(ValueError, match="prune_low_degree="):
            unpruned(bad, degrees, low)


def test_localized_axes_are_told():
    """An axis on few samples of low degree, or on one sample of a hundred, is said; an axis over all is not."""
    rng = np.random.default_rng(1)
    even, one = rng.standard_normal(120), np.eye(120)[7]
    none = np.zeros(120, bool)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_localized(even[:, None], none)
        warn_localized(np.eye(50)[:, :1], none[:50])  # of few samples, a cluster may be one
    with pytest.warns(UserWarning, match="1 of 2 axes of the embedding went to single samples"):
        warn_localized(np.column_stack([even, one]), none)
    low = none.copy()
    low[7] = True
    with pytest.warns(UserWarning, match=r"1 of 2 axes of the embedding went to 1 sample of low degree"):
        warn_localized(np.column_stack([even, one]), low)
