"""Find the width of a Gaussian kernel that depends most on given labels.

The dependence network and the class-average chain choose the width of every layer here. Only distances and class
sizes are needed: the weight of a pair depends on the two classes alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.distance import pdist
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from gramian.configuration import require_memory
from gramian.dependence.network._labelled_samples import renumbered, telling_rows
from gramian.dependence.projection.weights import plain_labels
from gramian.randomness import generator
from gramian.typing import Array, RandomState

LabelKernel = Literal["onehot", "balanced"]
Criterion = Literal["hsic", "separation"]
Search = Literal["global", "local", "plateau"]

CRITERIA = ("hsic", "separation")
SEARCHES = ("global", "local", "plateau")
LABEL_KERNELS = ("onehot", "balanced")
_GRID = 81
_PLATEAU = 0.99  # how close to the maximum the plateau search must stay


def class_weights(counts: Array, label_kernel: LabelKernel = "onehot") -> Array:
    """The centred label kernel Γ between classes: Γ_ij is the entry of the classes of i and j.

    With shares p_g = n_g / n,

        one-hot:   Γ = H Y Yᵀ H,             entries  1[g = h] − p_g − p_h + Σ p²,
        balanced:  Γ = H Y diag(1/n_g) Yᵀ H, entries  1[g = h] / n_g − 1 / n.

    Entries of equal classes are positive. Those of different classes are negative for "balanced"; for "onehot" only
    if p_g + p_h > Σ p². Where that fails, merging the two classes raises the dependence.

    Parameters
    ----------
    counts : array-like (k,)
        Samples of each class.
    label_kernel : {"onehot", "balanced"}

    Returns
    -------
    weights : ndarray (k, k)

    Examples
    --------
    >>> class_weights([2, 2])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    >>> bool(class_weights([80, 10, 10])[1, 2] > 0)  # two small classes attract each other
    True
    """
    counts = np.asarray(counts, float)
    n = counts.sum()
    if label_kernel == "balanced":
        return np.diag(1 / counts) - 1 / n
    shares = counts / n
    return np.eye(len(counts)) - shares[:, None] - shares + shares @ shares


def separation_weights(counts: Array) -> Array:
    """Weights of the mean kernel value within classes minus that between them, as :func:`class_weights`."""
    counts = np.asarray(counts, float)
    within = float(counts @ counts)
    between = counts.sum() ** 2 - within
    return np.where(np.eye(len(counts), dtype=bool), 1 / within, -1 / between)


def label_width(
    X: Any,
    y: Any,
    *,
    criterion: Criterion = "hsic",
    search: Search = "global",
    label_kernel: LabelKernel = "onehot",
    bounds: tuple[float, float] = (0.1, 100.0),
    max_samples: int | None = 1000,
    random_state: RandomState = None,
) -> float:
    """The width at which an RBF kernel depends most on the labels.

    With Γ the centred label kernel the dependence at a width σ is H(σ) = Σ_ij Γ_ij exp(−‖x_i − x_j‖² / (2σ²)). Where
    near rows do not share labels H has no peak but a plateau towards σ = 0, on which the kernel is the identity; the
    lower bound keeps the width off it.

    Parameters
    ----------
    X : array-like (n, d)
        Samples.
    y : array-like (n,)
        Class of each sample.
    criterion : {"hsic", "separation"}, default "hsic"
        H, or the mean kernel value within classes minus that between classes. For classes of equal size both have the
        same maximum.
    search : {"global", "local", "plateau"}, default "global"
        The highest of a grid over the bounds, refined; the top reached uphill from the median distance, which for
        labels that follow no distances can be a slight local one; or the largest width of that grid at which H is
        still 99 % of the highest.
    label_kernel : {"onehot", "balanced"}, default "onehot"
        See :func:`class_weights`.
    bounds : (float, float), default (0.1, 100.0)
        Smallest and largest width, as multiples of the median distance of two samples.
    max_samples : int or None, default 1000
        Rows that are compared; more are drawn from, in proportion to the classes. None compares all.
    random_state : int, Generator, RandomState or None, default None
        For that draw.

    Returns
    -------
    width : float

    References
    ----------
    Wu (2020). Learning representations via kernel dependence measure. Thesis, Northeastern University, chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(label_width(X, y), 2)
    1.42
    """
    X = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    y = plain_labels(column_or_1d(y))
    check_consistent_length(X, y)
    for name, value, known in (
        ("criterion", criterion, CRITERIA),
        ("search", search, SEARCHES),
        ("label_kernel", label_kernel, LABEL_KERNELS),
    ):
        if value not in known:
            raise ValueError(f"{name}={value!r} is not known; pass one of {', '.join(map(repr, known))}")
    if not 0 < bounds[0] < bounds[1] < np.inf:
        raise ValueError(f"bounds={bounds!r} must be two finite multiples of the median, 0 < lower < upper")
    codes = np.unique(y, return_inverse=True)[1]
    if codes.max() == 0:
        raise ValueError("y has one class only; pass labels of at least two classes")
    rows = telling_rows(X, codes, max_samples, generator(random_state))
    found = best_width(X[rows], renumbered(codes[rows]), criterion, search, label_kernel, bounds)
    if found is None:
        raise ValueError("all rows of X are equal, so no width tells classes apart; check X")
    if found.on_bound:
        warnings.warn(
            f"the width {found.width:.3g} lies on a bound of the search: labels do not follow the distances between "
            "rows; expect no answer for new rows, or pass other bounds",
            UserWarning,
            stacklevel=2,
        )
    return found.width


@dataclass(frozen=True)
class FoundWidth:
    """A width, and whether the search ended on one of its bounds."""

    width: float
    on_bound: bool


def best_width(
    X: Array,
    codes: Array,
    criterion: Criterion = "hsic",
    search: Search = "global",
    label_kernel: LabelKernel = "onehot",
    bounds: tuple[float, float] = (0.1, 100.0),
) -> FoundWidth | None:
    """The step of :func:`label_width` on checked rows and codes 0 … k − 1; None if all rows are equal."""
    curve = WidthCurve.of(X, codes, criterion, label_kernel)
    if curve is None:
        return None
    low, high = np.log(bounds)
    if search == "local":
        place = _climb(curve, low, high)
    else:
        grid = np.linspace(low, high, _GRID)
        heights = np.array([curve(place)[0] for place in grid])
        if search == "plateau":
            place = float(grid[np.flatnonzero(heights >= _PLATEAU * heights.max())[-1]])
            return FoundWidth(curve.unit * float(np.exp(place)), on_bound=False)
        place = _refine(curve, grid, int(heights.argmax()))
    on_bound = bool(min(place - low, high - place) < 1e-6)
    return FoundWidth(curve.unit * float(np.exp(place)), on_bound)


@dataclass(frozen=True)
class WidthCurve:
    """H as a function of log(width / unit), scaled so that a perfect kernel has the height 1.

    Parameters
    ----------
    squared : ndarray (n_pairs,)
        Squared distances of the pairs i < j, over unit².
    weights : ndarray (n_pairs,)
        Twice their Γ.
    constant : float
        Of the pairs i = j, which have the kernel value 1 at every width.
    unit : float
        The median distance of two samples; of two different ones where most are equal.
    """

    squared: Array
    weights: Array
    constant: float
    unit: float

    @classmethod
    def of(cls, X: Array, codes: Array, criterion: Criterion, label_kernel: LabelKernel) -> WidthCurve | None:
        n = len(X)
        require_memory(16.0 * n * n, f"the distances of {n} rows and their weights", "pass fewer rows (max_samples)")
        counts = np.bincount(codes)
        between = separation_weights(counts) if criterion == "separation" else class_weights(counts, label_kernel)
        best = float(np.diagonal(between) @ counts**2)
        distances = pdist(X)
        unit = float(np.median(distances))
        if unit == 0.0:
            if not distances.any():
                return None
            unit = float(np.median(distances[distances > 0]))
        first, second = np.triu_indices(n, 1)
        distances /= unit
        distances *= distances
        weights = (2 / best) * between[codes[first], codes[second]]
        return cls(distances, weights, float(np.diagonal(between) @ counts) / best, unit)

    def __call__(self, place: float) -> tuple[float, float]:
        """Height and slope at a logarithm of the width."""
        exponents = self.squared * (-0.5 * np.exp(-2 * place))
        values = np.exp(exponents)
        values *= self.weights
        return self.constant + float(values.sum()), -2 * float(values @ exponents)


def _climb(curve: WidthCurve, low: float, high: float) -> float:
    """The maximum that is reached uphill from the median distance."""

    def descent(place: Array) -> tuple[float, Array]:
        height, slope = curve(float(place[0]))
        return -height, np.array([-slope])

    found = minimize(
        descent,
        np.zeros(1).clip(low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, high)],
        options={"ftol": 1e-13, "gtol": 1e-8},
    )
    return float(found.x[0])


def _refine(curve: WidthCurve, grid: Array, best: int) -> float:
    """The maximum between the neighbours of the best place of a grid."""
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(lambda place: -curve(place)[0], bounds=(low, high), method="bounded")
    return float(found.x) if -found.fun > curve(grid[best])[0] else float(grid[best])
