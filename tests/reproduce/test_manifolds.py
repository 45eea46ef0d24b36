"""The rivals of the iterative spectral method stay on their manifolds and reach the same maxima."""

import numpy as np
import pytest

from gramian.dependence.projection.ism import ism, objective
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Polynomial
from reproduce.manifolds import StartedProblem, _cayley, grassmann, growth, random_start, stiefel


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 6)) + np.eye(6)[y] * 2.5
    X -= X.mean(axis=0)
    return StartedProblem(X, PairWeights.of_labels(y), RBF(2.5).fit(X), 2, random_start(6, 2, 0))


@pytest.mark.parametrize("method", [stiefel, grassmann, growth])
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_rivals_reach_the_maximum_of_ism(problem, method, zero_diagonal):
    """J is that of their W, by an independent sum, and not below what ISM finds by more than a per cent."""
    found = method(problem, zero_diagonal=zero_diagonal)
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(2), atol=1e-10)
    J = objective(problem.X, problem.weights, problem.kernel, found.W, zero_diagonal)
    assert found.objective == pytest.approx(J, rel=1e-9)
    ours = ism(problem.X, problem.weights, problem.kernel, 2, zero_diagonal=zero_diagonal)
    assert found.objective == pytest.approx(ours.objective, rel=1e-2)
    assert found.status == "converged"


@pytest.mark.parametrize("d", [3, 9])
def test_the_short_form_of_the_curve_is_the_long_one(d):
    """(I + t/2 A)⁻¹ (I − t/2 A) W, for q below and above d/2."""
    rng = np.random.default_rng(d)
    W, G = np.linalg.qr(rng.standard_normal((d, 2)))[0], rng.standard_normal((d, 2))
    A = G @ W.T - W @ G.T
    there = np.linalg.inv(np.eye(d) + 0.35 * A) @ (np.eye(d) - 0.35 * A) @ W
    np.testing.assert_allclose(_cayley(W, G, 0.7), there, atol=1e-12)


@pytest.mark.parametrize("method", [stiefel, grassmann])
def test_a_limit_ends_the_climb(problem, method):
    """With what was best by then."""
    polynomial = StartedProblem(problem.X, problem.weights, Polynomial(3).fit(problem.X), 2, problem.first)
    found = method(polynomial, limit=-1.0)
    assert found.status == "limit"
    assert found.n_evaluations == 1
