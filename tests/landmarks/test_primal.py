"""Normal equations from sums: Ridge of scikit-learn, any order of chunks, folds taken away, residuals from sums."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from gramian.landmarks import NormalEquations, primal

RIDGES = [1e-3, 1.0, 50.0]


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.fixture
def data(rng):
    """Features, two targets that depend on them, weights of which some are zero."""
    F = rng.standard_normal((150, 6)) @ rng.standard_normal((6, 6)) + 2
    Y = F @ rng.standard_normal((6, 2)) + 5 + rng.standard_normal((150, 2))
    return F, Y, rng.integers(0, 3, 150) * 0.7


def fields(equations):
    names = ("feature_mean", "target_mean", "feature_products", "cross_products", "target_squares")
    return [np.atleast_1d(getattr(equations, name)) for name in ("n_samples", "weight", *names)]


def assert_same(first, second, rtol=1e-9, atol=0.0):
    for a, b in zip(fields(first), fields(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol + rtol * np.abs(b).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_ridge_of_scikit_learn(data, fit_intercept, weighted, form):
    """Every ridge gives Ridge(alpha)'s coefficients and intercept, alone and with others, from chunks."""
    F, Y, v = data
    v = v if weighted else None
    equations = NormalEquations()
    for rows in (slice(0, 1), slice(1, 70), slice(70, 70), slice(70, 150)):
        equations.add(form(F[rows]), Y[rows], None if v is None else v[rows])
    assert equations.n_samples == 150
    assert equations.weight == pytest.approx(150 if v is None else v.sum())
    many, intercepts = equations.solve(RIDGES, fit_intercept=fit_intercept)
    assert many.shape == (3, 6, 2)
    assert intercepts.shape == (3, 2)
    for ridge, W, b in zip(RIDGES, many, intercepts, strict=True):
        peer = Ridge(alpha=ridge, fit_intercept=fit_intercept).fit(F, Y, sample_weight=v)
        np.testing.assert_allclose(W, peer.coef_.T, atol=1e-9)
        np.testing.assert_allclose(b, peer.intercept_ if fit_intercept else 0, atol=1e-9)
        one, alone = equations.solve(ridge, fit_intercept=fit_intercept)
        np.testing.assert_allclose(one, W, atol=1e-9)
        np.testing.assert_allclose(alone, b, atol=1e-9)
        u = np.ones(150) if v is None else v
        expected = (u[:, None] * (Y - F @ W - b) ** 2).sum(axis=0)
        np.testing.assert_allclose(equations.residual_squares(W, b), expected, rtol=1e-8)
    np.testing.assert_allclose(equations.residual_squares(many, intercepts)[2], expected, rtol=1e-8)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 9), min_size=1, max_size=6), st.floats(-1e3, 1e3))
def test_any_order_and_grouping_gives_the_same_sums(seed, lengths, offset):
    """merge is associative and commutative, empty sums and weights of zero included; subtraction undoes it."""
    rng = np.random.default_rng(seed)
    parts = []
    for length in lengths:
        F, Y = rng.standard_normal((length, 3)) + offset, rng.standard_normal((length, 2))
        parts.append(NormalEquations().add(F, Y, rng.integers(0, 3, length) * 1.0))
    left = NormalEquations()
    for part in parts:
        left.merge(part)
    right = NormalEquations()
    for part in reversed(parts):
        right = part + right
    if not left.n_samples:
        assert right.n_samples == 0
        return
    assert_same(left, right, 1e-7, 1e-7)
    without = left - parts[0]
    if len(lengths) > 1 and without.weight > 0:
        rest = NormalEquations()
        for part in parts[1:]:
            rest.merge(part)
        assert_same(without, rest, 1e-6, 1e-6)


