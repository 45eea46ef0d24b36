"""EM on incomplete rows: equal to the textbook, to scikit-learn without holes, and never downhill."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

import gramian
from gramian.mixture import mcar
from gramian.mixture.em import Parameters, Prior, log_joint, memberships, run_em
from gramian.mixture.patterns import IncompleteTable
from mixture.textbook import conditional, em, log_densities, matrices

KINDS = ["full", "tied", "diag", "spherical"]
PRIOR = Prior(mean_precision=0.01, degrees_of_freedom=6.0, weight_concentration=1.5)


@pytest.fixture
def rng():
    return np.random.default_rng(41)


def rows(rng, n=60, d=4, K=3):
    """Overlapping groups with correlated columns."""
    mixing = rng.normal(size=(d, d)) / 2 + np.eye(d)
    return (rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(K, d))[rng.integers(K, size=n)]) @ mixing


def with_holes(X, share, rng):
    return np.where(rng.random(X.shape) < share, np.nan, X)


def start(X, K, kind, rng):
    """Filled random rows as means, a common correlated covariance, uneven weights."""
    d = X.shape[1]
    filled = np.where(np.isnan(X), 0.0, X)
    means = filled[rng.choice(len(X), K, replace=False)]
    A = rng.normal(size=(d, d))
    S = A @ A.T / d + np.eye(d)
    covariances = {
        "full": np.array([S * (1 + k / 4) for k in range(K)]),
        "tied": S,
        "diag": np.array([np.diag(S) * (1 + k / 4) for k in range(K)]),
        "spherical": 1.0 + np.arange(K) / 4,
    }[kind]
    return Parameters(np.arange(1.0, K + 1) / np.arange(1.0, K + 1).sum(), means, covariances)


def assert_same(found, expected, accuracy=1e-9):
    for a, b in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=accuracy, atol=accuracy)


def precisions(covariances, kind):
    return np.linalg.inv(covariances) if kind in ("full", "tied") else 1 / covariances


class TestAgainstIndependentComputations:
    @pytest.mark.parametrize("share", [0.1, 0.35, 0.7])
    @pytest.mark.parametrize("kind", KINDS)
    def test_textbook(self, rng, kind, share):
        """Seven iterations with holes equal those of a loop over rows, parameters and likelihoods."""
        X = with_holes(rows(rng), share, rng)
        X[3] = np.nan
        begin = start(X, 3, kind, rng)
        fit = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=7, tol=0)
        *expected, bounds = em(X, *begin[:3], kind, 7)
        assert_same(fit.parameters, expected)
        np.testing.assert_allclose(fit.bounds, bounds, rtol=1e-10)

    @pytest.mark.parametrize("n_iter", [1, 50])
    @pytest.mark.parametrize("ridge", [0, 1e-8, 1e-3])
    @pytest.mark.parametrize("kind", KINDS)
    def test_scikit_learn_on_complete_rows(self, rng, kind, ridge, n_iter):
        """Without holes every step is that of scikit-learn's GaussianMixture, from the same start."""
        X = rows(rng, 200)
        begin = start(X, 3, kind, rng)
        peer = GaussianMixture(
            3,
            covariance_type=kind,
            reg_covar=ridge,
            max_iter=n_iter,
            tol=0,
            weights_init=begin.weights,
            means_init=begin.means,
            precisions_init=precisions(begin.covariances, kind),
        )
        with pytest.warns(UserWarning, match="converge"):
            peer.fit(X)
        fit = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=n_iter, tol=0, ridge=ridge)
        assert_same(fit.parameters, (peer.weights_, peer.means_, peer.covariances_), 1e-8)
        np.testing.assert_allclose(fit.bounds, peer.lower_bounds_, rtol=1e-10)

    def test_one_gaussian_without_holes(self, rng):
        """One component on complete rows is the sample mean and covariance after one step."""
        X = rows(rng)
        fit = run_em(IncompleteTable(X), start(X, 1, "full", rng), max_iter=1)
        assert_same(fit.parameters, ([1.0], [X.mean(axis=0)], [np.cov(X.T, bias=True)]), 1e-12)

    def test_monotone_pattern_has_a_closed_form(self, rng):
        """If column 1 is missing only where column 0 is not, the likelihood factors and regression solves it."""
        X = rng.multivariate_normal([1, -2], [[2, 1.2], [1.2, 1.5]], 300)
        X[200:, 1] = np.nan
        both = X[:200]
        slope = np.cov(both.T, bias=True)[0, 1] / both[:, 0].var()
        rest = (both[:, 1] - slope * both[:, 0]).var()
        mean0, var0 = X[:, 0].mean(), X[:, 0].var()
        mean1 = both[:, 1].mean() + slope * (mean0 - both[:, 0].mean())
        expected = [[var0, slope * var0], [slope * var0, rest + slope**2 * var0]]
        fit = run_em(IncompleteTable(X), start(X, 1, "full", rng), max_iter=500, tol=0)
        assert_same(fit.parameters, ([1.0], [[mean0, mean1]], [expected]), 1e-8)

    @pytest.mark.parametrize("kind", KINDS)
    def test_joint_densities(self, rng, kind):
        """log_joint is the log-weight plus SciPy's log-density of the observed sub-vector, rows in their order."""
        X = with_holes(rows(rng), 0.4, rng)
        p = start(X, 3, kind, rng)
        expected = log_densities(X, p.means, matrices(p.covariances, kind, 3, 4)) + np.log(p.weights)
        np.testing.assert_allclose(log_joint(IncompleteTable(X), p, kind), expected, rtol=1e-9, atol=1e-9)

    def test_wide_rows_and_many_holes(self, rng):
        """With 24 columns, holes of every number from none to all are conditioned right, by both kinds of solver."""
        d = 24
        X = rows(rng, d + 1, d, 1)
        for i in range(d + 1):
            X[i, rng.choice(d, i, replace=False)] = np.nan
        p = start(X, 2, "full", rng)
        fit = run_em(IncompleteTable(X), p, max_iter=1)
        assert_same(fit.parameters, em(X, *p[:3], "full", 1)[:3])

    def test_gamma_counts_once(self):
        """The update with γ twice, as printed in the paper, is another one, and its likelihood falls."""
        rng = np.random.default_rng(4)
        X = with_holes(rows(rng, 60, 3, 2), 0.3, rng)
        begin = run_em(IncompleteTable(X), start(X, 3, "full", rng), max_iter=10, tol=0).parameters
        *literal, bounds = em(X, *begin[:3], "full", 3, double_gamma=True)
        fit = run_em(IncompleteTable(X), begin, max_iter=3, tol=0)
        assert np.diff(bounds).min() < -0.1
        assert np.diff(fit.bounds).min() >= 0
        assert not np.allclose(fit.parameters.covariances, literal[2], rtol=1e-2)


