"""IncompleteGaussianMixture: answers for any holes, in any units, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import gramian
from gramian import IncompleteGaussianMixture
from gramian.mixture import mcar
from mixture.textbook import conditional, log_densities, matrices

KINDS = ["full", "tied", "diag", "spherical"]


@pytest.fixture
def rng():
    return np.random.default_rng(42)


@pytest.fixture
def groups(rng):
    """Three groups with correlated columns, and which row is of which group."""
    labels = np.repeat(np.arange(3), 80)
    A = np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 0.5], [0.0, 0.0, 0.7]])
    return rng.normal(size=(240, 3)) @ A + np.array([[0, 0, 0], [5, 5, 0], [0, 5, 6]])[labels], labels


@pytest.fixture
def holed(groups):
    return mcar(groups[0], 0.25, random_state=1)[0]


def model(kind="full", K=3, **settings):
    return IncompleteGaussianMixture(K, covariance_type=kind, **{"random_state": 0, **settings})


def full(fitted):
    return matrices(fitted.covariances_, fitted.covariance_type, *fitted.means_.shape)


class TestFit:
    @pytest.mark.parametrize("init", ["kmeans++", "kmeans"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_groups_are_found(self, groups, holed, kind, init):
        """With a quarter of the values missing the groups are found: complete rows get their group."""
        labels = model(kind, init=init, n_init=3).fit_predict(holed)
        told = ~np.isnan(holed).any(axis=1)
        assert adjusted_rand_score(groups[1][told], labels[told]) > 0.95

    @pytest.mark.parametrize("kind", KINDS)
    def test_scikit_learn_on_complete_rows(self, groups, kind):
        """On complete, standardised rows it is scikit-learn's GaussianMixture step for step, ridge included."""
        X = (groups[0] - groups[0].mean(axis=0)) / groups[0].std(axis=0)
        covariances = {"full": np.tile(np.eye(3), (3, 1, 1)), "tied": np.eye(3), "diag": np.ones((3, 3))}
        start = covariances.get(kind, np.ones(3))
        common = {"max_iter": 15, "tol": 0, "reg_covar": 1e-4, "weights_init": [0.2, 0.3, 0.5], "means_init": X[::80]}
        peer = GaussianMixture(
            3, covariance_type=kind, precisions_init=start, **{**common, "weights_init": np.array([0.2, 0.3, 0.5])}
        )
        with pytest.warns(ConvergenceWarning):
            peer.fit(X)
        ours = model(kind, covariances_init=start, **common).fit(X)
        for name in ("weights_", "means_", "covariances_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), atol=1e-9)
        assert ours.lower_bound_ == pytest.approx(peer.lower_bound_, abs=1e-9)
        assert ours.bic(X) == pytest.approx(peer.bic(X), rel=1e-10)
        assert ours.aic(X) == pytest.approx(peer.aic(X), rel=1e-10)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)

    @pytest.mark.parametrize("kind", KINDS)
    def test_units_do_not_matter(self, holed, kind):
        """Columns in other units and with large offsets give the same memberships; a mean moves with its column."""
        scale = np.full(3, 1e3) if kind == "spherical" else np.array([1e-6, 1.0, 1e5])
        offset = np.array([0.0, 1e6, -1e9 * (kind != "spherical")])
        a, b = model(kind).fit(holed), model(kind).fit(holed * scale + offset)
        np.testing.assert_allclose(b.predict_proba(holed * scale + offset), a.predict_proba(holed), atol=1e-5)
        np.testing.assert_allclose((b.means_ - offset) / scale, a.means_, atol=1e-4)

    @pytest.mark.parametrize("kind", KINDS)
    def test_bounds(self, holed, kind):
        """The bounds are mean log-likelihoods in the user's units, rise, and end near ``score``."""
        fitted = model(kind, tol=1e-7, max_iter=2000, reg_covar=0).fit(holed * 100)
        assert fitted.converged_
        assert fitted.n_iter_ == len(fitted.lower_bounds_)
        assert np.diff(fitted.lower_bounds_).min() > -1e-9
        assert fitted.lower_bound_ == fitted.lower_bounds_[-1] == pytest.approx(fitted.score(holed * 100), abs=1e-6)

    def test_more_starts_are_no_worse(self, rng):
        """Of several starts the best is kept, and the first starts stay the same."""
        X = mcar(rng.normal(size=(150, 2)) + 4 * rng.integers(3, size=(150, 2)), 0.1, random_state=0)[0]
        bounds = [model("spherical", 9, n_init=n, max_iter=300).fit(X).lower_bound_ for n in (1, 3, 8)]
        assert bounds == sorted(bounds)
        assert bounds[0] < bounds[-1]

    def test_given_parts_of_the_start(self, holed):
        """Given means are kept in their order, also when weights and covariances come from clusters."""
        means = np.array([[0, 5, 6], [0, 0, 0], [5, 5, 0]])
        fitted = model(means_init=means).fit(holed)
        np.testing.assert_allclose(fitted.means_, means, atol=0.6)

    def test_warm_start(self, holed):
        """A warm start goes on where the last fit stopped; one that cannot is refused."""
        with pytest.warns(ConvergenceWarning):
            warm = model(warm_start=True, max_iter=3, tol=1e-12).fit(holed)
        first = warm.lower_bounds_
        with pytest.warns(ConvergenceWarning):
            warm.fit(holed)
        with pytest.warns(ConvergenceWarning):
            at_once = model(max_iter=6, tol=1e-12).fit(holed)
        np.testing.assert_allclose(np.r_[first, warm.lower_bounds_], at_once.lower_bounds_, atol=1e-10)
        with pytest.raises(ValueError, match=r"warm_start=True.*n_components=2.*warm_start=False"):
            warm.set_params(n_components=2).fit(holed)

    @pytest.mark.parametrize("kind", KINDS)
    def test_prior(self, rng, kind):
        """With the prior, components on one to three rows keep variances of the size of the data's."""
        X = mcar(rng.normal(size=(20, 4)), 0.2, random_state=0)[0]
        strong = {"mean_precision": 0.1, "degrees_of_freedom": 10, "weight_concentration": 1.5}
        for prior in ("conjugate", strong):
            fitted = model(kind, 8, prior=prior, reg_covar=0, max_iter=500).fit(X)
            assert np.linalg.eigvalsh(full(fitted)).min() > 1e-3
            assert np.diff(fitted.lower_bounds_).min() > -1e-9
        assert fitted.weights_.min() >= 0.5 / (20 + 8 * 0.5) - 1e-12

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_few_rows_per_component(self, rng, kind):
        """As many components as rows, duplicates included, give finite answers."""
        X = rng.normal(size=(8, 3))
        X[4:6] = X[0]
        X[1, 1] = X[2, 0] = X[7] = np.nan
        fitted = model(kind, 8).fit(X)
        for value in (fitted.means_, fitted.covariances_, fitted.predict_proba(X), fitted.score_samples(X)):
            assert np.isfinite(value).all()
        assert np.isfinite(fitted.impute(X)).all()

    @pytest.mark.parametrize("kind", KINDS)
    def test_constant_column(self, groups, holed, kind):
        """A constant column does no harm and is imputed by its constant."""
        X = np.column_stack([holed, np.full(len(holed), 7.1)])
        X[::5, 3] = np.nan
        fitted = model(kind, n_init=3).fit(X)
        told = ~np.isnan(holed).any(axis=1)
        assert adjusted_rand_score(groups[1][told], fitted.predict(X)[told]) > 0.95
        np.testing.assert_allclose(fitted.impute(X)[:, 3], 7.1, atol=1e-6)

    @pytest.mark.parametrize("kind", KINDS)
    def test_column_without_values(self, holed, kind):
        """A column without values changes nothing else, is announced, and stays NaN when imputed or sampled."""
        X = np.insert(holed, 1, np.nan, axis=1)
        with pytest.warns(UserWarning, match=r"columns \[1\] of X have no observed value"):
            fitted = model(kind).fit(X)
        plain = model(kind).fit(holed)
        np.testing.assert_array_equal(fitted.feature_mask_, [True, False, True, True])
        new = X.copy()
        new[::2, 1] = 1e3
        np.testing.assert_allclose(fitted.predict_proba(new), plain.predict_proba(holed), atol=1e-12)
        np.testing.assert_allclose(fitted.score_samples(new), plain.score_samples(holed), atol=1e-12)
        np.testing.assert_allclose(fitted.means_[:, [0, 2, 3]], plain.means_)
        assert fitted.bic(X) == pytest.approx(plain.bic(holed))
        assert np.isfinite(fitted.means_).all()
        filled = fitted.impute(new)
        np.testing.assert_array_equal(filled[:, 1], new[:, 1])
        assert np.isfinite(np.delete(filled, 1, axis=1)).all()
        assert np.isnan(fitted.sample(5)[0][:, 1]).all()
        # In a warm start the column may turn up.
        warm = fitted.set_params(warm_start=True).fit(new)
        assert warm.feature_mask_.all()
        assert np.isfinite(warm.score_samples(X)).all()

    def test_single_precision(self, holed):
        """float32 in, float32 out, near the double answers."""
        small = model().fit(holed.astype(np.float32))
        for value in (small.means_, small.covariances_, small.weights_):
            assert value.dtype == np.float32
        X = holed.astype(np.float32)
        for value in (small.predict_proba(X), small.score_samples(X), small.impute(X), small.impute(X, 2)):
            assert value.dtype == np.float32
        np.testing.assert_allclose(small.means_, model().fit(holed).means_, atol=1e-3)

    def test_data_frame_and_round_trip(self, holed, tmp_path):
        """Column names are kept; a saved model answers the same."""
        table = pd.DataFrame(holed, columns=["a", "b", "c"])
        fitted = model(prior={"mean_precision": 0.1}).fit(table)
        assert list(fitted.feature_names_in_) == ["a", "b", "c"]
        gramian.save(fitted, tmp_path / "m.gramian")
        again = gramian.load(tmp_path / "m.gramian")
        np.testing.assert_array_equal(again.predict_proba(table), fitted.predict_proba(table))
        np.testing.assert_array_equal(again.impute(table, 2), fitted.impute(table, 2))


