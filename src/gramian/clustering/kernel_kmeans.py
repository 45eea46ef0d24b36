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
from gramian.clustering.core.descent import Descent, definite_shift, plus_plus, start_groups, weighted_indicator
from gramian.clustering.core.embedding import spectral_labels, used_labels
from gramian.estimator import KernelEstimator
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.partitions import fit_to_sample, is_distributed
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState


class KernelKMeans(ClusterMixin, KernelEstimator):
    """Cluster samples by k-means in the feature space of a kernel, which finds clusters that no hyperplane separates.

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
            A Dask array or data frame is clustered by 10,000 of its rows, drawn by number; ``labels_`` of all rows is
            then a Dask array, computed partition by partition when asked for, and ``inertia_`` that of the sample.
        y : ignored
        sample_weight : array-like (n,), optional
            The weights a, positive; they also count in the kernel's width rule.

        Returns
        -------
        self : KernelKMeans
        """
        check_whole(self, "n_init", "max_iter")
        check_whole(self, "verbose", least=0)
        if is_distributed(X):
            if sample_weight is not None:
                raise TypeError("sample_weight is for rows in memory; leave it out for a Dask input")
            return fit_to_sample(self, X)
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
        shift = 0.0 if kernel.definite else definite_shift(view, weights)
        descent = Descent(view, k, weights, shift, int(self.max_iter), self.verbose)
        if given is not None:
            descent.run(given[:, None])
        elif self.init == "spectral":
            descent.run(spectral_labels(gram, k, self.random_state)[:, None])
        else:
            rng = generator(self.random_state)
            for n_starts in start_groups(n, k, int(self.n_init), gram.dtype.itemsize):
                descent.run(plus_plus(view, k, n_starts, weights, rng))
        self._keep(kernel, samples)
        self.inertia_, self.n_iter_ = descent.objective, descent.n_iter
        self.labels_, used = used_labels(descent.labels)
        self.n_clusters_ = len(used)
        self._warn(k, descent.settled)
        # d²(x, c) = k(x, x) − 2 Σ_i k(x, x_i) a_i h_ic / s_c + t_c
        H, sizes = weighted_indicator(self.labels_[:, None], self.n_clusters_, weights)
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
    """The objective of kernel k-means for given labels: Σ_c Σ_{i∈c} a_i ‖φ(x_i) − m_c‖².

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
    H, sizes = weighted_indicator(labels[:, None], int(labels.max()) + 1, weights)
    return float(weights @ gram.diagonal() - (np.einsum("ij,ij->j", H, gram @ H) / sizes).sum())
