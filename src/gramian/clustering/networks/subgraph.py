"""Kernel spectral clustering of a few nodes of a network, and the scores of all others by two sparse products.

The kernel is the cosine of two rows of the adjacency matrix. A node-by-training-node block is never made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gramian.clustering.ksc import Eigenproblem
from gramian.clustering.networks.adjacency import unit_rows
from gramian.clustering.networks.training import TrainingSet
from gramian.grams import FeatureGram, Gram, SparseGram
from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix

_FILLED = 8  # a kernel of more non-zeros than so many times those of its rows is kept as a product of the rows
_SINGLE = 2**25  # entries of the weights from which on they are held in single precision
_BLOCK = 2**22  # scores at once


@dataclass
class SubgraphModel:
    """Scores e(x) = Σ_i α_i x·x_i / (‖x‖ ‖x_i‖) + b of rows x of a network, from training rows x_i.

    Attributes
    ----------
    rows : CSR array (m, n)
        Training rows of length one.
    coefficients : ndarray (m, q)
        α.
    intercept : ndarray (q,)
        b.
    """

    rows: Matrix
    coefficients: Array
    intercept: Array

    def first(self, q: int) -> SubgraphModel:
        """The model of fewer clusters."""
        return replace(self, coefficients=np.ascontiguousarray(self.coefficients[:, :q]), intercept=self.intercept[:q])

    def weights(self) -> Array:
        """Σ_i α_i x_i / ‖x_i‖, shape (n, q): a score is the product of a row of length one with it, plus b."""
        size = self.rows.shape[1] * max(self.coefficients.shape[1], 1)
        dtype = self.rows.dtype if size <= _SINGLE else np.float32
        return np.asarray(self.rows.T.astype(dtype, copy=False) @ self.coefficients.astype(dtype, copy=False))

    def blocks(self, graph: Matrix) -> Iterator[tuple[slice, Array]]:
        """Rows of a CSR matrix, some at a time, and their scores."""
        weights = self.weights()
        intercept = self.intercept.astype(weights.dtype)
        for part in slices(graph.shape[0], max(1, _BLOCK // max(weights.shape[1], 1))):
            rows = unit_rows(graph[part]) if part != slice(0, graph.shape[0]) else unit_rows(graph)
            yield part, np.asarray(rows.astype(weights.dtype, copy=False) @ weights) + intercept

    def scores(self, graph: Matrix) -> Array:
        """The scores of all rows, (len, q)."""
        return np.concatenate([scores for _, scores in self.blocks(graph)])

    def reaches(self, graph: Matrix) -> Array:
        """Mask of the rows that share a neighbour with a training row; the score of another one is b."""
        shared = np.zeros(self.rows.shape[1], bool)
        shared[self.rows.indices] = True
        counts = np.add.reduceat(np.append(shared[graph.indices], False), graph.indptr[:-1], dtype=np.int64)
        found: Array = (counts > 0) & (np.diff(graph.indptr) > 0)
        return found


def gram_of(rows: Matrix) -> Gram:
    """The cosines of rows of length one, sparse, or as a product of the rows where they would be many."""
    per_column = np.bincount(rows.indices, minlength=rows.shape[1]).astype(np.float64)
    if float(per_column @ per_column) > _FILLED * max(rows.nnz, 1) and rows.shape[0] > 1000:
        return FeatureGram(rows)
    return SparseGram(rows @ rows.T)


def solved(training: TrainingSet, q: int, tol: float) -> tuple[SubgraphModel, Eigenproblem]:
    """The model of q scores and its eigenproblem."""
    problem = Eigenproblem.of(gram_of(training.rows), q, tol=tol)
    return SubgraphModel(training.rows, problem.coefficients, problem.intercept), problem
