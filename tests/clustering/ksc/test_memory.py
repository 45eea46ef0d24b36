"""Kernel spectral clustering with memory: the published system, and the columns that are made of it."""

from __future__ import annotations

import numpy as np
import pytest

from gramian import Nystroem
from gramian.clustering.ksc import Eigenproblem
from gramian.clustering.ksc.memory import memory_system, remembered
from gramian.kernels import RBF, TL1, Linear

CENTERS = np.array([(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (5.0, 5.0)])


def rows(which, n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTERS[list(which)], n, axis=0) + shift + rng.normal(scale=0.5, size=(n * len(which), 2))


def two_snapshots(kernel, now=(0, 1, 2), q=2, dtype=np.float64):
    """A kernel, a Gram of the present with its eigenproblem, and the past: its rows, coefficients and product."""
    old, new = rows((0, 1, 2), 30, 0).astype(dtype), rows(now, 40, 1, 0.2).astype(dtype)
    kernel.fit(old)
    before, gram = Eigenproblem.of(kernel.gram(old), 2), kernel.gram(new)
    return (
        kernel,
        gram,
        Eigenproblem.of(gram, q),
        (old, new, before.coefficients, kernel(new, old) @ before.coefficients),
    )


@pytest.mark.parametrize("kernel", [RBF(0.8), TL1(3.0), Nystroem(20, kernel=RBF(0.8), random_state=0)])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.95])
def test_the_system_is_the_published_one_and_keeps_its_conditions(kernel, gamma):
    """α = γ V e, 1ᵀα = 0 and Vᵀe = 0; the unsymmetric system of the paper, solved as it stands, has the same α."""
    _, gram, problem, (_, _, _, past) = two_snapshots(kernel)
    v, K, nu = problem.degrees.weights, gram.dense(), 0.7
    alpha, b = memory_system(gram, v, past, memory=nu, gamma=gamma)
    e = K @ alpha + nu * past + b
    np.testing.assert_allclose(alpha, gamma * v[:, None] * e, rtol=0, atol=1e-14)
    np.testing.assert_allclose(alpha.sum(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(v @ e, 0, atol=1e-13)
    VM = np.diag(v) - np.outer(v, v) / v.sum()
    textbook = np.linalg.solve(np.eye(len(K)) / gamma - VM @ K, nu * VM @ past)
    np.testing.assert_allclose(alpha, textbook, rtol=0, atol=1e-13)


def test_the_optimum_is_one_of_the_primal():
    """With a linear kernel w and b are at hand: no step from them lowers the objective, as γ < 1/λ₁ makes it convex."""
    rng = np.random.default_rng(3)
    X, w_old = rng.normal(size=(30, 3)) + 3, rng.normal(size=3)
    v, nu = rng.uniform(0.5, 1.5, 30) / 100, 0.4
    gamma = 0.5 / float(Linear().fit(X).gram(X).weighted_centered(v).eigenpairs(1)[0][0])
    alpha, b = memory_system(Linear().fit(X).gram(X), v, (X @ w_old)[:, None], memory=nu, gamma=gamma)

    def objective(w, b):
        e = X @ w + b
        return w @ w / 2 - gamma / 2 * (v * e) @ e - nu * w @ w_old

    def without_offset(w):  # the published model takes the b at which the weighted mean is zero
        return objective(w, -(v @ X @ w) / v.sum())

    w = X.T @ alpha[:, 0] + nu * w_old
    assert b[0] == pytest.approx(-(v @ X @ w) / v.sum())
    best = without_offset(w)
    assert all(without_offset(w + step) > best for step in 0.01 * rng.normal(size=(50, 3)))


def test_memory_scales_the_solution_and_nothing_else():
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8))
    small, large = (memory_system(gram, problem.degrees.weights, past, memory=nu, gamma=0.5)[0] for nu in (0.1, 0.9))
    np.testing.assert_allclose(9 * small, large, rtol=1e-10)


def test_without_memory_the_columns_are_those_of_plain_clustering():
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8))
    found = remembered(problem, gram, past, 0.0)
    np.testing.assert_allclose(found.coefficients, problem.coefficients, atol=1e-12)
    np.testing.assert_allclose(found.scores, problem.scores(), atol=1e-12)
    np.testing.assert_allclose(found.values, problem.values)
    assert found.n_kept == 0
    assert not found.turn.any()


