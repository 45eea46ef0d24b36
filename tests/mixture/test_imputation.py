"""Values for holes: expected and drawn, against the conditional distribution."""

import numpy as np
import pytest

from gramian.mixture.em import Parameters
from gramian.mixture.imputation import draw_missing, expected_missing, random_rows
from mixture.textbook import conditional

MEANS = np.array([[0.0, 1.0, 2.0]])
COVARIANCE = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 2.0]])


@pytest.fixture
def rng():
    return np.random.default_rng(46)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_draws_have_the_conditional_distribution(rng, kind):
    """Matheron's rule: for every pattern the draws have the conditional mean and covariance."""
    parameters = Parameters(np.ones(1), MEANS, COVARIANCE[None] if kind == "full" else COVARIANCE)
    n = 50_000
    for x in ([2.0, np.nan, np.nan], [np.nan, 0.0, np.nan], [np.nan, np.nan, np.nan], [1.0, 1.0, np.nan]):
        X = np.tile(x, (n, 1))
        (drawn,) = draw_missing(X, parameters, kind, 1, rng)
        mean, C = conditional(X[0], MEANS[0], COVARIANCE)
        m = np.isnan(x)
        np.testing.assert_allclose(drawn.mean(axis=0)[m], mean[m], atol=0.03)
        np.testing.assert_allclose(np.cov(drawn[:, m].T), C[np.ix_(m, m)].squeeze(), atol=0.05)
        np.testing.assert_allclose(expected_missing(X[:1], parameters, kind)[0, m], mean[m], atol=1e-12)


def test_components_are_drawn_by_membership(rng):
    """A row between two far components is completed by each as often as it belongs to it."""
    parameters = Parameters(np.array([0.25, 0.75]), np.array([[0.0, -50.0], [0.0, 50.0]]), np.ones((2, 2)))
    (drawn,) = draw_missing(np.tile([0.3, np.nan], (20_000, 1)), parameters, "diag", 1, rng)
    assert (drawn[:, 1] > 0).mean() == pytest.approx(0.75, abs=0.01)


def test_rows_follow_their_labels(rng):
    """Each sampled row comes from the component that its label names."""
    parameters = Parameters(np.full(2, 0.5), np.array([[0.0], [1000.0]]), np.ones((2, 1, 1)))
    labels = np.arange(100) % 2
    np.testing.assert_array_equal(random_rows(parameters, "full", labels, rng)[:, 0] > 500, labels == 1)
