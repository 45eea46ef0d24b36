"""k-means in the feature space of a kernel, weighted, all starts advanced together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gramian.estimator import KernelEstimator, check_count, check_weights, check_whole
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
            The weights a, positive.

        Returns
        -------
        self : KernelKMeans
        """
        check_whole(self, "n_init", "max_iter")
        check_whole(self, "verbose", least=0)
        X, gram = self._fit_kernel(X)
        n = X.shape[0]
        k = check_count(self, "n_clusters", n)
        assert k is not None
        weights = np.ones(n, gram.dtype) if sample_weight is None else check_weights(sample_weight, n, gram.dtype)
        if weights.min() <= 0:
            raise ValueError("sample_weight must be positive for KernelKMeans; leave out samples of weight zero")
        shift = self._definite_shift(gram, weights)
        starts = self._starts(X, gram, k, weights)
        labels, self.inertia_, self.n_iter_ = _descend(gram, starts, k, weights, shift, self.max_iter, self.verbose)
        self.labels_ = labels
        self._finish(X, gram, weights, k)
        return self

    def _definite_shift(self, gram: Gram, weights: Array) -> float:
        """c ≥ 0 that makes K + c·diag(1/a) positive semi-definite, i.e. √a K √a + c·I."""
        if self.kernel_.definite:
            return 0.0
        lowest = SandwichGram(gram, np.sqrt(weights)).eigenpairs(1, "smallest", tol=1e-3)[0][0]
        return max(0.0, -1.01 * float(lowest))

    def _starts(self, X: Matrix, gram: Gram, k: int, weights: Array) -> Array:
        """Initial labels, shape (n, number of starts)."""
        n = X.shape[0]
        if isinstance(self.init, str) and self.init == "k-means++":
            return _plus_plus(gram, k, int(self.n_init), weights, generator(self.random_state))
        if isinstance(self.init, str) and self.init == "spectral":
            from gramian.clustering.spectral import spectral_labels

            return spectral_labels(gram, k, self.random_state)[:, None]
        labels = np.asarray(self.init)
        if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
            raise ValueError(
                f"init={self.init!r} is not known; pass 'k-means++', 'spectral' or {n} labels from 0 to {k - 1}"
            )
        return labels[:, None]

    def _finish(self, X: Matrix, gram: Gram, weights: Array, k: int) -> None:
        """What ``predict`` needs: d²(x, c) = k(x, x) − 2 Σ_i k(x, x_i) a_i h_ic / s_c + t_c."""
        found = np.unique(self.labels_)
        self.n_clusters_ = len(found)
        if len(found) < k:
            warnings.warn(
                f"only {len(found)} distinct clusters were found of n_clusters={k}; X may have duplicate rows",
                ConvergenceWarning,
                stacklevel=3,
            )
            self.labels_ = np.searchsorted(found, self.labels_)
        H, sizes = _weighted_indicator(self.labels_[:, None], len(found), weights)
        means = H / sizes
        self.offsets_ = np.einsum("ij,ij->j", means, gram @ means)
        self.expansion_ = Expansion(self.kernel_, X, means)

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new sample: the nearest mean in feature space.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        check_is_fitted(self)
        labels: Array = np.argmin(self.offsets_ - 2 * self.expansion_(self._check_new(X)), axis=1)
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
    weights = np.ones(gram.shape[0], gram.dtype) if weights is None else weights
    labels = np.unique(labels, return_inverse=True)[1]
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


def _descend(
    gram: Gram, labels: Array, k: int, weights: Array, shift: float, max_iter: int, verbose: int
) -> tuple[Array, float, int]:
    """Alternate assignment and means until no label changes; returns the best start."""
    n = gram.shape[0]
    total = float(weights @ gram.diagonal())
    best: tuple[float, Array, int] = (np.inf, labels[:, 0], 0)
    for iteration in progress(range(1, max_iter + 1), "Kernel k-means", verbose=verbose):
        n_starts = labels.shape[1]
        H, sizes = _weighted_indicator(labels, k, weights)
        sizes = np.where(sizes > 0, sizes, 1)
        B = (gram @ H) / sizes
        within = np.einsum("ij,ij->j", H, B) / sizes  # t_c = ‖m_c‖²
        objective = total - (within * sizes).reshape(n_starts, k).sum(axis=1)
        # The shift c·diag(1/a) adds c/s_c − 2c h_ic/s_c to the distance to cluster c (and a constant per row).
        distance = (within + shift / sizes) - 2 * B
        rows = np.arange(n)[:, None]
        columns = labels + k * np.arange(n_starts)
        distance[rows, columns] -= 2 * shift / sizes[columns]
        distance[:, H.sum(axis=0) == 0] = np.inf
        distance = distance.reshape(n, n_starts, k)
        new = np.argmin(distance, axis=2)
        _refill_empty(new, distance + gram.diagonal()[:, None, None], k)
        done = (new == labels).all(axis=0)
        for start in np.flatnonzero(done if iteration < max_iter else np.ones(n_starts, bool)):
            if objective[start] < best[0]:
                best = (float(objective[start]), labels[:, start], iteration)
        if done.all():
            break
        labels = new[:, ~done]
    return best[1], max(best[0], 0.0) if shift == 0 else best[0], best[2]


def _refill_empty(labels: Array, distance: Array, k: int) -> None:
    """Give each empty cluster of each start the sample farthest from its own mean, in place."""
    n, n_starts = labels.shape
    for start in range(n_starts):
        sizes = np.bincount(labels[:, start], minlength=k)
        empty = np.flatnonzero(sizes == 0)
        if not len(empty):
            continue
        own = distance[np.arange(n), start, labels[:, start]]
        movable = np.flatnonzero(sizes[labels[:, start]] > 1)
        farthest = movable[np.argsort(-own[movable], kind="stable")[: len(empty)]]
        labels[farthest, start] = empty[: len(farthest)]
