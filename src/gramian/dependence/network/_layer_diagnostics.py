"""Diagnostics of a network layer: dependence on the labels, alignment, scatter, geometry of the class means.

All of it follows from a few class sums, so one streamed pass over the kernel matrix, or one over features, answers
every question. The dependence network reports these numbers for each of its layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramian.dependence.network._labelled_samples import class_indicators
from gramian.dependence.network.label_bandwidth import LabelKernel, class_weights
from gramian.grams import tiles
from gramian.kernels import Kernel
from gramian.typing import Array


@dataclass(frozen=True)
class KernelClassSums:
    """Sums of a kernel matrix K within and between classes, without storing K.

    Parameters
    ----------
    sums : ndarray (k, k)
        Yᵀ K Y: sums of kernel values over the pairs of two classes, pairs of a sample with itself included.
    counts : ndarray (k,)
        Samples of each class.
    norm, balanced_norm : float
        √Σ w_i w_j k̃_ij² of the centred kernel matrix with weights w that sum to one: all equal, or all classes equal.
    diagonal : ndarray (k,)
        Sums of k(x, x) over each class.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import Linear
    >>> codes = np.array([0, 0, 1, 1, 2, 2])
    >>> ideal = KernelClassSums.of_kernel(Linear(), np.eye(3)[codes], codes)  # one point per class
    >>> round(ideal.alignment(), 6), ideal.cosine_ratio()
    (1.0, 0.0)
    >>> ideal.mean_geometry().cosines.round(2)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """

    sums: Array
    counts: Array
    norm: float
    balanced_norm: float
    diagonal: Array

    @classmethod
    def of_kernel(cls, kernel: Kernel, Z: Array, codes: Array) -> KernelClassSums:
        """By one pass over the kernel matrix of Z in strips of rows; time n², memory n."""
        Y = class_indicators(codes)
        n, counts = len(Z), Y.sum(axis=0)
        of_rows, squares = np.empty_like(Y), np.zeros((len(counts), len(counts)))
        for rows in tiles.slices(n, max(1, tiles.TILE_BYTES // (8 * n))):
            K = kernel(Z[rows], Z)
            of_rows[rows] = K @ Y
            np.multiply(K, K, out=K)
            squares += Y[rows].T @ (K @ Y)

        def norm(w: Array) -> float:
            # ‖K̃‖² = Σ w w K² − 2 Σ w r² + (Σ w r)² with r = K w, for weights w of the classes' samples.
            r, weights = of_rows @ w, w[codes]
            return float(np.sqrt(max(w @ squares @ w - 2 * weights @ r**2 + (weights @ r) ** 2, 0.0)))

        sums = Y.T @ of_rows
        even, equal = np.full(len(counts), 1 / n), 1 / (len(counts) * counts)
        return cls((sums + sums.T) / 2, counts, norm(even), norm(equal), Y.T @ kernel.diagonal(Z))

    @classmethod
    def of_features(cls, R: Array, codes: Array) -> KernelClassSums:
        """Of the kernel matrix R Rᵀ, in time linear in n."""
        Y = class_indicators(codes)
        counts, totals = Y.sum(axis=0), Y.T @ R

        def norm(w: Array) -> float:
            centred = np.sqrt(w[codes])[:, None] * (R - w @ totals)
            inner = centred.T @ centred if R.shape[1] <= len(R) else centred @ centred.T
            return float(np.linalg.norm(inner))

        even, equal = np.full(len(counts), 1 / len(R)), 1 / (len(counts) * counts)
        return cls(totals @ totals.T, counts, norm(even), norm(equal), Y.T @ (R * R).sum(axis=1))

    def hsic(self, label_kernel: LabelKernel = "onehot") -> float:
        """H = Tr(Γ K), the dependence on the labels; not divided by n²."""
        return float(np.vdot(class_weights(self.counts, label_kernel), self.sums))

    def ideal_hsic(self, label_kernel: LabelKernel = "onehot") -> float:
        """H* = Tr(Γ Y Yᵀ), that of a kernel with one point per class, all orthogonal."""
        return float(np.diagonal(class_weights(self.counts, label_kernel)) @ self.counts**2)

    def alignment(self, label_kernel: LabelKernel = "onehot") -> float:
        """Normalised HSIC, Tr(K H Y Yᵀ H) / (‖H K H‖ ‖H Y Yᵀ H‖): 1 if the centred kernels are proportional.

        With "balanced" every class counts the same, as if its samples were repeated until all classes are of one size.
        """
        balanced = label_kernel == "balanced"
        shares = np.full(len(self.counts), 1 / len(self.counts)) if balanced else self.counts / self.counts.sum()
        ideal = np.eye(len(shares)) - shares[:, None] - shares + shares @ shares  # Y Yᵀ between classes, centred
        product = float(np.vdot(ideal, self.sums * np.outer(shares / self.counts, shares / self.counts)))
        norms = float(np.sqrt(shares @ ideal**2 @ shares)) * (self.balanced_norm if balanced else self.norm)
        return product / norms if norms > 0 else 0.0

    def cosine_ratio(self, kind: Literal["mean", "sum"] = "mean") -> float:
        """C, the kernel values between classes over those within, by their means or, as first printed, by sums."""
        within = float(np.trace(self.sums))
        between = float(self.sums.sum()) - within
        n_within = float(self.counts @ self.counts)
        n_between = float(self.counts.sum()) ** 2 - n_within
        return between / within if kind == "sum" else between / n_between * n_within / within

    def mean_geometry(self) -> MeanGeometry:
        """Angles between the class means in feature space, and the scatter around them."""
        means = self.sums / np.outer(self.counts, self.counts)
        spread = self.diagonal / self.counts - np.diagonal(means)
        centred = means - means.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        lengths = np.sqrt(np.maximum(np.diagonal(centred), 0.0))
        products = np.outer(lengths, lengths)
        cosines = np.divide(centred, products, out=np.zeros_like(centred), where=products > 0)
        return MeanGeometry(cosines, np.maximum(spread, 0.0))


@dataclass(frozen=True)
class MeanGeometry:
    """Class means in feature space: k orthonormal ones give cosines of −1 / (k − 1) around their centre.

    Parameters
    ----------
    cosines : ndarray (k, k)
        Of the angles between the class means, seen from the mean of the means.
    within : ndarray (k,)
        Mean squared distance of a class's samples to its mean; zero when the class is one point.
    """

    cosines: Array
    within: Array


def scatter_ratio(Z: Array, codes: Array) -> float:
    """T: the squared distances within classes over those between them, summed over pairs."""
    Y = class_indicators(codes)
    counts = Y.sum(axis=0)
    centred = Z - Z.mean(axis=0)
    squares = Y.T @ (centred * centred).sum(axis=1)
    totals = Y.T @ centred
    within = float(counts @ squares - (totals * totals).sum())  # Σ_{i,j in g} ‖z_i − z_j‖² / 2
    everywhere = len(Z) * float(squares.sum())  # the centred rows sum to zero
    between = everywhere - max(within, 0.0)
    return max(within, 0.0) / between if between > 0 else np.inf


def class_scatter(Z: Array, codes: Array) -> float:
    """Mean squared distance of a row to its class mean: the least MSE once each class has moved to its target."""
    Y = class_indicators(codes)
    means = (Y.T @ Z) / Y.sum(axis=0)[:, None]
    return float(((Z - means[codes]) ** 2).sum() / len(Z))


@dataclass(frozen=True)
class LayerReport:
    """One line of a network's report.

    Parameters
    ----------
    width : float
        Of the layer's kernel.
    n_components : int
        Columns of its projection.
    hsic, relative_hsic : float
        H = Tr(Γ K) of the Gaussian kernel of the projected samples, and H / H*.
    alignment, feature_alignment : float
        Normalised HSIC of that kernel, and of the features that stand for it in the next layer; with
        ``label_kernel="balanced"`` all classes count the same in it.
    scatter_ratio : float
        T, in the projection.
    cosine_ratio, cosine_ratio_of_sums : float
        C by means and by sums.
    class_scatter : float
        Mean squared distance to the class mean, in the projection.
    n_iter : int
        Steps of the solver.
    """

    width: float
    n_components: int
    hsic: float
    relative_hsic: float
    alignment: float
    feature_alignment: float
    scatter_ratio: float
    cosine_ratio: float
    cosine_ratio_of_sums: float
    class_scatter: float
    n_iter: int


def report_table(reports: list[LayerReport]) -> str:
    """The reports as lines of text under a header."""
    lines = ["layer    width  components         H    H/H*   align       T       C  steps"]
    for place, r in enumerate(reports, start=1):
        lines.append(
            f"{place:5d} {r.width:8.3g} {r.n_components:11d} {r.hsic:9.4g} {r.relative_hsic:7.3f} {r.alignment:7.3f} "
            f"{r.scatter_ratio:7.3f} {r.cosine_ratio:7.3f} {r.n_iter:6d}"
        )
    return "\n".join(lines)
