"""What several partitions agree on: spectral clusters of their co-association, and how new rows join them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from gramian.clustering.spectral import SpectralClustering
from gramian.grams import FeatureGram, Gram
from gramian.kernels import Linear
from gramian.typing import Array, Matrix


def memberships_of(partitions: Array, n_clusters: int) -> csr_array:
    """H (n, n_partitions · n_clusters), one-hot, of partitions (n_partitions, n) with labels below ``n_clusters``."""
    n_partitions, n = partitions.shape
    columns = (partitions + n_clusters * np.arange(n_partitions)[:, None]).T.ravel()
    shape = (n, n_partitions * n_clusters)
    return csr_array((np.ones(n * n_partitions), columns, np.arange(n + 1) * n_partitions), shape=shape)


class _Coassociation(Linear):
    """The linear kernel of membership rows, whose Gram is always held by those rows."""

    def gram(self, X: Matrix) -> Gram:
        """S as a product of memberships, however few rows there are."""
        return FeatureGram(self._checked(X))


def spectral_labels(H: csr_array, k: int | None, rng: np.random.Generator) -> Array:
    """Labels by spectral clustering of the co-association, held as a product of features."""
    model = SpectralClustering(k, kernel=_Coassociation(), random_state=rng).fit(unit_memberships(H))
    labels: Array = model.labels_
    return labels


def unit_memberships(H: csr_array) -> csr_array:
    """F with F Fᵀ = n_ij / √(m_i m_j), m_i the partitions that saw row i; that is S where all saw all."""
    counts = np.diff(H.indptr)
    return csr_array((np.repeat(1 / np.sqrt(counts), counts).astype(H.dtype), H.indices, H.indptr), shape=H.shape)


def affinities(H: csr_array, labels: Array) -> Array:
    """Hᵀ diag(1/m_i) Y / |c|, (Σk, n_clusters): a new row's memberships times this is its mean S with each cluster."""
    counts, sizes = np.diff(H.indptr), np.bincount(labels)
    weights = (1 / (counts * sizes[labels])).astype(H.dtype)
    Y = csr_array((weights, labels, np.arange(len(labels) + 1)), shape=(len(labels), len(sizes)))
    return (H.T @ Y).toarray()
