"""The neighbour graph as a kernel: only each row's most similar rows count, so the Gram is sparse."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from gramian.configuration import require_memory, threads
from gramian.grams import tiles
from gramian.grams.sparse import SparseGram
from gramian.kernels.base import Kernel
from gramian.kernels.vector import RBF, Cauchy
from gramian.typing import Array, Matrix

_TREE_FEATURES = 15  # beyond, a k-d tree visits most of the points and brute force by GEMM wins


class NeighborGraph(Kernel):
    """k(x, y) is positive only between neighbours.

    A row's neighbours are its ``n_neighbors`` nearest rows, or all within ``radius``; the graph is made symmetric
    by keeping an edge if either end names the other (or, ``mutual=True``, if both do). Edges weigh 1 or, with a
    ``kernel``, its value; the neighbours are then the most similar rows under that kernel. No row is its own
    neighbour. A new row is connected to its neighbours among the fitted rows.

    Parameters
    ----------
    n_neighbors : int, default 10
        Neighbours per row; ignored if ``radius`` is given.
    radius : float, optional
        Connect all pairs closer than this (strictly).
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
        return kernel is not None and bool(kernel.accepts_nan)

    def fit(self, X: Matrix, y: Any = None) -> NeighborGraph:
        """Check the parameters against X and fit the weighting kernel, if any; see :meth:`Kernel.fit`."""
        X = self._checked(X, reset=True)
        if self.radius is not None:
            if not isinstance(self.radius, Real) or not self.radius > 0:
                raise ValueError(f"radius={self.radius!r} must be a positive number")
        elif not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors={self.n_neighbors!r} must be a whole number >= 1")
        if not isinstance(self.mutual, (bool, np.bool_)):
            raise ValueError(f"mutual={self.mutual!r} must be True or False")
        kernel = self._weighting()
        if X.shape[0] < 2:
            raise ValueError("NeighborGraph needs at least two rows to connect but n_samples=1")
        self.kernel_: Kernel | None = None if kernel is None else kernel.fit(X, y)
        return self

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
        return self._symmetric(X) if Y is None else self._edges(X, self._checked(Y), same=False)

    def diagonal(self, X: Matrix) -> Array:
        """All zero: no row is its own neighbour."""
        X = self._checked(X)
        return np.zeros(X.shape[0], X.dtype)

    def gram(self, X: Matrix) -> SparseGram:
        """The graph of X as a SparseGram."""
        return SparseGram(self._symmetric(self._checked(X)))

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """Weights of the edges from X to Y, times V."""
        edges = self(X, Y)
        return edges @ np.asarray(V, edges.dtype)

    def _symmetric(self, X: Matrix) -> csr_array:
        edges = self._edges(X, X, same=True)
        if not edges.nnz or edges.data.min() >= 0:
            return self._either(edges)
        return csr_array(self._either(edges.maximum(0 * edges)) - self._either((-edges).maximum(0 * edges)))

    def _either(self, edges: csr_array) -> csr_array:
        """Non-negative edges that one end, or with ``mutual`` both, name."""
        return csr_array(edges.minimum(edges.T) if self.mutual else edges.maximum(edges.T))

    def _edges(self, X: Matrix, Y: Matrix, *, same: bool) -> csr_array:
        """Directed edges from every row of X to its neighbours in Y."""
        kernel = self.kernel_ if hasattr(self, "kernel_") else self._weighting()
        if self.radius is not None:
            distances, index, indptr = _within(X, Y, float(self.radius), same=same)
        else:
            n_neighbors = min(int(self.n_neighbors), Y.shape[0] - same)
            if kernel is None or isinstance(kernel, (RBF, Cauchy)):  # the most alike are the nearest
                distances, index = _nearest(X, Y, n_neighbors, same=same)
            else:
                return _most_similar(kernel, X, Y, n_neighbors, same=same)
            indptr = np.arange(0, index.size + 1, n_neighbors)
            distances, index = distances.ravel(), index.ravel()
        if kernel is None:
            weights = np.ones(len(index), X.dtype)
        elif isinstance(kernel, (RBF, Cauchy)):
            weights = kernel._of_distance(distances.astype(X.dtype) ** 2)
        else:
            weights = _pair_values(kernel, X, Y, indptr, index)
        return csr_array((weights, index, indptr), shape=(X.shape[0], Y.shape[0]))


