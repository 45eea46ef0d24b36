"""The neighbour graph as a kernel: only each row's most similar rows count, so the Gram is sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from gramian.checks import check_positive, check_whole
from gramian.configuration import memory_budget, require_memory, threads
from gramian.grams import tiles
from gramian.grams.sparse import SparseGram
from gramian.kernels.base import Kernel
from gramian.kernels.profile import Profile
from gramian.typing import Array, Matrix

_TILE_ROWS, _TILE_COLUMNS = 256, 512
_PRODUCT_ROWS = 4096
_TREE_FEATURES = 15  # beyond, a k-d tree visits most of the points and brute force by GEMM wins


class NeighborGraph(Kernel):
    """k(x, y) is positive only between neighbours.

    A row's neighbours are its ``n_neighbors`` nearest rows, or all within ``radius``; the graph is made symmetric
    by keeping an edge if either end names the other (or, ``mutual=True``, if both do). Edges weigh 1 or, with a
    ``kernel``, its value; the neighbours are then the most similar rows under that kernel, also one that takes
    missing values. No row is its own neighbour. A new row is connected to its neighbours among the fitted rows.

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
        X, Y = self._checked(X), self._checked(Y)
        V = np.asarray(V, X.dtype)
        # A few rows at a time: what the kernel prepares of them may be large.
        parts = [self._edges(X[rows], Y, same=False) @ V for rows in tiles.slices(X.shape[0], _PRODUCT_ROWS)]
        return np.concatenate(parts)

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
            return self._weighted(kernel, X, Y, distances, index, indptr)
        known = _Known(Y) if same else self._known(Y)
        first, number, distinct = known.first, known.number, known.distinct
        own = number if same else None
        n_neighbors = min(int(self.n_neighbors), len(first) - same)
        if n_neighbors == 0:
            return _copies(kernel, X, first, number)
        if kernel is None or _falls(kernel) is not None:  # the most alike are the nearest
            distances, index = _nearest(X, distinct, n_neighbors, own)
            indptr = np.arange(0, index.size + 1, n_neighbors)
            edges = self._weighted(kernel, X, distinct, distances.ravel(), index.ravel(), indptr)
        else:
            sides = None
            if not same and kernel.has_features:
                known.features = kernel._features(distinct) if known.features is None else known.features
                sides = kernel._features(X), known.features
            edges = _most_similar(kernel, X, distinct, n_neighbors, own, sides)
        if len(first) == Y.shape[0]:
            return edges
        edges = csr_array((edges.data, first[edges.indices], edges.indptr), shape=(X.shape[0], Y.shape[0]))
        return edges + _copies(kernel, X, first, number) if same else edges

    def _known(self, Y: Matrix) -> _Known:
        """What was found out about Y before; a fitted model asks about the same rows again and again."""
        known: _Known | None = getattr(self, "_last", None)
        if known is None or known.rows is not Y:
            known = self._last = _Known(Y)
        return known

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_last"}

    def _weighted(
        self, kernel: Kernel | None, X: Matrix, Y: Matrix, distances: Array, index: Array, indptr: Array
    ) -> csr_array:
        """Edges to the listed neighbours."""
        if kernel is None:
            weights = np.ones(len(index), X.dtype)
        elif (profile := _falls(kernel)) is not None:
            weights = profile.value(distances.astype(X.dtype) ** 2)
        else:
            weights = _pair_values(kernel, X, Y, indptr, index)
        return csr_array((weights, index, indptr), shape=(X.shape[0], Y.shape[0]))


def _falls(kernel: Kernel) -> Profile | None:
    """The profile of a kernel that falls with the distance."""
    profile = kernel.profile()
    return profile if profile is not None and profile.decreasing else None


class _Known:
    """Rows to be neighbours of, which of them are distinct, and their features once asked for."""

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows
        self.first, self.number = _first_occurrences(rows)
        self.distinct = rows if len(self.first) == rows.shape[0] else rows[self.first]
        self.features: Matrix | None = None


