"""A snapshot of data that change: its rows, its clusters and the model that labels any row.

The numerical core of :class:`~gramian.EvolvingKSC`: a fitted kernel, a Gram and the snapshot before make the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from gramian.clustering.core.n_clusters import gaps_from_one
from gramian.clustering.core.tracking import Views
from gramian.clustering.ksc.decoding import Decoder, decoder_of
from gramian.clustering.ksc.degrees import Degrees
from gramian.clustering.ksc.memory import remembered
from gramian.clustering.ksc.model import Eigenproblem, ScoreModel
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.typing import Array, Matrix

_FRINGE = 0.01  # of the rows have a smaller degree and are the fringe
_UNLIKE = 0.1  # of the degree of the fringe: what has less belongs to no cluster


@dataclass(frozen=True)
class Snapshot:
    """Rows, their clusters and the model that they gave.

    Attributes
    ----------
    rows : array or CSR (n, d)
    coefficients : ndarray (n, q)
        α of the rows, with q one less than the clusters.
    labels : ndarray of int (n,)
        Cluster of each row, from 0; -1 for rows similar to none.
    model : ScoreModel
        Scores and degrees of any row. A single cluster has no scores.
    decoder : Decoder or None
        None for a single cluster.
    values : ndarray (q,)
        What the columns have of the snapshot, βᵀSβ: eigenvalues where nothing is remembered.
    least_degree : float
        Rows of a smaller degree are unlike the snapshot.
    n_kept : int
        Columns that remember the snapshot before.
    """

    rows: Matrix
    coefficients: Array
    labels: Array
    model: ScoreModel
    decoder: Decoder | None
    values: Array
    least_degree: float
    n_kept: int = 0

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        rows: Matrix,
        gram: Gram,
        problem: Eigenproblem,
        *,
        before: Snapshot | None,
        memory: float,
        decoding: str,
    ) -> Snapshot:
        """Cluster rows, with one cluster more than the eigenproblem has solutions.

        Parameters
        ----------
        kernel : fitted Kernel
        rows : array or CSR (n, d)
        gram : Gram
            Of the rows.
        problem : Eigenproblem
            Of the Gram; without a solution the rows are one cluster.
        before : Snapshot, optional
            What is remembered.
        memory : float
            From 0 to below 1.
        decoding : str
            See :func:`gramian.clustering.ksc.decoder_of`.
        """
        inside, q = problem.degrees.inside, len(problem.values)
        model = problem.model(kernel, rows, gram)
        shared = (problem.degrees.values - gram.diagonal())[inside]  # a new row is not similar to itself
        least = _UNLIKE * float(np.quantile(shared, _FRINGE))
        if not q:
            labels, nothing = np.where(inside, 0, -1), problem.coefficients
            return cls(rows, nothing, labels, model, None, problem.values, least)
        coefficients, values, scores, n_kept = problem.coefficients, problem.values, problem.scores(), 0
        if before is not None and memory > 0 and before.coefficients.shape[1]:
            past = kernel._unchecked("product")(rows, before.rows, before.coefficients)
            known = remembered(problem, gram, past, memory)
            coefficients, values, scores, n_kept = known.coefficients, known.values, known.scores, known.n_kept
            turned = before.coefficients @ known.turn
            columns = np.hstack([coefficients, inside[:, None].astype(coefficients.dtype)])
            extra = np.hstack([turned, np.zeros((len(turned), 1), turned.dtype)])
            both = Expansion(kernel, stacked(rows, before.rows), np.vstack([columns, extra]))
            model = replace(model, expansion=both, intercept=known.intercept)
        decoder = decoder_of(scores[inside], q + 1, decoding)
        labels = np.full(len(scores), -1)
        labels[inside] = decoder.labels(scores[inside])
        return cls(rows, coefficients, labels, model, decoder, values, least, n_kept)

    @property
    def n_clusters(self) -> int:
        return 1 if self.decoder is None else self.decoder.n_clusters

    def sizes(self) -> Array:
        """Rows of each cluster, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    def read(self, X: Matrix) -> tuple[Array, Array, Array]:
        """Clusters (n_new,), scores (n_new, q) and degrees (n_new,) of checked rows; -1 for rows similar to none."""
        scores, degrees, alone = self.model(X)
        found = np.zeros(len(scores), np.intp) if self.decoder is None else self.decoder.labels(scores)
        return np.where(alone, -1, found), scores, degrees

    def memberships(self, X: Matrix) -> Array:
        """Soft memberships (n_new, k) of checked rows."""
        scores = self.model(X)[0]
        return np.ones((len(scores), 1), scores.dtype) if self.decoder is None else self.decoder.memberships(scores)

    def views(self, later: Snapshot) -> Views:
        """This and a later snapshot, each labelled by the model of either."""
        return Views(
            old_by_old=self.labels,
            old_by_new=later.read(self.rows)[0],
            new_by_old=self.read(later.rows)[0],
            new_by_new=later.labels,
            n_old=self.n_clusters,
            n_new=later.n_clusters,
        )


def leading(gram: Gram, degrees: Degrees, most: int) -> tuple[Eigenproblem, Array]:
    """The eigenproblem of up to so many clusters, and how wide a gap follows each number from one on.

    Returns
    -------
    problem : Eigenproblem
    gaps : ndarray (most,)
        For k = 1, …, ``most``; zero beyond what the rows allow.
    """
    problem = Eigenproblem.of(gram, most, degrees)
    values = np.zeros(most)
    values[: len(problem.values)] = problem.values
    return problem, np.maximum(gaps_from_one(values, graph=not gram.diagonal().any()), 0.0)


def stacked(first: Matrix, second: Matrix) -> Matrix:
    """The rows of both, sparse where they are."""
    if issparse(first) or issparse(second):
        return csr_array(vstack([first, second]))
    return np.vstack([first, second])
