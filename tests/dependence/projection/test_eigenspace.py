"""Leading eigenvectors of Φ against LAPACK on the matrix written out."""

from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from dependence.projection.textbook_ism import (
    KERNELS,
    blobs,
    double_loop_phi,
    kernel_of,
    orthonormal,
    pair_weights,
    projector,
    rows,
    standardised,
)
from gramian.dependence.projection import _eigenspace
from gramian.dependence.projection._climb import sine
from gramian.dependence.projection._eigenspace import ConstantPhi, KrylovSpace, MatrixSpace, space_of
from gramian.dependence.projection._pairs import Formed, Held, PairSum, profiles_of
from gramian.dependence.projection.ism import ism, suggest_n_components
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Linear, Polynomial
from gramian.kernels.profile import Power

ism_module = import_module("gramian.dependence.projection.ism")  # the package's attribute of this name is the function


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["labels", "general", "difference"])
def test_spectral_start_is_phi_at_zero(name, kind):
    """The start spans the leading eigenvectors of Φ(W = 0)."""
    X, weights = rows(40, 7), pair_weights(kind, 40)
    profiles = profiles_of(kernel_of(name, X))
    values, vectors = ConstantPhi(X, weights, profiles).leading(2)
    assert np.all(np.isfinite(vectors))
    phi = PairSum(X, weights, profiles).evaluate(np.zeros((7, 2))).matrix
    if name == "even polynomial":  # f′(0) = 0: the linear kernel stands in
        phi = PairSum(X, weights, profiles_of(Linear())).evaluate(orthonormal(7)).matrix
    expected, basis = np.linalg.eigh(phi)
    np.testing.assert_allclose(values, expected[::-1][:2], rtol=1e-7, atol=1e-9)
    if expected[-2] > 1e-8:
        assert sine(basis[:, -2:], vectors) < 1e-6


def test_arbitrary_directions_are_principal():
    """Beyond the rank of Φ at zero the start takes the principal directions of what is left."""
    X, y, _ = standardised(load_wine)
    values, W = ConstantPhi(X, PairWeights.of_labels(y), profiles_of(RBF(5.0))).leading(4)
    assert np.count_nonzero(values) == 2
    rest = X - X @ projector(W[:, :2])
    expected = PCA(2).fit(rest).components_.T
    assert sine(expected, W[:, 2:]) < 1e-8


@pytest.mark.parametrize("kernel", [RBF(9.0), Polynomial(2, 20.0)], ids=repr)
def test_products_find_what_the_matrix_finds(kernel, monkeypatch):
    """With Φ by its products only, the same maximum is found as with Φ formed."""
    X, y = blobs(150, 60)
    weights = PairWeights.of_labels(y)
    formed = ism(X, weights, kernel, 2, max_iter=500)
    monkeypatch.setattr(ism_module, "_FEW_COLUMNS", 5)
    held = ism(X, weights, kernel, 2, max_iter=500)
    assert held.objective == pytest.approx(formed.objective, rel=1e-9)
    assert sine(held.components.T, formed.components.T) < 1e-5
    assert held.residual < 1e-6
    np.testing.assert_allclose(held.spectrum[:3], formed.spectrum[:3], rtol=1e-5)
    assert held.top_eigenspace == formed.top_eigenspace


def test_products_give_way_to_the_matrix(monkeypatch):
    """Where a step takes too many products, Φ is formed from then on, with the same end."""
    X, y = blobs(150, 60)
    weights = PairWeights.of_labels(y)
    formed = ism(X, weights, RBF(9.0), 2)
    monkeypatch.setattr(ism_module, "_FEW_COLUMNS", 5)
    monkeypatch.setattr(KrylovSpace, "costly", True)
    switched = ism(X, weights, RBF(9.0), 2)
    assert len(switched.spectrum) == 60
    assert switched.objective == pytest.approx(formed.objective, rel=1e-9)


@pytest.mark.parametrize("q", [1, 2])
def test_the_gap_is_seen_from_few_components(monkeypatch, q):
    """Five directions matter; the gap after them shows with one component too, by the matrix or by products."""
    X = rows(300, 12)
    weights = PairWeights.of_targets(X[:, :5])
    closed = ism(X, weights, Linear(), q)
    assert suggest_n_components(closed) == 5
    phi = X.T @ weights.dense() @ X
    np.testing.assert_allclose(closed.spectrum, np.linalg.eigvalsh(phi)[::-1], atol=1e-9 * np.linalg.norm(phi))
    monkeypatch.setattr(ism_module, "_FEW_COLUMNS", 5)
    X = rows(300, 60)
    weights = PairWeights.of_targets(X[:, :5])
    held = ism(X, weights, RBF(40.0), q)
    assert 5 < len(held.spectrum) < 60
    assert suggest_n_components(held) == 5
    phi = PairSum(X, weights, profiles_of(RBF(40.0))).evaluate(held.components.T).matrix
    expected = np.linalg.eigvalsh(phi)[::-1][: len(held.spectrum)]
    np.testing.assert_allclose(held.spectrum, expected, atol=2e-3 * expected[0])


