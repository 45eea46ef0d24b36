"""Layers without training: every sample described by its kernel sums over the classes, and widths that force a fit.

This is the constructive side of the dependence network's theory. The chain shows what a stack of plain class averages
does; the two-layer widths show that distinct rows can always be fitted to any labels, however wild.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gramian.checks import check_choice, check_positive, check_real, check_whole, remember_columns
from gramian.configuration import require_memory
from gramian.dependence.network._labelled_samples import all_equal, check_classes, class_indicators, scaled
from gramian.dependence.network._layer_diagnostics import KernelClassSums
from gramian.dependence.network.label_bandwidth import best_width
from gramian.dependence.projection._estimator import ColumnScaling
from gramian.diagram import Estimator
from gramian.grams import tiles
from gramian.kernels import RBF
from gramian.partitions import DistributedAnswers
from gramian.typing import Array, Matrix

NORMALIZATIONS = ("class", "scalar", "polar")
_FIRST_WIDTH, _LEAST_WIDTH = 0.1, 0.01  # of the first layer, and of the kernel that judges a layer
_FIRST_ALIGNMENT = 0.1  # a low start lets the first layer be a coarse one


def two_layer_widths(X: Any, gap: float = 0.01) -> tuple[float, float]:
    """Widths at which two layers of class sums fit any labels of distinct rows.

    With sums z(x)_g = Σ_{i in g} k(x, x_i) of a kernel of the first width, and a Gaussian kernel K of the second on
    them, Tr(Γ K) ≥ (1 − gap) H*, where H* is the most that labels allow. It takes distinct rows and class sizes for
    which the entries of Γ between classes are negative (always so for two classes, or classes of equal size). With d
    the least distance of two rows,

        ε = min(½, ½ √(gap / ln(2/gap))),   σ₀ = d / √(2 ln(n/ε)),   σ₁ = (1 − ε) / √(ln(2/gap)).

    Parameters
    ----------
    X : array-like (n, d)
        Distinct rows.
    gap : float, default 0.01
        Between 0 and 1.

    Returns
    -------
    first, second : float

    References
    ----------
    Wu (2020). Learning representations via kernel dependence measure. Thesis, Northeastern University, appendix D; the
    closed form is worked out here.

    Examples
    --------
    >>> first, second = two_layer_widths([[0.0], [1.0], [5.0]], gap=0.01)
    >>> round(first, 3), round(second, 3)
    (0.319, 0.425)
    """
    X = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    if not 0 < gap < 1:
        raise ValueError(f"gap={gap!r} must lie between 0 and 1")
    n = len(X)
    require_memory(4.0 * n * n, f"the distances of {n} rows", "pass fewer rows")
    least = float(pdist(X).min())  # by differences: the expanded square would lose a small distance
    if least == 0.0:
        raise ValueError("two rows of X are equal, so no width keeps them apart; drop duplicates")
    log = np.log(2 / gap)
    epsilon = min(0.5, 0.5 * np.sqrt(gap / log))
    return float(least / np.sqrt(2 * np.log(n / epsilon))), float((1 - epsilon) / np.sqrt(log))


@dataclass(frozen=True)
class ClassSumLayer:
    """Describe a row by its kernel sums over the classes, normalised: z(x) = (Σ_{i in g} k(x, x_i))_g M.

    Parameters
    ----------
    inputs : ndarray (n, d)
        The training rows as they enter the layer, sorted by class.
    counts : ndarray (k,)
        Samples of each class.
    width : float
        Of k, a Gaussian kernel.
    scaling : ndarray (k, k)
        M.
    """

    inputs: Array
    counts: Array
    width: float
    scaling: Array

    @classmethod
    def of(cls, inputs: Array, counts: Array, width: float, normalization: str | None) -> ClassSumLayer:
        n, k = len(inputs), len(counts)
        require_memory(8.0 * n * k, f"the {n}×{k} matrix of class sums", "use fewer classes, or fewer rows")
        layer = cls(inputs, counts, width, np.eye(k))
        if normalization is None:
            return layer
        within = np.add.reduceat(layer(inputs), layer._starts(), axis=0)  # Yᵀ K Y
        within = (within + within.T) / 2
        if normalization == "class":
            scaling = np.diag(1 / np.sqrt(np.diagonal(within)))
        elif normalization == "scalar":
            scaling = np.eye(len(counts)) / np.sqrt(np.linalg.norm(within, 2))
        else:
            values, vectors = np.linalg.eigh(within)
            keep = values > 1e-12 * values[-1]
            scaling = (vectors[:, keep] / np.sqrt(values[keep])) @ vectors[:, keep].T
        return cls(inputs, counts, width, scaling)

    def __call__(self, Z: Array) -> Array:
        """The layer's output for rows Z, shape (n, k)."""
        Y = class_indicators(np.repeat(np.arange(len(self.counts)), self.counts))
        return tiles.product(RBF(width=self.width), Z, self.inputs, Y) @ self.scaling

    def _starts(self) -> Array:
        return np.cumsum(self.counts) - self.counts


