"""Samples and their classes, as the layered classifiers take them: checked, coded, counted, scaled, drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from gramian.checks import check_samples
from gramian.typing import Array, Matrix


def check_classes(owner: Any, X: Matrix, y: Any) -> tuple[Array, Array, Array]:
    """Checked samples, the classes in sorted order, and the class number of every sample."""
    if y is None:
        raise ValueError(f"{type(owner).__name__} requires y to be passed, but the target y is None")
    X = check_samples(owner, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}; pass labels of at least two classes")
    return X, classes, codes


def indicators(codes: Array) -> Array:
    """Y (n, k), one column per class."""
    return np.eye(int(codes.max()) + 1)[codes]


def count_contradictions(X: Array, codes: Array) -> int:
    """Rows that equal a row of another class."""
    _, groups, sizes = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    if sizes.max() == 1:
        return 0
    pairs = np.unique(np.column_stack([groups.ravel(), codes]), axis=0)
    mixed = np.bincount(pairs[:, 0], minlength=len(sizes)) > 1
    return int(sizes[mixed].sum())


def scaled(scaler: StandardScaler | None, X: Array) -> Array:
    """X in double precision, as the scaler learned to scale it."""
    X = X.astype(np.float64, copy=False)
    return X if scaler is None else scaler.transform(X)


def stratified_rows(codes: Array, n_rows: int | None, rng: np.random.Generator) -> Array:
    """Indices of about ``n_rows`` rows in their order, from each class its share and at least two if it has them."""
    if n_rows is None or len(codes) <= n_rows:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    quotas = np.minimum(np.maximum(np.rint(counts * (n_rows / len(codes))), 2), counts).astype(int)
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < np.repeat(quotas, counts)])
