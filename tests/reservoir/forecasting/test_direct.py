"""The direct solve of all horizons against ridge regressions of each."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gramian.reservoir.forecasting.direct import DirectSums, chosen, solved


@pytest.fixture
def sums_and_data():
    rng = np.random.default_rng(0)
    S, own = rng.normal(size=(80, 6)), [rng.normal(size=(80, 2)) for _ in range(3)]
    targets = [S[:, :1] * h + G[:, :1] + 0.1 * rng.normal(size=(80, 1)) for h, G in enumerate(own)]
    return S, own, targets


def test_bordered_solve_is_ridge_of_both_parts(sums_and_data):
    """Each horizon's solution is scikit-learn's Ridge on its shared and own columns together."""
    S, own, targets = sums_and_data
    sums = DirectSums(3).add(S, own, targets)
    ridges = np.array([[0.1, 1.0, 10.0], [1e-3, 5.0, 2.0]])
    path = sums.path(ridges)
    for c in range(2):
        for h in range(3):
            model = Ridge(alpha=ridges[c, h]).fit(np.hstack([S, own[h]]), targets[h][:, 0])
            np.testing.assert_allclose(path.shared[c, h, :, 0], model.coef_[:6], atol=1e-9)
            np.testing.assert_allclose(path.own[h][c, :, 0], model.coef_[6:], atol=1e-9)
            np.testing.assert_allclose(path.intercept[c, h, 0], model.intercept_, atol=1e-9)


def test_squares_from_sums_are_those_of_residuals(sums_and_data):
    """The sums of squared residuals need no rows."""
    S, own, targets = sums_and_data
    sums = DirectSums(3).add(S, own, targets)
    path = sums.path(np.full((1, 3), 0.5))
    for h in range(3):
        found = S @ path.shared[0, h] + own[h] @ path.own[h][0] + path.intercept[0, h]
        np.testing.assert_allclose(sums.squares(path)[0, h], ((targets[h] - found) ** 2).sum(axis=0), rtol=1e-9)


def test_parts_add_up(sums_and_data):
    """Sums of two parts are the sums of the whole, and the chosen penalty does best on the second."""
    S, own, targets = sums_and_data
    first = DirectSums(3).add(S[:50], [G[:50] for G in own], [R[:50] for R in targets])
    second = DirectSums(3).add(S[50:], [G[50:] for G in own], [R[50:] for R in targets])
    whole = DirectSums(3).add(S, own, targets)
    relative, solution = chosen(first, second)
    np.testing.assert_allclose(
        solved(first + second, relative).shared, solved(whole, relative).shared, rtol=1e-8, atol=1e-10
    )
    worse = first.path(np.full((1, 3), first.scale))
    alone = first.path(relative[None] * first.scale)
    assert (second.squares(alone) <= second.squares(worse)).all()
    np.testing.assert_allclose(alone.shared[0], solution.shared)


def test_dependent_own_columns_are_solved_without_shared_ones():
    """Days of the week add up to one, and a constant series leaves nothing else that varies."""
    own = np.eye(7)[np.arange(70) % 7]
    sums = DirectSums(1).add(np.zeros((70, 3)), [own], [np.zeros((70, 1))])
    found = solved(sums, np.array([1e-12]))
    assert np.abs(found.own[0]).max() < 1e-9
