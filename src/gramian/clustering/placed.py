"""Clusterers that place new samples in their embedding and give them the cluster of the nearest centre.

:class:`~gramian.SpectralClustering` and :class:`~gramian.RankedClustering` do; they say how a sample is placed.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClusterMixin

from gramian.clustering.angular import nearest_direction
from gramian.clustering.core.embedding import nearest_center
from gramian.estimator import EmbeddingEstimator
from gramian.typing import Array, Matrix


class PlacedClusters(ClusterMixin, EmbeddingEstimator):
    """``transform`` and ``predict`` of a clustering of embedded samples. Subclasses write the two hooks.

    Attributes
    ----------
    cluster_centers_ : ndarray (n_clusters_, n_components)
        In the embedding.
    """

    cluster_centers_: Array

    def _place(self, X: Matrix) -> tuple[Array, Array]:
        """The embedding of new samples and a mask of those that are similar to no fitted one."""
        raise NotImplementedError

    @property
    def _by_direction(self) -> bool:
        """Whether the nearest centre is the one of the smallest angle instead of the smallest distance."""
        raise NotImplementedError

    def transform(self, X: Matrix) -> Array:
        """The embedding of new samples.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components); zero for a sample similar to no fitted one
        """
        return self._place(X)[0]

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new sample, that of the nearest centre in the embedding.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a sample that is similar to no fitted one.
        """
        Z, alone = self._place(X)
        nearest = nearest_direction if self._by_direction else nearest_center
        labels = nearest(Z, self.cluster_centers_)
        warn_isolated(int(alone.sum()), stacklevel=4)  # one more: predict is wrapped to take partitions
        return np.where(alone, -1, labels)


def warn_isolated(count: int, stacklevel: int = 3) -> None:
    """Say how many samples have no cluster because they are similar to none."""
    if count:
        who = "1 sample has" if count == 1 else f"{count} samples have"
        warnings.warn(
            f"{who} no similarity to any other and label -1; widen the kernel or raise n_neighbors",
            UserWarning,
            stacklevel=stacklevel,
        )
