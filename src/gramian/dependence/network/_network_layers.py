"""One layer of a dependence network: a projection that depends on the labels, then the features of a Gaussian kernel.

Training a layer is three choices made one after another: the width of the kernel, the number of components, and the
projection. The network calls them and stacks the layers; everything here works on plain arrays.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from gramian.configuration import require_memory
from gramian.dependence.network._layer_diagnostics import KernelClassSums, LayerReport, class_scatter, scatter_ratio
from gramian.dependence.network.label_bandwidth import LabelKernel
from gramian.dependence.projection._eigenspace import ConstantPhi
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.ism import ism
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, ProfileKernel
from gramian.kernels.base import FeatureMap
from gramian.landmarks import FourierFeatures, Nystroem
from gramian.typing import Array

_NEXT_TO_NOTHING = 1e-12
_FEW_ROWS = 500
_REVIVALS = 20
FEATURE_MAPS = ("fourier", "orthogonal", "exact", "nystroem")


@dataclass(frozen=True)
class NetworkLayer:
    """One trained layer: project a row, then map it to features of a Gaussian kernel.

    x ↦ z = Wᵀx ↦ φ(z) with φ(z)·φ(z') ≈ exp(−‖z − z'‖² / (2 width²)).

    Parameters
    ----------
    components : ndarray (q, d)
        Wᵀ, orthonormal rows.
    width : float
        Of the kernel.
    feature_map : FeatureMap
        φ, fitted.
    """

    components: Array
    width: float
    feature_map: FeatureMap

    def project(self, R: Array) -> Array:
        """Z = R W, shape (n, q)."""
        return R @ self.components.T

    def features(self, Z: Array) -> Array:
        """φ of projected rows, shape (n, m)."""
        return self.feature_map.features(Z)

    def kernel(self) -> RBF:
        """The Gaussian kernel of the projected rows."""
        return RBF(width=self.width)


def input_components(R: Array, kept: float, n_classes: int) -> int:
    """How many components the spectrum of a layer's input asks for: so many singular values make up ``kept`` of all.

    The values are not squared and R is not centred: this is the rule that gives the published sizes. At least two
    components per class, and not more than R has columns.
    """
    values = np.linalg.svd(R, compute_uv=False)
    shares = np.cumsum(values) / values.sum()
    return min(max(1 + int((shares < kept).sum()), 2 * n_classes), R.shape[1])


def objective_components(R: Array, weights: PairWeights, width: float, projection: Projection, kept: float) -> int:
    """How many positive eigenvalues of the objective's matrix, at a projection, make up ``kept`` of their sum.

    At least one, and not more than the projection has.
    """
    pairs = PairSum(R, weights, profiles_of(RBF(width=width)))
    evaluation = pairs.evaluate(np.ascontiguousarray(projection.components.T))
    values = np.linalg.eigvalsh(evaluation.product(np.eye(R.shape[1])))[::-1]
    positive = values[values > 0]
    if not len(positive):
        return 1
    enough = 1 + int((np.cumsum(positive) / positive.sum() < kept - 1e-12).sum())
    return min(enough, len(projection.components))


@dataclass(frozen=True)
class Projection:
    """Wᵀ (q, d), the steps that found it, and whether they came to rest."""

    components: Array
    n_iter: int
    converged: bool


def solve_projection(
    R: Array,
    weights: PairWeights,
    width: float,
    n_components: int,
    *,
    tol: float = 0.01,
    max_iter: int = 200,
    seed: int = 0,
    init: str | Array = "spectral",
) -> Projection:
    """The orthonormal W (d, q) under which a Gaussian kernel of R W depends most on the labels."""
    d = R.shape[1]
    if n_components >= d:  # a rotation changes no distance
        return Projection(np.eye(d), 1, True)
    settings: dict[str, Any] = {"convergence": "eigenvalues", "tol": tol, "max_iter": max_iter, "random_state": seed}
    kernel = RBF(width=width)
    if is_dead(R, width):
        start = ConstantPhi(R, weights, profiles_of(kernel)).leading(n_components)[1] if isinstance(init, str) else init
        init = revive(R, weights, width, start)
        if is_dead(R @ init, width):
            return Projection(np.ascontiguousarray(init.T), _REVIVALS, True)
    with warnings.catch_warnings():
        # The network names the layers that did not come to rest. Directions without a gap are no fault here: q is a
        # size, and the kernel sees the subspace through all later layers.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "the eigenvalues of components")
        result = ism(R, weights, kernel, n_components, init=init, **settings)
    return Projection(result.components, int(result.n_iter), bool(result.converged))


def revive(R: Array, weights: PairWeights, width: float, W: Array, n_steps: int = _REVIVALS) -> Array:
    """Steps of the solver from W (d, q) with the kernel of the nearest rows scaled to one, until it lives without.

    Where all values of the kernel vanish, these still tell which vanish last; a factor common to all changes no
    eigenvector of the objective's matrix.
    """
    for _ in range(n_steps):
        Z = R @ W
        if not is_dead(Z, width):
            break
        pairs = PairSum(R, weights, profiles_of(shifted_gaussian(Z, width)), zero_diagonal=True)
        phi = pairs.evaluate(W).product(np.eye(len(W)))
        W = np.linalg.eigh((phi + phi.T) / 2)[1][:, ::-1][:, : W.shape[1]]
    return W


def is_dead(Z: Array, width: float) -> bool:
    """Whether the Gaussian kernel of any two different rows is next to nothing, so that it sees no row near another.

    A projection brings rows nearer, so a kernel that lives on the rows lives on their projections.
    """
    far = width * np.sqrt(-2 * np.log(_NEXT_TO_NOTHING))
    if smallest_distance(Z[:_FEW_ROWS]) < far:  # a few rows nearly always have a live pair
        return False
    return bool(far <= smallest_distance(Z) < np.inf)


def smallest_distance(Z: Array) -> float:
    """Of two different rows; infinite if there are none."""
    distinct = np.unique(Z, axis=0)
    if len(distinct) < 2:
        return float(np.inf)
    return float(NearestNeighbors(n_neighbors=2).fit(distinct).kneighbors(distinct)[0][:, 1].min())


def shifted_gaussian(Z: Array, width: float) -> ProfileKernel:
    """The Gaussian kernel times the number that makes its value one for the two nearest different rows of Z."""
    least = smallest_distance(Z) ** 2
    rate = -0.5 / width**2

    def value(squared: Array) -> Array:
        return np.exp(np.minimum(rate * (squared - least), 0.0))  # equal rows are nearer still, and do not matter

    return ProfileKernel(value, lambda squared: rate * value(squared), kind="distance")


def fit_feature_map(kind: str, Z: Array, width: float, n_features: int, seed: int) -> FeatureMap:
    """φ for the projected rows: random waves, landmarks, or with every row a landmark the kernel itself."""
    kernel = RBF(width=width)
    n = len(Z)
    if kind in ("fourier", "orthogonal"):
        made: FeatureMap = FourierFeatures(
            n_features, kernel=kernel, orthogonal=kind == "orthogonal", random_state=seed
        )
    elif kind == "nystroem":
        made = Nystroem(min(n_features, n), kernel=kernel, random_state=seed)
    else:
        require_memory(16.0 * n * n, f"feature_map='exact' with {n} samples", "use feature_map='nystroem'")
        made = Nystroem(n, kernel=kernel, random_state=seed)
    return made.fit(Z)


def layer_report(layer: NetworkLayer, Z: Array, codes: Array, label_kernel: LabelKernel, n_iter: int) -> LayerReport:
    """What a layer achieves on its projected training rows Z."""
    exact = KernelClassSums.of_kernel(layer.kernel(), Z, codes)
    hsic = exact.hsic(label_kernel)
    return LayerReport(
        width=layer.width,
        n_components=len(layer.components),
        hsic=hsic,
        relative_hsic=hsic / exact.ideal_hsic(label_kernel),
        alignment=exact.alignment(label_kernel),
        feature_alignment=KernelClassSums.of_features(layer.features(Z), codes).alignment(label_kernel),
        scatter_ratio=scatter_ratio(Z, codes),
        cosine_ratio=exact.cosine_ratio(),
        cosine_ratio_of_sums=exact.cosine_ratio("sum"),
        class_scatter=class_scatter(Z, codes),
        n_iter=n_iter,
    )