def symmetric(d=30, seed=0):
    """A matrix of any signs with a clear gap after its second eigenvalue."""
    Q = orthonormal(d, d, seed)
    return (Q * np.concatenate([[9.0, 7.0], np.linspace(2, -3, d - 2)])) @ Q.T


@pytest.mark.parametrize("kind", ["labels", "general", "difference"])
@pytest.mark.parametrize("zero_diagonal", [False, True])
@pytest.mark.parametrize("name", ["linear", "squared distance"])
def test_constant_phi_is_the_double_loop(name, kind, zero_diagonal):
    """All eigenvalues of kernels of constant slope, pair by pair."""
    X, weights = rows(15), pair_weights(kind, 15)
    profiles = profiles_of(KERNELS[name])
    phi = double_loop_phi(X, weights.dense(), profiles, np.zeros((5, 2)), zero_diagonal)
    expected = np.linalg.eigvalsh(phi)[::-1]
    found = ConstantPhi(X, weights, profiles, zero_diagonal=zero_diagonal)
    np.testing.assert_allclose(found.spectrum(5), expected, atol=1e-8 * np.abs(expected).max())
    values, W = found.leading(5)
    np.testing.assert_allclose(phi @ W, W * values, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("kind", ["labels", "general"])
def test_a_matrix_too_large_to_form(kind, monkeypatch):
    """By products the same directions are found as by the matrix, also those of eigenvalue zero."""
    X, weights = rows(60, 12), pair_weights(kind, 60)
    formed = ConstantPhi(X, weights, profiles_of(RBF(3.0))).leading(4)
    monkeypatch.setattr(_eigenspace, "_FORMED", 5)
    products = ConstantPhi(X, weights, profiles_of(RBF(3.0))).leading(4)
    np.testing.assert_allclose(products[0], formed[0], rtol=1e-6, atol=1e-9 * np.abs(formed[0]).max())
    assert sine(formed[1], products[1]) < 1e-4


def test_slopes_that_do_not_exist_are_those_of_a_rising_similarity():
    """−√β has no slope at zero; its start is that of a similarity that falls with the distance."""
    X, weights = rows(30), pair_weights("labels", 30)
    root = ((1.0, Power("distance", 0.5, amplitude=-1.0)),)
    expected = ConstantPhi(X, weights, profiles_of(RBF(1.0))).leading(2)[1]
    assert sine(expected, ConstantPhi(X, weights, root).leading(2)[1]) < 1e-8


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_both_spaces_find_the_leading_vectors(shift):
    """The leading eigenvectors of Φ + ρ WWᵀ, by LAPACK on that matrix."""
    phi, W = symmetric(), orthonormal(30, 2, seed=5)
    values, vectors = np.linalg.eigh(phi + shift * W @ W.T)
    matrix = MatrixSpace(phi, W)
    krylov = KrylovSpace(Formed(0.0, 1.0, phi), W, orthonormal(30, 4, seed=6))
    for space in (matrix, krylov):
        found, basis = space.leading(shift, final=True)
        np.testing.assert_allclose(found[:3], values[::-1][:3], rtol=1e-6)
        assert sine(vectors[:, -2:], basis) < 1e-6
        assert space.span() == pytest.approx(12.0, rel=0.2)
        image = phi @ W
        residual = np.linalg.norm(image - W @ (W.T @ image)) / np.linalg.norm(image)
        assert space.residual == pytest.approx(residual, rel=1e-10)
    assert not matrix.costly
    assert matrix.neighbours is None


def test_a_step_is_as_exact_as_it_deserves():
    """Far from the end few products are taken; the directions after the leading ones are handed on."""
    taken = []

    class Counted(Formed):
        def product(self, V):
            taken.append(V.shape[1])
            return super().product(V)

    phi, W = symmetric(), orthonormal(30, 2, seed=5)
    space = KrylovSpace(Counted(0.0, 1.0, phi), W, orthonormal(30, 4, seed=6))
    space.leading(0.0)
    rough = sum(taken)
    KrylovSpace(Counted(0.0, 1.0, phi), W, orthonormal(30, 4, seed=6)).leading(0.0, final=True)
    assert sum(taken) - rough > rough
    assert space.neighbours.shape == (30, 4)
    assert not space.costly


def test_the_space_follows_what_is_there():
    """A matrix where there is one, products elsewhere, from random directions in the beginning."""
    X, weights, W = rows(20, 9), pair_weights("labels", 20), orthonormal(9)
    profiles = profiles_of(RBF(2.0))
    rng = np.random.default_rng(0)
    formed = PairSum(X, weights, profiles).evaluate(W)
    held = PairSum(X, weights, profiles, hold=True).evaluate(W)
    assert isinstance(held, Held)
    spaces = [space_of(evaluation, W, None, rng) for evaluation in (formed, held)]
    assert [type(space) for space in spaces] == [MatrixSpace, KrylovSpace]
    np.testing.assert_allclose(spaces[0].image, spaces[1].image, atol=1e-10)
    for value, rotated in zip(*spaces[0].rotated(), strict=False):
        assert np.isfinite(value)
        assert rotated.shape == (2,)