class TestAnswers:
    @pytest.mark.parametrize("kind", KINDS)
    def test_densities_and_memberships(self, holed, kind):
        """For incomplete rows, unseen patterns and empty rows both equal SciPy's densities of the observed part."""
        fitted = model(kind).fit(holed[~np.isnan(holed).any(axis=1)])
        new = np.vstack([holed, [[np.nan] * 3, [np.nan, 40.0, np.nan]]])
        joint = log_densities(new, fitted.means_, full(fitted)) + np.log(fitted.weights_)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        np.testing.assert_allclose(fitted.score_samples(new), likelihood, rtol=1e-7, atol=1e-7)
        proba = fitted.predict_proba(new)
        np.testing.assert_allclose(proba, np.exp(joint - likelihood[:, None]), atol=1e-7)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(proba[-2], fitted.weights_, rtol=1e-9)
        np.testing.assert_array_equal(fitted.predict(new), joint.argmax(axis=1))
        assert fitted.score(new) == pytest.approx(likelihood.mean(), abs=1e-7)

    @pytest.mark.parametrize("kind", KINDS)
    def test_imputed_means(self, holed, kind):
        """Holes get Σ_k γ_k E_k[missing | observed]; observed values are untouched."""
        fitted = model(kind).fit(holed)
        proba = fitted.predict_proba(holed)
        expected = np.array(
            [
                sum(g * conditional(x, mean, S)[0] for g, mean, S in zip(p, fitted.means_, full(fitted), strict=True))
                for x, p in zip(holed, proba, strict=True)
            ]
        )
        before = holed.copy()
        found = fitted.impute(holed)
        np.testing.assert_array_equal(holed, before)
        np.testing.assert_array_equal(found[~np.isnan(holed)], holed[~np.isnan(holed)])
        np.testing.assert_allclose(found, np.where(np.isnan(holed), expected, holed), rtol=1e-7, atol=1e-7)

    @pytest.mark.parametrize("kind", KINDS)
    def test_imputed_draws(self, holed, kind):
        """Draws have the mean and covariance of the conditional mixture, and leave observed values alone."""
        fitted = model(kind).fit(holed)
        x = np.array([[2.2, np.nan, np.nan], [np.nan, np.nan, 1.0], [1.0, 2.0, 3.0]])
        n = 40_000
        draws = fitted.impute(np.repeat(x, n, axis=0), 1, random_state=3).reshape(3, n, 3)
        np.testing.assert_array_equal(draws[2], np.tile(x[2], (n, 1)))
        for row, drawn, proba in zip(x[:2], draws, fitted.predict_proba(x), strict=False):
            parts = [conditional(row, mean, S) for mean, S in zip(fitted.means_, full(fitted), strict=True)]
            mean = sum(g * Y for g, (Y, _) in zip(proba, parts, strict=True))
            second = sum(g * (np.outer(Y - mean, Y - mean) + C) for g, (Y, C) in zip(proba, parts, strict=True))
            size = np.sqrt(np.diag(second).max())
            np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * size / np.sqrt(n))
            np.testing.assert_allclose(np.cov(drawn.T), second, atol=0.05 * size**2)

    def test_draws_differ_and_repeat(self, holed):
        """Draws differ from each other, a seed repeats them, and their shape is (n_draws, n, d)."""
        fitted = model().fit(holed)
        draws = fitted.impute(holed, 3, random_state=5)
        assert draws.shape == (3, *holed.shape)
        assert not np.isclose(draws[0], draws[1])[np.isnan(holed)].any()
        np.testing.assert_array_equal(fitted.impute(holed, 3, random_state=5), draws)

    @pytest.mark.parametrize("kind", KINDS)
    def test_samples(self, holed, kind):
        """Sampled rows have the weights, means and covariances of the components they are labelled with."""
        fitted = model(kind).fit(holed)
        X, labels = fitted.sample(60_000, random_state=1)
        np.testing.assert_allclose(np.bincount(labels) / len(X), fitted.weights_, atol=0.01)
        for k, S in enumerate(full(fitted)):
            np.testing.assert_allclose(X[labels == k].mean(axis=0), fitted.means_[k], atol=0.05)
            np.testing.assert_allclose(np.cov(X[labels == k].T), S, atol=0.1)

    @pytest.mark.parametrize(("kind", "expected"), [("full", 29), ("tied", 17), ("diag", 20), ("spherical", 14)])
    def test_criteria(self, holed, kind, expected):
        """BIC and AIC count weights, means and covariances: K − 1 + K d and, by type, the entries of Σ."""
        fitted = model(kind).fit(holed)
        deviance = -2 * fitted.score_samples(holed).sum()
        assert fitted.aic(holed) == pytest.approx(deviance + 2 * expected)
        assert fitted.bic(holed) == pytest.approx(deviance + expected * np.log(len(holed)))

    def test_single_gaussian(self, rng):
        """One component on complete rows is the sample's mean and covariance."""
        X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + 4
        fitted = model(K=1, reg_covar=0).fit(X)
        np.testing.assert_allclose(fitted.means_[0], X.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(fitted.covariances_[0], np.cov(X.T, bias=True), rtol=1e-9, atol=1e-10)
        density = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
        np.testing.assert_allclose(fitted.score_samples(X), density, rtol=1e-9)


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_components": 300}, r"n_components=300 is more than the n_samples=240; pass n_components <= 240"),
            ({"covariance_type": "round"}, r"covariance_type='round'.*'full'"),
            ({"m_step": "observed"}, r"m_step='observed'.*covariance_type='full'.*m_step='imputed'"),
            ({"tol": -1.0}, r"tol=-1.0"),
            ({"reg_covar": np.nan}, r"reg_covar=nan"),
            ({"prior": "strong"}, r"prior='strong'.*'conjugate'"),
            ({"prior": {"strength": 1}}, r"prior=.*'mean_precision'"),
            ({"prior": {"mean_precision": 0}}, r"prior\['mean_precision'\]=0 must be a number > 0"),
            ({"prior": {"degrees_of_freedom": 1}}, r"prior\['degrees_of_freedom'\]=1 must be a number > 2"),
            ({"prior": {"weight_concentration": 0.5}}, r"'weight_concentration'\]=0.5 must be a number >= 1"),
            ({"weights_init": [0.5, 0.6, 0.7]}, r"weights_init.*sum to 1"),
            ({"means_init": np.zeros((2, 3))}, r"means_init has shape \(2, 3\); pass shape \(3, 3\)"),
            ({"means_init": np.full((3, 3), np.nan)}, r"means_init holds NaN"),
            ({"covariances_init": -np.tile(np.eye(3), (3, 1, 1))}, r"covariances_init is not positive definite"),
            ({"covariances_init": np.tile(np.triu(np.ones((3, 3))), (3, 1, 1))}, r"covariances_init is not symmetric"),
            ({"covariance_type": "diag", "covariances_init": np.zeros((3, 3))}, r"covariances_init.*<= 0"),
        ],
    )
    def test_settings(self, holed, settings, message):
        """A setting that cannot be is refused with its name, its value and what to pass; nothing is left fitted."""
        wrong = clone(model()).set_params(**settings)
        with pytest.raises(ValueError, match=message):
            wrong.fit(holed)
        with pytest.raises(NotFittedError):
            wrong.predict(holed)

    def test_data(self, holed):
        """Infinity, no values at all, and variances beyond the precision are refused."""
        for value in (np.inf, -np.inf):
            bad = holed.copy()
            bad[3, 1] = value
            with pytest.raises(ValueError, match="infinity"):
                model().fit(bad)
            with pytest.raises(ValueError, match="infinity"):
                model().fit(holed).predict(bad)
        with pytest.raises(ValueError, match="X has no observed value"):
            model().fit(np.full((5, 2), np.nan))
        with pytest.raises(ValueError, match=r"float32; rescale X or pass it as float64"):
            model().fit((holed * 1e25).astype(np.float32))

    @pytest.mark.parametrize("value", [0, -1, 2.5, True, "many"])
    def test_counts(self, holed, value):
        """Numbers of draws and samples are whole and positive."""
        fitted = model().fit(holed)
        with pytest.raises(ValueError, match="n_draws"):
            fitted.impute(holed, value)
        with pytest.raises(ValueError, match="n_samples"):
            fitted.sample(value)

    def test_memory(self, holed):
        """More draws than the memory budget holds are refused before they are made."""
        fitted = model().fit(holed)
        with gramian.config(memory_budget="1MB"), pytest.raises(gramian.MemoryBudgetError, match="draw fewer"):
            fitted.impute(holed, 1000)

    def test_early_end_is_announced(self, holed):
        """Too few iterations warn and name max_iter; tol=0 asks for all of them and does not."""
        with pytest.warns(ConvergenceWarning, match="max_iter=2"):
            assert not model(max_iter=2, tol=1e-9).fit(holed).converged_
        assert model(max_iter=2, tol=0).fit(holed).n_iter_ == 2


def test_rows_beyond_all_squares_still_have_answers():
    """Probabilities, densities and imputed values of rows whose squares overflow are numbers."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    for covariance in ("full", "tied", "diag", "spherical"):
        model = IncompleteGaussianMixture(2, covariance_type=covariance, random_state=0).fit(X)
        far = np.array([[1e155, 0, 0, 0], [1e200] * 4, [-1e300, np.nan, 0, 0]])
        np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1)
        assert np.isfinite(model.score_samples(far)).all()
        assert np.isfinite(model.impute(far)).all()


def test_degrees_of_freedom_are_strictly_above_their_limit():
    """For two columns the limit is 1, and 1 itself is refused."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="degrees_of_freedom"):
        IncompleteGaussianMixture(prior={"degrees_of_freedom": 1}).fit(X)


def test_a_refused_refit_leaves_the_mixture_as_it_was():
    """After an error on other data the fitted mixture still answers."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = IncompleteGaussianMixture(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="n_components=3"):
        model.fit(np.ones((2, 5)))
    assert model.predict(X).shape == (20,)
