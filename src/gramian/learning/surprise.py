"""Rows whose value is far from what the other rows let expect."""

from __future__ import annotations

import numpy as np

from gramian.exploration.wording import number_words, percent, short, told_apart
from gramian.learning.model import Predicted
from gramian.learning.result import Surprise
from gramian.learning.target import Target
from gramian.typing import Array

_MOST = 20


def surprises(target: Target, predicted: Predicted, known: Array) -> list[Surprise]:
    """The rows furthest from their prediction, the furthest first.

    Numbers: rows outside their interval, by the distance from the prediction in halves of the interval. Classes: rows
    of another class than predicted, by how little probability their own class had.

    Parameters
    ----------
    target : Target
    predicted : Predicted
        Of every row without its own value.
    known : ndarray of bool (n,)
        Rows that have a value, and one in another column: where that is all missing, nothing lets expect anything.
    """
    rows = np.flatnonzero(known)
    return (_classes if target.classes else _numbers)(target, predicted, rows)


def _numbers(target: Target, predicted: Predicted, rows: Array) -> list[Surprise]:
    half = (predicted.upper[rows] - predicted.lower[rows]) / 2
    distance = np.abs(target.values[rows] - predicted.values[rows])
    score = np.divide(distance, half, out=np.zeros(len(rows)), where=(half > 0) & np.isfinite(half))
    words = number_words(target.values)
    found = []
    for place in np.argsort(-score, kind="stable")[:_MOST]:
        row = int(rows[place])
        if score[place] <= 1:
            break
        # A value outside its interval must not read like one of the ends.
        true, said, low, high = told_apart(
            words, target.values[row], predicted.values[row], predicted.lower[row], predicted.upper[row]
        )
        told = f"{target.name} is {true}, predicted {said} (from {low} to {high})"
        found.append(Surprise(row, float(score[place]), told))
    return found


def _classes(target: Target, predicted: Predicted, rows: Array) -> list[Surprise]:
    true, said = target.values[rows], predicted.values[rows]
    own = predicted.probabilities[rows, true]
    found: list[Surprise] = []
    for place in np.argsort(own, kind="stable"):
        if len(found) == _MOST:
            break
        if true[place] == said[place]:
            continue
        row = int(rows[place])
        likeliest = float(predicted.probabilities[row, said[place]])
        told = (
            f"{target.name} is {short(target.classes[true[place]])}, to which the other rows give "
            f"{percent(float(own[place]))}; predicted {short(target.classes[said[place]])} ({percent(likeliest)})"
        )
        found.append(Surprise(row, float(1 - own[place]), told))
    return found
