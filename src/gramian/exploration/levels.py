"""Coarser and finer groupings that are found again as surely as the chosen one, and what divides the groups further."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gramian import AutoClustering
from gramian.exploration.explain import dependences
from gramian.exploration.result import Cluster, Level
from gramian.exploration.wording import listing
from gramian.tables import Column
from gramian.typing import Array

_SURE = 0.75  # stability of the least stable group from which a level is told
_TELLING = 0.1  # dependence from which a column is named
_NAMED = 2
_AT_ONCE = 50_000  # rows
_INSIDE = 0.9  # of the rows, for groups to be parts of larger ones

Describe = Callable[[Array, Array], list[Cluster]]
"""Groups in words, from labels by size and the stability of each."""


def other_levels(
    choice: AutoClustering,
    X: Array,
    labels: Array,
    kept: Array,
    columns: tuple[list[str], list[Column]],
    describe: Describe,
    *,
    seed: int = 0,
) -> list[Level]:
    """The surest of the coarser and of the finer groupings, if each of its groups is found again.

    Parameters
    ----------
    choice : AutoClustering
        Fitted on some rows of X.
    X : ndarray (n, d)
        Prepared features.
    labels : ndarray (n,)
        The chosen groups; −1 for rows of none, which have none at other levels either.
    kept : ndarray
        Rows that are no copies of others; these tell what divides the groups.
    columns : (list of str (d,), list of Column)
        The column of each feature, and the columns of the table.
    describe : callable
    seed : int, default 0
    """
    stable = dict(choice.evidence_)
    sure = [k for k in choice.row_levels_ if stable[k] >= _SURE]
    sides = ([k for k in sure if k < choice.n_clusters_], [k for k in sure if k > choice.n_clusters_])
    found = []
    for k in (max(side, key=lambda k: stable[k]) for side in sides if side):
        # Some rows at a time, and distances need no more digits.
        parts = (X[start : start + _AT_ONCE].astype(np.float32) for start in range(0, len(X), _AT_ONCE))
        other = np.concatenate([np.asarray(choice.labels_at(k, part)) for part in parts])
        number = np.argsort(np.argsort(-np.bincount(other[labels >= 0], minlength=k), kind="stable"))
        other = number[other]
        other = np.where(labels >= 0, other, -1)
        groups = int(other.max()) + 1  # a group that no row is nearest to is none
        if groups in (1, choice.n_clusters_):
            continue
        told = kept[labels[kept] >= 0]
        coarse, fine = (part[told] for part in ((other, labels) if groups < choice.n_clusters_ else (labels, other)))
        by = listing(_dividing(X[told], coarse, fine, columns, seed))
        size = "larger" if groups < choice.n_clusters_ else "smaller"
        if _nested(coarse, fine) < _INSIDE:
            by, size = "", "other"  # they cut across the chosen groups
        text = f"The rows also form {groups} {size} groups"
        if size == "other":
            text += ", which cut across these"
        elif by:
            text += f"; they divide further by {by}" if size == "larger" else f", which divide these by {by}"
        answer = partial(_numbered_groups, choice, k, number)
        each = np.full(k, np.nan)
        measured = choice.level_stability_[k]
        each[number[: len(measured)]] = measured
        found.append(Level(other, stable[k], describe(other, each), f"{text}.", answer))
    return found


def _numbered_groups(choice: AutoClustering, k: int, number: Array, X: Array) -> Array:
    """The groups of prepared rows where there are k of them, numbered by size."""
    return np.asarray(number[np.asarray(choice.labels_at(k, X.astype(np.float32)))])


def _nested(coarse: Array, fine: Array) -> float:
    """The share of rows that are in the coarse group that most rows of their fine group are in."""
    table = np.bincount(
        fine * (int(coarse.max()) + 1) + coarse, minlength=(int(fine.max()) + 1) * (int(coarse.max()) + 1)
    )
    return float(table.reshape(int(fine.max()) + 1, -1).max(axis=1).sum() / len(fine))


def _dividing(X: Array, coarse: Array, fine: Array, columns: tuple[list[str], list[Column]], seed: int) -> list[str]:
    """Columns that have most to do with the finer groups within the coarser ones."""
    features, described = columns
    total: dict[str, float] = {}
    for group in range(int(coarse.max()) + 1):
        rows = np.flatnonzero(coarse == group)
        share = len(rows) / len(X)
        rows = rows[:: max(1, -(-len(rows) // _AT_ONCE))]
        parts = np.unique(fine[rows], return_inverse=True)[1]
        for name, dependence in dependences(X[rows], features, described, parts, seed=seed).items():
            total[name] = total.get(name, 0.0) + dependence * share
    order = sorted(total, key=lambda name: -total[name])
    return [name for name in order if total[name] >= _TELLING][:_NAMED]