def test_folds(data):
    """The total minus a fold trains on the other folds, and the fold's residuals come from its own sums."""
    F, Y, v = data
    folds = [NormalEquations().add(F[i::5], Y[i::5], v[i::5]) for i in range(5)]
    total = NormalEquations().add(F, Y, v)
    for i, fold in enumerate(folds):
        train = np.arange(150) % 5 != i
        W, b = (total - fold).solve(RIDGES)
        for k, ridge in enumerate(RIDGES):
            peer = Ridge(alpha=ridge).fit(F[train], Y[train], v[train])
            np.testing.assert_allclose(W[k], peer.coef_.T, atol=1e-8)
            errors = (v[~train, None] * (Y[~train] - peer.predict(F[~train])) ** 2).sum(axis=0)
            np.testing.assert_allclose(fold.residual_squares(W[k], b[k]), errors, rtol=1e-7)
    assert total.n_samples == 150  # subtraction made new sums
    nothing = total - total
    assert (nothing.n_samples, nothing.weight) == (0, 0)


def test_merging_leaves_the_other_alone(data):
    """Sums merged into empty ones are a copy."""
    F, Y, _ = data
    one = NormalEquations().add(F[:50], Y[:50])
    kept = pickle.loads(pickle.dumps(one))
    NormalEquations().merge(one).add(F[50:], Y[50:])
    (one + one), (one - kept)
    assert_same(one, kept)


def test_strips_change_nothing(data, monkeypatch):
    """Rows are centred strip by strip, of any length."""
    F, Y, v = data
    whole = NormalEquations().add(F, Y, v)
    monkeypatch.setattr(primal, "_STRIP", 7)
    assert_same(NormalEquations().add(F, Y, v), whole)


def test_far_from_the_origin(rng):
    """Sums about the means keep the digits that raw sums would lose to an intercept."""
    Z, noise = rng.standard_normal((300, 3)), rng.standard_normal(300)
    equations = NormalEquations().add(Z + 1e8, Z @ [1.0, 2.0, 3.0] + noise + 1e8)
    near = NormalEquations().add(Z, Z @ [1.0, 2.0, 3.0] + noise)
    np.testing.assert_allclose(equations.solve(1.0)[0], near.solve(1.0)[0], atol=1e-6)


def test_float32_is_multiplied_in_float32_and_summed_in_float64(rng, monkeypatch):
    """100,000 single-precision rows keep the accuracy of a few thousand; products get the dtype of the data."""
    F = (rng.random((100_000, 3)) + 10).astype(np.float32)
    Y = rng.random((100_000, 1)).astype(np.float32)
    seen = set()
    real = primal.inner

    def spy(left, right):
        seen.update((left.dtype, right.dtype))
        return real(left, right)

    monkeypatch.setattr(primal, "inner", spy)
    single = NormalEquations().add(F, Y)
    assert seen == {np.dtype(np.float32)}
    double = NormalEquations().add(F.astype(np.float64), Y.astype(np.float64))
    assert_same(single, double, 1e-5)
    assert single.feature_products.dtype == np.float64


def test_no_ridge_gives_the_solution_of_least_norm(rng):
    """With dependent features and no penalty the coefficients are those of the pseudo-inverse."""
    F = rng.standard_normal((40, 3))
    F = np.column_stack([F, F[:, 0] + F[:, 1]])
    y = rng.standard_normal(40)
    equations = NormalEquations().add(F, y)
    expected = np.linalg.pinv(F - F.mean(axis=0), rcond=1e-10) @ (
        y - y.mean()
    )  # the default may count rounding as rank
    for ridges in (0.0, [0.0]):
        np.testing.assert_allclose(np.ravel(equations.solve(ridges)[0]), expected, atol=1e-8)
    constant = NormalEquations().add(np.ones((5, 2)), np.arange(5.0))
    W, b = constant.solve(0.0)
    np.testing.assert_allclose(W, 0, atol=1e-12)
    np.testing.assert_allclose(b, 2)


