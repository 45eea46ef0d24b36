"""Batches of mixtures of one shape: what EM one by one gives, parts as weights, and sizes by the formulas."""

import numpy as np
import pytest

from gramian.mixture.em import Parameters, run_em
from gramian.mixture.levels import indicators, observed_levels
from gramian.mixture.patterns import IncompleteTable
from gramian.mixture.starts import start_from_labels, start_levels
from gramian.mixture.tied import Mixtures, TiedTable, posteriors, run_tied
from mixture.textbook import level_log_probabilities, log_densities

K = 3


def drawn(d, holes, n=120):
    """Three groups of different spread in d numbers and two categories, with holes in all."""
    rng = np.random.default_rng(7)
    labels = rng.integers(K, size=n)
    X = rng.normal(size=(n, d)) * np.array([0.6, 1.0, 1.5])[labels, None] + 3 * rng.normal(size=(K, d))[labels]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.column_stack([(labels + (rng.random(n) < 0.2)) % K, rng.integers(4, size=n)])
    X[rng.random(X.shape) < holes] = np.nan
    codes[rng.random(codes.shape) < holes] = -1
    return X, codes, labels


class Case:
    def __init__(self, d, holes):
        self.X, self.codes, self.labels = drawn(d, holes)
        self.sizes = np.array([3, 4])
        self.hot = indicators(self.codes, self.sizes)
        self.levels = observed_levels(self.codes, self.sizes, 1.0)
        self.table = TiedTable(self.X, self.hot, self.levels)

    def starts(self, count):
        rng = np.random.default_rng(0)
        filled = np.nan_to_num(self.X)
        out = []
        for _ in range(count):
            labels = np.where(rng.random(len(filled)) < 0.7, self.labels, rng.integers(K, size=len(filled)))
            start = start_from_labels(filled, labels, K, "tied", 0.01)
            out.append(start._replace(levels=start_levels(self.hot, labels, K, self.levels)))
        return out


@pytest.fixture(params=[(3, 0.0), (3, 0.2), (1, 0.2), (0, 0.2), (18, 0.1)], ids=str)
def case(request):
    return Case(*request.param)


def one_by_one(case, start, rows=slice(None)):
    d = case.X.shape[1]
    kind = "tied" if d else "diag"
    start = start if d else start._replace(covariances=np.ones((K, 0)))
    table = IncompleteTable(case.X[rows], case.hot[:, rows])
    return run_em(table, start, covariance_type=kind, max_iter=12, tol=0, ridge=0.01, levels=case.levels)


def test_a_batch_of_one_size_is_em_one_by_one(case, monkeypatch):
    monkeypatch.setattr("gramian.mixture.tied._BATCH_ENTRIES", 2 * len(case.X) * max(K, case.table.widest))
    starts = case.starts(3)
    found, bounds = run_tied(case.table, Mixtures.of(starts), steps=12, tol=0, ridge=0.01, scaled=False)
    for s, start in enumerate(starts):
        expected = one_by_one(case, start)
        assert bounds[s] == pytest.approx(expected.bounds[-1], rel=1e-10)
        np.testing.assert_allclose(found.weights[s], expected.parameters.weights, rtol=1e-8)
        np.testing.assert_allclose(found.means[s], expected.parameters.means, atol=1e-8)
        np.testing.assert_allclose(found.levels[s], expected.parameters.levels, atol=1e-8)
        if case.X.shape[1]:
            np.testing.assert_allclose(found.covariances[s], expected.parameters.covariances, atol=1e-8)


def test_rows_of_weight_zero_are_left_out(case):
    rows = np.sort(np.random.default_rng(1).choice(len(case.X), 80, replace=False))
    weights = np.zeros((2, len(case.X)))
    weights[:, rows] = 1
    starts = case.starts(2)
    found, bounds = run_tied(case.table, Mixtures.of(starts), steps=12, tol=0, ridge=0.01, scaled=False, rows=weights)
    for s, start in enumerate(starts):
        expected = one_by_one(case, start, rows)
        assert bounds[s] == pytest.approx(expected.bounds[-1], rel=1e-10)
        np.testing.assert_allclose(found.means[s], expected.parameters.means, atol=1e-8)


def test_posteriors_and_likelihoods_are_those_of_the_formulas(case):
    found, _ = run_tied(case.table, Mixtures.of(case.starts(2)), steps=5, tol=0, ridge=0.01)
    gamma, likelihoods = posteriors(case.table, found)
    for s in range(2):
        one = found.single(s)
        split = np.split(one.levels, np.cumsum(case.sizes)[:-1], axis=1)
        joint = np.log(one.weights) + level_log_probabilities(case.codes, split)
        if case.X.shape[1]:
            joint += log_densities(case.X, one.means, one.covariances)
        total = np.logaddexp.reduce(joint, axis=1)
        np.testing.assert_allclose(likelihoods[s], total, atol=1e-8)
        np.testing.assert_allclose(gamma[s], np.exp(joint - total[:, None]), atol=1e-8)


def test_sizes_are_found_and_the_bound_rises():
    case = Case(3, 0.1)
    mixtures, bounds = Mixtures.of(case.starts(2)), []
    for _ in range(30):
        mixtures, bound = run_tied(case.table, mixtures, steps=1, tol=0, ridge=1e-9)
        bounds.append(bound)
    # The row of the usual size that each component is given is not in the bound.
    assert np.diff(bounds, axis=0).min() > -1e-3
    spread = np.array([np.nanvar(case.X[case.labels == k] - mixtures.means[0, k], axis=0).mean() for k in range(K)])
    expected = spread / np.exp(np.log(spread) @ mixtures.weights[0])
    np.testing.assert_allclose(mixtures.scales[0], expected, rtol=0.35)
    even, _ = run_tied(case.table, Mixtures.of(case.starts(2)), steps=30, tol=0, ridge=1e-9, scaled=False)
    assert (posteriors(case.table, mixtures)[1].sum(axis=1) > posteriors(case.table, even)[1].sum(axis=1) + 5).all()


def test_mixtures_that_settle_leave_the_batch():
    case = Case(3, 0.1)
    start = Mixtures.of(case.starts(3))
    rough, _ = run_tied(case.table, start, steps=60, tol=1e-2, ridge=0.01)
    fine, _ = run_tied(case.table, start, steps=60, tol=1e-9, ridge=0.01)
    alone, _ = run_tied(case.table, start.take(slice(1, 2)), steps=60, tol=1e-2, ridge=0.01)
    np.testing.assert_allclose(rough.means[1], alone.means[0], atol=1e-10)
    assert np.abs(rough.means - fine.means).max() > 1e-6


def test_an_empty_component_stays_where_it_is():
    case = Case(2, 0.1)
    start = case.starts(1)[0]
    far = Parameters(start.weights, np.vstack([start.means[:2], [[500.0, 500.0]]]), start.covariances, start.levels)
    found, bounds = run_tied(case.table, Mixtures.of([far]), steps=8, tol=0, ridge=0.01)
    assert np.isfinite(bounds).all()
    np.testing.assert_allclose(found.means[0, 2], [500.0, 500.0])
    assert found.weights[0, 2] < 1e-6