class TestUphill:
    @pytest.mark.parametrize("prior", [None, PRIOR], ids=["likelihood", "posterior"])
    @pytest.mark.parametrize("m_step", ["imputed", "observed"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_never_falls(self, kind, m_step, prior):
        """On 20 problems with 0 to 60 % holes, likelihood or posterior density rises in every iteration."""
        if m_step == "observed" and kind in ("full", "tied"):
            m_step = "imputed"
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = with_holes(rows(rng, 80, 4), 0.6 * seed / 19, rng)
            fit = run_em(
                IncompleteTable(X),
                start(X, 2, kind, rng),
                covariance_type=kind,
                max_iter=30,
                tol=0,
                m_step=m_step,
                prior=prior,
            )
            assert np.diff(fit.bounds).min() >= -1e-10 * np.abs(fit.bounds).max()

    @pytest.mark.parametrize("kind", ["diag", "spherical"])
    def test_both_m_steps_meet(self, rng, kind):
        """Imputed and observed M-steps go to the same fixed point."""
        X = with_holes(rows(rng, 100, 3, 2), 0.3, rng)
        begin = start(X, 2, kind, rng)
        fits = [
            run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=800, tol=0, m_step=m_step)
            for m_step in ("imputed", "observed")
        ]
        assert_same(fits[0].parameters, fits[1].parameters, 1e-6)

    @pytest.mark.parametrize("kind", KINDS)
    def test_prior_is_at_its_mode(self, rng, kind):
        """At the fixed point no small change of a mean or of the scale of covariances raises the posterior density."""
        X = with_holes(rows(rng, 40), 0.3, rng)

        def density(p):
            return run_em(IncompleteTable(X), p, covariance_type=kind, max_iter=1, prior=PRIOR).bounds[0]

        begin = start(X, 2, kind, rng)
        p = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=800, tol=0, prior=PRIOR).parameters
        top = density(p)
        for factor in (0.98, 1.02):
            assert density(p._replace(covariances=p.covariances * factor)) < top
        for shift in (-0.02, 0.02):
            assert density(p._replace(means=p.means + shift)) < top
        tilted = p.weights * np.array([1.02, 0.98])
        assert density(p._replace(weights=tilted / tilted.sum())) < top


