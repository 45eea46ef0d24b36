"""Lloyd's algorithm in the feature space of a kernel: starts, steps for several starts at once, indefinite kernels."""

from __future__ import annotations

import numpy as np

from gramian.clustering.core.embedding import refill_empty
from gramian.configuration import memory_budget
from gramian.grams import Gram, SandwichGram
from gramian.progress import progress
from gramian.typing import Array


def weighted_indicator(labels: Array, k: int, weights: Array) -> tuple[Array, Array]:
    """a⊙H for every start side by side, (n, starts·k), and the cluster weights s, (starts·k,)."""
    n, n_starts = labels.shape
    H = np.zeros((n, n_starts * k), weights.dtype)
    H[np.arange(n)[:, None], labels + k * np.arange(n_starts)] = weights[:, None]
    return H, H.sum(axis=0)


def plus_plus(gram: Gram, k: int, n_starts: int, weights: Array, rng: np.random.Generator) -> Array:
    """Labels by the nearest of k-means++ seeds, all starts at once; d²(i, j) = K_ii + K_jj − 2 K_ij."""
    n = gram.shape[0]
    diagonal = gram.diagonal()
    labels = np.zeros((n, n_starts), np.intp)
    nearest = np.full((n_starts, n), np.inf, gram.dtype)
    for c in range(k):
        # Inverse-CDF draws; where all distances are zero (duplicates) the draw is uniform in the weights.
        mass = weights * (np.where(nearest > 0, nearest, 0) if c else np.ones_like(nearest))
        mass[mass.sum(axis=1) == 0] = weights
        cumulative = np.cumsum(mass, axis=1, dtype=np.float64)
        draws = rng.random(n_starts) * cumulative[:, -1]
        seeds = np.array([np.searchsorted(row, draw, "right") for row, draw in zip(cumulative, draws, strict=True)])
        seeds = np.minimum(seeds, n - 1)
        distance = diagonal + diagonal[seeds, None] - 2 * gram.rows(seeds)
        closer = distance < nearest
        labels[closer.T] = c
        nearest = np.where(closer, distance, nearest)
    return labels


def start_groups(n: int, k: int, n_starts: int, itemsize: int) -> list[int]:
    """How many starts to advance together so that their n×k arrays stay within a quarter of the memory budget."""
    together = max(1, min(n_starts, int(memory_budget() / 4 / (4 * n * k * itemsize))))
    return [min(together, n_starts - done) for done in range(0, n_starts, together)]


def definite_shift(gram: Gram, weights: Array) -> float:
    """c ≥ 0 that makes K + c·diag(1/a) positive semi-definite, i.e. √a K √a + c·I."""
    view, tol = SandwichGram(gram, np.sqrt(weights)), 1e-3
    lowest = float(view.eigenpairs(1, "smallest", tol=tol)[0][0])
    largest = abs(float(view.eigenpairs(1, "magnitude", tol=tol)[0][0]))
    return max(0.0, tol * largest - lowest) if lowest < -1e-10 * largest else 0.0


class Descent:
    """Alternating assignment and means for several starts at once, keeping the best labels seen.

    With an indefinite kernel a plain step may raise the objective. Then it is taken back, and the step under the
    shifted kernel K + c·diag(1/a), which has the same minimiser and cannot rise, is taken instead.
    """

    def __init__(self, gram: Gram, k: int, weights: Array, shift: float, max_iter: int, verbose: int) -> None:
        self.gram, self.k, self.weights, self.shift = gram, k, weights, shift
        self.max_iter, self.verbose = max_iter, verbose
        self.diagonal = gram.diagonal()
        self.total = float(np.dot(weights.astype(np.float64), self.diagonal))
        self.objective = np.inf
        self.labels = np.zeros(gram.shape[0], np.intp)
        self.n_iter = 0
        self.settled = True

    def run(self, labels: Array) -> None:
        """Descend from the labels (n, starts) and keep the best result."""
        before = np.full(labels.shape[1], np.inf)
        previous = careful = labels  # where we came from, and where the shifted step would have led
        for iteration in progress(range(1, self.max_iter + 1), "Kernel k-means", verbose=self.verbose):
            objective, plain, shifted = self.step(labels)
            slack = 1e-9 * np.abs(np.where(np.isinf(before), 0, before))
            rose = (objective > before + slack) if self.shift else np.zeros(len(objective), bool)
            # A plain step that rose is taken back; where the shifted one moves nothing either, that is the end.
            labels = np.where(rose, previous, labels)
            objective = np.where(rose, before, objective)
            new = np.where(rose, careful, plain)
            settled = (new == labels).all(axis=0)
            self._keep_best(labels, objective, iteration, settled)
            before, previous, careful = objective[~settled], labels[:, ~settled], shifted[:, ~settled]
            labels = new[:, ~settled]
            if not labels.shape[1]:
                return
        self._keep_best(labels, self.step(labels)[0], self.max_iter, np.zeros(labels.shape[1], bool))

    def _keep_best(self, labels: Array, objective: Array, iteration: int, settled: Array) -> None:
        start = int(np.argmin(objective))
        if objective[start] < self.objective or (objective[start] == self.objective and settled[start]):
            self.objective, self.labels = float(objective[start]), labels[:, start].copy()
            self.n_iter, self.settled = iteration, bool(settled[start])

    def step(self, labels: Array) -> tuple[Array, Array, Array]:
        """Objective of the labels, and where the plain and the shifted step lead."""
        n, n_starts = labels.shape
        H, sizes = weighted_indicator(labels, self.k, self.weights)
        filled = sizes > 0
        sizes = np.where(filled, sizes, 1)
        distance = self.gram @ H
        distance /= sizes
        within = np.einsum("ij,ij->j", H, distance, dtype=np.float64) / sizes  # t_c = ‖m_c‖²
        objective = self.total - (within * sizes).reshape(n_starts, self.k).sum(axis=1)
        del H
        distance *= -2
        distance += np.where(filled, within, np.inf).astype(distance.dtype)
        plain = self._nearest(distance)
        if not self.shift:
            return objective, plain, plain
        # c·diag(1/a) adds c/s_c − 2c h_ic/s_c to the distance to cluster c (and a constant per row).
        own = labels + self.k * np.arange(n_starts)
        distance += (self.shift / sizes).astype(distance.dtype)
        distance[np.arange(n)[:, None], own] -= (2 * self.shift / sizes[own]).astype(distance.dtype)
        return objective, plain, self._nearest(distance)

    def _nearest(self, distance: Array) -> Array:
        distance = distance.reshape(len(distance), -1, self.k)
        labels = np.argmin(distance, axis=2)
        for start in range(labels.shape[1]):
            column = labels[:, start].copy()
            if len(np.unique(column)) == self.k:
                continue
            misfit = np.take_along_axis(distance[:, start], column[:, None], axis=1)[:, 0] + self.diagonal
            # Rows that sit on their mean (duplicates) have no better place in a cluster of their own.
            if misfit.max() > 1e-10 * abs(self.total) / len(column):
                refill_empty(column, misfit, self.k)
                labels[:, start] = column
        return labels
