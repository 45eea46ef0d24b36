"""The climb of the iterative spectral method: it never goes down, stops for a reason, and says which."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from dependence.projection.textbook_ism import blobs, kernel_of, orthonormal, pair_weights, rows, standardised
from dependence.projection.textbook_ism import objective as slow_objective
from gramian.dependence.projection import _climb
from gramian.dependence.projection._climb import Climb, sine, warn_of_gap
from gramian.dependence.projection._pairs import Formed, PairSum, profiles_of
from gramian.dependence.projection.ism import ism
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Polynomial, ProfileKernel

ism_module = import_module("gramian.dependence.projection.ism")  # the package's attribute of this name is the function


@pytest.mark.parametrize("seed", range(100))
def test_never_down(seed):
    """On noise, where the plain method often falls, J never does; the end is a stationary point of the right J."""
    rng = np.random.default_rng(seed)
    name = ["rbf", "multiquadric", "scaled polynomial", "inverse multiquadric", "sum"][seed % 5]
    X, weights = rows(60, 8, seed), pair_weights(["labels", "difference"][seed % 2], 60, seed)
    kernel = kernel_of(name, X)
    q = int(rng.integers(1, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = ism(X, weights, kernel, q, init=["spectral", "random"][seed % 3 == 0], random_state=seed, max_iter=60)
    path = result.objective_path
    assert np.all(np.diff(path) >= -1e-9 * np.abs(path[:-1]))
    W = result.components.T
    np.testing.assert_allclose(W.T @ W, np.eye(q), atol=1e-10)
    assert result.objective == pytest.approx(slow_objective(X, weights.dense(), kernel, W), rel=1e-9, abs=1e-9)
    phi = PairSum(X, weights, profiles_of(kernel)).evaluate(W).matrix
    image = phi @ W
    residual = np.linalg.norm(image - W @ (W.T @ image)) / np.linalg.norm(image)
    assert residual == pytest.approx(result.residual, rel=1e-3, abs=1e-9)
    assert not result.converged or result.residual < 1e-6 or result.status == "stalled"
    np.testing.assert_allclose(result.spectrum, np.linalg.eigvalsh(phi)[::-1], rtol=1e-6, atol=1e-6 * np.abs(phi).max())
    np.testing.assert_allclose(result.eigenvalues, np.linalg.eigvalsh(W.T @ image)[::-1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("convergence", ["subspace", "eigenvalues", "stationarity", "objective"])
def test_criteria(convergence):
    """Every criterion ends at the maximum, the published one and that of J a little before it."""
    X, y, width = standardised(load_wine)
    weights = PairWeights.of_labels(y)
    best = ism(X, weights, RBF(width), 3, tol=1e-10).objective
    result = ism(X, weights, RBF(width), 3, convergence=convergence, tol=1e-5)
    assert result.converged
    assert result.objective == pytest.approx(best, rel=1e-5)
    loose = ism(X, weights, RBF(width), 3, convergence="eigenvalues", tol=0.01, safeguard=False)
    assert loose.n_iter < 10


def test_slow_climbs_are_extrapolated(monkeypatch):
    """Extrapolation leads to the same maximum in a fraction of the evaluations, and never down."""
    X, y, _ = standardised(load_wine)
    weights, kernel = PairWeights.of_labels(y), 4**-3.0 * Polynomial(3, 4.0)
    quick = ism(X, weights, kernel, 4)
    monkeypatch.setattr(_climb, "_SLOW", 1.0)
    slow = ism(X, weights, kernel, 4)
    assert quick.objective == pytest.approx(slow.objective, rel=1e-10)
    assert quick.n_evaluations < 0.7 * slow.n_evaluations
    assert np.diff(quick.objective_path).min() >= -1e-12 * quick.objective


@pytest.mark.parametrize(
    ("scale", "kernel"),
    [
        (1e3, RBF(1.0)),
        (1.0, RBF(1e-3)),
        (1.0, 0.0 * RBF(1.0)),
        (0.0, RBF(1.0)),
        (0.0, Polynomial(3)),
        (1e3, ProfileKernel(lambda b: np.exp(-b / 2), lambda b: -0.5 * np.exp(-b / 2))),
    ],
    ids=["large numbers", "narrow", "zero", "constant", "constant polynomial", "written"],
)
@pytest.mark.parametrize("held", [False, True])
def test_flat_kernels(monkeypatch, scale, kernel, held):
    """Where the kernel says nothing the start is returned, and nothing is called a solution."""
    monkeypatch.setattr(ism_module, "_FEW_COLUMNS", 5 if held else 200)
    X = 0.3 + scale * rows(200, 40)
    start = orthonormal(40, 2)
    with pytest.warns(ConvergenceWarning, match="flat on all projections of X.*scale X, or widen"):
        result = ism(X, PairWeights.of_labels(rows(200, 1)[:, 0] > 0), kernel, 2, init=start)
    assert (result.status, result.converged, result.n_iter) == ("stalled", False, 0)
    assert sine(start, result.components.T) < 1e-10


def test_a_failed_climb_warns():
    """A climb that ends short of a stationary point says so, whatever ended it."""

    class Opposite(PairSum):
        def evaluate(self, W):
            evaluation = super().evaluate(W)
            return Formed(evaluation.objective, evaluation.size, -evaluation.matrix)

    X, y = blobs()
    total = Opposite(X, PairWeights.of_labels(y), profiles_of(RBF(2.0)))
    run = Climb(total, "subspace", 1e-6, 50, True, np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="no step raises the objective, though .* is not stationary"):
        result = run.run(orthonormal(6, 2), None, 0)
    assert not result.converged
    with pytest.raises(ValueError, match="pass the derivative of value"):
        ism(X, PairWeights.of_labels(y), ProfileKernel(lambda b: np.exp(-b), lambda b: np.exp(-b)), 2)


def test_a_climb_on_the_level_ends():
    """Where Φ vanishes no shift makes J rise, and the search for one must not go on for ever."""

    class Level:
        W = np.eye(3)[:, :1]

        def leading(self, shift):
            return np.zeros(2), np.eye(3)[:, 1:2]

        def span(self):
            return 0.0

    class Falling:
        objective = 0.5

        def evaluate(self, W):
            return self

    climb = Climb(Falling(), "subspace", 1e-6, 10, True, np.random.default_rng(0))
    assert climb._step(Level(), 1.0) is None


def test_sine_is_of_the_largest_principal_angle():
    """As SciPy has it, and zero for two bases of one subspace."""
    V, W = orthonormal(8, 3, seed=1), orthonormal(8, 3, seed=2)
    assert sine(V, W) == pytest.approx(np.sin(subspace_angles(V, W).max()), rel=1e-10)
    assert sine(V, V @ orthonormal(3, 3)) < 1e-14


def test_the_nearest_basis():
    """Of all bases of a subspace the one that differs least from another basis: no rotation comes nearer."""
    W, V = orthonormal(6, 2, seed=1), orthonormal(6, 2, seed=2)
    found = _climb._aligned(W, V)
    assert sine(W, found) < 1e-12
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-12)
    for seed in range(20):
        assert np.linalg.norm(found - V) <= np.linalg.norm(W @ orthonormal(2, 2, seed) - V) + 1e-12


def test_the_end_is_a_stationary_point():
    """At the end the gradient has no part that leaves the subspace, and J is the sum over pairs."""
    X, y = blobs()
    weights, kernel = PairWeights.of_labels(y), RBF(2.0)
    total = PairSum(X, weights, profiles_of(kernel))
    result = Climb(total, "subspace", 1e-8, 200, True, np.random.default_rng(0)).run(orthonormal(6, 2), None, 0)
    W = result.components.T
    image = total.evaluate(W).product(W)
    assert np.linalg.norm(image - W @ (W.T @ image)) < 1e-7 * np.linalg.norm(image)
    assert result.objective == pytest.approx(slow_objective(X, weights.dense(), kernel, W), rel=1e-10)
    np.testing.assert_allclose(np.linalg.eigvalsh(W.T @ image)[::-1], result.eigenvalues, rtol=1e-8)
    assert result.converged
    assert result.status == "converged"


def test_too_few_steps_are_told():
    """After ``max_iter`` steps the climb ends, short of its goal."""
    X, y = blobs()
    total = PairSum(X, PairWeights.of_labels(y), profiles_of(RBF(2.0)))
    run = Climb(total, "subspace", 1e-12, 1, True, np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="had not settled after max_iter=1 steps"):
        result = run.run(orthonormal(6, 2), None, 0)
    assert (result.status, result.converged, result.n_iter) == ("max_iter", False, 1)


def test_gaps_that_vanish_are_told():
    """Equal eigenvalues after the last component, but not elsewhere, nor where there is none after it."""
    with pytest.warns(UserWarning, match="components 2 and 3 are equal"):
        warn_of_gap(np.array([3.0, 1.0, 1.0]), 2, stacklevel=2)
    warn_of_gap(np.array([3.0, 1.0, 1.0]), 1, stacklevel=2)
    warn_of_gap(np.array([3.0, 1.0]), 2, stacklevel=2)
