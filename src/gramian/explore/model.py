"""What is kept of an exploration to answer for rows that come later."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize

from gramian.ranking import KernelPageRank
from gramian.typing import Array

_CHUNK = 50_000  # rows answered at once
_COMPONENTS = 50  # of the walk: more make the file large and tell no more of likeness


class TableModel(BaseEstimator):
    """Groups, memberships and oddness of rows of a table, and lists of the rows most like others.

    Made by :func:`gramian.explore.explore` and saved as ``model.gramian``. Rows are asked in prepared form, as
    ``preparation.transform(table)`` gives them.

    Parameters
    ----------
    preparation : Preparation
        Fitted on the table.
    clusterer : estimator
        Fitted on some rows, with ``predict``.
    restart : float, default 0.15
        Of the walk that ranks rows.

    Attributes
    ----------
    n_clusters_ : int
    number_ : ndarray (n_clusters_,)
        The number of each of the clusterer's groups: 0 is the largest.
    labels_, rows_ : ndarray
        Groups of the rows that were fitted, and where they stand in the table.
    ranker_ : KernelPageRank
    """

    def __init__(self, preparation: Any = None, clusterer: Any = None, restart: float = 0.15) -> None:
        self.preparation = preparation
        self.clusterer = clusterer
        self.restart = restart

    def fit(self, X: Array, labels: Array, rows: Array, kernel: Any) -> TableModel:
        """Rank the fitted rows of each group.

        Parameters
        ----------
        X : ndarray (n, d)
            Prepared.
        labels : ndarray (n,)
            As the clusterer has them; −1 for rows of no group.
        rows : ndarray (n,)
            Their numbers in the table.
        kernel : Kernel
        """
        sizes = np.bincount(labels[labels >= 0])
        order = np.argsort(-sizes, kind="stable")
        self.n_clusters_, self.rows_, self.sizes_ = len(sizes), rows, sizes[order]
        self.number_ = np.argsort(order)
        self.labels_ = self._numbered(labels)
        components = min(_COMPONENTS, len(X) - 1)
        self.ranker_ = KernelPageRank(kernel=kernel, restart=self.restart, n_components=components, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rows without any likeness are shown as odd
            self.ranker_.fit(X)
        self.usual_degree_ = float(np.median(self.ranker_.degrees_))
        return self

    def _numbered(self, labels: Array) -> Array:
        return np.where(labels >= 0, self.number_[labels], -1)

    @property
    def _seeds(self) -> Array:
        """One column for each group: its members, alike."""
        return (self.labels_[:, None] == np.arange(self.n_clusters_)) / np.maximum(self.sizes_, 1)

    def fitted(self) -> tuple[Array, Array, Array]:
        """Membership (n, k), score in each group (n, k) and oddness (n,) of the fitted rows."""
        scores = np.maximum(self.ranker_.scores(self._seeds, method="exact"), 0.0)
        return self._memberships(scores), scores, self._oddness(self.ranker_.degrees_)

    def answer(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Group, membership, score in each group and oddness of new prepared rows."""
        scorer = self.ranker_.scorer(self._seeds, method="one_step")
        parts = []
        for start in range(0, len(X), _CHUNK):
            part = X[start : start + _CHUNK]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # like no fitted row: group −1, oddness 1
                labels = np.asarray(self.clusterer.predict(part))
                values = np.asarray(scorer(part), np.float64)
            scores = np.maximum(values[:, :-1], 0.0)
            parts.append((self._numbered(labels), self._memberships(scores), scores, self._oddness(values[:, -1])))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]

    def _memberships(self, scores: Array) -> Array:
        joint = scores * (self.sizes_ / self.sizes_.sum())
        total = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, total, out=np.full_like(joint, 1 / self.n_clusters_), where=total > 0)

    def _oddness(self, degrees: Array) -> Array:
        """0 for a row that is like as many others as most are, 1 for one that is like none."""
        return np.clip(1 - degrees / self.usual_degree_, 0.0, 1.0)

    def embedding(self, X: Array | None = None, most: int = 16) -> Array:
        """Rows of unit length whose dot products say how alike rows are; of the fitted rows or of new ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            Z = self.ranker_.embedding_ if X is None else self.ranker_.transform(X)
        return np.asarray(normalize(Z[:, :most]), np.float32)

    def like(self, row: int, top: int = 10) -> tuple[Array, Array]:
        """The fitted rows most like a row of the table, by their numbers in it, and their scores."""
        place = int(np.searchsorted(self.rows_, row))
        if place == len(self.rows_) or self.rows_[place] != row:
            raise ValueError(
                f"row {row + 1} is not among the {len(self.rows_):,} rows that the model keeps, of "
                f"{int(self.rows_[-1]) + 1:,}; explore a smaller table, or ask for a row that it keeps"
            )
        scores = self.ranker_.scores(place, method="exact")
        scores[place] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(top, len(scores) - 1)]
        return self.rows_[best], scores[best]

    def typical(self, cluster: int, top: int = 10) -> tuple[Array, Array]:
        """The fitted rows most typical of a group, by their number in the table, and their scores."""
        scores = self.ranker_.scores(self._seeds[:, cluster], method="exact")
        members = np.flatnonzero(self.labels_ == cluster)
        best = members[np.argsort(-scores[members], kind="stable")[:top]]
        return self.rows_[best], scores[best]
