"""Many quick k-means partitions of the same rows, advanced together in batches, for consensus clustering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramian.grams import tiles
from gramian.grams.tiles import slices
from gramian.spreading import run_pieces
from gramian.typing import Array, Matrix

_MAX_ITER = 5  # steps of a base k-means, few on purpose: partitions that are not finished differ more
_TRAINING_ROWS = 10_000  # a base k-means learns its centres from at most so many rows, or so many per centre:
_ROWS_PER_CENTER = 100
_BATCH_CENTERS = 1024  # centres whose distances are one product


class KMeansPartitions:
    """Many k-means partitions of the same rows, found in batches, and the clusters of new rows.

    The distances of all rows to all centres of a batch are one product. Rows are moved and scaled as a whole first,
    which changes no partition but keeps digits where the data lie far from zero, and products in range.

    Attributes
    ----------
    batches : list of KMeansBatch
    shift : ndarray (d,) or None
    scale : float
    """

    def __init__(self) -> None:
        self.batches: list[KMeansBatch] = []
        self.shift: Array | None = None
        self.scale = 1.0

    def fit(
        self,
        X: Matrix,
        counts: Array,
        seen: Array | None,
        children: list[np.random.Generator],
        *,
        n_workers: int,
        advance: Callable[..., None],
    ) -> csr_array:
        """Learn a partition for each count, and return the memberships of X.

        Parameters
        ----------
        X : ndarray or CSR (n, d)
        counts : ndarray (M,)
            Centres of each partition. Those of a batch are padded to equally many, so they are best sorted.
        seen : ndarray (n, M) of bool or None
            The rows that each partition may use.
        children : list of M generators
        n_workers : int
        advance : callable
            Told how many partitions are done.
        """
        if not issparse(X):
            # The median of some rows: a mean would follow a single far outlier away from all the others.
            self.shift = np.median(X[:: max(1, len(X) // 1000)], axis=0).astype(X.dtype)
        X = self._framed(X)
        largest = float(abs(X).max())
        self.scale = largest if largest > 0 else 1.0
        X = X / X.dtype.type(self.scale)
        # What a batch is must not depend on the number of workers: rounding, and so the result, may.
        parts = list(slices(len(counts), max(1, _BATCH_CENTERS // int(counts.max()))))
        places = np.empty((X.shape[0], len(counts)), np.int32)

        def piece(task: int) -> tuple[Any, ...]:
            part = parts[task]
            return X, counts[part], None if seen is None else seen[:, part], children[part]

        def take(task: int, learned: tuple[KMeansBatch, Array]) -> None:
            batches[task], places[:, parts[task]] = learned
            advance(len(batches[task].columns))

        batches: dict[int, KMeansBatch] = {}
        entries = float(X.shape[0]) * counts.sum()
        run_pieces(_learned, len(parts), piece, take, entries=entries, n_workers=n_workers)
        first = 0
        for task, part in enumerate(parts):
            batch = batches[task]
            batch.columns += first
            first = int(batch.columns.max()) + 1
            places[:, part] = _columns(batch.columns, places[:, part])
        self.batches = [batches[task] for task in range(len(parts))]
        return self._one_hot(places, seen, X.dtype)

    def memberships(self, X: Matrix, *, n_workers: int) -> csr_array:
        """H for new rows, as one-hot as that of the fitted ones."""
        X = self._framed(X)
        X = X / X.dtype.type(self.scale)
        ends = np.cumsum([len(batch.columns) for batch in self.batches])
        places = np.empty((X.shape[0], ends[-1]), np.int32)

        def assign(task: int) -> None:
            batch = self.batches[task]
            part = slice(ends[task] - len(batch.columns), ends[task])
            places[:, part] = _columns(batch.columns, batch.nearest(X))

        entries = float(X.shape[0]) * sum(batch.columns.size for batch in self.batches)
        tiles.run_threaded(assign, range(len(self.batches)), entries=entries, n_workers=n_workers)
        return self._one_hot(places, None, X.dtype)

    def _framed(self, X: Matrix) -> Matrix:
        if self.shift is None:
            return X
        return (X.toarray() if issparse(X) else X) - self.shift.astype(X.dtype)

    def _one_hot(self, places: Array, seen: Array | None, dtype: Any) -> csr_array:
        """H from the column of each row in each partition; rows that a partition did not see have none in it."""
        width = int(self.batches[-1].columns.max()) + 1
        lengths = np.full(len(places), places.shape[1]) if seen is None else seen.sum(axis=1)
        indices = places.ravel() if seen is None else places[seen]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return csr_array((np.ones(len(indices), dtype), indices, ends), shape=(len(places), width))


def _learned(
    X: Matrix, counts: Array, seen: Array | None, children: list[np.random.Generator]
) -> tuple[KMeansBatch, Array]:
    """A batch, and the cluster of each row in its partitions."""
    batch = KMeansBatch()
    return batch, batch.fit(X, counts, seen, children)


class KMeansBatch:
    """Some k-means partitions advanced together.

    Attributes
    ----------
    centers : ndarray (b, k, d)
    offsets : ndarray (b, k)
        ‖c‖² / 2 of each centre c; infinite for those that only fill up a partition with fewer than k, or hold no row.
    columns : ndarray (b, k)
        The column of H that belongs to each centre; any for those without.
    """

    def fit(self, X: Matrix, counts: Array, seen: Array | None, children: list[np.random.Generator]) -> Array:
        """A few steps of Lloyd's algorithm from random rows; returns the cluster of each row, (n, b)."""
        n, (b, k) = X.shape[0], (len(counts), int(counts.max()))
        self.centers = np.zeros((b, k, X.shape[1]), X.dtype)
        for m, (child, count) in enumerate(zip(children, counts, strict=True)):
            rows = child.choice(n if seen is None else np.flatnonzero(seen[:, m]), count, replace=False)
            self.centers[m, :count] = X[rows].toarray() if issparse(X) else X[rows]
        used = np.arange(k) < counts[:, None]
        self._set_offsets(used)
        training, mask = X, seen
        if n > (limit := max(_TRAINING_ROWS, _ROWS_PER_CENTER * k)):
            rows = np.sort(children[0].choice(n, limit, replace=False))
            training, mask = X[rows], None if seen is None else seen[rows]
        before = None
        for _ in range(_MAX_ITER):
            labels = self.nearest(training)
            if before is not None and np.array_equal(labels, before):
                break
            before = labels
            members = _members(labels, k, mask, X.dtype)
            sizes = np.asarray(members.sum(axis=1)).reshape(b, k, 1)
            sums = members @ training
            sums = (sums.toarray() if issparse(sums) else sums).reshape(self.centers.shape)
            # A centre without rows stays where it is; more diversity is all that an empty cluster costs.
            np.divide(sums, sizes, out=self.centers, where=sizes > 0)
            self._set_offsets(used)
        labels = self.nearest(X)
        held = np.asarray(_members(labels, k, seen, X.dtype).sum(axis=1)).reshape(b, k) > 0
        self._set_offsets(held)
        self.columns = (np.maximum(np.cumsum(held.ravel()), 1) - 1).reshape(b, k).astype(np.int32)
        return labels

    def _set_offsets(self, used: Array) -> None:
        halves = np.einsum("bkd,bkd->bk", self.centers, self.centers) / 2
        self.offsets = np.where(used, halves, np.inf).astype(self.centers.dtype)

    def nearest(self, X: Matrix) -> Array:
        """The nearest centre of each row in each partition, (n, b); the first of equals."""
        b, k, d = self.centers.shape
        axes = np.ascontiguousarray(self.centers.reshape(b * k, d).T)
        labels = np.empty((X.shape[0], b), np.int32)
        # Tiles stay in cache between product and search, and are written to the same memory again and again.
        length = min(X.shape[0], max(1, tiles.TILE_BYTES // (b * k * X.dtype.itemsize)))
        memory = np.empty((length, b * k), np.result_type(X.dtype, axes.dtype))
        for rows in slices(X.shape[0], length):
            tile = memory[: rows.stop - rows.start]
            scores = X[rows] @ axes if issparse(X) else np.matmul(X[rows], axes, out=tile)
            scores -= self.offsets.ravel()  # ‖x − c‖² is least where x·c − ‖c‖²/2 is largest
            labels[rows] = scores.reshape(-1, b, k).argmax(axis=2)
        return labels


def _members(labels: Array, k: int, seen: Array | None, dtype: Any) -> csr_array:
    """The (b·k)×n matrix with a one where a row, if seen, is in a cluster."""
    n, b = labels.shape
    weights = np.ones(n * b, dtype) if seen is None else seen.ravel().astype(dtype)
    columns = (labels + k * np.arange(b, dtype=np.int32)).ravel()
    return csr_array((weights, columns, np.arange(0, n * b + 1, b)), shape=(n, b * k)).T


def _columns(columns: Array, labels: Array) -> Array:
    """columns[m, labels[i, m]] for all i and m."""
    return columns[np.arange(len(columns)), labels]
