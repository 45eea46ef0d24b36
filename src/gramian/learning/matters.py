"""Which columns matter: how much larger the error is when a column is shuffled between rows that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from gramian import LSSVMClassifier, LSSVMRegressor
from gramian.learning.result import Matter
from gramian.tables import Column
from gramian.typing import Array

_ROWS = 1000  # more take long and tell little more
_COSTLY_ROWS = 400  # where many mixtures say how alike rows are, which takes some hundred times as long; once, then
_FOLDS, _REPEATS, _PREDICTIONS = 5, 5, 200  # repeats of one column at most, of all columns together about
_LEAST_CERTAIN = 2.0  # standard errors below which an increase is noise, however few columns there are
_BY_CHANCE = 0.05  # probability that any column of noise is listed
_LEAST = 1e-9  # probability of what has happened, in logarithms


def columns_that_matter(
    machine: Any, X: Array, y: Array, owners: Sequence[str], columns: Sequence[Column], rng: np.random.Generator
) -> list[Matter]:
    """Shuffle the features of one column after the other in rows that a machine has not seen.

    Each fifth of the rows is predicted by a machine of the other rows, at the width and regularization that all rows
    chose; once as they are, and with the features of a column drawn from other rows. The mean growth of the loss by its
    standard error over the rows tells a column from noise; the more columns, the larger it has to be.

    Parameters
    ----------
    machine : LSSVMRegressor or LSSVMClassifier
        Fitted on X and y.
    X : ndarray (n, d)
        Prepared, with NaN where a value is missing.
    y : ndarray (n,)
        Numbers, or classes 0, 1, …
    owners : sequence of str (d,)
        The column of the table each feature was made of.
    columns : sequence of Column
    rng : Generator

    Returns
    -------
    matters : list of Matter
        Largest first.
    """
    classes = hasattr(machine, "classes_")
    fold = _folds(y if classes else None, len(y), rng)
    costly = machine.preparation_ is None
    most = _COSTLY_ROWS if costly else _ROWS
    if len(y) > most:
        kept = np.sort(np.argsort(fold["place"], kind="stable")[:most])
        X, y, fold = X[kept], y[kept], {name: part[kept] for name, part in fold.items()}
    rows = X if costly else machine.preparation_(X)
    kernel, part = machine.kernel_, fold["number"]
    similar = kernel(rows)
    kind = LSSVMClassifier if classes else LSSVMRegressor
    machines = []
    for number in range(_FOLDS):
        seen = np.flatnonzero(part != number)
        fitted = kind("precomputed", regularization=machine.regularization_).fit(similar[np.ix_(seen, seen)], y[seen])
        machines.append((np.flatnonzero(part == number), seen, fitted))

    def losses(similarities: Array) -> Array:
        found = np.empty(len(y))
        for here, seen, fitted in machines:
            found[here] = _losses(fitted, similarities[np.ix_(here, seen)], y[here])
        return found

    usual = losses(similar)
    names = list(dict.fromkeys(owners))
    repeats = 1 if costly else int(np.clip(_PREDICTIONS // max(len(names), 1), 1, _REPEATS))
    own = np.asarray(owners)
    error = _error(usual, classes)
    certain = max(float(norm.isf(_BY_CHANCE / max(len(names), 1))), _LEAST_CERTAIN)
    found = []
    for column in columns:
        if column.name not in names:
            continue
        features = np.flatnonzero(own == column.name)
        growth = np.zeros(len(y))
        for _ in range(repeats):
            shuffled = rows.copy()
            shuffled[:, features] = rows[np.ix_(rng.permutation(len(rows)), features)]
            growth += (losses(kernel(shuffled, rows)) - usual) / repeats
        mean, spread = float(growth.mean()), float(growth.std(ddof=1) / np.sqrt(len(y)))
        if mean > certain * spread and error > 0:
            larger = _error(usual + growth, classes)
            slope = 1.0 if classes else 0.5 / larger  # of the error by the mean loss
            found.append(Matter(column.name, column.kind, larger / error - 1, slope * spread / error))
    return sorted(found, key=lambda item: -item.increase)


def _folds(labels: Array | None, n: int, rng: np.random.Generator) -> dict[str, Array]:
    """The fold of each row, and a place from 0 to 1 by which some rows of every class are drawn."""
    order = rng.permutation(n)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    number, place = np.empty(n, int), np.empty(n)
    number[order] = np.arange(n) % _FOLDS
    place[order] = rng.random(n)
    if labels is not None:
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            ranks = np.argsort(np.argsort(place[members]))
            place[members] = np.where(ranks < 2, -1.0, place[members])
            number[members[ranks < 2]] = ranks[ranks < 2]  # in different folds, so that every fold's machine knows one
    return {"number": number, "place": place}


def _losses(machine: Any, similarities: Array, y: Array) -> Array:
    """Squared errors, or −log of the probability of the true class."""
    if not hasattr(machine, "classes_"):
        return np.asarray((machine.predict(similarities) - y) ** 2)
    found = machine.predict_proba(similarities)
    place = np.searchsorted(machine.classes_, y)
    known = np.minimum(place, len(machine.classes_) - 1)
    own = np.where(machine.classes_[known] == y, found[np.arange(len(y)), known], 0.0)
    return -np.log(np.maximum(own, _LEAST))


def _error(losses: Array, classes: bool) -> float:
    mean = float(losses.mean())
    return mean if classes else float(np.sqrt(max(mean, 0.0)))