@pytest.mark.parametrize("memory", [0.05, 0.3, 0.9])
def test_remembered_columns_keep_the_conditions_of_the_system(memory):
    """α = γ V e with γ = (1 − ν)/λ₁, for the columns as combined of the past; βᵀβ = (γ value)² I."""
    kernel, gram, problem, (old, new, before, past) = two_snapshots(RBF(0.8))
    found = remembered(problem, gram, past, memory)
    v, gamma = problem.degrees.weights, (1 - memory) / problem.values[0]
    e = kernel(new) @ found.coefficients + kernel(new, old) @ (before @ found.turn) + found.intercept
    assert found.n_kept == 2
    np.testing.assert_allclose(found.scores, e, atol=1e-12)
    np.testing.assert_allclose(found.coefficients, gamma * v[:, None] * e, rtol=0, atol=1e-14)
    beta = found.coefficients / np.sqrt(v)[:, None]
    np.testing.assert_allclose(beta.T @ beta, np.diag((gamma * found.values) ** 2), atol=1e-12)


def test_little_memory_comes_near_to_plain_clustering_and_much_to_the_past():
    """The span of the columns leads from that of the eigenvectors to that of the earlier functions."""
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8))
    root = np.sqrt(problem.degrees.weights)[:, None]

    def angles(first, second):  # cosines between the spans, after weighted centring
        bases = []
        for scores in (first, second):
            beta = root * scores
            beta = beta - root @ (root.T @ beta) / (root**2).sum()
            bases.append(np.linalg.qr(beta)[0])
        return np.linalg.svd(bases[0].T @ bases[1])[1].min()

    near, far = (remembered(problem, gram, past, memory).scores for memory in (1e-4, 0.999))
    assert angles(near, problem.scores()) > 1 - 1e-4
    assert angles(far, past) > 1 - 1e-4
    assert angles(far, problem.scores()) < angles(near, problem.scores())


def test_what_the_past_did_not_know_is_new():
    """A fourth cluster has a column of its own that is orthogonal to the remembered ones and tells it apart."""
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8), now=(0, 1, 2, 3), q=3)
    found = remembered(problem, gram, past, 0.3)
    assert found.n_kept == 2
    assert not found.turn[:, 2].any()
    beta = found.coefficients / np.sqrt(problem.degrees.weights)[:, None]
    assert np.abs(beta[:, :2].T @ beta[:, 2]).max() < 1e-12
    fourth = np.repeat([-1, -1, -1, 1], 40)
    sides = np.sign(found.scores[:, 2]) * np.sign(found.scores[-1, 2])
    assert np.array_equal(sides, fourth)


def test_what_the_present_no_longer_has_is_forgotten():
    """Functions that vary without regard to the clusters of the present are not kept, beside one that does."""
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8))
    noise = np.random.default_rng(5).normal(size=past.shape)
    found = remembered(problem, gram, noise, 0.3)
    assert found.n_kept == 0
    np.testing.assert_allclose(found.coefficients, problem.coefficients, atol=1e-12)
    assert remembered(problem, gram, np.column_stack([noise[:, 0], past[:, 0]]), 0.3).n_kept == 1


def test_a_past_that_says_nothing_leaves_plain_clustering():
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8))
    found = remembered(problem, gram, np.zeros_like(past), 0.5)
    np.testing.assert_allclose(found.coefficients, problem.coefficients, atol=1e-12)
    assert found.n_kept == 0


def test_single_precision_is_kept():
    _, gram, problem, (_, _, _, past) = two_snapshots(RBF(0.8), dtype=np.float32)
    found = remembered(problem, gram, past, 0.5)
    assert {part.dtype for part in (found.coefficients, found.scores, found.intercept, found.turn)} == {np.dtype("f4")}
    double = remembered(*two_snapshots(RBF(0.8))[2:0:-1], two_snapshots(RBF(0.8))[3][3], 0.5)
    np.testing.assert_allclose(np.abs(found.scores), np.abs(double.scores), atol=2e-3)
