"""Stacked mixtures against scikit-learn, against a slow textbook EM with holes, and against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from gramian.mixture.ensemble import (
    Mixtures,
    _far_apart,
    _maximized,
    _sums,
    design,
    fit_mixtures,
    initial_mixtures,
    keep_largest,
    natural,
    posteriors,
    stack,
)

SIZES = np.array([2, 3, 5])


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    rows = rng.normal(size=(120, 4)) + 3 * rng.integers(0, 3, size=(120, 1))
    return rows - rows.mean(axis=0)


@pytest.fixture
def holes(X, rng):
    return np.where(rng.random(X.shape) < 0.3, np.nan, X)


def the_floor(X):
    return np.full(X.shape[1], 1e-9)


def models(mixtures):
    """One mixture after the other: (weights, means, variances)."""
    for part in mixtures.split(1):
        yield part.weights, part.means, part.variances


def textbook_step(X, weights, means, variances, *, observed):
    """One EM step row by row: the formulas of the diagonal model with holes, and the log-likelihood before it."""
    n, d = X.shape
    K = len(weights)
    gamma, likelihood = np.zeros((n, K)), 0.0
    for i, x in enumerate(X):
        o = ~np.isnan(x)
        logs = [np.log(weights[k]) + norm.logpdf(x[o], means[k, o], np.sqrt(variances[k, o])).sum() for k in range(K)]
        likelihood += np.logaddexp.reduce(logs)
        gamma[i] = np.exp(logs - np.logaddexp.reduce(logs))
    new_weights, new_means, new_variances = gamma.sum(axis=0) / n, np.empty((K, d)), np.empty((K, d))
    for k in range(K):
        for j in range(d):
            o = ~np.isnan(X[:, j])
            g = gamma[:, k]
            if observed:
                new_means[k, j] = np.sum(g[o] * X[o, j]) / np.sum(g[o])
                new_variances[k, j] = np.sum(g[o] * (X[o, j] - new_means[k, j]) ** 2) / np.sum(g[o])
            else:
                filled = np.where(o, X[:, j], means[k, j])
                new_means[k, j] = np.sum(g * filled) / np.sum(g)
                extra = np.where(o, 0, variances[k, j])
                new_variances[k, j] = np.sum(g * ((filled - new_means[k, j]) ** 2 + extra)) / np.sum(g)
    return new_weights, new_means, new_variances, likelihood


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_ten_steps_equal_scikit_learn_on_complete_data(X, covariance):
    """Without holes all stacked mixtures take the same steps as scikit-learn's, one by one."""
    spherical = covariance == "spherical"
    start = initial_mixtures(X, SIZES, np.random.default_rng(0), the_floor(X), spherical=spherical)
    ours = fit_mixtures(X, SIZES, np.random.default_rng(0), max_iter=10, floor=the_floor(X), spherical=spherical)
    for (weights, means, variances), fitted in zip(models(start), models(ours), strict=True):
        peer = GaussianMixture(
            len(weights),
            covariance_type=covariance,
            reg_covar=0,
            tol=0,
            max_iter=10,
            weights_init=weights,
            means_init=means,
            precisions_init=1 / (variances[:, 0] if spherical else variances),
        )
        with pytest.warns(UserWarning, match="converge"):
            peer.fit(X)
        assert_allclose(fitted[0], peer.weights_, rtol=1e-8)
        assert_allclose(fitted[1], peer.means_, rtol=1e-7, atol=1e-9)
        expected = np.broadcast_to(peer.covariances_[:, None], means.shape) if spherical else peer.covariances_
        assert_allclose(fitted[2], expected, rtol=1e-7)