def test_no_features(rng):
    """Without features the intercept is the mean."""
    W, b = NormalEquations().add(np.empty((4, 0)), np.arange(4.0)).solve([1.0, 2.0])
    assert W.shape == (2, 0, 1)
    np.testing.assert_allclose(b, 1.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.add(np.ones((3, 2)), np.ones(4)), r"shapes \(3, 2\) and \(4, 1\); pass \(n, m\) and \(n, q\)"),
        (lambda e: e.add(np.ones(3), np.ones(3)), r"shapes \(3,\)"),
        (lambda e: e.add([[np.nan, 1.0]], [1.0]), "NaN or infinite"),
        (lambda e: e.add([[1.0, 1.0]], [np.inf]), "NaN or infinite"),
        (
            lambda e: e.add(np.ones((3, 5)), np.ones(3)),
            "5 features and 1 targets cannot be added to sums over 2 features and 1 targets",
        ),
        (lambda e: e.add(np.ones((3, 2)), np.ones((3, 2))), "2 features and 2 targets cannot be added"),
        (lambda e: e.add(np.ones((2, 2)), np.ones(2), [1.0, -1.0]), "sample_weight must be 2 finite values >= 0"),
        (lambda e: e.add(np.ones((2, 2)), np.ones(2), [1.0]), "sample_weight must be 2"),
        (
            lambda e: e.merge(NormalEquations().add(np.ones((2, 3)), np.ones(2))),
            "3 features and 1 targets cannot be added",
        ),
        (lambda e: e - (e + e), "more samples cannot be subtracted"),
        (lambda e: e.solve(-1.0), "ridges=-1.0 must be a number >= 0"),
        (lambda e: e.solve([]), "must be a number >= 0 or several"),
        (lambda e: e.solve([1.0, np.nan]), "must be a number >= 0"),
        (lambda e: NormalEquations().solve(1.0), "nothing to solve: call add"),
        (lambda e: (e - e).solve(1.0), "nothing to solve"),
    ],
)
def test_bad_input_is_named(call, message):
    """Shapes, NaN, weights, ridges and sums that do not fit say what is allowed."""
    equations = NormalEquations().add(np.eye(4)[:, :2], np.arange(4.0))
    with pytest.raises(ValueError, match=message):
        call(equations)
    assert equations.n_samples == 4  # and nothing half added


def test_float32_far_from_the_origin():
    """A mean rounded to float32 shifts the sums about it, and with them the solution; float64 has the same answer."""
    rng = np.random.default_rng(0)
    F = (rng.standard_normal((3000, 3)) + np.array([0.0, 1e4, -3e5])).astype(np.float32)
    Y = (F.astype(np.float64) @ [[1.0, 0.0], [2.0, 1.0], [-1.0, 3.0]]).astype(np.float32)
    single, double = NormalEquations().add(F, Y), NormalEquations().add(F.astype(np.float64), Y.astype(np.float64))
    np.testing.assert_allclose(single.feature_products, double.feature_products, atol=1e-6 * 3000)
    np.testing.assert_allclose(single.solve(1.0)[0], double.solve(1.0)[0], atol=1e-5)
    np.testing.assert_allclose(single.target_squares, double.target_squares, rtol=1e-6)


def test_complex_and_empty_are_named():
    """Complex samples would lose their imaginary part; sums of nothing have no residuals."""
    with pytest.raises(ValueError, match="F has type complex128"):
        NormalEquations().add(np.ones((2, 1)) * 1j, np.ones(2))
    with pytest.raises(ValueError, match="call add with samples first"):
        NormalEquations().residual_squares(np.zeros((2, 1)))


def test_mapped_sums_are_those_of_mapped_features():
    """Sums of F, mapped by T, are the sums of F T; columns of the identity choose features."""
    rng = np.random.default_rng(0)
    F, Y, v = rng.normal(size=(50, 4)) + 3, rng.normal(size=(50, 2)), rng.uniform(size=50)
    for T in (rng.normal(size=(4, 3)), np.eye(4)[:, [2, 0]]):
        found, expected = NormalEquations().add(F, Y, v).mapped(T), NormalEquations().add(F @ T, Y, v)
        for name in ("feature_mean", "feature_products", "cross_products", "target_mean", "target_squares"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-10)
    assert NormalEquations().mapped(np.eye(4)).n_samples == 0
