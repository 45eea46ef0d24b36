"""From y to the weights of pairs: labels, real targets, or labels of which only some are known."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF
from gramian.landmarks import Nystroem
from gramian.typing import Array

UNKNOWN = -1  # as in scikit-learn's semi-supervised estimators
_FEW_VALUES, _ROWS_PER_CLASS = 20, 5  # whole numbers of more values, with fewer rows each, are no classes
_INSTEAD_OF_MISSING = "drop those rows, or mark unknown labels with -1"
_LANDMARKS = 100  # per column: more than the numerical rank of a Gaussian kernel of one number


def checked_target(y: Any, n: int) -> Array:
    """y as an array (n,) or (n, v) of one plain type, without missing values; text beside numbers makes all text."""
    y = np.asarray(y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has shape {y.shape}; pass (n,) or (n, v)")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    check_consistent_length(np.empty(n), y)
    if y.ndim == 1:
        return plain_labels(y)
    if y.dtype != object:
        return without_missing(y)
    # Each column on its own: a table may hold text in one and numbers in another.
    columns = [plain_labels(column) for column in y.T]
    if all(column.dtype.kind in "biuf" for column in columns):
        return np.column_stack(columns)
    if any(has_fractions(column) for column in columns):
        raise ValueError("y has columns of text and of real numbers; pass labels, or numbers, not both")
    return np.column_stack([column.astype(str) for column in columns])


def plain_labels(y: Array) -> Array:
    """One column y, if it holds objects as the plain numbers or text that they are."""
    if y.dtype != object:
        return without_missing(y)
    values = set(y.tolist())
    if any(_is_missing(value) for value in values):
        raise ValueError(f"Input y contains missing values (None or NaN); {_INSTEAD_OF_MISSING}")
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError("y mixes text with other types; make all labels text or all numbers")
    return without_missing(np.array(y.tolist()))


def without_missing(y: Array) -> Array:
    """y itself, unless it holds NaN or infinity."""
    if y.dtype.kind in "fc" and not np.all(np.isfinite(y)):
        raise ValueError(f"Input y contains NaN or infinity; {_INSTEAD_OF_MISSING}")
    return y


def _is_missing(value: Any) -> bool:
    """None, NaN, or one of pandas' marks, which may not be installed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(np.isnan(float(value)))


def is_partial(y: Array) -> bool:
    """Whether y is labels of which some, but at least two classes, are known; −1 and 1 alone are two classes.

    Other negative values make −1 a value like them.
    """
    if y.ndim != 1 or y.dtype.kind not in "if" or y.min() != UNKNOWN:
        return False
    return len(np.unique(y)) > 2


def has_fractions(y: Array) -> bool:
    """Whether y holds numbers that are not whole."""
    return bool(y.dtype.kind == "f" and (y != np.floor(y)).any())


def target_kind(y: Array) -> str:
    """Whether y reads as "labels" or as numbers, for which a Gaussian kernel ("rbf") is right.

    Whole numbers may be either. With hardly two rows of a value, equality says next to nothing about a target, while
    with five or more it finds the direction as well as a Gaussian kernel does; classes commonly have that many.
    """
    if y.dtype.kind not in "iuf":
        return "labels"
    if has_fractions(y):
        return "rbf"
    distinct = max(len(np.unique(column)) for column in y.reshape(len(y), -1).T)
    return "rbf" if distinct > _FEW_VALUES and len(y) < _ROWS_PER_CLASS * distinct else "labels"


def target_weights(y: Array, kind: str) -> PairWeights:
    """H L H for the kernel L of y that ``kind`` names: "labels", "linear" or "rbf"."""
    if kind == "labels":
        weights = PairWeights.of_labels(y)
    else:
        numbers = check_array(y.reshape(len(y), -1), dtype=np.float64, input_name="y")
        if not np.ptp(numbers, axis=0).any():
            raise ValueError("y is constant, so nothing can depend on it; pass a y that varies")
        weights = PairWeights.of_targets(numbers if kind == "linear" else _gaussian_factor(numbers))
    if weights.norm() == 0:
        raise ValueError("y has only one class, so nothing can depend on it; pass a y with two or more")
    return weights


def partial_weights(y: Array) -> PairWeights:
    """H Y Yᵀ H among the rows whose label is known; the other rows weigh nothing."""
    known = y != UNKNOWN
    classes, codes = np.unique(y[known], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} known classes beside -1; pass labels of two or more")
    Y = np.zeros((len(y), len(classes)))
    Y[np.flatnonzero(known), codes] = 1
    Y[known] -= Y[known].mean(axis=0)
    return PairWeights(Y)


class ClusterWeights:
    """Γ of clusters U, with that of known labels beside it.

    Parameters
    ----------
    known : PairWeights or None
        Γ of the labels.
    weight : float
        How much it counts, both in units of their norms.
    """

    def __init__(self, known: PairWeights | None = None, weight: float = 0.0) -> None:
        self.known = known if weight else None
        self.weight = weight

    def __call__(self, U: Array, roots: Array | None) -> PairWeights:
        clusters = PairWeights.of_embedding(U)
        clusters = clusters if roots is None else clusters.divided(roots)
        if self.known is None:
            return clusters
        return (1 / clusters.norm()) * clusters + (self.weight / self.known.norm()) * self.known


def _gaussian_factor(Y: Array) -> Array:
    """F with F Fᵀ the centred Gaussian kernel of the scaled targets, with as few columns as that needs."""
    deviation = Y.std(axis=0)
    Y = (Y - Y.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    n_landmarks = min(_LANDMARKS * Y.shape[1], len(Y))
    F = Nystroem(n_landmarks, kernel=RBF(), random_state=0).fit(Y).features(Y)
    F = F - F.mean(axis=0)
    values, vectors = np.linalg.eigh(F.T @ F)
    return np.asarray(F @ vectors[:, values > 1e-8 * values[-1]])
