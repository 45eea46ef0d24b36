"""What mixtures fitted by EM share: the best of several starts, what is kept of it, and criteria of fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning

from gramian.checks import check_choice, check_real, check_whole
from gramian.diagram import Estimator
from gramian.mixture.em import CovarianceType, Fit, Parameters, run_em
from gramian.mixture.patterns import IncompleteTable
from gramian.partitions import DistributedAnswers
from gramian.progress import steps
from gramian.typing import Array, Matrix


class MixtureEstimator(DensityMixin, DistributedAnswers, Estimator):
    """Base of the mixtures for tables with missing values."""

    covariance_type: CovarianceType
    tol: float
    reg_covar: float
    max_iter: int
    n_init: int
    init: str
    verbose: int

    def _check_em(self) -> None:
        check_choice(self, "covariance_type", ("full", "tied", "diag", "spherical"))
        check_choice(self, "init", ("kmeans++", "kmeans"))
        check_whole(self, "max_iter", "n_init")
        check_whole(self, "verbose", least=0)
        check_real(self, "tol", least=0)
        check_real(self, "reg_covar", least=0)

    def _warn_unknown(self, known: Array) -> Array:
        """The mask of columns with some value; an error if there are none, a warning if some are left out."""
        if not known.any():
            raise ValueError("X has no observed value; pass rows with some values that are not missing")
        if not known.all():
            warnings.warn(
                f"columns {np.flatnonzero(~known).tolist()} of X have no observed value; they are left out of the "
                "mixture",
                UserWarning,
                stacklevel=4,
            )
        return known

    def _best(self, table: IncompleteTable, starts: Sequence[Parameters], **settings: Any) -> Fit:
        """The fit of the highest bound over all starts."""
        best: Fit | None = None
        with steps("Fitting mixtures", total=len(starts) * self.max_iter, verbose=self.verbose) as advance:
            for start in starts:
                found = run_em(
                    table, start, max_iter=int(self.max_iter), tol=float(self.tol), advance=advance, **settings
                )
                if best is None or found.bounds[-1] > best.bounds[-1]:
                    best = found
        assert best is not None
        return best

    def _keep_course(self, best: Fit, volumes: Array) -> None:
        """Keep how EM went; densities of standardised values are larger by the scales of the observed columns."""
        self.lower_bounds_ = best.bounds - volumes.mean()
        self.lower_bound_ = float(self.lower_bounds_[-1])
        self.n_iter_ = len(best.bounds)
        self.converged_ = best.converged

    def _warn_unsettled(self) -> None:
        if not self.converged_ and self.tol > 0:
            warnings.warn(
                f"EM did not converge in max_iter={self.max_iter} iterations; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def fit_predict(self, X: Matrix, y: Any = None) -> Array:
        """Fit the mixture and return the most probable component of each row, as ``fit(X).predict(X)``."""
        labels: Array = self.fit(X).predict(X)
        return labels

    def score(self, X: Matrix, y: Any = None) -> float:
        """Mean of ``score_samples`` over the rows."""
        return float(self.score_samples(X).mean(dtype=np.float64))

    def bic(self, X: Matrix) -> float:
        """Bayesian information criterion on X; the lower, the better."""
        n = len(likelihoods := self.score_samples(X))
        return float(-2 * likelihoods.sum(dtype=np.float64) + self._n_parameters() * np.log(n))

    def aic(self, X: Matrix) -> float:
        """Akaike's information criterion on X; the lower, the better."""
        return float(-2 * self.score_samples(X).sum(dtype=np.float64) + 2 * self._n_parameters())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
