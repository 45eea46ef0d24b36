"""Scores to probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from gramian.lssvm.calibration import Calibration, platt


def scored(n=300, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rng.random(n) < expit(2 * scores - 0.5)


def test_the_sigmoid_has_the_largest_likelihood():
    """Slope and offset are those of a general optimiser on Platt's targets."""
    scores, positive = scored()
    weights = np.random.default_rng(1).integers(1, 4, 300).astype(float)
    p, q = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (p + 1) / (p + 2), 1 / (q + 2))

    def loss(w):
        t = w[0] * scores + w[1]
        return weights @ (np.logaddexp(0, t) - target * t)

    expected = minimize(loss, [0.0, 0.0], tol=1e-12).x
    np.testing.assert_allclose(platt(scores, positive, weights), expected, rtol=1e-4)


def test_separated_classes_have_a_finite_slope():
    slope, offset = platt(np.repeat([-1.0, 1.0], 20), np.repeat([False, True], 20), np.ones(40))
    assert 0 < slope < 100
    assert abs(offset) < 1e-6


def test_scores_of_the_wrong_sign_give_the_share():
    """A higher score is never less likely; the probability is then the share of the class."""
    scores, positive = scored()
    slope, offset = platt(-scores, positive, np.ones(300))
    assert slope == 0
    assert expit(offset) == pytest.approx(positive.mean(), abs=0.01)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_probabilities_follow_the_shares(kind):
    """Among new rows of probability near p about p are of the class, for two classes and for three."""
    scores, positive = scored(4000)
    calibration = Calibration(scores, positive.astype(int), np.ones(4000), kind)
    new, truth = scored(4000, 1)
    p = calibration(new)[:, 1]
    for low in (0.1, 0.4, 0.7):
        near = (p >= low) & (p < low + 0.2)
        assert truth[near].mean() == pytest.approx(p[near].mean(), abs=0.06)
    three = Calibration(np.column_stack([scores, -scores, 0 * scores]), positive + 0, np.ones(4000), kind)
    np.testing.assert_allclose(three(np.zeros((2, 3))).sum(axis=1), 1)
