"""Which columns have to do with the groups, and what missing values tell."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from gramian import DependenceReduction, hsic, hsic_test
from gramian.dependence import UndefinedAlignmentError
from gramian.exploration.result import Importance, Missingness
from gramian.kernels import RBF, Linear
from gramian.tables import DATE, NUMBER, USED, Column
from gramian.typing import Array

_DEPENDENCE_ROWS = 2000  # a dependence that takes more rows to see is not one to show
_TEST_ROWS = 1000
_REDUCTION_ROWS = 3000  # directions for reading; the cost goes with the square
_PATTERNS = 12
_LEVEL = 0.01  # of the tests of missing values, all together
_MOST_PAIRINGS = 20_000


# Columns -------------------------------------------------------------------------------------------------------------


def importances(
    X: Array, feature_columns: list[str], columns: list[Column], labels: Array, *, seed: int = 0
) -> list[Importance]:
    """How much every used column has to do with the groups, most first.

    Parameters
    ----------
    X : ndarray (n, d)
        Prepared features, NaN for missing.
    feature_columns : list of str, d
        The column each feature comes from.
    columns : list of Column
    labels : ndarray (n,)
    seed : int
    """
    rng = np.random.default_rng(seed)
    owner = np.array(feature_columns)
    weights = _weights(X, labels, rng) if len(np.unique(labels)) > 1 else np.zeros((0, len(owner)))
    dependences = _dependences(X, feature_columns, columns, labels, rng)
    found = []
    for column, dependence in dependences:
        # A column of several features has a length and the sign of its largest.
        features = np.flatnonzero(owner == column.name)
        part = weights[:, features]
        signs = np.sign(part[np.arange(len(part)), np.abs(part).argmax(axis=1)])
        found.append(
            Importance(
                column.name, column.kind, dependence, (signs * np.linalg.norm(part, axis=1)).tolist(), column.missing
            )
        )
    return sorted(found, key=lambda item: -item.dependence)


def dependences(
    X: Array, feature_columns: list[str], columns: list[Column], labels: Array, *, seed: int = 0
) -> dict[str, float]:
    """How much every used column has to do with the groups; see :func:`importances`."""
    found = _dependences(X, feature_columns, columns, labels, np.random.default_rng(seed))
    return {column.name: dependence for column, dependence in found}


def _dependences(
    X: Array, feature_columns: list[str], columns: list[Column], labels: Array, rng: np.random.Generator
) -> list[tuple[Column, float]]:
    owner = np.array(feature_columns)
    used = [column for column in columns if column.kind in USED and column.name in feature_columns]
    if len(np.unique(labels)) < 2:
        return [(column, 0.0) for column in used]
    return [(column, _dependence(X[:, owner == column.name], labels, column.kind, rng)) for column in used]


def _dependence(features: Array, labels: Array, kind: str, rng: np.random.Generator) -> float:
    """Normalised HSIC of the rows that have a value with their groups; the unbiased estimate, not below zero."""
    present = np.flatnonzero(np.isfinite(features).all(axis=1) & (labels >= 0))
    present = _some(present, _DEPENDENCE_ROWS, rng)
    # The estimate compares rows of a group; one that is alone in it has none to be compared with.
    present = present[np.bincount(labels[present])[labels[present]] > 1]
    features, labels = features[present], labels[present]
    if len(present) < 4 or len(np.unique(labels)) < 2 or not np.ptp(features, axis=0).any():
        return 0.0
    groups = (labels[:, None] == np.unique(labels)).astype(float)
    kernel = RBF(1.0) if kind in (NUMBER, DATE) else Linear()
    try:
        value = hsic(features, groups, kernel_x=kernel, kernel_y=Linear(), estimator="unbiased", normalized=True)
    except UndefinedAlignmentError:  # as for two values of which one occurs once: too little to depend on anything
        return 0.0
    return float(np.clip(value, 0.0, 1.0)) if np.isfinite(value) else 0.0


def _weights(X: Array, labels: Array, rng: np.random.Generator) -> Array:
    """Components (q, d) of the filled-up features that depend on the groups; zeros where none can be found."""
    rows = _some(np.flatnonzero(labels >= 0), _REDUCTION_ROWS, rng)
    filled = np.where(np.isfinite(X[rows]), X[rows], 0.0)  # the middle of every column
    varying = np.flatnonzero(np.ptp(filled, axis=0)) if len(rows) else rows
    q = min(2, len(np.unique(labels[rows])) - 1, len(varying) - 1)
    if q < 1:
        return np.zeros((1, X.shape[1]))
    weights = np.zeros((q, X.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weights are for reading; a few digits will do
        model = DependenceReduction(q, mode="supervised", random_state=0, tol=1e-3)
        weights[:, varying] = model.fit(filled[:, varying], labels[rows]).components_
    return weights


def _some(rows: Array, most: int, rng: np.random.Generator) -> Array:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


# Missing values ------------------------------------------------------------------------------------------------------


def missing_values(
    frame: Any, columns: list[Column], X: Array, feature_columns: list[str], *, seed: int = 0
) -> Missingness:
    """Where values are missing, in which combinations, and whether gaps go with the values that are there.

    A column's gaps are tested against the other columns, missing values of which are set to the middle, by HSIC with a
    gamma p-value that random pairings have to confirm, corrected for the number of columns (Holm).
    """
    names = [column.name for column in columns if column.kind in USED]
    mask = np.column_stack([np.asarray(frame[name].isna()) for name in names]) if names else np.zeros((len(frame), 0))
    mask = mask.astype(bool)
    return Missingness(
        share=float(mask.mean()) if mask.size else 0.0,
        complete_rows=int((~mask.any(axis=1)).sum()),
        patterns=_patterns(mask, names),
        informative=_informative(mask, names, X, np.array(feature_columns), np.random.default_rng(seed)),
    )


def _patterns(mask: Array, names: list[str]) -> list[tuple[list[str], int]]:
    if not mask.any():
        return []
    packed = np.packbits(mask, axis=1)
    keys = np.ascontiguousarray(packed).view([("", packed.dtype)] * packed.shape[1]).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    found = [([names[j] for j in np.flatnonzero(mask[first[i]])], int(counts[i])) for i in order]
    return [pattern for pattern in found if pattern[0]][:_PATTERNS]


def _informative(
    mask: Array, names: list[str], X: Array, owner: Array, rng: np.random.Generator
) -> list[tuple[str, float, str]]:
    tested = [j for j in range(len(names)) if 0.01 <= mask[:, j].mean() <= 0.99 and mask[:, j].sum() >= 5]
    rows = _some(np.arange(len(mask)), _TEST_ROWS, rng)
    filled = np.where(np.isfinite(X[rows]), X[rows], 0.0)
    varying = np.ptp(filled, axis=0) > 0 if len(rows) else np.zeros(X.shape[1], bool)
    # One width serves all tests: a column less changes the median distance little, and finding it takes most of a test.
    kernel = RBF(RBF("median").fit(filled).width_) if tested and varying.any() and len(rows) >= 6 else None
    results = []
    for j in tested:
        others = owner != names[j]
        gaps = mask[rows, j].astype(float)[:, None]
        if kernel is None or not np.ptp(gaps) or not varying[others].any():
            continue
        p = _chance(filled[:, others], gaps, kernel, len(tested), rng)
        results.append((p, j, _gap_sentence(names[j], gaps[:, 0] > 0, X[rows], owner)))
    results.sort()
    found, largest = [], 0.0
    for place, (p, j, text) in enumerate(results):
        largest = max(largest, min(1.0, p * (len(results) - place)))
        if largest <= _LEVEL:
            found.append((names[j], largest, text))
    return found


def _chance(features: Array, gaps: Array, kernel: RBF, n_tests: int, rng: np.random.Generator) -> float:
    """The p-value of one of several tests; where it is small enough to matter, random pairings have to confirm it.

    Far out in its tail the gamma distribution promises up to ten times too much, above all for rare levels.
    """
    test = partial(hsic_test, features, gaps, kernel_x=kernel, kernel_y=Linear())
    p = float(test(method="gamma").pvalue)
    if p * n_tests > _LEVEL:
        return p
    pairings = min(int(2 * n_tests / _LEVEL), _MOST_PAIRINGS)
    seed = int(rng.integers(2**31 - 1))
    drawn = test(approximation="fourier", n_features=100, n_permutations=pairings, random_state=seed).pvalue
    none_as_large = drawn < 2 / (pairings + 1)
    return p if none_as_large else max(p, drawn)


def _gap_sentence(name: str, gaps: Array, X: Array, owner: Array) -> str:
    """The other feature whose observed values differ most between rows with and without a value."""
    best, told = 0.0, ""
    for j in np.flatnonzero(owner != name):
        sides = [X[part & np.isfinite(X[:, j]), j] for part in (gaps, ~gaps)]
        if min(map(len, sides)) < 2:
            continue
        spread = np.sqrt(0.5 * (sides[0].var() + sides[1].var()))
        effect = (sides[0].mean() - sides[1].mean()) / spread if spread > 0 else 0.0
        if abs(effect) > abs(best):
            best, told = float(effect), str(owner[j])
    return f"rows without {name} differ from the others{f', most of all in {told}' if told else ''}"
