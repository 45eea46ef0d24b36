"""IncompleteMixture: the textbook's EM, missing entries marginalised, and answers for tables of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import gramian
from gramian import IncompleteGaussianMixture, IncompleteMixture
from gramian.mixture.em import Parameters, run_em
from gramian.mixture.levels import indicators, observed_levels
from gramian.mixture.patterns import IncompleteTable
from mixture.textbook import mixed_em

KINDS = ["full", "tied", "diag", "spherical"]


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def mixed_rows(rng, n=60, d=2, sizes=(2, 4), missing=0.25):
    """Numbers and codes of two overlapping groups, with missing entries in both."""
    labels = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * labels[:, None]
    codes = np.column_stack([(rng.integers(size, size=n) + labels) % size for size in sizes]).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = -1
    return X, codes


def start(rng, d, sizes, K, kind):
    A = rng.normal(size=(d, d))
    S = A @ A.T / max(d, 1) + np.eye(d)
    covariances = {
        "full": np.array([S * (1 + k / 4) for k in range(K)]),
        "tied": S,
        "diag": np.array([np.diag(S) * (1 + k / 4) for k in range(K)]),
        "spherical": 1.0 + np.arange(K) / 4,
    }[kind]
    probabilities = [rng.dirichlet(np.ones(size), K) for size in sizes]
    return np.arange(1.0, K + 1) / np.arange(1.0, K + 1).sum(), rng.normal(size=(K, d)), covariances, probabilities


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 3.5])
@pytest.mark.parametrize("kind", KINDS)
def test_iterations_are_those_of_the_textbook(rng, kind, smoothing):
    sizes = np.array([2, 4])
    X, codes = mixed_rows(rng)
    weights, means, covariances, probabilities = start(rng, 2, sizes, 3, kind)
    levels = observed_levels(codes, sizes, smoothing)
    shares = np.split(levels.shares, [2])
    expected = mixed_em(
        X, codes, weights, means, covariances, probabilities, kind, 6, smoothing=smoothing, shares=shares
    )
    fit = run_em(
        IncompleteTable(X, indicators(codes, sizes)),
        Parameters(weights, means, covariances, np.hstack(probabilities)),
        covariance_type=kind,
        max_iter=6,
        tol=0,
        levels=levels,
    )
    np.testing.assert_allclose(fit.bounds, expected[4], rtol=1e-8, atol=1e-8)
    for found, wanted in zip(fit.parameters, (*expected[:3], np.hstack(expected[3])), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    sizes=st.lists(st.integers(1, 5), max_size=3),
    d=st.integers(0, 3),
    missing=st.floats(0, 0.7),
    smoothing=st.floats(0, 4),
)
def test_the_bound_never_falls(seed, kind, sizes, d, missing, smoothing):
    if d + len(sizes) == 0:
        return
    rng = np.random.default_rng(seed)
    X, codes = mixed_rows(rng, 30, d, sizes, missing) if sizes else (mixed_rows(rng, 30, d, (2,), missing)[0], None)
    codes = np.empty((30, 0), int) if codes is None else codes
    sizes = np.array(sizes, int)
    kind = kind if d else "diag"
    weights, means, covariances, probabilities = start(rng, d, sizes, 3, kind)
    fit = run_em(
        IncompleteTable(X, indicators(codes, sizes)),
        Parameters(weights, means, covariances, np.hstack([np.empty((3, 0)), *probabilities])),
        covariance_type=kind,
        max_iter=15,
        tol=0,
        levels=observed_levels(codes, sizes, smoothing),
    )
    assert np.diff(fit.bounds).min() > -1e-8


def frame(rng, n=240):
    """Three groups in two numbers and two categories, and their labels; a tenth of the entries is missing."""
    labels = np.repeat(np.arange(3), n // 3)
    colours = np.where(rng.random(n) < 0.85, labels, rng.integers(3, size=n))
    flat = np.where(rng.random(n) < 0.9, labels == 1, labels == 2)
    X = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[colours],
            "size": rng.normal(size=n) + np.array([0.0, 3, 3])[labels],
            "shape": pd.Categorical(np.where(flat, "flat", "round")),
            "weight": 1000 + 50 * (rng.normal(size=n) + np.array([0.0, 0, 4])[labels]),
        }
    )
    return X.mask(rng.random(X.shape) < 0.1), labels


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_a_frame_are_found(rng, kind):
    X, labels = frame(rng)
    model = IncompleteMixture(3, covariance_type=kind, n_init=5, tol=1e-5, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.8
    assert model.is_categorical_.tolist() == [True, False, True, False]
    assert [levels.tolist() for levels in model.categories_] == [["blue", "green", "red"], ["flat", "round"]]
    np.testing.assert_allclose([p.sum(axis=1) for p in model.probabilities_], 1)
    assert np.diff(model.lower_bounds_).min() > -1e-4  # the ridge of 1e-6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_without_categories_it_is_the_gaussian_mixture(rng):
    X = mixed_rows(rng, 100, 3, (2,))[0] * [1, 50, 1e-3] + [0, 1e5, 0]
    for kind in KINDS:
        ours = IncompleteMixture(2, covariance_type=kind, tol=1e-8, max_iter=500, random_state=3).fit(X)
        peer = IncompleteGaussianMixture(2, covariance_type=kind, tol=1e-8, max_iter=500, random_state=3).fit(X)
        np.testing.assert_allclose(ours.means_, peer.means_, rtol=1e-9)
        np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-9)
        assert ours.bic(X) == pytest.approx(peer.bic(X))
        assert ours.aic(X) == pytest.approx(peer.aic(X))
        np.testing.assert_allclose(ours.impute(X), peer.impute(X), rtol=1e-9)


class TestMissingEntries:
    """Not knowing an entry is summing, or integrating, over what it might be."""

    @pytest.fixture
    def fitted(self, rng):
        X, _ = frame(rng)
        return IncompleteMixture(3, covariance_type="full", n_init=2, random_state=0).fit(X)

    def test_a_missing_category_sums_over_its_levels(self, fitted):
        row = pd.DataFrame({"colour": ["red"], "size": [1.0], "shape": ["flat"], "weight": [1050.0]})
        all_levels = pd.concat([row.assign(colour=colour) for colour in fitted.categories_[0]])
        unknown = fitted.score_samples(row.assign(colour=None))[0]
        np.testing.assert_allclose(unknown, np.logaddexp.reduce(fitted.score_samples(all_levels)), rtol=1e-10)
        assert fitted.score_samples(row.assign(colour="never seen"))[0] == unknown

    @pytest.mark.parametrize(("column", "low", "high"), [("size", -15, 20), ("weight", 0, 3000)])
    def test_a_missing_number_integrates_over_its_values(self, fitted, column, low, high):
        row = pd.DataFrame({"colour": ["red"], "size": [1.0], "shape": ["flat"], "weight": [1050.0]})
        grid = np.linspace(low, high, 4001)  # the trapezoidal rule is exact to rounding for smooth bumps
        many = pd.concat([row] * len(grid), ignore_index=True).assign(**{column: grid})
        density = trapezoid(np.exp(fitted.score_samples(many)), grid)
        unknown = fitted.score_samples(row.assign(**{column: np.nan}))[0]
        np.testing.assert_allclose(np.log(density), unknown, rtol=1e-9)

    def test_a_row_without_values_has_the_weights(self, fitted):
        row = pd.DataFrame({"colour": [None], "size": [np.nan], "shape": [None], "weight": [np.nan]})
        np.testing.assert_allclose(fitted.predict_proba(row)[0], fitted.weights_)
        np.testing.assert_allclose(fitted.score_samples(row), 0, atol=1e-12)

    def test_likely_levels_and_expected_numbers_fill_in(self, fitted, rng):
        X, labels = frame(rng)
        filled = fitted.impute(X)
        missing = X.isna().to_numpy()
        assert filled.dtype == object
        assert (filled[~missing] == X.to_numpy(dtype=object)[~missing]).all()
        typical = np.array(["red", "green", "blue"])[labels]
        assert (filled[missing[:, 0], 0] == typical[missing[:, 0]]).mean() > 0.7
        # E[x | observed] = Σ γ (conditional mean); with one component the regression on the other number
        alone = IncompleteMixture(1, covariance_type="full").fit(X)
        mean, S = alone.means_[0], alone.covariances_[0]
        row = X.iloc[[0]].assign(size=np.nan, weight=1100.0)
        slope = S[0, 1] / S[1, 1]
        assert alone.impute(row)[0, 1] == pytest.approx(mean[0] + slope * (1100 - mean[1]))

    def test_draws_have_the_probabilities_of_their_rows(self, fitted):
        row = pd.DataFrame({"colour": [None], "size": [1.5], "shape": ["flat"], "weight": [np.nan]})
        many = pd.concat([row] * 3000)
        (drawn,) = fitted.impute(many, n_draws=1, random_state=0)
        gamma = fitted.predict_proba(row)[0]
        expected = gamma @ fitted.probabilities_[0]
        found = [(drawn[:, 0] == level).mean() for level in fitted.categories_[0]]
        np.testing.assert_allclose(found, expected, atol=0.04)
        # the mean of the draws is the expected value
        expected = float(fitted.impute(row)[0, 3])
        assert drawn[:, 3].astype(float).mean() == pytest.approx(expected, abs=6)


def test_samples_have_the_mixture_s_probabilities(rng):
    X, _ = frame(rng)
    model = IncompleteMixture(3, covariance_type="tied", n_init=2, random_state=0).fit(X)
    rows, labels = model.sample(6000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 6000, model.weights_, atol=0.03)
    for k in range(3):
        own = rows[labels == k]
        np.testing.assert_allclose(own[:, [1, 3]].astype(float).mean(axis=0), model.means_[k], rtol=0.05, atol=0.15)
        found = [(own[:, 2] == level).mean() for level in model.categories_[1]]
        np.testing.assert_allclose(found, model.probabilities_[1][k], atol=0.05)


def test_criteria_count_free_parameters_and_entropy(rng):
    X, _ = frame(rng)
    model = IncompleteMixture(3, random_state=0, n_init=2).fit(X)
    free = 2 + 3 * 2 + 3 * 2 + 3 * (2 + 1)  # weights, means, variances, levels but one of each column
    likelihood = model.score_samples(X).sum()
    assert model.bic(X) == pytest.approx(-2 * likelihood + free * np.log(len(X)))
    assert model.aic(X) == pytest.approx(-2 * likelihood + 2 * free)
    gamma = model.predict_proba(X)
    entropy = -(gamma * np.log(np.where(gamma > 0, gamma, 1))).sum()
    assert model.icl(X) == pytest.approx(model.bic(X) + 2 * entropy)


def test_frames_of_pandas_and_polars_and_coded_arrays_agree(rng):
    X, _ = frame(rng)
    model = IncompleteMixture(3, n_init=2, random_state=0).fit(X)
    lazy = pl.from_pandas(X)
    np.testing.assert_allclose(IncompleteMixture(3, n_init=2, random_state=0).fit(lazy).weights_, model.weights_)
    np.testing.assert_allclose(model.predict_proba(lazy), model.predict_proba(X))
    coded = X.assign(
        colour=X["colour"].map({"blue": 0.0, "green": 1.0, "red": 2.0}),
        shape=X["shape"].astype(object).map({"flat": 10.0, "round": 20.0}),
    ).to_numpy(float)
    arrays = IncompleteMixture(3, categorical_features=[0, 2], n_init=2, random_state=0).fit(coded)
    np.testing.assert_allclose(arrays.predict_proba(coded), model.predict_proba(X))
    assert arrays.impute(coded).dtype == np.float64
    assert not np.isnan(arrays.impute(coded)).any()
    named = IncompleteMixture(3, categorical_features=["colour", "shape"], n_init=2, random_state=0).fit(X)
    np.testing.assert_array_equal(named.weights_, model.weights_)


def test_all_columns_may_be_categorical(rng):
    labels = np.repeat([0, 1], 60)
    X = np.where(rng.random((120, 6)) < 0.85, labels[:, None], 1 - labels[:, None]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    for kind in KINDS:
        model = IncompleteMixture(2, categorical_features=range(6), covariance_type=kind, n_init=3, random_state=0)
        assert adjusted_rand_score(labels, model.fit_predict(X)) > 0.75
        assert model.sample(5, random_state=0)[0].shape == (5, 6)
        assert set(np.unique(model.impute(X))) == {0.0, 1.0}


def test_columns_without_values_are_left_out(rng):
    X, _ = frame(rng)
    model = IncompleteMixture(2, n_init=2, random_state=0)
    expected = model.fit(X).predict_proba(X)
    X = X.assign(nothing=pd.Series([None] * len(X), dtype=object), none=np.nan)
    with pytest.warns(UserWarning, match=r"columns \[4, 5\] of X have no observed value"):
        model.fit(X)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert model.impute(X)[:, 4].tolist() == [None] * len(X)
    assert model.sample(2, random_state=0)[0].shape == (2, 6)


def test_models_are_saved_and_loaded(rng, tmp_path):
    X, _ = frame(rng)
    model = IncompleteMixture(3, random_state=0, n_init=2).fit(X)
    gramian.save(model, tmp_path / "model.gramian")
    again = gramian.load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.impute(X).tolist() == model.impute(X).tolist()


def test_the_same_seed_gives_the_same_mixture(rng):
    X, _ = frame(rng)
    model = IncompleteMixture(3, random_state=0, n_init=2, tol=1e-9, max_iter=500).fit(X)
    np.testing.assert_array_equal(clone(model).fit(X).weights_, model.weights_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"covariance_type": "round"}, "covariance_type='round'"),
        ({"smoothing": -1}, "smoothing=-1"),
        ({"categorical_features": [9]}, "categorical_features"),
        ({"init": "random"}, "init='random'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(rng, settings, message):
    with pytest.raises(ValueError, match=message):
        IncompleteMixture(**settings).fit(frame(rng)[0])


def test_empty_tables_are_refused():
    with pytest.raises(ValueError, match="0 rows"):
        IncompleteMixture().fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="no observed value"):
        IncompleteMixture().fit(pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None]}))


def test_an_unfinished_fit_warns(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        IncompleteMixture(3, max_iter=2, tol=1e-12, random_state=0).fit(frame(rng)[0])