class TestHarmlessRows:
    @pytest.mark.parametrize("kind", KINDS)
    def test_rows_without_values(self, rng, kind):
        """Rows with nothing observed do not move a fixed point: their γ is w, their completion μ."""
        X = with_holes(rows(rng, 80, 3, 2), 0.2, rng)
        begin = start(X, 2, kind, rng)
        fixed = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=800, tol=0).parameters
        more = np.vstack([X, np.full((30, 3), np.nan)])
        again = run_em(IncompleteTable(more), fixed, covariance_type=kind, max_iter=5, tol=0).parameters
        assert_same(again, fixed, 1e-7)
        gamma, likelihood = memberships(log_joint(IncompleteTable(more), fixed, kind), axis=1)
        np.testing.assert_allclose(gamma[-30:], np.tile(fixed.weights, (30, 1)), rtol=1e-9)
        np.testing.assert_allclose(likelihood[-30:], 0, atol=1e-9)

    @pytest.mark.parametrize("kind", KINDS)
    def test_component_without_rows_is_frozen(self, rng, kind):
        """A component so far away that no row belongs to it keeps its mean, and nothing becomes NaN."""
        X = with_holes(rows(rng, 50, 3, 1), 0.2, rng)
        begin = start(X, 2, kind, rng)
        begin.means[1] = 1e6
        fit = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=5, tol=0)
        np.testing.assert_array_equal(fit.parameters.means[1], 1e6)
        if kind != "tied":
            np.testing.assert_allclose(fit.parameters.covariances[1], begin.covariances[1])
        assert all(np.isfinite(part).all() for part in fit.parameters[:3])
        assert 0 < fit.parameters.weights[1] < 1e-11

    @pytest.mark.parametrize("kind", KINDS)
    def test_column_permutation(self, rng, kind):
        """Permuted columns give permuted parameters."""
        X = with_holes(rows(rng), 0.3, rng)
        begin = start(X, 3, kind, rng)
        order = np.array([2, 0, 3, 1])
        turned = begin._replace(means=begin.means[:, order])
        if kind in ("full", "tied"):
            turned = turned._replace(covariances=begin.covariances[..., order, :][..., order])
        elif kind == "diag":
            turned = turned._replace(covariances=begin.covariances[:, order])
        a = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=20, tol=0).parameters
        b = run_em(IncompleteTable(X[:, order]), turned, covariance_type=kind, max_iter=20, tol=0).parameters
        np.testing.assert_allclose(b.means, a.means[:, order], atol=1e-8)
        np.testing.assert_allclose(b.weights, a.weights, atol=1e-8)

    @pytest.mark.parametrize("kind", KINDS)
    def test_duplicated_rows(self, rng, kind):
        """All rows twice is the same problem."""
        X = with_holes(rows(rng), 0.3, rng)
        begin = start(X, 2, kind, rng)
        a = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=10, tol=0)
        b = run_em(IncompleteTable(np.repeat(X, 2, axis=0)), begin, covariance_type=kind, max_iter=10, tol=0)
        assert_same(a.parameters, b.parameters)