class ClassAverageChain(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, DistributedAnswers, Estimator
):
    """A stack of layers that only sum kernels over classes; nothing is optimised but the widths.

    Layer l turns its input into z(x)_g ∝ Σ_{i in g} k(x, x_i), one number per class. Its width is the largest of a
    falling series that raises the normalised HSIC of the output, so the dependence on the labels rises strictly. The
    rule is short-sighted and can stall below ``threshold``. New samples pass through the same sums and are classified
    by their nearest neighbours in the last output. It illustrates a proof; as a classifier use something else.

    Parameters
    ----------
    normalization : {"class", "scalar", "polar"}, default "class"
        Of the sums: class directions of length one in feature space, all divided by one number, or directions that are
        exactly orthonormal.
    smallest_width : float, default 1e-3
        Where the falling series of widths ends.
    n_widths : int, default 20
        Its length.
    threshold : float, default 0.99
        Stop at this normalised HSIC.
    max_layers : int, default 30
    fallback : {None, "two_layer"}, default None
        What to do on a stall: keep what there is, or start again with :func:`two_layer_widths`, which fits the
        training data and says nothing about other rows.
    n_neighbors : int, default 5
        For ``predict``.
    standardize : bool, default True
        Centre and scale the columns of X.

    Attributes
    ----------
    classes_ : ndarray (k,)
    layers_ : list of ClassSumLayer
    n_layers_ : int
    widths_ : ndarray (n_layers_,)
    alignments_ : ndarray (n_layers_,)
        Normalised HSIC after each layer, rising.
    output_width_ : float
        Of the kernel that judges the last output.
    scaler_ : ColumnScaling or None
        Its ``mean`` and ``scale`` are taken from and divided out of the columns that vary.

    References
    ----------
    Wu (2020). Learning representations via kernel dependence measure. Thesis, Northeastern University, chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> chain = ClassAverageChain().fit(X, y)
    >>> bool((chain.alignments_[1:] > chain.alignments_[:-1]).all())
    True
    >>> chain.transform(X).shape
    (150, 3)
    """

    def __init__(
        self,
        *,
        normalization: str = "class",
        smallest_width: float = 1e-3,
        n_widths: int = 20,
        threshold: float = 0.99,
        max_layers: int = 30,
        fallback: str | None = None,
        n_neighbors: int = 5,
        standardize: bool = True,
    ) -> None:
        self.normalization = normalization
        self.smallest_width = smallest_width
        self.n_widths = n_widths
        self.threshold = threshold
        self.max_layers = max_layers
        self.fallback = fallback
        self.n_neighbors = n_neighbors
        self.standardize = standardize

    def fit(self, X: Matrix, y: Any) -> ClassAverageChain:
        """Add layers as long as one raises the dependence on the labels.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,)
            Classes, of any type.

        Returns
        -------
        self : ClassAverageChain
        """
        self._check_parameters()
        samples = X
        X, classes, codes = check_classes(self, X, y)
        if self.n_neighbors > len(X):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is more than the {len(X)} samples; pass n_neighbors <= {len(X)}"
            )
        if all_equal(X):
            raise ValueError("all rows of X are equal, so no width tells classes apart; check X")
        scaler = ColumnScaling(X, standardize=True) if self.standardize else None
        order = np.argsort(codes, kind="stable")
        inputs, codes = scaled(scaler, X[order]), codes[order]
        layers, alignments, output, width = self._chain(inputs, codes)
        if self.fallback == "two_layer" and not (alignments and alignments[-1] > self.threshold):
            layers, alignments, output, width = self._two_layer(inputs, codes)
        if not layers:
            raise ValueError(
                "no width of the series makes the classes of y depend on X; raise n_widths, lower smallest_width or "
                "pass fallback='two_layer'"
            )
        self.classes_, self.scaler_, self.layers_ = classes, scaler, layers
        self.n_layers_ = len(layers)
        self.widths_ = np.array([layer.width for layer in layers])
        self.alignments_ = np.array(alignments)
        self.output_width_ = width
        self.neighbors_ = KNeighborsClassifier(int(self.n_neighbors), algorithm="brute").fit(output, codes)
        remember_columns(self, samples)
        return self

    def _chain(self, Z: Array, codes: Array) -> tuple[list[ClassSumLayer], list[float], Array, float]:
        """Layers, the alignment after each, the last output and the width of the kernel that judged it."""
        counts = np.bincount(codes)
        layers: list[ClassSumLayer] = []
        alignments: list[float] = []
        found = best_width(Z, codes)
        width = max(found.width if found else 0.0, _FIRST_WIDTH)
        best = _FIRST_ALIGNMENT
        while len(layers) < self.max_layers and best <= self.threshold:
            for candidate in np.geomspace(width, min(self.smallest_width, width), int(self.n_widths)):
                layer = ClassSumLayer.of(Z, counts, float(candidate), self.normalization)
                output = layer(Z)
                judged = best_width(output, codes)
                if judged is None:
                    continue
                outer = max(judged.width, _LEAST_WIDTH)
                alignment = KernelClassSums.of_kernel(RBF(width=outer), output, codes).alignment()
                if alignment > best:
                    break
            else:
                break
            layers.append(layer)
            alignments.append(alignment)
            Z, best, width = output, alignment, outer
        return layers, alignments, Z, width

    def _two_layer(self, Z: Array, codes: Array) -> tuple[list[ClassSumLayer], list[float], Array, float]:
        """One layer of plain sums at the closed-form width; the second width is that of the kernel on its output."""
        try:
            first, second = two_layer_widths(Z, 1 - min(self.threshold, 0.9999))
        except ValueError as error:
            raise ValueError(f"fallback='two_layer' is not possible: {error}") from None
        layer = ClassSumLayer.of(Z, np.bincount(codes), first, None)
        output = layer(Z)
        return [layer], [KernelClassSums.of_kernel(RBF(width=second), output, codes).alignment()], output, second

    def _check_parameters(self) -> None:
        check_choice(self, "normalization", NORMALIZATIONS)
        check_choice(self, "fallback", (None, "two_layer"))
        check_choice(self, "standardize", (True, False))
        check_positive(self, "smallest_width")
        check_whole(self, "n_widths", "max_layers", "n_neighbors")
        if not check_real(self, "threshold", above=0) <= 1:
            raise ValueError(f"threshold={self.threshold!r} must lie in (0, 1]")

    def transform(self, X: Matrix) -> Array:
        """The class sums of the last layer.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        Z : ndarray (n, k)
        """
        check_is_fitted(self, "layers_")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return self._output(X).astype(X.dtype, copy=False)

    def predict(self, X: Matrix) -> Array:
        """The most frequent class among the nearest neighbours in the last output.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        y : ndarray (n,)
        """
        check_is_fitted(self, "layers_")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return self.classes_[self.neighbors_.predict(self._output(X))]

    def _output(self, X: Array) -> Array:
        Z = scaled(self.scaler_, X)
        for layer in self.layers_:
            Z = layer(Z)
        return Z

    @property
    def _n_features_out(self) -> int:
        return len(self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