def _first_occurrences(X: Array) -> tuple[Array, Array]:
    """Indices of the rows that occur for the first time, and for every row the number of its first occurrence."""
    rows = np.ascontiguousarray(X) + X.dtype.type(0)  # −0 and 0 are equal
    rows[np.isnan(rows)] = np.nan  # so are all kinds of NaN
    bits = rows.view(np.uint64 if rows.itemsize == 8 else np.uint32)
    _, first, number = np.unique(_hashes(bits), return_index=True, return_inverse=True)
    number = number.ravel()
    if len(first) < len(bits) and not np.array_equal(bits[first[number]], bits):  # different rows, equal hashes
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
    order = np.argsort(first)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return first[order], position[number]


def _hashes(bits: Array) -> Array:
    """A number for each row that equal rows share; sorting numbers is far faster than sorting rows."""
    multipliers = np.random.default_rng(0).integers(2**63, size=(2, bits.shape[1]), dtype=np.uint64) | np.uint64(1)
    mixed = bits.astype(np.uint64)
    for multiplier in multipliers:  # small whole numbers differ in their leading bits only
        mixed ^= mixed >> np.uint64(32)
        mixed *= multiplier
    return mixed.sum(axis=1, dtype=np.uint64)


def _copies(kernel: Kernel | None, X: Matrix, first: Array, number: Array) -> csr_array:
    """Edges between the first occurrence of a row and its later copies, both ways."""
    n = X.shape[0]
    later = np.flatnonzero(first[number] != np.arange(n))
    weights = np.ones(len(later), X.dtype) if kernel is None or not len(later) else kernel._diagonal(X[later])
    edges = csr_array((weights, (later, first[number[later]])), shape=(n, n))
    return csr_array(edges + edges.T)


def _nearest(X: Array, Y: Array, n_neighbors: int, own: Array | None) -> tuple[Array, Array]:
    """Distances and indices of the nearest of the distinct rows Y, (n_X, n_neighbors), the row ``own`` left out."""
    wanted = n_neighbors + (own is not None)
    if Y.shape[1] <= _TREE_FEATURES:
        distances, index = cKDTree(Y).query(X, k=np.arange(1, wanted + 1), workers=threads())
    else:
        search = NearestNeighbors(n_neighbors=wanted, algorithm="brute").fit(Y)
        distances, index = search.kneighbors(X)
    if own is not None:
        # Rounding may keep a row from finding itself: then the last neighbour goes.
        itself = index == own[:, None]
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


def _most_similar(
    kernel: Kernel, X: Matrix, Y: Matrix, n_neighbors: int, own: Array | None, sides: tuple[Any, Any] | None = None
) -> csr_array:
    """For each row of X the most similar of the distinct rows Y, the row ``own`` left out, from tiles of values.

    ``sides`` are X and Y as the kernel prepares them, where that has been done.
    """
    n, m = X.shape[0], Y.shape[0]
    index = np.zeros((n, n_neighbors), np.intp)
    weights = np.full((n, n_neighbors), -np.inf, X.dtype)
    if sides is None and float(n) * m * X.dtype.itemsize <= memory_budget() / 4:
        whole = kernel._block(X, None if X is Y else Y)  # in one go, which saves work for symmetric blocks
        tile_of: Callable[[slice, slice], Array] = lambda rows, columns: whole[rows, columns]  # noqa: E731
    else:
        left, right = kernel._sides(X, Y) if sides is None else sides
        tile_of = lambda rows, columns: kernel._tile(left[rows], right[columns])  # noqa: E731

    def select(rows: slice) -> None:
        for columns in tiles.slices(m, _TILE_COLUMNS):
            tile = tile_of(rows, columns)
            if own is not None:
                here = own[rows] - columns.start
                inside = np.flatnonzero((here >= 0) & (here < tile.shape[1]))
                tile[inside, here[inside]] = -np.inf
            # The best so far compete with those of this tile.
            values = np.hstack([weights[rows], tile])
            numbers = np.broadcast_to(np.arange(columns.start, columns.stop), tile.shape)
            best = np.argpartition(-values, n_neighbors - 1, axis=1)[:, :n_neighbors]
            weights[rows] = np.take_along_axis(values, best, axis=1)
            index[rows] = np.take_along_axis(np.hstack([index[rows], numbers]), best, axis=1)

    tiles.run_threaded(select, list(tiles.slices(n, _TILE_ROWS)), entries=float(n) * m)
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
