"""Check, encode, scale and subsample labelled rows for the layered classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from gramian.checks import check_samples
from gramian.configuration import require_memory
from gramian.dependence.projection._estimator import ColumnScaling
from gramian.dependence.projection.weights import plain_labels
from gramian.typing import Array, Matrix


def check_classes(owner: Any, X: Matrix, y: Any) -> tuple[Array, Array, Array]:
    """Checked samples, the classes in sorted order, and the class number of every sample."""
    if y is None:
        raise ValueError(f"{type(owner).__name__} requires y to be passed, but the target y is None")
    X = check_samples(owner, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    labels = plain_labels(y)
    check_classification_targets(labels)
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    classes = y[first]  # of the type that was passed
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}; pass labels of at least two classes")
    return X, classes, codes


def class_indicators(codes: Array) -> Array:
    """The indicator matrix Y (n, k), one column per class."""
    n, k = len(codes), int(codes.max()) + 1
    require_memory(8.0 * n * k, f"the {n}×{k} matrix of labels", "use fewer classes, or fewer rows")
    Y = np.zeros((n, k))
    Y[np.arange(n), codes] = 1
    return Y


def count_contradictions(X: Array, codes: Array) -> int:
    """Rows that equal a row of another class."""
    _, groups, sizes = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    if sizes.max() == 1:
        return 0
    pairs = np.unique(np.column_stack([groups.ravel(), codes]), axis=0)
    mixed = np.bincount(pairs[:, 0], minlength=len(sizes)) > 1
    return int(sizes[mixed].sum())


def scaled(scaler: ColumnScaling | None, X: Array) -> Array:
    """X in double precision, as the scaler learned to scale it."""
    return X.astype(np.float64, copy=False) if scaler is None else scaler.informative(X)


def stratified_rows(codes: Array, n_rows: int | None, rng: np.random.Generator) -> Array:
    """Indices of about ``n_rows`` rows in their order, from each class its share and at least two if it has them.

    Where that is more than twice ``n_rows``, it is done for the largest classes only, drawn among equal ones.
    """
    if n_rows is None or len(codes) <= n_rows:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    quotas = np.minimum(np.maximum(np.rint(counts * (n_rows / len(codes))), 2), counts).astype(int)
    if quotas.sum() > 2 * n_rows:
        shuffled = rng.permutation(len(counts))
        largest_first = shuffled[np.argsort(-counts[shuffled], kind="stable")]
        places_before = np.cumsum(quotas[largest_first]) - quotas[largest_first]
        quotas[largest_first[places_before >= n_rows]] = 0
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < np.repeat(quotas, counts)])


def telling_rows(X: Array, codes: Array, n_rows: int | None, rng: np.random.Generator) -> Array:
    """Rows drawn as by :func:`stratified_rows`, but from the distinct rows where all drawn rows are equal."""
    rows = stratified_rows(codes, n_rows, rng)
    if len(rows) < len(X) and all_equal(X[rows]):
        different = np.sort(np.unique(np.column_stack([X, codes]), axis=0, return_index=True)[1])
        rows = different[stratified_rows(codes[different], n_rows, rng)]
    return rows


def all_equal(X: Array) -> bool:
    """Whether all rows are equal."""
    return bool((X.min(axis=0) == X.max(axis=0)).all())


def renumbered(codes: Array) -> Array:
    """Codes of drawn rows without the numbers of classes that were not drawn."""
    return np.unique(codes, return_inverse=True)[1]
