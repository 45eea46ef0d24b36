"""A Gaussian mixture for tables with missing values, fitted without filling them in."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_count, check_samples, remember_columns
from gramian.configuration import require_memory
from gramian.mixture.em import CovarianceType, MStep, Parameters, Prior, log_joint, memberships
from gramian.mixture.estimator import MixtureEstimator
from gramian.mixture.imputation import draw_missing, expected_missing, random_rows
from gramian.mixture.patterns import IncompleteTable
from gramian.mixture.scaling import Scaling, check_parameters, free_parameters, merged, shape_of
from gramian.mixture.starts import cluster_labels, observed_scale, start_from_labels
from gramian.randomness import generator, spawn
from gramian.typing import Array, Matrix, RandomState

_PRIOR_KEYS = ("mean_precision", "degrees_of_freedom", "weight_concentration")


class IncompleteGaussianMixture(MixtureEstimator):
    """Gaussian mixture fitted by EM to a table with missing values.

    The density is f(x) = Σ_k w_k N(x | μ_k, Σ_k). A row i with observed columns o counts with the density of what
    was observed, so nothing is imputed and any pattern of holes has memberships:

    - E-step: γ_ik ∝ w_k N(x_i^o | μ_k^o, Σ_k^oo), and given the component, the row is completed to
      Y_ik = (x_i^o, μ_k^m + Σ_k^mo (Σ_k^oo)⁻¹ (x_i^o − μ_k^o)), with the conditional covariance C_ik of its holes.
    - M-step: w_k = n_k / n with n_k = Σ_i γ_ik, μ_k = Σ_i γ_ik Y_ik / n_k and
      Σ_k = Σ_i γ_ik [(Y_ik − μ_k)(Y_ik − μ_k)ᵀ + C_ik] / n_k, around the new mean.

    On complete data this is scikit-learn's ``GaussianMixture``, step for step. With holes, the estimates are right
    if the chance of a hole depends on observed values only (missing at random).

    Parameters
    ----------
    n_components : int, default 1
    covariance_type : {"full", "tied", "diag", "spherical"}, default "full"
        One covariance per component, one for all, or per component a diagonal or a single variance.
    tol : float, default 1e-3
        Stop when the mean log-likelihood per row changes by less.
    reg_covar : float, default 1e-6
        Added to every variance in each M-step, as a share of the observed variance of its column (of the mean
        variance for "spherical"; of its squared value for a constant column). So it does not depend on units; on
        columns of variance 1 it is scikit-learn's. Small by default, so as not to blur clusters or correlations: it
        only keeps components on a few rows from collapsing.
    max_iter : int, default 100
    n_init : int, default 1
        Starts, of which the one with the highest bound is kept.
    init : {"kmeans++", "kmeans"}, default "kmeans++"
        Clusters of the rows, holes filled by column means, that EM starts from: k-means++ seeds moved once, or
        k-means until it settles. Columns count in standard deviations.
    weights_init, means_init, covariances_init : array-like, optional
        Start from these instead, in the shapes of the attributes.
    m_step : {"imputed", "observed"}, default "imputed"
        For "diag" and "spherical", "observed" leaves the holes out of the sums instead of counting them at the
        component's mean and variance. The fixed points are the same, and with many holes they are reached sooner.
    prior : None, "conjugate" or dict, default None
        Maximise the posterior density under a conjugate prior centred at the observed means and variances, which
        keeps components on few rows sensible. A dict may set "mean_precision" (κ₀, default 0.01),
        "degrees_of_freedom" (ν₀, default d + 2, or 1 for "diag" and "spherical") and "weight_concentration"
        (α₀ >= 1, default 1).
    warm_start : bool, default False
        Start from the parameters of the last ``fit``.
    random_state : int, Generator, RandomState or None
    verbose : int, default 0

    Attributes
    ----------
    weights_ : ndarray (n_components,)
    means_ : ndarray (n_components, d)
    covariances_ : ndarray
        Of shape (n_components, d, d), (d, d), (n_components, d) or (n_components,), by ``covariance_type``.
    lower_bounds_ : ndarray (n_iter_,)
        Mean log-likelihood per row at the beginning of each iteration, plus the log-density of the prior over n, up
        to a constant. With ``reg_covar=0`` it never falls.
    lower_bound_ : float
        The last of them.
    n_iter_ : int
    converged_ : bool
    feature_mask_ : ndarray of bool (d,)
        Columns that had a value. The others are left out: new values in them are ignored, ``impute`` and ``sample``
        give NaN there, and their entries of ``means_`` and ``covariances_`` are 0, with variance 1.

    Notes
    -----
    Arithmetic is in double precision, on standardised columns; single precision data get single precision answers.

    References
    ----------
    Ghahramani, Jordan (1994). Supervised learning from incomplete data via an EM approach. NIPS 6.
    Lin, Lee, Ho (2006). On fast supervised learning for normal mixture models with missing information. Pattern
    Recognition 39.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import IncompleteGaussianMixture
    >>> from gramian.mixture import mcar
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) + 5])
    >>> holed, _ = mcar(X, 0.3, random_state=0)
    >>> model = IncompleteGaussianMixture(2, random_state=0).fit(holed)
    >>> np.sort(model.means_.round(), axis=0) + 0.0
    array([[0., 0., 0.],
           [5., 5., 5.]])
    >>> model.predict_proba([[np.nan, 5.0, np.nan]]).max().round(3)
    np.float64(1.0)
    >>> model.impute([[5.0, np.nan, 4.8]]).round()
    array([[5., 5., 5.]])
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: CovarianceType = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init: Literal["kmeans++", "kmeans"] = "kmeans++",
        weights_init: Any = None,
        means_init: Any = None,
        covariances_init: Any = None,
        m_step: MStep = "imputed",
        prior: str | Mapping[str, float] | None = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init = init
        self.weights_init = weights_init
        self.means_init = means_init
        self.covariances_init = covariances_init
        self.m_step = m_step
        self.prior = prior
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    # Fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Matrix, y: Any = None) -> IncompleteGaussianMixture:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where a value is missing; rows and columns may be missing altogether.
        y : ignored

        Returns
        -------
        self : IncompleteGaussianMixture
        """
        self._check_settings()
        given = X
        X = check_samples(self, X, **self._checks())
        K = check_count(self, "n_components", len(X))
        assert K is not None
        known = self._warn_unknown(np.asarray(~np.isnan(X).all(axis=0)))
        prior = self._prior(int(known.sum()))
        center, scale = observed_scale(X[:, known].astype(np.float64), common=self.covariance_type == "spherical")
        scaling = Scaling(known, center, scale, self.covariance_type)
        Z = scaling.rows(X)
        starts = self._starts(np.where(np.isnan(Z), 0, Z), K, scaling)
        settings = {"covariance_type": self.covariance_type, "m_step": self.m_step, "prior": prior}
        best = self._best(IncompleteTable(Z), starts, ridge=float(self.reg_covar), **settings)
        parameters = scaling.to_user(best.parameters, X.dtype)
        self.feature_mask_ = known
        self.weights_, self.means_, self.covariances_ = parameters[:3]
        self._keep_course(best, scaling.log_volume(~np.isnan(Z)))
        remember_columns(self, given)
        self._warn_unsettled()
        return self

    def _check_settings(self) -> None:
        self._check_em()
        check_choice(self, "m_step", ("imputed", "observed"))
        check_choice(self, "warm_start", (True, False))
        if self.m_step == "observed" and self.covariance_type in ("full", "tied"):
            raise ValueError(
                f"m_step='observed' has no closed form for covariance_type={self.covariance_type!r}, where missing "
                "values depend on observed ones; pass m_step='imputed', or covariance_type='diag' or 'spherical'"
            )

    def _checks(self) -> dict[str, Any]:
        return {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}

    def _prior(self, d: int) -> Prior | None:
        """The prior in numbers."""
        if self.prior is None:
            return None
        given = self.prior
        if isinstance(given, str) and given == "conjugate":
            given = {}
        if not isinstance(given, Mapping) or not set(given) <= set(_PRIOR_KEYS):
            raise ValueError(
                f"prior={self.prior!r} is not known; pass None, 'conjugate' or a dict with some of "
                f"{', '.join(map(repr, _PRIOR_KEYS))}"
            )
        dense = self.covariance_type in ("full", "tied")
        usual = {"mean_precision": 0.01, "degrees_of_freedom": d + 2.0 if dense else 1.0, "weight_concentration": 1.0}
        values = {**usual, **given}
        least = {"mean_precision": 0.0, "degrees_of_freedom": d - 1.0 if dense else 0.0, "weight_concentration": 1.0}
        for name, value in values.items():
            above = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
            if (
                not above
                or float(value) < least[name]
                or (float(value) == least[name] and name != "weight_concentration")
            ):
                sign = ">=" if name == "weight_concentration" else ">"
                raise ValueError(f"prior[{name!r}]={value!r} must be a number {sign} {least[name]:g}")
        return Prior(**{name: float(value) for name, value in values.items()})

    def _starts(self, filled: Array, K: int, scaling: Scaling) -> list[Parameters]:
        """Standardised parameters to start from; ``filled`` are the standardised rows with 0 in the holes."""
        rngs = spawn(self.random_state, int(self.n_init))
        if self.warm_start and hasattr(self, "weights_"):
            return [self._last_parameters(K, scaling)]
        d = len(scaling.known)
        weights = check_parameters(self, "weights_init", (K,))
        means = check_parameters(self, "means_init", (K, d))
        covariances = check_parameters(self, "covariances_init", shape_of(self.covariance_type, K, d))
        if weights is not None and means is not None and covariances is not None:
            return [scaling.from_user(Parameters(weights, means, covariances))]
        starts = []
        for rng in rngs:
            labels = cluster_labels(filled, K, self.init, rng)
            start = start_from_labels(filled, labels, K, self.covariance_type, float(self.reg_covar))
            starts.append(merged(start, (weights, means, covariances), scaling))
        return starts

    def _last_parameters(self, K: int, scaling: Scaling) -> Parameters:
        d = len(scaling.known)
        last = Parameters(self.weights_, self.means_, self.covariances_)
        if last.means.shape != (K, d) or last.covariances.shape != shape_of(self.covariance_type, K, d):
            raise ValueError(
                f"warm_start=True cannot go on from {len(last.means)} components in {last.means.shape[1]} columns to "
                f"n_components={K}, covariance_type={self.covariance_type!r} and {d} columns; pass warm_start=False"
            )
        return scaling.from_user(last, unknown=~self.feature_mask_)

    # Answers --------------------------------------------------------------------------------------------------

    def _prepared(self, X: Matrix) -> tuple[Array, Scaling, Parameters, Array]:
        """New rows checked; how to standardise them; the standardised parameters and rows."""
        check_is_fitted(self, "weights_")
        X = validate_data(self, X, reset=False, **self._checks())
        scaling = self._scaling()
        return X, scaling, scaling.from_user(self._parameters()), scaling.rows(X)

    def _parameters(self) -> Parameters:
        return Parameters(self.weights_, self.means_, self.covariances_)

    def _scaling(self) -> Scaling:
        return Scaling.of_mixture(self._parameters(), self.feature_mask_, self.covariance_type)

    def predict_proba(self, X: Matrix) -> Array:
        """Probability of each component given the observed values of each row.

        Parameters
        ----------
        X : array-like (n, d)
            With any holes, also where ``fit`` saw none. A row without values gets the weights.

        Returns
        -------
        memberships : ndarray (n, n_components)
        """
        X, _, parameters, Z = self._prepared(X)
        joint = log_joint(IncompleteTable(Z), parameters, self.covariance_type)
        return memberships(joint, axis=1)[0].astype(X.dtype, copy=False)

    def predict(self, X: Matrix) -> Array:
        """The most probable component of each row, (n,)."""
        _, _, parameters, Z = self._prepared(X)
        return log_joint(IncompleteTable(Z), parameters, self.covariance_type).argmax(axis=1)

    def score_samples(self, X: Matrix) -> Array:
        """Log-density of the observed values of each row, (n,); 0 for a row without values."""
        X, scaling, parameters, Z = self._prepared(X)
        _, likelihood = memberships(log_joint(IncompleteTable(Z), parameters, self.covariance_type), axis=1)
        return (likelihood - scaling.log_volume(~np.isnan(Z))).astype(X.dtype, copy=False)

    def impute(self, X: Matrix, n_draws: int | None = None, random_state: RandomState = None) -> Array:
        """Fill the holes from what is observed in their rows.

        Parameters
        ----------
        X : array-like (n, d)
        n_draws : int, optional
            None fills in the expected values. A number gives so many random completions: a component drawn by its
            membership, then the holes from its conditional distribution (multiple imputation).
        random_state : int, Generator, RandomState or None
            For the draws; None takes that of the estimator.

        Returns
        -------
        filled : ndarray (n, d) or (n_draws, n, d)
            Observed values are unchanged. Columns that had no value in ``fit`` keep their NaN.
        """
        X, scaling, parameters, Z = self._prepared(X)
        if n_draws is None:
            return scaling.filled(X, expected_missing(Z, parameters, self.covariance_type))
        if isinstance(n_draws, bool) or not isinstance(n_draws, (int, np.integer)) or n_draws < 1:
            raise ValueError(f"n_draws={n_draws!r} must be a whole number >= 1, or None for expected values")
        require_memory(float(n_draws) * X.nbytes, f"{n_draws} imputed tables", "draw fewer at a time")
        rng = generator(self.random_state if random_state is None else random_state)
        draws = draw_missing(Z, parameters, self.covariance_type, int(n_draws), rng)
        return np.stack([scaling.filled(X, draw) for draw in draws])

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> tuple[Array, Array]:
        """Draw new, complete rows from the mixture.

        Parameters
        ----------
        n_samples : int, default 1
        random_state : int, Generator, RandomState or None
            None takes that of the estimator.

        Returns
        -------
        X : ndarray (n_samples, d)
        labels : ndarray (n_samples,)
            The component of each row.
        """
        check_is_fitted(self, "weights_")
        if isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ValueError(f"n_samples={n_samples!r} must be a whole number >= 1")
        rng = generator(self.random_state if random_state is None else random_state)
        scaling = self._scaling()
        labels = rng.choice(len(self.weights_), int(n_samples), p=np.divide(self.weights_, self.weights_.sum()))
        rows = random_rows(scaling.from_user(self._parameters()), self.covariance_type, labels, rng)
        empty = np.full((int(n_samples), len(self.feature_mask_)), np.nan, self.means_.dtype)
        return scaling.filled(empty, rows), labels

    def _n_parameters(self) -> int:
        return free_parameters(self.covariance_type, len(self.weights_), int(self.feature_mask_.sum()))