@pytest.mark.parametrize("observed", [False, True])
def test_a_step_with_holes_equals_the_textbook(holes, rng, observed):
    """Both M-steps equal loops over rows and columns that apply γ once and use the new mean."""
    start = initial_mixtures(holes, SIZES, rng, the_floor(holes), spherical=False)
    sums = _sums(start, design(holes, complete=False))
    after = _maximized(start, sums, len(holes), the_floor(holes), observed_step=observed)
    for before, stepped in zip(models(start), models(after), strict=True):
        *expected, _ = textbook_step(holes, *before, observed=observed)
        for ours, textbook in zip(stepped, expected, strict=True):
            assert_allclose(ours, textbook, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.6])
def test_likelihood_never_falls(rng, rate, observed):
    """Every step of every mixture raises the likelihood of what was observed, as EM must."""
    X = rng.normal(size=(60, 3)) + 2 * rng.integers(0, 2, size=(60, 1))
    X = np.where(rng.random(X.shape) < rate, np.nan, X)
    X[np.isnan(X).all(axis=1), 0] = 0.0
    fits = [
        fit_mixtures(X, SIZES, np.random.default_rng(1), max_iter=steps, floor=the_floor(X), observed_step=observed)
        for steps in range(8)
    ]
    likelihoods = np.array([[textbook_step(X, *m, observed=False)[-1] for m in models(fit)] for fit in fits])
    assert np.diff(likelihoods, axis=0).min() > -1e-8


def test_one_component_is_the_mean_and_variance_of_the_observed(holes):
    """With one component the observed M-step gives the closed form at once, the imputed one in the limit."""
    one = np.array([1])
    at_once = fit_mixtures(holes, one, np.random.default_rng(0), max_iter=1, floor=the_floor(holes), observed_step=True)
    limit = fit_mixtures(holes, one, np.random.default_rng(0), max_iter=200, floor=the_floor(holes))
    for fitted, accuracy in ((at_once, 1e-10), (limit, 1e-8)):
        assert_allclose(fitted.means[0], np.nanmean(holes, axis=0), rtol=0, atol=accuracy)
        assert_allclose(fitted.variances[0], np.nanvar(holes, axis=0), rtol=accuracy)


def test_posteriors_are_those_of_the_observed_values(holes, rng):
    """γ from matrix products equals Bayes' rule with SciPy's densities of the observed cells."""
    mixtures = initial_mixtures(holes, SIZES, rng, the_floor(holes), spherical=False)
    gamma = posteriors(natural(mixtures, complete=False), SIZES, design(holes, complete=False))
    begin = 0
    for weights, means, variances in models(mixtures):
        logs = np.log(weights) + np.nansum(norm.logpdf(holes[:, None], means, np.sqrt(variances)), axis=2)
        expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        assert_allclose(gamma[begin : begin + len(weights)].T, expected, atol=1e-12)
        begin += len(weights)


def test_complete_and_incomplete_forms_agree(X, rng):
    """Without holes the two designs give the same posteriors."""
    mixtures = initial_mixtures(X, SIZES, rng, the_floor(X), spherical=False)
    both = [posteriors(natural(mixtures, complete=c), SIZES, design(X, complete=c)) for c in (True, False)]
    assert_allclose(*both, atol=1e-12)


def test_second_centre_is_drawn_by_squared_distance(rng):
    """k-means++: after the first row, the others follow in proportion to their squared distance from it."""
    line = np.array([[0.0], [1.0], [3.0]])
    pairs = _far_apart(line, np.full(30_000, 2), rng).reshape(-1, 2)
    from_first = pairs[pairs[:, 0] == 0, 1]
    assert_allclose(np.bincount(from_first, minlength=3) / len(from_first), [0, 0.1, 0.9], atol=0.01)
    assert_allclose(np.bincount(pairs[:, 0]) / len(pairs), 1 / 3, atol=0.01)


