"""Spectral clustering that scales past n×n and answers for new samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from gramian.clustering.angular import angular_kmeans, nearest_direction
from gramian.embedding.kernel_eca import KernelECA
from gramian.embedding.projection import significant
from gramian.estimator import KernelEstimator, check_choice, check_count, check_positive, check_whole
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState


class SpectralClustering(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, KernelEstimator):
    """Cluster samples by the leading eigenvectors of their similarities.

    ==========  =======================================================  =======================
    embedding   rows that are clustered                                  by
    ==========  =======================================================  =======================
    ``"rw"``    u = D^-½ z, z the top eigenvectors of D^-½ K D^-½        k-means
    ``"sym"``   rows of z scaled to length one                           k-means
    ``"kpca"``  Z = E Λ^½ of the uncentred K                             k-means
    ``"keca"``  the same on the axes of largest entropy                  :func:`angular_kmeans`
    ==========  =======================================================  =======================

    A new sample x is embedded by the eigenvector equation itself (Nyström): for "rw" u(x) = Σ_i k(x, x_i) u_i /
    (λ d(x)) with d(x) = Σ_i k(x, x_i), for "kpca" z(x) = Σ_i k(x, x_i) e_i / √λ; it then joins the nearest centre.
    A fitted row given again to ``predict`` is a new row too: under a neighbour graph it has only the edges it names
    itself, so a row between two clusters may change sides.

    Parameters
    ----------
    n_clusters : int or None, default 8
        None chooses it by the largest gap among the leading eigenvalues of D^-½ K D^-½ (from 2 to
        ``max_clusters``).
    kernel : Kernel, str or callable, default "neighbors"
        The neighbour graph suits clusters of any shape. For very many samples pass
        ``Nystroem(m, kernel="rbf")``, whose cost is linear in n.
    embedding : {"rw", "sym", "kpca", "keca"}, default "rw"
    n_components : int, optional
        Eigenvectors used; default as many as clusters.
    max_clusters : int, default 20
        Most clusters considered when ``n_clusters=None``.
    n_init : int, default 10
        Starts of the final k-means.
    tol : float, optional
        Accuracy of the eigenvectors; the default 1e-4 is ample for labels.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : ndarray (n,)
        −1 for a sample that is similar to nothing (degree zero), with a warning.
    n_clusters_ : int
    embedding_ : ndarray (n, n_components)
    eigenvalues_ : ndarray (n_components,)
    cluster_centers_ : ndarray (n_clusters_, n_components)
        In the embedding.
    candidate_eigenvalues_ : ndarray
        Only with ``n_clusters=None``: the eigenvalues whose gap was looked at.
    kernel_ : Kernel

    References
    ----------
    von Luxburg (2007). A tutorial on spectral clustering.

    Examples
    --------
    >>> from gramian import SpectralClustering
    >>> from gramian.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> model = SpectralClustering(2, random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "neighbors",
        embedding: str = "rw",
        n_components: int | None = None,
        max_clusters: int = 20,
        n_init: int = 10,
        tol: float | None = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.embedding = embedding
        self.n_components = n_components
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> SpectralClustering:
        """Cluster X.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
        y : ignored

        Returns
        -------
        self : SpectralClustering
        """
        check_choice(self, "embedding", ("rw", "sym", "kpca", "keca"))
        check_whole(self, "n_init", "max_clusters")
        check_positive(self, "tol", none_allowed=True)
        X, gram = self._fit_kernel(X, min_samples=2)
        n = X.shape[0]
        k = check_count(self, "n_clusters", n, none_allowed=True)
        if k is None:
            k = self._choose_n_clusters(gram)
        k_axes = check_count(self, "n_components", n, none_allowed=True) or k
        inside = np.ones(n, bool)
        if self.embedding == "keca":
            self._fit_entropy_axes(X, k_axes)
        elif self.embedding == "kpca":
            self._fit_gram_axes(X, gram, k_axes)
        else:
            inside = self._fit_walk_axes(X, gram, k_axes)
        self._fit_centers(k, inside)
        return self

    # The four embeddings -----------------------------------------------------------------------------------

    def _fit_walk_axes(self, X: Matrix, gram: Gram, k: int) -> Array:
        """Top eigenvectors of the normalised Gram ("rw", "sym"); returns a mask of the connected samples."""
        walk = gram.normalized()
        self.eigenvalues_, vectors = walk.eigenpairs(k, tol=self.tol)
        u = walk.inverse_roots[:, None].astype(vectors.dtype, copy=False) * vectors
        usable = np.abs(self.eigenvalues_) > 1e-12
        inverse = np.divide(1, self.eigenvalues_, out=np.zeros_like(self.eigenvalues_), where=usable)
        # One more column sums k(x, x_i): the degree of a new sample.
        self.expansion_ = Expansion(self.kernel_, X, np.hstack([u * inverse, np.ones((len(u), 1), u.dtype)]))
        self.embedding_ = _unit_rows(u) if self.embedding == "sym" else u
        connected: Array = walk.inverse_roots > 0
        return connected

    def _fit_gram_axes(self, X: Matrix, gram: Gram, k: int) -> None:
        """Uncentred kernel PCA ("kpca")."""
        values, vectors = gram.eigenpairs(k, tol=self.tol)
        keep = significant(values, len(vectors)) & (values > 0)
        if not keep.any():
            raise ValueError("no positive eigenvalue: X is all zero under this kernel; use embedding='rw' or check X")
        self.eigenvalues_, vectors = values[keep], vectors[:, keep]
        root = np.sqrt(self.eigenvalues_)
        self.expansion_ = Expansion(self.kernel_, X, vectors / root)
        self.embedding_ = vectors * root

    def _fit_entropy_axes(self, X: Matrix, k: int) -> None:
        """Axes of largest entropy ("keca")."""
        eca = KernelECA(k, kernel=self.kernel, tol=self.tol).fit(X)
        self.eigenvalues_, self.embedding_ = eca.eigenvalues_, eca.embedding_
        self.expansion_ = eca.expansion_

    def _choose_n_clusters(self, gram: Gram) -> int:
        n = gram.shape[0]
        most = min(int(self.max_clusters), n - 1)
        if most < 2:
            raise ValueError(
                f"n_clusters=None needs max_clusters >= 2 and at least three samples; got max_clusters="
                f"{self.max_clusters} and n_samples={n}: pass n_clusters"
            )
        values = gram.normalized().eigenpairs(most + 1, tol=self.tol)[0]
        self.candidate_eigenvalues_ = values
        return 2 + int(np.argmax(values[1:-1] - values[2:]))

    # Clusters in the embedding -----------------------------------------------------------------------------

    def _fit_centers(self, k: int, inside: Array) -> None:
        Z = self.embedding_[inside]
        if len(Z) < k:
            raise ValueError(
                f"n_clusters={k} but only {len(Z)} samples are similar to another; widen the kernel or lower n_clusters"
            )
        if not inside.all():
            _warn_isolated(int((~inside).sum()))
        self.labels_ = np.full(len(inside), -1)
        if self.embedding == "keca":
            labels, self.cluster_centers_, _ = angular_kmeans(
                Z, k, n_init=int(self.n_init), random_state=self.random_state
            )
        else:
            labels, self.cluster_centers_ = _kmeans(Z, k, int(self.n_init), self.random_state)
        self.labels_[inside] = labels
        self.n_clusters_ = k

    def transform(self, X: Matrix) -> Array:
        """The spectral embedding of new samples.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components); zero for a sample similar to no fitted one
        """
        return self._embed(X)[0]

    def _embed(self, X: Matrix) -> tuple[Array, Array]:
        """The embedding of new samples and a mask of those that are similar to no fitted one."""
        check_is_fitted(self)
        Z = self.expansion_(self._check_new(X))
        if self.embedding in ("kpca", "keca"):
            return Z, np.zeros(len(Z), bool)
        Z, degrees = Z[:, :-1], Z[:, -1:]
        connected = degrees > 0
        Z = np.divide(Z, degrees, out=np.zeros_like(Z), where=connected)
        return (_unit_rows(Z) if self.embedding == "sym" else Z), ~connected[:, 0]

    def fit_transform(self, X: Matrix, y: Any = None) -> Array:
        """Cluster X and return its spectral embedding, ``embedding_``."""
        return self.fit(X, y).embedding_

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new sample.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a sample that is similar to no fitted one.
        """
        Z, alone = self._embed(X)
        if self.embedding == "keca":
            labels = nearest_direction(Z, self.cluster_centers_)
        else:
            labels = pairwise_distances_argmin(Z, self.cluster_centers_.astype(Z.dtype, copy=False))
        if alone.any():
            _warn_isolated(int(alone.sum()))
            labels = np.where(alone, -1, labels)
        return labels

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def spectral_labels(gram: Gram, k: int, random_state: RandomState) -> Array:
    """Labels of random-walk spectral clustering of a Gram, for starting other methods."""
    walk = gram.normalized()
    vectors = walk.eigenpairs(k, tol=1e-4)[1]
    return _kmeans(walk.inverse_roots[:, None].astype(vectors.dtype, copy=False) * vectors, k, 10, random_state)[0]


def _kmeans(Z: Array, k: int, n_init: int, random_state: RandomState) -> tuple[Array, Array]:
    seed = int(generator(random_state).integers(2**31 - 1))
    model = KMeans(k, n_init=n_init, random_state=seed).fit(Z)
    return model.labels_, model.cluster_centers_


def _unit_rows(Z: Array) -> Array:
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 0)


def _warn_isolated(count: int) -> None:
    warnings.warn(
        f"{count} samples have no similarity to any other and get label -1; widen the kernel or raise n_neighbors",
        UserWarning,
        stacklevel=3,
    )
