"""From a table and the name of a column to a tuned model, its error and what is behind it."""

from __future__ import annotations

import platform
import warnings
from contextlib import nullcontext
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from threadpoolctl import threadpool_limits

import gramian
from gramian import LSSVMClassifier, LSSVMRegressor
from gramian.exploration.stages import Notify, Stages
from gramian.learning.matters import columns_that_matter
from gramian.learning.model import Predicted, TargetModel
from gramian.learning.result import HELD_OUT, LEFT_OUT, NEW, Confidence, Learned, Skill
from gramian.learning.sentences import overview
from gramian.learning.surprise import surprises
from gramian.learning.target import Target, other_columns, target_of
from gramian.tables import Preparation, Table, without_copies
from gramian.typing import Array

_LEARNED_ROWS = 3000  # the others are predicted, which says how large the errors are
_SMALL_TABLE = 2000  # rows up to which more threads only wait for each other
_COVERAGE = 0.9
_CERTAIN = 2.0  # standard errors by which a model has to be better than the trivial one
_WELL = 0.5  # explained share from which it predicts well
_LEAST = 1e-12  # probability of what has happened, in logarithms
_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_STAGES = {"preparing": 1, "learning": 8, "predicting": 4, "shuffling columns": 6}


def learn(
    table: Table, target: str, *, random_state: int = 0, notify: Notify | None = None
) -> tuple[Learned, TargetModel]:
    """Learn to predict one column of a table from the others.

    Parameters
    ----------
    table : Table
        From :func:`gramian.tables.read_table`.
    target : str
        The column: a number gives an :class:`gramian.LSSVMRegressor`, categories and truth values an
        :class:`gramian.LSSVMClassifier`. Rows without a value are not learned from, but predicted.
    random_state : int, default 0
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    learned : Learned
    model : TargetModel
        For new rows.
    """
    wanted = target_of(table, target)
    rest = other_columns(table, target)
    small = len(table.frame) <= _SMALL_TABLE
    with threadpool_limits(1) if small else nullcontext(), warnings.catch_warnings():
        # What estimators warn of (rows like no other, systems close to singular) the errors say too.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        return _learn(table, rest, wanted, random_state, Stages(_STAGES, notify))


def _learn(table: Table, rest: Table, target: Target, seed: int, stages: Stages) -> tuple[Learned, TargetModel]:
    rng = np.random.default_rng(seed)
    with stages("preparing"):
        preparation = Preparation().fit(rest)
        X = preparation.transform(rest)
        known = target.known & np.isfinite(X).any(axis=1)
        usable = np.flatnonzero(known)
        _check_enough(table, target, usable)
        rows = _drawn(usable, target, rng)
    with stages("learning"):
        make = LSSVMClassifier if target.classes else LSSVMRegressor
        y = target.values[rows]
        machine = make(random_state=seed).fit(X[rows], y)
        model = TargetModel(preparation, machine, target.name, target.classes or None, _COVERAGE)
    with stages("predicting"):
        predicted = _every_row(model, X, rows, y)
        how = np.full(len(X), NEW, dtype=object)
        how[target.known] = HELD_OUT
        how[rows] = LEFT_OUT
        held_out = len(rows) < len(usable)
        judged = how == (HELD_OUT if held_out else LEFT_OUT)
        skill = (_class_skill if target.classes else _number_skill)(target.values, predicted, judged, y, held_out)
        model.remember(X[rows], skill.measures)
    with stages("shuffling columns"):
        matters = columns_that_matter(machine, X[rows], y, preparation.feature_columns_, table.columns, rng)
    verdict = "none" if skill.certainty < _CERTAIN else "clear" if skill.explained >= _WELL else "weak"
    nothing_known = bool(target.classes) and verdict == "none"  # then every row of a rarer class would be odd
    learned = Learned(
        source=table.source, target=target.name, columns=table.columns, frame=table.frame, cells=table.cells,
        classes=target.classes, verdict=verdict, sentences=[], skill=skill,
        truth=target.values, predicted=predicted.values, lower=predicted.lower, upper=predicted.upper,
        probabilities=predicted.probabilities, how=how, coverage=_COVERAGE, matters=matters,
        surprises=[] if nothing_known else surprises(target, predicted, known),
        confusion=_confusion(target, predicted, judged),
        confidences=_confidences(target, predicted, judged),
        made=_made(stages, model, seed, table),
    )  # fmt: skip
    copies = len(table.frame) - len(without_copies((table.frame[name] for name in table.frame), len(table.frame))[0])
    learned.sentences.extend(overview(learned, len(rows), copies))
    return learned, model


# Parts ---------------------------------------------------------------------------------------------------------------


def _check_enough(table: Table, target: Target, usable: Array) -> None:
    """Of the rows that have a value some have none in any other column."""
    classes = len(np.unique(target.values[usable]))
    if len(usable) < 10 or classes < 2:
        raise ValueError(
            f"{table.source} has {len(usable):,} rows with a value of {target.name!r} and of another column, and "
            f"{classes} different values in them; at least 10 and 2 are needed"
        )