class TestWork:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_threads_and_chunks_do_not_matter(self, rng, kind, n_threads, monkeypatch):
        """Results do not depend on threads at all, nor beyond rounding on how rows are cut into chunks."""
        X, _ = mcar(rows(rng, 6000, 5), 0.3, random_state=0, allow_empty=True)
        begin = start(X, 4, kind, rng)
        with gramian.config(threads=1):
            expected = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=4, tol=0)
        with gramian.config(threads=n_threads):
            found = run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=4, tol=0)
            for a, b in zip(found.parameters[:3], expected.parameters[:3], strict=True):
                np.testing.assert_array_equal(a, b)
            monkeypatch.setattr("gramian.mixture.patterns.CHUNK_BYTES", 2000)
            monkeypatch.setattr("gramian.mixture.em.CHUNK_BYTES", 2000)
            assert_same(
                run_em(IncompleteTable(X), begin, covariance_type=kind, max_iter=4, tol=0).parameters, found.parameters
            )

    def test_stops_when_settled(self, rng):
        """EM stops at the first change below tol, and says whether it did."""
        X = rows(rng)
        begin = start(X, 2, "full", rng)
        fit = run_em(IncompleteTable(X), begin, tol=1e-4, max_iter=500)
        assert fit.converged
        assert abs(np.diff(fit.bounds)[-1]) < 1e-4 <= np.abs(np.diff(fit.bounds)[:-1]).min()
        assert not run_em(IncompleteTable(X), begin, tol=1e-4, max_iter=2).converged

    def test_singular_covariance_is_raised(self, rng):
        """Twin columns and no ridge: the covariance is raised until it can be factorised; the means stay right."""
        x = rng.normal(size=50)
        X = np.column_stack([x, x, np.where(np.arange(50) % 3, 2 * x, np.nan)])
        fit = run_em(IncompleteTable(X), Parameters(np.ones(1), np.zeros((1, 3)), np.eye(3)[None]), max_iter=20)
        assert np.isfinite(fit.bounds).all()
        np.testing.assert_allclose(fit.parameters.means[0, :2], x.mean(), atol=1e-10)
        assert np.linalg.eigvalsh(fit.parameters.covariances[0]).min() > 0

    def test_hopeless_covariance_is_refused(self):
        """A covariance that is far from positive definite is an error that says what to do."""
        bad = Parameters(np.ones(1), np.zeros((1, 2)), np.array([[[1.0, 9.0], [9.0, 1.0]]]))
        with pytest.raises(ValueError, match=r"positive definite.*reg_covar"):
            run_em(IncompleteTable(np.zeros((3, 2))), bad)

    def test_overflow_is_refused(self):
        """A likelihood that is not finite is reported, not returned."""
        X = np.array([[1e200, 1.0], [0.0, 1.0]])
        begin = Parameters(np.ones(1), np.zeros((1, 2)), np.ones((1, 2)))
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"not finite.*reg_covar"):
            run_em(IncompleteTable(X), begin, covariance_type="diag")


def test_conditional_of_the_textbook(rng):
    """The reference itself: its conditional mean and covariance are those of the partitioned precision."""
    A = rng.normal(size=(3, 3))
    S = A @ A.T + np.eye(3)
    x = np.array([1.0, np.nan, np.nan])
    completed, C = conditional(x, np.zeros(3), S)
    precision = np.linalg.inv(S)
    np.testing.assert_allclose(C[1:, 1:], np.linalg.inv(precision[1:, 1:]))
    np.testing.assert_allclose(completed[1:], -np.linalg.inv(precision[1:, 1:]) @ precision[1:, 0] * x[0])
