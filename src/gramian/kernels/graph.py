"""The neighbour graph as a kernel: only each row's most similar rows count, so the Gram is sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from gramian.checks import check_positive, check_whole
from gramian.grams import tiles
from gramian.grams.sparse import SparseGram
from gramian.kernels._neighbors import KnownRows, most_similar, pair_values, within
from gramian.kernels.base import Kernel
from gramian.kernels.profile import Profile
from gramian.typing import Array, Matrix

_PRODUCT_ROWS = 4096


class NeighborGraph(Kernel, name="neighbors"):
    """k(x, y) > 0 between nearest neighbours and 0 otherwise, as a sparse graph.

    A row's neighbours are its ``n_neighbors`` nearest rows, or all within ``radius``; the graph is made symmetric
    by keeping an edge if either end names the other (or, ``mutual=True``, if both do). Edges weigh 1 or, with a
    ``kernel``, its value; the neighbours are then the most similar rows under that kernel, also one that takes
    missing values. No row is its own neighbour.

    A new row is connected to the rows it names and to those that would name it, being closer than the last neighbour
    they have; a copy of a fitted row has the edges of that row, of its first occurrence if there are several.

    Copies of a row count as one neighbour, and are connected to its first occurrence: otherwise rows that occur more
    often than ``n_neighbors`` times, as in tables of ratings or answers, would be connected to nothing but copies,
    and every such heap would be a cluster.

    Parameters
    ----------
    n_neighbors : int, default 10
        Neighbours per row; ignored if ``radius`` is given.
    radius : float, optional
        Connect all pairs closer than this (strictly) by their Euclidean distance, so not with missing values.
    kernel : Kernel, str or callable, optional
        Weights the edges and defines who is near. None is the Euclidean distance and weight 1.
    mutual : bool, default False
        Keep only edges that both ends name.

    Examples
    --------
    >>> import numpy as np
    >>> graph = NeighborGraph(n_neighbors=1).fit([[0.0], [1.0], [5.0]])
    >>> graph([[0.0], [1.0], [5.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """

    definite: bool = False
    sparse_blocks: bool = True

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        radius: float | None = None,
        kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
        mutual: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.kernel = kernel
        self.mutual = mutual

    @property
    def accepts_nan(self) -> bool:  # type: ignore[override]
        kernel = self._weighting()
        return self.radius is None and kernel is not None and bool(kernel.accepts_nan)

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Check the parameters against X and fit the weighting kernel, if any."""
        if self.radius is not None:
            check_positive(self, "radius")
        else:
            check_whole(self, "n_neighbors")
        if not isinstance(self.mutual, (bool, np.bool_)):
            raise ValueError(f"mutual={self.mutual!r} must be True or False")
        kernel = self._weighting()
        if X.shape[0] < 2:
            raise ValueError("NeighborGraph needs at least two rows to connect but n_samples=1")
        self.kernel_: Kernel | None = None if kernel is None else kernel._fitted(X, sample_weight)

    def _weighting(self) -> Kernel | None:
        """An unfitted copy of the weighting kernel."""
        from gramian.kernels import as_kernel  # which knows this class

        if self.kernel is None:
            return None
        kernel = as_kernel(self.kernel)
        if kernel.pairwise or kernel.sparse_blocks:
            raise ValueError(f"kernel={self.kernel!r} must be a kernel of samples such as RBF(), or None")
        return kernel

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> csr_array:
        """The sparse block of edge weights, CSR of shape (n_X, n_Y)."""
        X = self._checked(X)
        return self._graph(KnownRows(X)) if Y is None else self._edges(X, self._known(self._checked(Y)))

    def diagonal(self, X: Matrix) -> Array:
        """All zero: no row is its own neighbour."""
        X = self._checked(X)
        return np.zeros(X.shape[0], X.dtype)

    def gram(self, X: Matrix) -> SparseGram:
        """The graph of X as a SparseGram."""
        self._last = KnownRows(self._checked(X))  # new rows will most likely be connected to these
        return SparseGram(self._graph(self._last))

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """Weights of the edges from X to Y, times V."""
        X, known = self._checked(X), self._known(self._checked(Y))
        V = np.asarray(V, X.dtype)
        # A few rows at a time where the kernel has features, which may be large.
        length = _PRODUCT_ROWS if self._similarity() is not None else max(_PRODUCT_ROWS, known.rows.shape[0])
        return np.concatenate([self._edges(X[rows], known) @ V for rows in tiles.slices(X.shape[0], length)])

    def _known(self, Y: Matrix) -> KnownRows:
        """What was found out about Y before; a fitted model asks about the same rows again and again."""
        known: KnownRows | None = getattr(self, "_last", None)
        if known is None or known.rows is not Y:
            known = self._last = KnownRows(Y)
        return known

    def _met_again(self, X: Matrix) -> Array | None:
        known = self._known(X)
        every = self.radius is not None or len(known.first) == len(known.number)
        return None if every else known.first[known.number]

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_last"}

    # Edges -------------------------------------------------------------------------------------------------

    def _graph(self, known: KnownRows) -> csr_array:
        """The symmetric graph of the known rows."""
        if known.graph is None:
            if self.radius is not None:
                edges = self._weighted(known.rows, known.rows, *within(known.rows, known.rows, self.radius, same=True))
            else:
                edges = self._named_by_known(known)
            known.graph = self._joined(edges, edges.T)
        return known.graph

    def _named_by_known(self, known: KnownRows) -> csr_array:
        """Directed edges from every known row to its neighbours; ``known.bound`` becomes what its last one has."""
        X, first, number = known.rows, known.first, known.number
        similarity = self._similarity()
        n_neighbors = min(int(self.n_neighbors), len(first) - 1)
        if n_neighbors == 0:
            edges, last = csr_array((X.shape[0], len(first)), dtype=X.dtype), np.zeros(len(first))
        elif similarity is not None:
            edges = most_similar(similarity, X, known.distinct, n_neighbors, own=number)[0]
            last = edges.data.reshape(-1, n_neighbors).min(axis=1)[first]
        else:
            distances, index, indptr = known.nearest(X, n_neighbors, number)
            edges = self._weighted(X, known.distinct, distances, index, indptr)
            last = distances.reshape(-1, n_neighbors).max(axis=1)[first]
        # A row that has fewer neighbours than it may have would take any new one.
        unbounded = np.inf if similarity is None else -np.inf
        known.bound = last if n_neighbors == self.n_neighbors else np.full(len(first), unbounded)
        if len(first) == X.shape[0]:
            return edges
        return known.columns(edges) + _copies(self._weights(), X, first, number)

    def _edges(self, X: Matrix, known: KnownRows) -> csr_array:
        """Edges from other rows to the known ones; a copy of a known row has the edges of that row."""
        copied = known.find(X)
        new = np.flatnonzero(copied < 0)
        if len(new) == len(copied):
            return self._new_edges(X, known)
        old = np.flatnonzero(copied >= 0)
        edges = self._graph(known)[copied[old]]
        if not len(new):
            return edges
        both = vstack([edges, self._new_edges(X[new], known)], "csr")
        return csr_array(both[np.argsort(np.concatenate([old, new]))])

    def _new_edges(self, X: Matrix, known: KnownRows) -> csr_array:
        """Edges from new rows to the known ones that they name, or that would name them."""
        if self.radius is not None:
            return self._weighted(X, known.rows, *within(X, known.rows, self.radius, same=False))
        self._graph(known)
        assert known.bound is not None
        n_neighbors = min(int(self.n_neighbors), len(known.first))
        similarity = self._similarity()
        if similarity is not None:
            sides = None
            if similarity.has_features:
                known.features = similarity._features(known.distinct) if known.features is None else known.features
                sides = similarity._features(X), known.features
            named, named_by = most_similar(similarity, X, known.distinct, n_neighbors, bound=known.bound, sides=sides)
        else:
            named = self._weighted(X, known.distinct, *known.nearest(X, n_neighbors))
            named_by = self._weighted(X, known.distinct, *known.reached(X))
        return known.columns(self._joined(named, named_by))

    def _joined(self, named: csr_array, named_by: csr_array) -> csr_array:
        """Edges that one end, or with ``mutual`` both, name."""
        if (named.nnz and named.data.min() < 0) or (named_by.nnz and named_by.data.min() < 0):
            parts = [(named * sign).maximum(0 * named) for sign in (1, -1)]
            others = [(named_by * sign).maximum(0 * named_by) for sign in (1, -1)]
            return csr_array(self._joined(parts[0], others[0]) - self._joined(parts[1], others[1]))
        return csr_array(named.minimum(named_by) if self.mutual else named.maximum(named_by))

    # Weights -----------------------------------------------------------------------------------------------

    def _weights(self) -> Kernel | None:
        return self.kernel_ if hasattr(self, "kernel_") else self._weighting()

    def _similarity(self) -> Kernel | None:
        """The weighting kernel if the most similar rows under it, which are neighbours, are not always the nearest."""
        kernel = self._weights()
        return None if self.radius is not None or kernel is None or _falls(kernel) is not None else kernel

    def _weighted(self, X: Matrix, Y: Matrix, distances: Array, index: Array, indptr: Array) -> csr_array:
        """Edges to the listed neighbours."""
        kernel = self._weights()
        if kernel is None:
            weights = np.ones(len(index), X.dtype)
        elif (profile := _falls(kernel)) is not None:
            weights = profile.value(distances.astype(X.dtype) ** 2)
        else:
            weights = pair_values(kernel, X, Y, indptr, index)
        return csr_array((weights, index, indptr), shape=(X.shape[0], Y.shape[0]))


def _falls(kernel: Kernel) -> Profile | None:
    """The profile of a kernel that falls with the distance."""
    profile = kernel.profile()
    return profile if profile is not None and profile.decreasing else None


def _copies(kernel: Kernel | None, X: Matrix, first: Array, number: Array) -> csr_array:
    """Edges between the first occurrence of a row and its later copies, both ways."""
    n = X.shape[0]
    later = np.flatnonzero(first[number] != np.arange(n))
    weights = np.ones(len(later), X.dtype) if kernel is None or not len(later) else kernel._diagonal(X[later])
    edges = csr_array((weights, (later, first[number[later]])), shape=(n, n))
    return csr_array(edges + edges.T)