def test_start_equals_one_round_of_k_means(X):
    """Weights, means and variances at the start are those of the rows nearest to each centre."""
    start = initial_mixtures(X, SIZES, np.random.default_rng(3), the_floor(X), spherical=False)
    centres = X[_far_apart(X, SIZES, np.random.default_rng(3))]
    begin = 0
    for weights, means, variances in models(start):
        own = centres[begin : begin + len(weights)]
        begin += len(weights)
        nearest = ((X[:, None] - own) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(len(weights)):
            assert_allclose(weights[k], np.mean(nearest == k))
            assert_allclose(means[k], X[nearest == k].mean(axis=0), atol=1e-12)
            assert_allclose(variances[k], np.maximum(X[nearest == k].var(axis=0), 1e-9), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_and_few_rows_stay_finite_and_above_the_floor(dtype):
    """One to three distinct rows per component, or all rows alike, give finite mixtures at the floor."""
    rows = np.repeat(np.array([[0, 1], [2, np.nan], [5, 5]], dtype), 4, axis=0)
    floor = np.full(2, 1e-3, dtype)
    for X in (rows, np.zeros((8, 2), dtype)):
        fitted = fit_mixtures(X, np.arange(2, 8), np.random.default_rng(0), max_iter=10, floor=floor)
        assert fitted.means.dtype == fitted.variances.dtype == dtype
        for part in (fitted.weights, fitted.means, fitted.variances):
            assert np.isfinite(part).all()
        assert fitted.variances.min() >= floor[0]
        assert fitted.weights.min() > 0


@pytest.mark.parametrize("observed", [False, True])
def test_a_column_without_a_value_changes_nothing(holes, observed):
    """A column that is missing in all rows leaves the posteriors as they are without it."""
    extended = np.column_stack([holes, np.full(len(holes), np.nan)])
    answers = []
    for rows in (holes, extended):
        fitted = fit_mixtures(
            rows, SIZES, np.random.default_rng(5), max_iter=5, floor=the_floor(rows), observed_step=observed
        )
        answers.append(posteriors(natural(fitted, complete=False), SIZES, design(rows, complete=False)))
    assert_allclose(*answers, atol=1e-10)


def test_stack_and_split_are_inverse(X, rng):
    """Stacks come apart where they were put together."""
    whole = fit_mixtures(X, SIZES, rng, max_iter=1, floor=the_floor(X))
    again = stack(list(whole.split(2)))
    for name in ("sizes", "weights", "means", "variances"):
        assert (getattr(again, name) == getattr(whole, name)).all()
    assert whole.astype(np.dtype(np.float32)).means.dtype == np.float32


def test_keep_largest_takes_the_first_of_equals():
    """One 1 per column and mixture, at the largest score."""
    scores = np.array([[1.0, 2.0], [1.0, 3.0], [0.0, 1.0], [5.0, 0.5], [4.0, 1.0]])
    keep_largest(scores, np.array([2, 3]))
    assert scores.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0], [0, 0]]


def test_double_gamma_is_not_what_we_do(holes, rng):
    """The published covariance update applies γ twice; it differs from the step here by far more than rounding."""
    start = initial_mixtures(holes, np.array([3]), rng, the_floor(holes), spherical=False)
    after = _maximized(start, _sums(start, design(holes, complete=False)), len(holes), the_floor(holes))
    _, means, variances = next(models(start))
    gamma = posteriors(natural(start, complete=False), start.sizes, design(holes, complete=False))
    filled = np.where(np.isnan(holes), means[:, None], holes)
    extra = np.where(np.isnan(holes), variances[:, None], 0)
    squares = (filled - after.means[:, None]) ** 2 + extra
    twice = np.einsum("kn,knd->kd", gamma**2, squares) / gamma.sum(axis=1)[:, None]
    once = np.einsum("kn,knd->kd", gamma, squares) / gamma.sum(axis=1)[:, None]
    assert_allclose(after.variances, once, rtol=1e-9)
    assert np.abs(after.variances - twice).max() > 0.01


def test_mixtures_hold_what_they_are_given():
    """The container keeps its parts in the order of its fields."""
    parts = Mixtures(np.array([1]), np.ones(1), np.zeros((1, 2)), np.ones((1, 2)), np.empty((1, 0)))
    assert [part.shape for part in (parts.weights, parts.means, parts.variances)] == [(1,), (1, 2), (1, 2)]
