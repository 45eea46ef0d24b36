"""k-means in the feature space of a kernel, weighted, all starts advanced together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_count, check_weights, check_whole
from gramian.clustering.core.embedding import refill_empty, spectral_labels, used_labels
from gramian.configuration import memory_budget
from gramian.estimator import KernelEstimator
from gramian.grams import Gram, SandwichGram
from gramian.kernels import Expansion, Kernel
from gramian.progress import progress
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState


class KernelKMeans(ClusterMixin, KernelEstimator):
    """k-means on φ(x), which separates clusters that no hyperplane does.

    Minimises Σ_c Σ_{i∈c} a_i ‖φ(x_i) − m_c‖² with m_c the a-weighted mean of cluster c. The distances need only
    products of the Gram with cluster indicators; those of all ``n_init`` starts are one product. With weights
    a = degrees and the kernel σD⁻¹ + D⁻¹WD⁻¹ the minimum is that of the normalised cut of the graph W.

    Parameters
    ----------
    n_clusters : int, default 8
    kernel : Kernel, str or callable, default "rbf"
        An indefinite kernel is shifted, K + c·diag(1/a), which keeps the minimiser and makes the descent monotone.
    init : {"k-means++", "spectral"} or array (n,), default "k-means++"
        k-means++ in feature space, the labels of spectral clustering with the same kernel, or given labels.
    n_init : int, default 10
        Starts of k-means++; the lowest objective is kept.
    max_iter : int, default 300
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows progress.

    Attributes
    ----------
    labels_ : ndarray (n,)
    inertia_ : float
        The objective.
    n_clusters_ : int
        Non-empty clusters.
    n_iter_ : int
    kernel_ : Kernel

    References
    ----------
    Dhillon, Guan, Kulis (2004). Kernel k-means, spectral clustering and normalized cuts. KDD.

    Examples
    --------
    >>> from gramian import KernelKMeans
    >>> from gramian.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> model = KernelKMeans(2, random_state=0).fit(X)
    >>> model.predict(X[:5]).shape
    (5,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        init: str | Array = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Cluster X.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
        y : ignored
        sample_weight : array-like (n,), optional
            The weights a, positive; they also count in the kernel's width rule.

        Returns
        -------
        self : KernelKMeans
        """
        check_whole(self, "n_init", "max_iter")
        check_whole(self, "verbose", least=0)
        samples = X
        X = self._check_rows(X)
        n = X.shape[0]
        k = check_count(self, "n_clusters", n)
        assert k is not None
        given = self._given_labels(n, k)
        asked = self._check_weights(sample_weight, X)
        if asked is not None and asked.min() <= 0:
            raise ValueError("sample_weight must be positive for KernelKMeans; leave out samples of weight zero")
        kernel, gram = self._fit_on(X, asked)
        weights = np.ones(n, gram.dtype) if asked is None else asked
        # The objective does not depend on the origin, and features far from it lose their digits in products.
        center = None if gram.factor is None else np.full(n, 1 / n, gram.dtype)
        view = gram if center is None else gram.centered()
        shift = 0.0 if kernel.definite else _definite_shift(view, weights)
        descent = _Descent(view, k, weights, shift, int(self.max_iter), self.verbose)
        if given is not None:
            descent.run(given[:, None])
        elif self.init == "spectral":
            descent.run(spectral_labels(gram, k, self.random_state)[:, None])
        else:
            rng = generator(self.random_state)
            for n_starts in _groups(n, k, int(self.n_init), gram.dtype.itemsize):
                descent.run(_plus_plus(view, k, n_starts, weights, rng))
        self._keep(kernel, samples)
        self.inertia_, self.n_iter_ = descent.objective, descent.n_iter
        self.labels_, used = used_labels(descent.labels)
        self.n_clusters_ = len(used)
        self._warn(k, descent.settled)
        # d²(x, c) = k(x, x) − 2 Σ_i k(x, x_i) a_i h_ic / s_c + t_c
        H, sizes = _weighted_indicator(self.labels_[:, None], self.n_clusters_, weights)
        means = H / sizes
        self.offsets_ = np.einsum("ij,ij->j", means, view @ means)
        if center is not None:
            means -= center[:, None]
        self.expansion_ = Expansion(kernel, X, means, gram=gram, center=center)
        return self

    def _given_labels(self, n: int, k: int) -> Array | None:
        """``init`` as labels, or None where it names a method."""
        if isinstance(self.init, str) and self.init in ("k-means++", "spectral"):
            return None
        labels = np.asarray(self.init)
        if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
            raise ValueError(f"init must be 'k-means++', 'spectral' or {n} labels from 0 to {k - 1}")
        return labels

    def _warn(self, k: int, settled: bool) -> None:
        if self.n_clusters_ < k:
            message = f"only {self.n_clusters_} distinct clusters found of n_clusters={k}; X may have duplicate rows"
        elif not settled:
            message = f"labels still changed after max_iter={self.max_iter} iterations; raise max_iter"
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new sample: the nearest mean in feature space.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        check_is_fitted(self, "expansion_")
        labels: Array = np.argmin(self.offsets_ - 2 * self.expansion_.unchecked(self._check_new(X)), axis=1)
        return labels


def kmeans_objective(gram: Gram, labels: Array, weights: Array | None = None) -> float:
    """Σ_c Σ_{i∈c} a_i ‖φ(x_i) − m_c‖² of a labelling, the function KernelKMeans minimises.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import Linear
    >>> kmeans_objective(Linear().gram(np.array([[0.0], [2.0], [9.0]])), np.array([0, 0, 1]))
    2.0
    """
    n = gram.shape[0]
    weights = np.ones(n, gram.dtype) if weights is None else check_weights(weights, n, gram.dtype)
    if np.shape(labels) != (n,):
        raise ValueError(f"labels has shape {np.shape(labels)}; pass one label for each of the {n} samples")
    labels = used_labels(labels)[0]
    H, sizes = _weighted_indicator(labels[:, None], int(labels.max()) + 1, weights)
    return float(weights @ gram.diagonal() - (np.einsum("ij,ij->j", H, gram @ H) / sizes).sum())


def _weighted_indicator(labels: Array, k: int, weights: Array) -> tuple[Array, Array]:
    """a⊙H for every start side by side, (n, starts·k), and the cluster weights s, (starts·k,)."""
    n, n_starts = labels.shape
    H = np.zeros((n, n_starts * k), weights.dtype)
    H[np.arange(n)[:, None], labels + k * np.arange(n_starts)] = weights[:, None]
    return H, H.sum(axis=0)


def _plus_plus(gram: Gram, k: int, n_starts: int, weights: Array, rng: np.random.Generator) -> Array:
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


def _groups(n: int, k: int, n_starts: int, itemsize: int) -> list[int]:
    """How many starts to advance together so that their n×k arrays stay within a quarter of the memory budget."""
    together = max(1, min(n_starts, int(memory_budget() / 4 / (4 * n * k * itemsize))))
    return [min(together, n_starts - done) for done in range(0, n_starts, together)]


def _definite_shift(gram: Gram, weights: Array) -> float:
    """c ≥ 0 that makes K + c·diag(1/a) positive semi-definite, i.e. √a K √a + c·I."""
    view, tol = SandwichGram(gram, np.sqrt(weights)), 1e-3
    lowest = float(view.eigenpairs(1, "smallest", tol=tol)[0][0])
    largest = abs(float(view.eigenpairs(1, "magnitude", tol=tol)[0][0]))
    return max(0.0, tol * largest - lowest) if lowest < -1e-10 * largest else 0.0


class _Descent:
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
            objective, plain, shifted = self._step(labels)
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
        self._keep_best(labels, self._step(labels)[0], self.max_iter, np.zeros(labels.shape[1], bool))

    def _keep_best(self, labels: Array, objective: Array, iteration: int, settled: Array) -> None:
        start = int(np.argmin(objective))
        if objective[start] < self.objective or (objective[start] == self.objective and settled[start]):
            self.objective, self.labels = float(objective[start]), labels[:, start].copy()
            self.n_iter, self.settled = iteration, bool(settled[start])

    def _step(self, labels: Array) -> tuple[Array, Array, Array]:
        """Objective of the labels, and where the plain and the shifted step lead."""
        n, n_starts = labels.shape
        H, sizes = _weighted_indicator(labels, self.k, self.weights)
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
