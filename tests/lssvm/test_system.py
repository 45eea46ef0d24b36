"""The bordered system, against the matrix of its definition."""

import numpy as np
import pytest

from gramian.kernels import RBF, TL1, Linear, Tanh
from gramian.lssvm import system as system_module
from gramian.lssvm.system import BorderedSystem, left_out
from lssvm.textbook_lssvm import bordered, problem, refits

KERNELS = [RBF(1.0), Linear(), TL1(2.0), Tanh(0.5, -0.3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_solution_is_that_of_the_bordered_matrix(kernel, weighted):
    """Eliminating the intercept changes nothing, for definite and indefinite kernels, with weights and without."""
    X, y = problem()
    v = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    alpha, b = bordered(kernel(X), y, 5.0, v)
    found, intercept = BorderedSystem(kernel.gram(X), 5.0, v).solve(y[:, None])
    np.testing.assert_allclose(found[:, 0], alpha, rtol=1e-9, atol=1e-9 * np.abs(alpha).max())
    np.testing.assert_allclose(intercept, [b], rtol=1e-9)
    assert abs(found.sum()) < 1e-9 * np.abs(found).sum()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_left_out_are_those_of_refits(kernel, weighted):
    """α_i / (A⁻¹)_ii is the residual of a fit without row i."""
    X, y = problem(40)
    v = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    system = BorderedSystem(kernel.gram(X), 3.0, v)
    alpha, _ = system.solve(y[:, None])
    found = left_out(alpha, system.inverse_diagonal, system.noise, None)[:, 0]
    expected = refits(kernel(X), y, 3.0, v)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_of_many_rows(monkeypatch, weighted):
    """Right to a millionth, and without any such error where the noise of rows differs."""
    X, y = problem(40)
    v = np.geomspace(1e-6, 1, len(y)) if weighted else None
    exact = BorderedSystem(RBF(1.0).gram(X), 3.0, v).inverse_diagonal
    monkeypatch.setattr(system_module, "_MANY", 40)
    found = BorderedSystem(RBF(1.0).gram(X), 3.0, v).inverse_diagonal
    np.testing.assert_allclose(found, exact, rtol=1e-12 if weighted else 2e-6)
    assert np.array_equal(found, exact) == weighted


def test_one_copy_of_several_is_left_out():
    """A row that stands for c copies has the residual of one of c equal rows."""
    X, y = problem(20)
    counts = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    system = BorderedSystem(RBF(1.0).gram(X), 3.0, counts)
    alpha, _ = system.solve(y[:, None])
    found = left_out(alpha, system.inverse_diagonal, system.noise, counts)[:, 0]
    index = np.repeat(np.arange(len(y)), counts.astype(int))
    expected = refits(RBF(1.0)(X[index]), y[index], 3.0)
    np.testing.assert_allclose(found[index], expected, rtol=1e-8, atol=1e-10)


def test_consuming_the_gram_leaves_one_matrix():
    """The factor takes the place of the matrix, and the solution is the same."""
    X, y = problem()
    gram = RBF(1.0).gram(X)
    matrix = gram.matrix
    found, _ = BorderedSystem(gram, 2.0, consume=True).solve(y[:, None])
    kept, _ = BorderedSystem(RBF(1.0).gram(X), 2.0).solve(y[:, None])
    np.testing.assert_array_equal(found, kept)
    assert not np.array_equal(matrix, RBF(1.0)(X))


def test_what_remains_unknown_falls_to_zero_at_fitted_rows():
    """The posterior variance is that of the dense formula with a very wide prior on the intercept."""
    X, _ = problem(30)
    new = np.random.default_rng(5).normal(size=(7, 3))
    kernel, noise, wide = RBF(1.2), 0.1, 1e6
    H = kernel(X) + noise * np.eye(30) + wide
    cross = kernel(X, new) + wide
    expected = np.diag(kernel(new)) + wide - np.einsum("ij,ij->j", cross, np.linalg.solve(H, cross))
    system = BorderedSystem(kernel.gram(X), 1 / noise)
    np.testing.assert_allclose(system.remaining_variance(kernel(X, new), np.ones(7)), expected, atol=1e-6)
