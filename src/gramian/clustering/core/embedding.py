"""Embed samples by leading eigenvectors of their Gram, and cluster the embedded rows.

``Axes`` holds the eigenvectors, ``Placement`` embeds new samples, and :func:`kmeans` clusters the rows. A Gram is asked
only for products, degrees and eigenpairs, so its kind does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import qr
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from gramian.clustering.core.components import spread_pairs
from gramian.embedding.kernel_eca import entropy_axes
from gramian.grams import Gram
from gramian.grams.features import unit_rows
from gramian.grams.views import NormalizedGram, SandwichGram
from gramian.kernels import Expansion, Kernel
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_ISOLATED = 1e-12  # of the largest degree: relaxed clusters take a sample of less for one that is similar to nothing
_UNSCALED = ("kpca", "keca")
_RELAXED = ("relaxed", "relaxed_kernel")
_ALIKE = 100  # units in the last place: what embedded rows differ by that are alike
_CLEAR_SPREAD = 1e-3  # of the variance: one start of k-means that leaves less has found clusters that lie apart

# The embedding ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axes:
    """Leading eigenvectors of a Gram K, with D its degrees and H = I − 11ᵀ/n.

    ======================  ==================  ==========================  =====================================
    kind                    eigenvectors e of   embedding                   of a new sample x, b_i = k(x, x_i)
    ======================  ==================  ==========================  =====================================
    ``"rw"``                D^-½ K D^-½         D^-½ e                      Σ_i b_i D_i^-½ e_i / (λ d(x))
    ``"sym"``               D^-½ K D^-½         the same, rows of length 1  the same, of length 1
    ``"kpca"``              K                   √λ e                        Σ_i b_i e_i / √λ
    ``"keca"``              K, by entropy       √λ e                        Σ_i b_i e_i / √λ
    ``"relaxed"``           H D^-½ K D^-½ H     e                           Σ_i b_i D_i^-½ e_i / (λ √d(x)) − mean
    ``"relaxed_kernel"``    H K H               e                           Σ_i b_i e_i / λ − mean
    ======================  ==================  ==========================  =====================================

    Here d(x) = Σ_i b_i, and the mean is over the fitted samples. "relaxed" are the relaxed cluster indicators of
    dimension reduction and alternative clustering.

    Attributes
    ----------
    kind : str
    values : ndarray (k,)
        Eigenvalues λ, all positive; fewer than asked for where the operator has a lower rank.
    vectors : ndarray (n, k)
        Orthonormal eigenvectors e.
    inverse_roots : ndarray (n,) or None
        The diagonal of D^-½; zero for a sample that the embedding leaves out. None for kinds without degrees.
    """

    kind: str
    values: Array
    vectors: Array
    inverse_roots: Array | None = None

    @classmethod
    def of(
        cls,
        gram: Gram,
        kind: str,
        k: int,
        *,
        kernel: Kernel | None = None,
        tol: float | None = 1e-6,
        inside: Array | None = None,
        least_spread: float = 0.0,
        known: tuple[Array, Array] | None = None,
    ) -> Axes:
        """The k leading axes.

        Parameters
        ----------
        gram : Gram
        kind : str
        k : int
        kernel : Kernel, optional
            That of the Gram; needed for "keca", which must be positive semi-definite.
        tol : float, optional
            Accuracy of the eigenvectors.
        inside : ndarray (n,) of bool, optional
            The samples to embed, those of ``components.large_components``; by default all. For "rw" and "sym".
        least_spread : float
            Axes on fewer samples than this are passed over, as ``components.spread_pairs`` says. For "rw" and "sym".
        known : (values, vectors), optional
            At least k eigenpairs of the operator on the samples inside, found before.
        """
        if kind == "keca":
            assert kernel is not None
            return cls(kind, *entropy_axes(gram, k, kernel, tol)[:2])
        some = inside is not None and not inside.all()
        operator, inverse_roots = _operator(gram.restricted(inside) if some else gram, kind)
        if known is None:
            eigenpairs = partial(operator.eigenpairs, tol=tol)
            if inverse_roots is None or not least_spread:
                known = eigenpairs(k)
            else:
                known = spread_pairs(eigenpairs, k, least_spread)
        values, vectors = known[0][:k], known[1][:, :k]
        least = 1e-9 if kind in _RELAXED else max(1e-6, 10 * float(np.finfo(values.dtype).eps))
        keep = values > least * float(values.max(initial=0.0))  # beyond the rank, vectors are arbitrary
        if not keep.any():
            what = "all rows of X are alike" if kind in _RELAXED else "X is all zero"
            raise ValueError(f"{what} under this kernel, so there is nothing to cluster; check X or use another kernel")
        values, vectors = values[keep], np.ascontiguousarray(vectors[:, keep])
        if some:
            assert inverse_roots is not None
            assert inside is not None
            vectors, inverse_roots = _spread(vectors, inside), _spread(inverse_roots, inside)
        return cls(kind, values, vectors, inverse_roots)

    @property
    def inside(self) -> Array:
        """Mask (n,) of the samples that are embedded; the others are similar to nothing."""
        return np.ones(len(self.vectors), bool) if self.inverse_roots is None else self.inverse_roots > 0

    @property
    def unscaled(self) -> Array:
        """D^-½ e, or e for kinds without degrees."""
        if self.inverse_roots is None:
            return self.vectors
        return self.inverse_roots[:, None].astype(self.vectors.dtype, copy=False) * self.vectors

    def embedding(self) -> Array:
        """The embedded samples, (n, k)."""
        if self.kind in _UNSCALED:
            return self.vectors * np.sqrt(self.values)
        if self.kind in _RELAXED:
            return self.vectors
        return unit_rows(self.unscaled) if self.kind == "sym" else self.unscaled

    def placement(self, kernel: Kernel, X: Matrix, gram: Gram) -> Placement:
        """What embeds new samples.

        Parameters
        ----------
        kernel : Kernel
            Fitted, the one that made the Gram of X.
        X : array or CSR (n, d)
        gram : Gram
        """
        scale = np.sqrt(self.values) if self.kind in _UNSCALED else self.values
        power = {"rw": 1.0, "sym": 1.0, "relaxed": 0.5}.get(self.kind, 0.0)
        mean, least = None, 0.0
        if self.kind in _RELAXED:
            weights = np.ones(len(X)) if self.inverse_roots is None else self.inverse_roots
            mean = (weights * (gram @ weights)) @ (self.vectors / scale) / len(weights)
            least = _ISOLATED / float(np.square(weights).min())
        return Placement.of(
            kernel, X, gram, self.unscaled / scale, self.inside, power=power, mean=mean, least_degree=least,
            unit=self.kind == "sym",
        )  # fmt: skip


def _operator(gram: Gram, kind: str) -> tuple[Gram, Array | None]:
    """The operator whose eigenvectors a kind of embedding takes, and the diagonal of D^-½ if it has degrees."""
    if kind == "kpca":
        return gram, None
    if kind == "relaxed_kernel":
        return gram.centered(), None
    if kind == "relaxed":
        degrees = gram.degrees()
        # A very small degree instead of zero: H would spread the row of a sample without degree to all others.
        inverse_roots = 1 / np.sqrt(np.maximum(degrees, _ISOLATED * float(degrees.max())))
        return SandwichGram(gram, inverse_roots).centered(), inverse_roots
    walk = walk_of(gram)
    return walk, walk.inverse_roots


def _spread(values: Array, inside: Array) -> Array:
    """Entries or rows of the samples inside, and zeros for the others."""
    whole = np.zeros((len(inside), *values.shape[1:]), values.dtype)
    whole[inside] = values
    return whole


def walk_of(gram: Gram) -> NormalizedGram:
    """D^-½ K D^-½, or an error that names the way out for similarities that are negative."""
    try:
        return gram.normalized()
    except ValueError as error:
        raise ValueError(f"{error}, or give n_clusters and embedding='kpca'") from None


@dataclass
class Placement:
    """The embedding of new samples by the eigenvector equation itself (Nyström).

    A sample x is placed at Σ_i k(x, x_i) a_i, divided by a power of its degree d(x) = Σ_i k(x, x_i) over the embedded
    samples, less a mean.

    Attributes
    ----------
    expansion : Expansion
        Σ_i k(x, x_i) a_i, and d(x) as the last column where there is a power.
    power : float
        0 for no division.
    mean : ndarray (k,) or None
    least_degree : float
        A sample of at most this degree is similar to no embedded one.
    unit : bool
        Whether rows are scaled to length one.
    """

    expansion: Expansion
    power: float = 0.0
    mean: Array | None = None
    least_degree: float = 0.0
    unit: bool = False

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Matrix,
        gram: Gram | None,
        coefficients: Array,
        inside: Array,
        *,
        power: float = 0.0,
        mean: Array | None = None,
        least_degree: float = 0.0,
        unit: bool = False,
    ) -> Placement:
        """From the coefficients a (n, k) of all samples, which are zero where a sample is not ``inside``."""
        if power:
            coefficients = np.hstack([coefficients, inside[:, None].astype(coefficients.dtype)])
        return cls(Expansion(kernel, X, coefficients, gram=gram), power, mean, least_degree, unit)

    def __call__(self, X: Matrix) -> tuple[Array, Array]:
        """The embedding of new samples, checked before, and a mask of those that are similar to no embedded one."""
        Z = self.expansion(X)
        alone = np.zeros(len(Z), bool)
        if self.power:
            Z, degrees = Z[:, :-1], Z[:, -1:]
            alone = degrees[:, 0] <= self.least_degree
            divisors = self.divisors(degrees)
            Z = np.divide(Z, divisors, out=np.zeros_like(Z), where=~alone[:, None] & (divisors != 0))
        if self.mean is not None:
            Z = Z - self.mean.astype(Z.dtype, copy=False)
        return (unit_rows(Z) if self.unit else Z), alone

    def divisors(self, degrees: Array) -> Array:
        """What the sums of new samples are divided by, from their degrees (n_new, 1); zero where there is no place."""
        return np.maximum(degrees, 0) ** self.power


# Clusters of embedded rows ---------------------------------------------------------------------------------


def kmeans(Z: Array, k: int, *, seed: int, n_init: int = 10, pivots: bool = True) -> tuple[Array, Array]:
    """Labels and centres of k-means.

    Parameters
    ----------
    Z : ndarray (n, d)
    k : int
    seed : int
        Of the random starts.
    n_init : int
        Random starts (k-means++).
    pivots : bool
        Start from the most different rows first; the random starts are left out where that leaves next to no spread.
    """
    if (np.ptp(Z, axis=0) <= _ALIKE * np.finfo(Z.dtype).eps * np.abs(Z).max(initial=0.0)).all():
        Z = np.broadcast_to(Z[0], Z.shape)  # differences are rounding; KMeans warns that there is one cluster
    model = None
    if pivots and Z.shape[1] >= k:
        # Pivots of a QR of Zᵀ: each is the row least explained by those before. Among axes of clusters, one of each.
        rows = qr(Z.T, mode="r", pivoting=True, check_finite=False)[1][:k]
        model = KMeans(k, init=Z[rows], n_init=1).fit(Z)
        if model.inertia_ <= _CLEAR_SPREAD * float(Z.var(axis=0, dtype=np.float64).sum()) * len(Z):
            return model.labels_, model.cluster_centers_
    others = KMeans(k, n_init=n_init, random_state=seed).fit(Z)
    best = others if model is None or others.inertia_ < model.inertia_ else model
    return best.labels_, best.cluster_centers_


def numbered(labels: Array, centers: Array) -> tuple[Array, Array]:
    """Labels numbered by their first row, and the centres in that order, without those of empty clusters."""
    labels, used = labels_by_first_row(labels)
    return labels, centers[used]


def nearest_center(Z: Array, centers: Array) -> Array:
    """Index of the centre nearest to each row."""
    labels: Array = pairwise_distances_argmin(Z, centers.astype(Z.dtype, copy=False))
    return labels


def spectral_labels(gram: Gram, k: int, random_state: RandomState) -> Array:
    """Labels of spectral clustering of a Gram, for starting other methods; 0 for a sample similar to nothing."""
    axes = Axes.of(gram, "sym", k, tol=1e-4)
    labels = np.zeros(gram.shape[0], np.intp)
    seed = int(generator(random_state).integers(2**31 - 1))
    labels[axes.inside] = kmeans(axes.embedding()[axes.inside], k, seed=seed)[0]
    return labels


def refill_empty(labels: Array, misfit: Array, k: int) -> bool:
    """Give each empty cluster the row that fits its own cluster worst, in place; says whether any was empty.

    Parameters
    ----------
    labels : ndarray (n,)
    misfit : ndarray (n,)
        How badly each row fits the cluster it has. A cluster's only row is never taken.
    k : int
        Number of clusters.
    """
    sizes = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(sizes == 0).tolist()
    if not empty:
        return False
    for row in np.argsort(-misfit, kind="stable"):
        if not empty:
            break
        if sizes[labels[row]] > 1:
            sizes[labels[row]] -= 1
            labels[row] = empty.pop(0)
    return True


def used_labels(labels: Array) -> tuple[Array, Array]:
    """Labels renumbered without gaps, and the old numbers that were in use."""
    used, renumbered = np.unique(labels, return_inverse=True)
    return renumbered, used


def labels_by_first_row(labels: Array) -> tuple[Array, Array]:
    """Labels numbered by their first row, so that rounding does not rename clusters, and the old numbers in use."""
    used, first, renumbered = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[renumbered], used[order]
