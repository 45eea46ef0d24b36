"""What the ranking estimators share: a walk on the fitted samples, and new samples that take their first step on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.estimator import EmbeddingEstimator
from gramian.grams import Gram
from gramian.kernels import Kernel
from gramian.ranking._queries import restart_columns
from gramian.ranking.kernel_walk.extension import warn_alone
from gramian.ranking.kernel_walk.walk import Walk, cross_similarities
from gramian.typing import Array, Matrix


class WalkEstimator(EmbeddingEstimator):
    """Base of the estimators that rank by a walk; ``fit`` sets ``kernel_``, ``_walk`` and the attributes below.

    Attributes
    ----------
    X_fit_ : ndarray or CSR (n, d)
        The fitted samples.
    degrees_, base_scores_ : ndarray (n,)
    """

    _walk: Walk | None

    @staticmethod
    def _walk_on(kernel: Kernel, gram: Gram) -> Walk:
        return Walk(gram, approximate=kernel.approximate)

    def _the_walk(self) -> Walk:
        """The walk on the fitted samples; a loaded model computes its Gram again when it is first needed."""
        walk = getattr(self, "_walk", None)
        if walk is None:
            self._walk = walk = self._walk_on(self.kernel_, self.kernel_.gram(self.X_fit_))
        return walk

    def __getstate__(self) -> dict[str, Any]:
        # The Gram may be n×n and follows from the kernel and the samples.
        return {name: value for name, value in super().__getstate__().items() if name != "_walk"}

    def _restarts(self, seeds: Any, query: Any) -> tuple[Any, Matrix | None, bool]:
        """Seeds as sparse columns or, with a query, its checked rows; and whether the answer is one column."""
        if query is None:
            S, single = restart_columns(seeds, self.degrees_)
            return S, None, single
        if seeds is not None:
            raise ValueError("pass either seeds, fitted samples, or query, new rows, not both; their scores add up")
        single = not issparse(query) and np.ndim(query) == 1
        return None, self._check_new(np.reshape(query, (1, -1)) if single else query), single

    def _first_step(self, rows: Matrix) -> Array:
        """Where a walk from each new row is after one step, (n, q)."""
        S = cross_similarities(self.kernel_, self._the_walk().gram, self.X_fit_, rows)
        degrees = S.sum(axis=0)
        alone = degrees <= 0
        warn_alone(int(alone.sum()), "rank by base scores")
        S[:, alone] = (self.degrees_ / self.degrees_.sum())[:, None]
        return S / np.where(alone, 1.0, degrees)