def _nearest(X: Array, Y: Array, n_neighbors: int, *, same: bool) -> tuple[Array, Array]:
    """Euclidean distances and indices of the nearest rows of Y, both (n_X, n_neighbors), a row itself left out."""
    wanted = n_neighbors + same
    if Y.shape[1] <= _TREE_FEATURES:
        distances, index = cKDTree(Y).query(X, k=np.arange(1, wanted + 1), workers=threads())
    else:
        search = NearestNeighbors(n_neighbors=wanted, algorithm="brute").fit(Y)
        distances, index = search.kneighbors(X)
    if same:
        # Among duplicates a row need not find itself first, or at all: then the last neighbour goes.
        itself = index == np.arange(X.shape[0])[:, None]
        itself[~itself.any(axis=1), -1] = True
        distances, index = (part[~itself].reshape(X.shape[0], n_neighbors) for part in (distances, index))
    return distances, index


def _within(X: Array, Y: Array, radius: float, *, same: bool) -> tuple[Array, Array, Array]:
    """Distances, column indices and row pointers of all pairs closer than ``radius``."""
    search = NearestNeighbors(radius=radius).fit(Y)
    parts, total = [], 0
    for rows in tiles.slices(X.shape[0], 1000):
        part = search.radius_neighbors_graph(X[rows], mode="distance").tocsr()
        total += part.nnz
        require_memory(
            24.0 * total, f"the graph of all pairs within radius={radius:g}", "use a smaller radius or n_neighbors"
        )
        parts.append(part)
    graph = vstack(parts, "csr")
    owner = np.repeat(np.arange(X.shape[0]), np.diff(graph.indptr))
    keep = (graph.data < radius) & ~(same & (owner == graph.indices))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[keep], minlength=X.shape[0]))])
    return graph.data[keep], graph.indices[keep], indptr


def _most_similar(kernel: Kernel, X: Matrix, Y: Matrix, n_neighbors: int, *, same: bool) -> csr_array:
    """For each row of X its most similar rows of Y under the kernel, from streamed strips of kernel rows."""
    n, m = X.shape[0], Y.shape[0]
    left, right = kernel._sides(X, Y)
    index = np.empty((n, n_neighbors), np.intp)
    weights = np.empty((n, n_neighbors), X.dtype)
    length = max(1, tiles.TILE_BYTES // (m * X.dtype.itemsize))
    require_memory(float(m) * X.dtype.itemsize, "one row of kernel values", "use fewer rows")

    def select(rows: slice) -> None:
        strip = kernel._tile(left[rows], right)
        here = np.arange(rows.stop - rows.start)
        if same:
            strip[here, here + rows.start] = -np.inf
        best = np.argpartition(-strip, n_neighbors - 1, axis=1)[:, :n_neighbors]
        index[rows] = best
        weights[rows] = np.take_along_axis(strip, best, axis=1)

    tiles.run_threaded(select, list(tiles.slices(n, length)), entries=float(n) * m)
    indptr = np.arange(0, index.size + 1, n_neighbors)
    return csr_array((weights.ravel(), index.ravel(), indptr), shape=(n, m))


def _pair_values(kernel: Kernel, X: Matrix, Y: Matrix, indptr: Array, index: Array) -> Array:
    """k(x_i, y_j) for the listed pairs only, from strips of kernel rows."""
    left, right = kernel._sides(X, Y)
    values = np.empty(len(index), X.dtype)
    length = max(1, tiles.TILE_BYTES // (Y.shape[0] * X.dtype.itemsize))

    def evaluate(rows: slice) -> None:
        here = slice(indptr[rows.start], indptr[rows.stop])
        owner = np.repeat(np.arange(rows.stop - rows.start), np.diff(indptr[rows.start : rows.stop + 1]))
        values[here] = kernel._tile(left[rows], right)[owner, index[here]]

    tiles.run_threaded(evaluate, list(tiles.slices(X.shape[0], length)), entries=float(X.shape[0]) * Y.shape[0])
    return values