def _drawn(usable: Array, target: Target, rng: np.random.Generator) -> Array:
    """The rows to learn from: all, or some at random; of every class two at least, where there are."""
    if len(usable) <= _LEARNED_ROWS:
        return usable
    place = rng.random(len(usable))
    if target.classes:
        labels = target.values[usable]
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            place[members[np.argsort(place[members])[:2]]] = -1.0
    return np.sort(usable[np.argsort(place, kind="stable")[:_LEARNED_ROWS]])


def _every_row(model: TargetModel, X: Array, rows: Array, y: Array) -> Predicted:
    """What is said of every row without its own value."""
    inside = model.left_out(y)
    others = np.setdiff1d(np.arange(len(X)), rows)
    outside = model.predict(X[others])
    parts = []
    for one, other in zip(inside, outside, strict=True):
        whole = np.empty((len(X), *one.shape[1:]), one.dtype)
        whole[rows], whole[others] = one, other
        parts.append(whole)
    return Predicted(*parts)


def _number_skill(truth: Array, predicted: Predicted, judged: Array, learned: Array, held_out: bool) -> Skill:
    """Errors beside those of the mean: of the learned rows for held-out ones, of the other rows for a row left out."""
    true = truth[judged]
    n = len(learned)
    plain = true - learned.mean()
    trivial = plain if held_out else plain * (n / (n - 1))
    error = true - predicted.values[judged]
    inside = (predicted.lower[judged] <= true) & (true <= predicted.upper[judged])
    gain = trivial**2 - error**2
    measures = {
        "rmse": (_root_mean_square(error), _root_mean_square(trivial)),
        "mae": (float(np.abs(error).mean()), float(np.abs(trivial).mean())),
    }
    explained = 1 - float((error**2).sum() / (trivial**2).sum())
    return Skill(len(true), held_out, measures, explained, _certainty(gain), float(inside.mean()))


def _class_skill(truth: Array, predicted: Predicted, judged: Array, learned: Array, held_out: bool) -> Skill:
    """Right classes and log loss beside the most frequent class and the shares of the learned rows."""
    true = truth[judged]
    shares = np.bincount(learned, minlength=predicted.probabilities.shape[1]) / len(learned)
    own = predicted.probabilities[judged, true]
    loss, trivial = -np.log(np.maximum(own, _LEAST)), -np.log(np.maximum(shares[true], _LEAST))
    measures = {
        "accuracy": (float((predicted.values[judged] == true).mean()), float((true == shares.argmax()).mean())),
        "log_loss": (float(loss.mean()), float(trivial.mean())),
    }
    return Skill(len(true), held_out, measures, 1 - float(loss.mean() / trivial.mean()), _certainty(trivial - loss))


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _certainty(gain: Array) -> float:
    """Mean by its standard error."""
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    mean = float(gain.mean())
    return mean / error if error > 0 else float(np.sign(mean) * np.inf) if mean else 0.0


def _confusion(target: Target, predicted: Predicted, judged: Array) -> Array:
    k = len(target.classes)
    table = np.zeros((k, k), int)
    if k:
        np.add.at(table, (target.values[judged], predicted.values[judged]), 1)
    return table


def _confidences(target: Target, predicted: Predicted, judged: Array) -> list[Confidence]:
    """How often the likeliest class is right, by how sure the model is."""
    if not target.classes:
        return []
    said = predicted.probabilities[judged].max(axis=1)
    right = predicted.values[judged] == target.values[judged]
    found = []
    for low, high in pairwise(_BINS):
        here = (said >= low) & ((said < high) | (high == 1.0))
        if here.any():
            found.append(Confidence(low, high, int(here.sum()), float(said[here].mean()), float(right[here].mean())))
    return found


def _made(stages: Stages, model: TargetModel, seed: int, table: Table) -> dict[str, Any]:
    machine, names = model.machine, ("numpy", "scipy", "scikit-learn", "pandas")
    holes = "nothing is filled in"
    if machine.preparation_ is not None:
        known = {"mean": "there are none", "neighbours": "from near rows", "mixture": "by a Gaussian mixture"}
        holes = known[machine.preparation_.filling]
    return {
        "parameters": {
            "target": model.target,
            "seed": seed,
            "rows learned from": model.n_rows_,
            "machine": type(machine).__name__,
            "kernel": type(machine.kernel_).__name__,
            "width": float(getattr(machine.kernel_, "width_", float("nan"))),
            "missing values": holes,
            "regularization": float(machine.regularization_),
            "coverage of intervals": model.coverage,
        },
        "versions": {"gramian": gramian.__version__, "python": platform.python_version()}
        | {name: version(name) for name in names},
        "seconds": stages.seconds,
        "notes": list(table.notes),
    }
