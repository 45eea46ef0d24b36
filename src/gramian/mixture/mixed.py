"""A mixture for tables of numbers and categories with missing values in both."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gramian.checks import check_count, check_real, remember_columns, whole
from gramian.configuration import require_memory
from gramian.mixture.em import CovarianceType, Parameters, log_joint, memberships
from gramian.mixture.estimator import MixtureEstimator
from gramian.mixture.imputation import conditional_draw, draw_choices, expected_missing, random_rows
from gramian.mixture.levels import indicators, matching_features, observed_levels
from gramian.mixture.mixed_columns import (
    categorical_columns,
    codes_of,
    is_frame,
    learn_levels,
    numbers_of,
    written,
)
from gramian.mixture.patterns import IncompleteTable
from gramian.mixture.scaling import Scaling, free_parameters
from gramian.mixture.starts import cluster_labels, observed_scale, start_from_labels, start_levels
from gramian.partitions import refuse_partitions
from gramian.randomness import generator, spawn
from gramian.typing import Array, Matrix, RandomState


class IncompleteMixture(MixtureEstimator):
    """Mixture model for tables of numbers and categories with missing values, fitted by EM.

    Given its component k, a row has independent parts: its numbers are normal, and each of its categorical columns j
    has level l with probability p_kjl (a latent class model):

        f(x) = Σ_k w_k N(numbers | μ_k, Σ_k) Π_j p_kj,x_j.

    A row counts with the density of what was observed, so nothing is imputed and any pattern of missing values has
    memberships: a missing category leaves its factor out, and missing numbers are integrated out as in
    :class:`gramian.IncompleteGaussianMixture`, which this is for tables without categories.

    - E-step: γ_ik ∝ w_k N(observed numbers of row i | component k) Π_{j observed} p_kj,x_ij.
    - M-step: w, μ and Σ as there, and p_kjl = (Σ_{i: x_ij = l} γ_ik + s q_jl) / (Σ_{i: x_ij observed} γ_ik + s), with
      q_jl the share of level l in its column and s = ``smoothing``.

    Parameters
    ----------
    n_components : int, default 1
    categorical_features : None, "from_dtype", or array-like, default "from_dtype"
        Which columns are categorical: indices, a mask, or names of columns. "from_dtype" takes the columns of
        categories, text, booleans and objects of a pandas or polars data frame, and none of an array.
    covariance_type : {"diag", "tied", "full", "spherical"}, default "diag"
        Of the numbers: one variance per component and column, one matrix for all components, one matrix per
        component, or one variance per component.
    smoothing : float, default 1.0
        Rows with the shares of the whole column that every component is given beside its own (a Dirichlet prior), so
        that a level it has not seen is unlikely but not impossible.
    tol : float, default 1e-3
        Stop when the bound, a mean per row, changes by less.
    reg_covar : float, default 1e-6
        Added to every variance in each M-step, as a share of the observed variance of its column.
    max_iter : int, default 100
    n_init : int, default 1
        Starts, of which the one with the highest bound is kept.
    init : {"kmeans++", "kmeans"}, default "kmeans++"
        Clusters of the rows that EM starts from, with missing values filled by column means: k-means++ seeds moved
        once, or k-means until it settles. On average a categorical column counts as much as a column of numbers.
    random_state : int, Generator, RandomState or None
    verbose : int, default 0

    Attributes
    ----------
    is_categorical_ : ndarray of bool (d,)
        Which columns are categorical; c of them.
    categories_ : list of c arrays
        The levels of each categorical column, sorted.
    weights_ : ndarray (n_components,)
    means_ : ndarray (n_components, d − c)
        In the order of the columns of numbers.
    covariances_ : ndarray
        Of the numbers, in the shape that :class:`gramian.IncompleteGaussianMixture` has.
    probabilities_ : list of c arrays (n_components, levels)
    lower_bounds_ : ndarray (n_iter_,)
        Mean log-likelihood per row at the beginning of each iteration, plus the log-density of the prior over n, up
        to a constant. With ``reg_covar=0`` it never falls.
    lower_bound_ : float
        The last of them.
    n_iter_ : int
    converged_ : bool
    feature_mask_ : ndarray of bool (d,)
        Columns that had a value. The others are left out.

    Notes
    -----
    A level that ``fit`` has not seen counts as missing. Arithmetic is in double precision, on standardised columns.

    References
    ----------
    Hunt, Jorgensen (2003). Mixture model clustering for mixed data with missing information. Computational Statistics
    & Data Analysis 41.

    Biernacki, Celeux, Govaert (2000). Assessing a mixture model for clustering with the integrated completed
    likelihood. IEEE Transactions on Pattern Analysis and Machine Intelligence 22.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from gramian import IncompleteMixture
    >>> table = pd.DataFrame({
    ...     "weight": [3.1, 2.9, np.nan, 3.0, 9.2, 8.8, 9.1, np.nan],
    ...     "food": ["seeds", "seeds", "seeds", None, "fish", None, "fish", "fish"],
    ... })
    >>> model = IncompleteMixture(2, n_init=5, random_state=0).fit(table)
    >>> len(set(model.predict(table)[:4])), len(set(model.predict(table)))
    (1, 2)
    >>> model.impute(table)[[3, 5], 1].tolist()
    ['seeds', 'fish']
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        categorical_features: Any = "from_dtype",
        covariance_type: CovarianceType = "diag",
        smoothing: float = 1.0,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init: Literal["kmeans++", "kmeans"] = "kmeans++",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.categorical_features = categorical_features
        self.covariance_type = covariance_type
        self.smoothing = smoothing
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init = init
        self.random_state = random_state
        self.verbose = verbose

    # Fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Matrix, y: Any = None) -> IncompleteMixture:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like or data frame (n, d)
            NaN, None or a frame's own mark where an entry is missing.
        y : ignored

        Returns
        -------
        self : IncompleteMixture
        """
        self._check_settings()
        given = X
        X = self._checked(X)
        K = check_count(self, "n_components", X.shape[0])
        assert K is not None
        categorical = categorical_columns(X, self.categorical_features)
        numbers = numbers_of(X, ~categorical, self)
        categories = learn_levels(X, categorical)
        codes = codes_of(X, categorical, categories)
        mask = self._known_columns(categorical, numbers, categories)
        known = mask[~categorical]
        kind: CovarianceType = self.covariance_type if known.any() else "diag"
        center, scale = observed_scale(numbers[:, known].astype(np.float64), common=kind == "spherical")
        scaling = Scaling(known, center, scale, kind)
        Z = scaling.rows(numbers)
        codes = codes[:, mask[categorical]]
        levels = observed_levels(codes, _sizes(categories), float(self.smoothing))
        hot = indicators(codes, levels.sizes)
        starts = []
        features = matching_features(np.where(np.isnan(Z), 0, Z), hot, levels)
        for rng in spawn(self.random_state, int(self.n_init)):
            labels = cluster_labels(features, K, self.init, rng)
            start = start_from_labels(features, labels, K, kind, float(self.reg_covar), len(center))
            starts.append(start._replace(levels=start_levels(hot, labels, K, levels)))
        best = self._best(
            IncompleteTable(Z, hot), starts, covariance_type=kind, ridge=float(self.reg_covar), levels=levels
        )
        parameters = scaling.to_user(best.parameters, numbers.dtype)
        assert best.parameters.levels is not None
        self.is_categorical_, self.feature_mask_, self.categories_ = categorical, mask, categories
        self.weights_, self.means_, self.covariances_ = parameters[:3]
        split = np.cumsum([len(known) for known in categories])[:-1]
        self.probabilities_ = np.split(best.parameters.levels, split, axis=1) if categories else []
        self._keep_course(best, scaling.log_volume(~np.isnan(Z)))
        remember_columns(self, given)
        self._warn_unsettled()
        return self

    def _check_settings(self) -> None:
        self._check_em()
        check_real(self, "smoothing", least=0)

    def _checked(self, X: Matrix) -> Matrix:
        """A data frame as it is; anything else as an array, of numbers unless columns are said to be categorical."""
        refuse_partitions(self, X)
        if is_frame(X):
            if 0 in X.shape:
                raise ValueError(f"X has {X.shape[0]} rows and {X.shape[1]} columns; pass at least one of each")
            return X
        plain = self.categorical_features is None or isinstance(self.categorical_features, str)
        dtype: Any = [np.float64, np.float32] if plain else None
        return check_array(X, dtype=dtype, ensure_all_finite="allow-nan", input_name="X", estimator=self)

    def _known_columns(self, categorical: Array, numbers: Array, categories: list[Array]) -> Array:
        known = np.empty(len(categorical), bool)
        known[~categorical] = ~np.isnan(numbers).all(axis=0)
        known[categorical] = [len(levels) > 0 for levels in categories]
        return self._warn_unknown(known)

    # Answers --------------------------------------------------------------------------------------------------

    def _prepared(self, X: Matrix) -> tuple[Matrix, Array, Array]:
        """New rows checked, their numbers, and the codes of their levels."""
        check_is_fitted(self, "weights_")
        X = self._checked(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        numbers = numbers_of(X, ~self.is_categorical_, self)
        return X, numbers, codes_of(X, self.is_categorical_, self.categories_)

    def _standardized(self, numbers: Array) -> tuple[Array, Scaling, Parameters]:
        known = self.feature_mask_[~self.is_categorical_]
        kind: CovarianceType = self.covariance_type if known.any() else "diag"
        own = Parameters(self.weights_, self.means_, self.covariances_)
        scaling = Scaling.of_mixture(own, known, kind)
        levels = np.hstack([np.empty((len(self.weights_), 0)), *self.probabilities_])
        return scaling.rows(numbers), scaling, scaling.from_user(own)._replace(levels=levels)

    def _log_joint(self, numbers: Array, codes: Array) -> tuple[Array, Array]:
        """log(w_k f_k) of each row in standard units, and the log-volume that leads back to the user's."""
        Z, scaling, parameters = self._standardized(numbers)
        hot = indicators(codes[:, self.feature_mask_[self.is_categorical_]], _sizes(self.categories_))
        joint = log_joint(IncompleteTable(Z, hot), parameters, scaling.covariance_type)
        return joint, scaling.log_volume(~np.isnan(Z))

    def predict_proba(self, X: Matrix) -> Array:
        """Probability of each component given the observed entries of each row.

        Parameters
        ----------
        X : array-like or data frame (n, d)
            With any missing values, also where ``fit`` saw none. A row without any value gets the weights.

        Returns
        -------
        memberships : ndarray (n, n_components)
        """
        _, numbers, codes = self._prepared(X)
        return memberships(self._log_joint(numbers, codes)[0], axis=1)[0].astype(numbers.dtype, copy=False)

    def predict(self, X: Matrix) -> Array:
        """The most probable component of each row, (n,)."""
        _, numbers, codes = self._prepared(X)
        return self._log_joint(numbers, codes)[0].argmax(axis=1)

    def score_samples(self, X: Matrix) -> Array:
        """Log of the density of the numbers times the probability of the categories of each row, as observed, (n,)."""
        _, numbers, codes = self._prepared(X)
        joint, volume = self._log_joint(numbers, codes)
        return (memberships(joint, axis=1)[1] - volume).astype(numbers.dtype, copy=False)

    def impute(self, X: Matrix, n_draws: int | None = None, random_state: RandomState = None) -> Array:
        """Fill the missing entries from what is observed in their rows.

        Parameters
        ----------
        X : array-like or data frame (n, d)
        n_draws : int, optional
            None fills in expected numbers and the most probable levels. A number gives so many random completions: a
            component drawn by its membership, then the entries from its conditional distribution.
        random_state : int, Generator, RandomState or None
            For the draws; None takes that of the estimator.

        Returns
        -------
        filled : ndarray (n, d) or (n_draws, n, d)
            Observed entries are unchanged. Of numbers if all levels are numbers, otherwise of objects. Columns that had
            no value in ``fit`` stay as they are.
        """
        X, numbers, codes = self._prepared(X)
        gamma = memberships(self._log_joint(numbers, codes)[0], axis=1)[0]
        Z, scaling, parameters = self._standardized(numbers)
        kind = scaling.covariance_type
        if n_draws is None:
            filled = scaling.filled(numbers, expected_missing(Z, parameters, kind, gamma))
            likely = [(gamma @ p).argmax(axis=1) if p.size else np.full(len(gamma), -1) for p in self.probabilities_]
            return self._written(X, filled, likely)
        n_draws = whole(n_draws, "n_draws", instead="None for expected values")
        require_memory(8.0 * n_draws * X.shape[0] * X.shape[1], f"{n_draws} imputed tables", "draw fewer at a time")
        rng = generator(self.random_state if random_state is None else random_state)
        tables = []
        for _ in range(n_draws):
            labels = draw_choices(gamma, rng)
            filled = scaling.filled(numbers, conditional_draw(Z, parameters, kind, labels, rng))
            tables.append(self._written(X, filled, self._drawn_levels(labels, rng)))
        return np.stack(tables)

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
            Of numbers if all levels are numbers, otherwise of objects.
        labels : ndarray (n_samples,)
            The component of each row.
        """
        check_is_fitted(self, "weights_")
        n = whole(n_samples, "n_samples")
        rng = generator(self.random_state if random_state is None else random_state)
        labels = rng.choice(len(self.weights_), n, p=np.divide(self.weights_, self.weights_.sum()))
        empty = np.full((n, self.means_.shape[1]), np.nan, self.means_.dtype)
        _, scaling, parameters = self._standardized(empty)
        numbers = scaling.filled(empty, random_rows(parameters, scaling.covariance_type, labels, rng))
        return self._written(None, numbers, self._drawn_levels(labels, rng)), labels

    def _drawn_levels(self, labels: Array, rng: np.random.Generator) -> list[Array]:
        """Levels of each categorical column, drawn from the component that each label names; −1 if it has none."""
        return [draw_choices(p[labels], rng) if p.size else np.full(len(labels), -1) for p in self.probabilities_]

    def _written(self, X: Matrix | None, numbers: Array, chosen: list[Array]) -> Array:
        codes = np.column_stack([np.empty((len(numbers), 0), np.intp), *chosen])
        return written(X, self.is_categorical_, numbers, self.categories_, codes)

    # Criteria -------------------------------------------------------------------------------------------------

    def icl(self, X: Matrix) -> float:
        """Integrated completed likelihood on X: BIC plus twice the entropy of the memberships; the lower, the better.

        Components that overlap cost, so it counts clusters where BIC counts what describes the density.
        """
        gamma = self.predict_proba(X).astype(np.float64)
        return self.bic(X) - 2 * float((gamma * np.log(np.maximum(gamma, 1e-300))).sum())

    def _n_parameters(self) -> int:
        d = int(self.feature_mask_[~self.is_categorical_].sum())
        levels = int(sum(len(known) - 1 for known in self.categories_ if len(known)))
        return free_parameters(self.covariance_type, len(self.weights_), d) + len(self.weights_) * levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _sizes(categories: list[Array]) -> Array:
    """Levels of each column that has any."""
    return np.array([len(known) for known in categories if len(known)], np.intp)
