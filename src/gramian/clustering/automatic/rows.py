"""Rows as the views see them: memberships in mixtures, completed rows, and what is made of both once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from gramian.clustering.automatic.completion import Completion
from gramian.clustering.automatic.genie import genie_merges
from gramian.clustering.automatic.graphs import connected_graph, spanning_tree
from gramian.grams import DenseGram, FeatureGram, Gram, SparseGram
from gramian.kernels import ClusterKernel, NeighborGraph
from gramian.typing import Array

SHARPENED = 20
"""Most similar rows that a row is tied to in the sharpened cluster kernel."""

_RESTARTS, _LARGEST_MIXTURE = 12, 30
_PART = 0.7
_NEIGHBORS = 20
_STRIP = 256


def cluster_kernel(n: int, seed: int, **options: Any) -> ClusterKernel:
    """The cluster kernel of n rows, not fitted."""
    return ClusterKernel(_RESTARTS, min(_LARGEST_MIXTURE, n), random_state=seed, **options)


@dataclass(frozen=True)
class Rows:
    """Some rows of a table.

    One ensemble of mixtures serves all views and resamples: its features are sliced, by rows and by mixtures, instead
    of fitted again.

    Attributes
    ----------
    features : ndarray (n, m)
        Memberships in the components of all mixtures; their products are the cluster kernel.
    restarts : ndarray (m,)
        The restart that each of the features comes from.
    completed : ndarray (n, d)
        Columns in standard deviations, holes filled.
    """

    features: Array
    restarts: Array
    completed: Array

    @classmethod
    def of(cls, X: Array, columns: Sequence[Any] | None, seed: int) -> tuple[Rows, ClusterKernel, Completion]:
        """The rows of X (n, d), NaN where missing, with the cluster kernel and the completion fitted to them."""
        kernel = cluster_kernel(len(X), seed, threshold=0).fit(X)
        completion = Completion(columns).fit(X)
        restarts = np.repeat(np.arange(len(kernel.sizes_)) // (len(kernel.sizes_) // _RESTARTS), kernel.sizes_)
        return cls(kernel.features(X), restarts, completion.filled(X)), kernel, completion

    def __len__(self) -> int:
        return len(self.completed)

    @cached_property
    def similarities(self) -> DenseGram:
        """The cluster kernel of the rows."""
        return DenseGram(FeatureGram(self.features).dense())

    @cached_property
    def sharpened(self) -> SparseGram:
        """Similarities of each row with the rows most similar to it, kept if one of the two names the other."""
        n = len(self)
        count = min(SHARPENED, n - 1)
        strips = []
        for start in range(0, n, _STRIP):
            index = np.arange(start, min(start + _STRIP, n))
            strip = np.array(self.similarities.rows(index))
            strip[np.arange(len(index)), index] = -1.0  # no row is its own neighbour
            best = np.argpartition(-strip, count - 1, axis=1)[:, :count]
            values = np.take_along_axis(strip, best, axis=1)
            pointers = np.arange(0, best.size + 1, count)
            strips.append(csr_array((values.ravel(), best.ravel(), pointers), shape=(len(index), n)))
        edges = csr_array(vstack(strips))
        return SparseGram(csr_array(edges.maximum(edges.T)))

    @cached_property
    def neighbors(self) -> SparseGram:
        """Edges between nearest neighbours, not connected by the spanning tree."""
        return NeighborGraph(_NEIGHBORS).fit(self.completed).gram(self.completed)

    @cached_property
    def tree(self) -> tuple[Array, Array]:
        """Edges and lengths of the minimum spanning tree."""
        return spanning_tree(self.completed)

    @cached_property
    def merges(self) -> Array:
        """The order in which Genie linkage merges the edges of the tree."""
        return genie_merges(self.tree[0])

    def gram(self, name: str) -> Gram:
        """What spectral clustering takes: a form of the cluster kernel, or a graph connected by the tree."""
        if name == "cluster_walk":
            return self.similarities
        return self.sharpened if name == "sharpened_kernel" else self._graph(name)

    def _graph(self, kind: str) -> SparseGram:
        return SparseGram(connected_graph(kind, self.completed, self.tree))

    def part(self, rng: np.random.Generator) -> tuple[Array, Rows]:
        """Some of the rows, without replacement, seen by half of the mixtures."""
        n = len(self)
        rows = np.sort(rng.choice(n, max(2, round(_PART * n)), replace=False))
        seen = np.isin(self.restarts, rng.choice(_RESTARTS, _RESTARTS // 2, replace=False))
        return rows, Rows(self.features[np.ix_(rows, seen)], self.restarts[seen], self.completed[rows])
