"""Conditional Gaussians in batches: inverses, factors, and completed rows against the textbook."""

import numpy as np
import pytest

from gramian.mixture.conditionals import completed, factorized, gaussians, inverses
from gramian.mixture.patterns import IncompleteTable
from mixture.textbook import conditional


@pytest.fixture
def rng():
    return np.random.default_rng(43)


def covariances(rng, count, d):
    A = rng.normal(size=(count, d, d))
    return A @ A.transpose(0, 2, 1) + 0.1 * np.eye(d)


@pytest.mark.parametrize("q", [1, 2, 7, 16, 17, 30])
def test_inverses(rng, q):
    """Swept and LAPACK inverses and log-determinants are those of numpy.linalg, matrix by matrix."""
    A = covariances(rng, 12, q).reshape(3, 4, q, q)
    inverse, log_determinant = inverses(A.transpose(0, 2, 3, 1).copy())
    np.testing.assert_allclose(inverse.transpose(0, 3, 1, 2), np.linalg.inv(A), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(A)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shared", [False, True])
def test_completed_rows(rng, shared):
    """Deviations are those of the conditional means, spreads the conditional covariances, for every pattern."""
    d, K = 5, 2
    X = np.where(rng.random((80, d)) < 0.4, np.nan, rng.normal(size=(80, d)))
    S = covariances(rng, 1 if shared else K, d)
    means = rng.normal(size=(K, d))
    components = gaussians(means, factorized(S)[1])
    table = IncompleteTable(X)
    for part in completed(table, table.chunks(K), components):
        for stack, spread in zip(part.chunk.stacks, part.spreads, strict=True):
            for block in stack.blocks:
                for i in range(block.rows.start, block.rows.stop):
                    p = block.patterns.start + (i - block.rows.start) // block.each
                    m = stack.missing[p]
                    for k in range(K):
                        g = 0 if shared else k
                        Y, C = conditional(X[table.order[part.chunk.rows][i]], means[k], S[g])
                        np.testing.assert_allclose(part.deviations[k, :, i], Y - means[k], atol=1e-10)
                        np.testing.assert_allclose(spread[g, :, :, p], C[np.ix_(m, m)], atol=1e-10)


def test_strong_correlation_keeps_its_digits(rng):
    """At a correlation of 1 − 1e-8 the conditional mean is right to eight digits and the distance to six."""
    S = np.array([[[1.0, 1 - 1e-8], [1 - 1e-8, 1.0]]])
    table = IncompleteTable(np.array([[2.0, np.nan], [np.nan, -3.0]]))
    parts = list(completed(table, table.chunks(1), gaussians(np.zeros((1, 2)), factorized(S)[1])))
    found = np.concatenate([part.deviations[0] for part in parts], axis=1)[:, np.argsort(table.order)]
    np.testing.assert_allclose(found, [[2.0, -3.0], [2.0, -3.0]], rtol=1e-7)
    expected = -0.5 * (np.log(2 * np.pi) + np.array([4.0, 9.0]))
    densities = np.concatenate([part.log_densities[0] for part in parts])[np.argsort(table.order)]
    np.testing.assert_allclose(densities, expected, rtol=1e-6)


def test_factorized_changes_only_what_it_must(rng):
    """A good covariance passes unchanged, also beside a singular one, which is raised a little."""
    good = covariances(rng, 1, 3)
    singular = np.ones((1, 3, 3))
    fixed, factors = factorized(np.concatenate([good, singular]))
    np.testing.assert_array_equal(fixed[:1], good)
    np.testing.assert_allclose(fixed[1], singular[0] + 1e-6 * np.eye(3))
    np.testing.assert_allclose(factors @ factors.transpose(0, 2, 1), fixed, atol=1e-12)
    np.testing.assert_allclose(factorized(np.zeros((1, 2, 2)))[0], 1e-6 * np.eye(2)[None])
