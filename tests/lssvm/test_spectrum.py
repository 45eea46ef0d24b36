"""Residuals for many regularizations from one eigendecomposition, against refits."""

import numpy as np
import pytest

from gramian.kernels import RBF, TL1, Linear
from gramian.lssvm.spectrum import CenteredSpectrum
from lssvm.textbook_lssvm import bordered, problem, refits

GAMMAS = np.array([0.1, 3.0, 500.0])


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), TL1(2.0)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_residuals_are_those_of_refits(kernel, weighted):
    """For every regularization, weights, features and indefinite kernels."""
    X, y = problem(35)
    v = np.random.default_rng(1).uniform(0.3, 3, 35) if weighted else None
    found = CenteredSpectrum(kernel.gram(X), y[:, None], v).left_out(GAMMAS)
    for g, gamma in enumerate(GAMMAS):
        expected = refits(kernel(X), y, gamma, v)
        np.testing.assert_allclose(found[:, g, 0], expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear()], ids=repr)
def test_folds_left_out_are_those_of_refits(kernel):
    """Each fold left out as a whole, by one small system instead of a fit."""
    X, y = problem(30)
    v = np.random.default_rng(1).uniform(0.3, 3, 30)
    folds = np.array_split(np.random.default_rng(0).permutation(30), 4)
    found = CenteredSpectrum(kernel.gram(X), y[:, None], v).folds_left_out(GAMMAS, folds)
    K = kernel(X)
    for g, gamma in enumerate(GAMMAS):
        for fold in folds:
            rest = np.setdiff1d(np.arange(30), fold)
            alpha, b = bordered(K[np.ix_(rest, rest)], y[rest], gamma, v[rest])
            expected = y[fold] - K[np.ix_(fold, rest)] @ alpha - b
            np.testing.assert_allclose(found[fold, g, 0], expected, rtol=1e-7, atol=1e-8)


def test_copies_are_left_out_one_by_one():
    """A count of c stands for c equal rows."""
    X, y = problem(20)
    counts = np.random.default_rng(3).integers(1, 4, 20)
    index = np.repeat(np.arange(20), counts)
    found = CenteredSpectrum(RBF(1.0).gram(X), y[:, None], counts * 1.0, counts * 1.0).left_out(GAMMAS[:2])
    for g, gamma in enumerate(GAMMAS[:2]):
        np.testing.assert_allclose(found[index, g, 0], refits(RBF(1.0)(X[index]), y[index], gamma), rtol=1e-7)


def test_an_eigenvalue_that_cancels_the_ridge_gives_nan():
    """At −1/γ the system is singular, and no number is made up."""
    K = np.diag([2.0, 1.0, -0.5, -0.5, 3.0])
    from gramian.grams import DenseGram

    spectrum = CenteredSpectrum(DenseGram(K), np.arange(5.0)[:, None])
    gamma = -1 / spectrum.values.min()
    assert np.isnan(spectrum.left_out(np.array([gamma]))).any()


@pytest.mark.parametrize("level", [1e8, 1e300])
def test_a_level_of_the_targets_costs_no_digits(level):
    """Residuals of a constant are zero, and those of other targets the same at any level."""
    X, y = problem(20)
    gram = RBF(1.0).gram(X)
    assert not CenteredSpectrum(gram, np.full((20, 1), level)).left_out(GAMMAS).any()
    steps = np.round(y[:, None] * 8) * level * 2.0**-40  # exact beside the level
    raised = CenteredSpectrum(gram, steps + level).left_out(GAMMAS)
    found = CenteredSpectrum(gram, (steps + level) - level).left_out(GAMMAS)
    np.testing.assert_allclose(raised, found, rtol=1e-9, atol=1e-12 * np.abs(steps).max())
