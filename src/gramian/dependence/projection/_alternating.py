"""Find a projection and the clusters seen in it, in turns.

With clusters U fixed the projection W is a problem for :func:`gramian.dependence.ism`; with W fixed the best
relaxed clusters are leading eigenvectors of the Gram of the projected rows. Dimension reduction without labels and
alternative clustering differ only in how the weights of pairs follow from U. Every step asks a Gram for products and
a few eigenpairs; above some tens of thousands of rows it is one of landmarks, and nothing n×n is ever held.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from gramian.clustering.core import Axes, kmeans, nearest_center, numbered, relative_gap, unit_rows
from gramian.dependence.projection._climb import sine
from gramian.dependence.projection._eigenspace import ConstantPhi
from gramian.dependence.projection._estimator import Approximation, projected_kernel, projected_rows
from gramian.dependence.projection._pairs import profiles_of
from gramian.dependence.projection.ism import ISMResult, ism
from gramian.dependence.projection.weights import PairWeights
from gramian.grams import Gram
from gramian.kernels import RBF, Kernel
from gramian.kernels.profile import WeightedProfiles
from gramian.landmarks import Nystroem
from gramian.progress import progress
from gramian.randomness import generator
from gramian.typing import Array

# Steps of the projection before the clusters are looked at again. More make the turns cycle where there are degrees,
# which hold near the projection they were taken at, and cost more in all where there are none.
_INNER_STEPS = 2
_INNER_TOL = 1e-4
_EIGEN_TOL = 1e-6
_SAME_OBJECTIVE = 1e-4
_FEW_ROWS = 0.05
_NO_DEGREE = 1e-12  # of the largest: a row that no other is similar to

WeightsOfClusters = Callable[[Array, Array | None], PairWeights]
"""Γ for clusters U (n, k) and the square roots (n,) of the degrees, or None without degrees."""


# Clusters of a Gram ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RelaxedClusters:
    """The leading eigenvectors U of Q = H D^-½ K D^-½ H, or of H K H for kernels with negative values.

    Attributes
    ----------
    axes : Axes
        U and the eigenvalues, whose sum is the quality of the clusters. U is orthonormal and orthogonal to the
        constant vector, with fewer columns where Q has a lower rank.
    n_clusters : int
        k, also where there are fewer eigenvectors.
    settled : bool
        Whether the eigenvectors reached their tolerance.
    """

    axes: Axes
    n_clusters: int
    settled: bool

    @classmethod
    def of(cls, gram: Gram, k: int, *, normalize: bool) -> RelaxedClusters:
        """The best k relaxed clusters."""
        with warnings.catch_warnings(record=True) as said:
            # Told once at the end, of the clusters that are kept, not of every turn.
            warnings.simplefilter("always", ConvergenceWarning)
            kind = "relaxed" if normalize else "relaxed_kernel"
            axes = Axes.of(gram, kind, min(k, gram.shape[0] - 1), tol=_EIGEN_TOL)
        return cls(axes, k, not said)

    @property
    def vectors(self) -> Array:
        """U (n, k)."""
        return self.axes.vectors

    @property
    def values(self) -> Array:
        """The eigenvalues, (k,)."""
        return self.axes.values

    @property
    def roots(self) -> Array | None:
        """The square roots of the degrees, (n,)."""
        return None if self.axes.inverse_roots is None else 1 / self.axes.inverse_roots

    @property
    def separation(self) -> float:
        """How clearly the clusters stand apart, from 0 to 1: 1 − (1 − λ_{k−1}) / (1 − λ_k).

        1 − λ is what cutting off one more cluster costs; k clusters have k − 1 cuts. Where a cut is between a handful
        of rows and the rest, the kernel is too narrow to see clusters, and the separation is 0; as it is where there is
        no cut, or no λ_k to compare with. Without degrees the eigenvalues have no such scale, and it is
        1 − λ_k / λ_{k−1}.
        """
        if len(self.values) < max(2, self.n_clusters):
            return 0.0
        cuts = self.vectors[:, :-1]
        if (1 / (cuts**4).sum(axis=0)).min() < _FEW_ROWS * len(cuts):  # how many rows a unit vector is spread over
            return 0.0
        last, next_one = (float(value) for value in self.values[-2:])
        if self.roots is None:
            return 1 - next_one / last
        return 1 - max(0.0, 1 - last) / (1 - next_one) if next_one < 1 - 1e-9 else 0.0


def degree_roots(gram: Gram) -> Array:
    """The square roots of the degrees; a row that no other is similar to gets a very small one, not zero."""
    degrees = gram.degrees()
    return np.asarray(np.sqrt(np.maximum(degrees, _NO_DEGREE * float(degrees.max()))))


def clusters_of_all_columns(X: Array, k: int | None, approximation: Approximation, most: int = 20) -> RelaxedClusters:
    """Clusters of X itself under a Gaussian of median width, where every alternation starts.

    With ``k=None`` as many as the widest relative gap of the first ``most`` eigenvalues says.
    """
    gram = approximation.fitted(RBF(), X)._unchecked("gram")(X)
    if k is None:
        n_values = min(most + 1, len(X) - 1)
        k = 2 if n_values < 3 else relative_gap(gram.normalized().eigenpairs(n_values, tol=1e-4)[0], graph=False)
    return RelaxedClusters.of(gram, k, normalize=True)


class ClustersForNewRows:
    """k-means on the rows of U, and the clusters of new rows.

    New rows are placed among those of U by the eigenvector equation. A row without degree takes the label of the
    nearest fitted row (or landmark).

    Attributes
    ----------
    labels : ndarray (n,)
        Of the fitted rows, numbered by their first row.
    centers : ndarray (n_clusters, k)
        Among rows of U of unit length.
    """

    def __init__(self, turns: Alternation, k: int, n_init: int, seed: int) -> None:
        axes, kernel = turns.clusters.axes, turns.kernel
        self.labels, self.centers = numbered(*kmeans(_directions(axes.vectors), k, n_init=n_init, seed=seed))
        self.place = axes.placement(kernel, turns.rows, turns.gram)
        landmarks = isinstance(kernel, Nystroem)
        self.anchors = kernel.landmarks_ if landmarks else turns.rows
        self.anchor_labels = self.labels[kernel.landmark_indices_] if landmarks else self.labels

    def predict(self, rows: Array) -> Array:
        """The cluster of every row."""
        U, alone = self.place(rows)
        labels = nearest_center(_directions(U), self.centers)
        if alone.any():
            labels[alone] = self.anchor_labels[pairwise_distances_argmin(rows[alone], self.anchors)]
        return labels


def _directions(U: Array) -> Array:
    """Rows of unit length; a single column has no directions but its sign, so it stays."""
    return unit_rows(U) if U.shape[1] > 1 else U


# Both in turns ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alternation:
    """Where the turns ended.

    Attributes
    ----------
    solution : ISMResult
        Of the last projection, or of the best one where the turns did not come to rest.
    clusters : RelaxedClusters
    kernel : Kernel
        Fitted on ``rows``.
    rows : ndarray (n, q)
        The projected samples.
    gram : Gram
        Of the rows.
    objective : float
        Σ Γ K of that projection.
    objective_path : ndarray
        Σ Γ K after every turn.
    n_iter : int
    converged : bool
    """

    solution: ISMResult
    clusters: RelaxedClusters
    kernel: Kernel
    rows: Array
    gram: Gram
    objective: float
    objective_path: Array
    n_iter: int
    converged: bool

    def warn_if_unsettled(self, remedy: str) -> None:
        """Say to the caller of ``fit`` that the turns were not enough."""
        if not self.converged:
            warnings.warn(
                f"clusters and projection still changed after {self.n_iter} turns, and the best are kept; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not self.clusters.settled:
            warnings.warn(
                "the eigenvectors that tell the clusters apart are not exact, so some rows may be in the wrong one; "
                f"{remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )


def alternate(
    X: Array,
    kernel: Kernel,
    n_components: int,
    start: Array,
    weights: WeightsOfClusters,
    n_clusters: int,
    *,
    approximation: Approximation,
    normalize: bool,
    init: str = "spectral",
    max_iter: int = 30,
    tol: float = 1e-3,
    verbose: int = 0,
) -> Alternation:
    """Project, cluster, project, … until neither subspace moves.

    Parameters
    ----------
    X : ndarray (n, d), float64
        Centred and scaled.
    kernel : Kernel
        Fitted on X.
    n_components : int
    start : ndarray (n, k)
        The first U.
    weights : callable
        Γ of U and the roots of the degrees.
    n_clusters : int
        Columns of the next U.
    approximation : Approximation
    normalize : bool
        Divide the kernel by its degrees, which must then not be negative. Without degrees the objective never falls.
    init : {"spectral", "random"}
        The first W. "spectral" is the maximum with the kernel's slope at W = 0, where all degrees are equal.
    max_iter : int
        Turns. Where they are not enough the one with the best objective is kept. Where they come to rest the last one
        is, which alone is stationary: degrees change from turn to turn, so an earlier objective may be higher.
    tol : float
        Largest sine of an angle between successive subspaces, of W and of U. A relative change of the objective below
        1e-4 ends the turns too: directions that hardly matter may go on turning.
    verbose : int
    """
    plain = projected_kernel(kernel)

    def seen(W: Array) -> tuple[Array, Kernel, Gram]:
        """The rows under the projection, the kernel fitted on them, and its Gram."""
        rows = projected_rows(kernel, X, W.T)
        fitted = approximation.fitted(clone(plain), rows)
        return rows, fitted, fitted._unchecked("gram")(rows)

    W, U = _first_projection(X, weights, start, profiles_of(kernel), n_components, init, approximation.seed), start
    roots = degree_roots(seen(W)[2]) if normalize else None
    best: tuple[float, ISMResult, RelaxedClusters] | None = None
    path: list[float] = []
    view: tuple[Array, Kernel, Gram] | None = None
    converged = False
    for _ in progress(range(max_iter), "Alternating", verbose=verbose):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a turn need not converge; the whole is judged below
            solution = ism(
                X, weights(U, roots), kernel, n_components, init=W, tol=_INNER_TOL, max_iter=_INNER_STEPS,
                approximation=approximation.kind, n_features=approximation.n_features, random_state=approximation.seed,
            )  # fmt: skip
        view = None  # the last Gram goes before the next one comes
        view = seen(solution.components.T)
        clusters = RelaxedClusters.of(view[2], n_clusters, normalize=normalize)
        roots = clusters.roots
        path.append(weights(clusters.vectors, roots).agreement(view[2]))
        if best is None or path[-1] >= best[0]:
            best = path[-1], solution, clusters
        moved = max(sine(W, solution.components.T), _moved(U, clusters.vectors))
        W, U = solution.components.T, clusters.vectors
        if moved < tol or (len(path) > 1 and abs(path[-1] - path[-2]) < _SAME_OBJECTIVE * abs(path[-1])):
            converged = True
            break
    assert best is not None
    assert view is not None
    objective = path[-1]
    if not converged and best[1] is not solution:
        objective, solution, clusters = best
        view = None
        view = seen(solution.components.T)
    rows, fitted, gram = view
    return Alternation(solution, clusters, fitted, rows, gram, objective, np.array(path), len(path), converged)


def _first_projection(
    X: Array, weights: WeightsOfClusters, U: Array, profiles: WeightedProfiles, q: int, init: str, seed: int
) -> Array:
    if init == "random":
        return np.linalg.qr(generator(seed).standard_normal((X.shape[1], q)))[0]
    return ConstantPhi(X, weights(U, None), profiles).leading(q)[1]


def _moved(U: Array, V: Array) -> float:
    return sine(U, V) if U.shape == V.shape else 1.0
