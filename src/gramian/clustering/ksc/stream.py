"""Rows that arrive one or a few at a time: clusters as running means in the space of α, between two snapshots.

The numerical core of ``EvolvingKSC(incremental=True)``: a snapshot starts a stream, and the stream says when enough has
changed for the next snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import pdist

from gramian.clustering.core.components import least_cluster
from gramian.clustering.core.embedding import nearest_center
from gramian.clustering.ksc.snapshot import Snapshot, stacked
from gramian.score_criteria import mean_scores
from gramian.typing import Array, Matrix

_CLOSE = 0.75  # of their distance in the snapshot: centres that come nearer may be one cluster


@dataclass(frozen=True)
class Stream:
    """What rows after a snapshot have changed.

    A row x has the coordinates e(x) / (λ d(x)), which are α where x is a row of the snapshot. It joins the nearest of
    the centres, and moves it by 1/(n_c + 1) of the way.

    Attributes
    ----------
    window : array or CSR (n, d)
        The last rows, as many as the snapshot has.
    centers : ndarray (k, q)
        Mean coordinates of the clusters.
    counts : ndarray of int (k,)
        Rows that they are the means of.
    apart : ndarray (k (k - 1) / 2,)
        Distances of the centres in the snapshot.
    n_new, n_unlike : int
        Rows since the snapshot, and those of them that are unlike it.
    """

    window: Matrix
    centers: Array
    counts: Array
    apart: Array
    n_new: int = 0
    n_unlike: int = 0

    @classmethod
    def of(cls, snapshot: Snapshot) -> Stream:
        """The stream that a snapshot starts."""
        labels, scores, degrees = snapshot.read(snapshot.rows)
        k = snapshot.n_clusters
        place = coordinates(scores, degrees, snapshot.values)
        centers = mean_scores(place, labels, k)
        counts = np.bincount(labels[labels >= 0], minlength=k)
        return cls(snapshot.rows, centers, counts, pdist(centers))

    def take(self, X: Matrix, snapshot: Snapshot) -> tuple[Array, Stream]:
        """Clusters of checked rows, -1 for rows unlike the snapshot, and the stream after them.

        Rows that are given together are placed together, by the centres as they were before them.
        """
        scores, degrees, alone = snapshot.model(X)
        unlike = alone | (degrees < snapshot.least_degree)
        place = coordinates(scores, degrees, snapshot.values)
        labels = nearest_center(place, self.centers) if len(self.centers) > 1 else np.zeros(len(place), np.intp)
        labels = np.where(unlike, -1, labels)
        joined = np.bincount(labels[~unlike], minlength=len(self.counts))
        counts = self.counts + joined
        moved = (mean_scores(place, labels, len(joined)) - self.centers) * (joined / np.maximum(counts, 1))[:, None]
        after = replace(
            self,
            window=stacked(self.window, X)[-max(self.window.shape[0], X.shape[0]) :],
            centers=self.centers + moved.astype(self.centers.dtype),
            counts=counts,
            n_new=self.n_new + len(labels),
            n_unlike=self.n_unlike + int(unlike.sum()),
        )
        return labels, after

    @property
    def due(self) -> bool:
        """Whether the window should be the next snapshot.

        It should if half of its rows are new, if twice as many rows as a cluster needs are unlike the snapshot, or if
        two centres have come to three quarters of their distance.
        """
        n = self.window.shape[0]
        full, born = 2 * self.n_new >= n, self.n_unlike > 2 * least_cluster(n, len(self.counts))
        return full or born or bool(np.any(pdist(self.centers) < _CLOSE * self.apart))


def coordinates(scores: Array, degrees: Array, values: Array) -> Array:
    """e(x) / (λ d(x)), (n, q); zero for a row of degree zero."""
    divisors = degrees[:, None] * values.astype(scores.dtype, copy=False)
    return np.divide(scores, divisors, out=np.zeros_like(scores), where=divisors > 0)
