"""What is kept to predict a column of rows that come later."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from gramian.persistence import load_whole
from gramian.tables import Preparation
from gramian.typing import Array

_CHUNK = 5000  # rows predicted at once


class Predicted(NamedTuple):
    """Predictions of some rows, with their intervals or probabilities."""

    values: Array  # (n,): numbers, or the number of the likeliest class
    lower: Array  # (n,), NaN for classes
    upper: Array  # (n,), NaN for classes
    probabilities: Array  # (n, n_classes)


class TargetModel(BaseEstimator):
    """The prediction of one column of a table from the others.

    Made by :func:`gramian.learning.learn` and saved as ``model.gramian``. Rows are asked in prepared form, as
    ``preparation.transform(table)`` gives them.

    Parameters
    ----------
    preparation : Preparation
        Fitted on the other columns.
    machine : LSSVMRegressor or LSSVMClassifier
        Fitted on the prepared rows that have a value.
    target : str
        Name of the column.
    classes : list of str, optional
        Classes as the table writes them, in the order of the machine's; none if the target is a number.
    coverage : float, default 0.9
        Of the intervals.

    Attributes
    ----------
    n_rows_ : int
        How many rows were learned from.
    measures_ : dict
        Errors of the model and of the trivial predictor, see :class:`gramian.learning.Skill`.
    some_rows_ : ndarray (at most 50, d)
        Rows by which a model that was read from a file is tried.
    """

    def __init__(
        self,
        preparation: Any = None,
        machine: Any = None,
        target: str = "",
        classes: list[str] | None = None,
        coverage: float = 0.9,
    ) -> None:
        self.preparation = preparation
        self.machine = machine
        self.target = target
        self.classes = classes
        self.coverage = coverage

    def remember(self, X: Array, measures: dict[str, tuple[float, float]]) -> None:
        """Keep some of the learned rows and the errors."""
        self.n_rows_ = len(X)
        self.some_rows_ = X[np.unique(np.linspace(0, len(X) - 1, 50).astype(int))]
        self.measures_ = {name: [float(value) for value in pair] for name, pair in measures.items()}

    def predict(self, X: Array) -> Predicted:
        """Predictions of prepared rows, with intervals or the probabilities of the classes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rows without a value or like no other are noted elsewhere
            parts = [self._predict(X[start : start + _CHUNK]) for start in range(0, len(X), _CHUNK)]
        if not parts:
            nothing = np.empty(0)
            return Predicted(nothing, nothing, nothing, np.empty((0, len(self.classes or ()))))
        return Predicted(*(np.concatenate([part[j] for part in parts]) for j in range(4)))

    def _predict(self, X: Array) -> Predicted:
        if self.classes:
            return classified(self.machine.predict_proba(X))
        interval = self.machine.predict_interval(X, coverage=self.coverage)
        # The middle of an interval is the prediction; asking for it would fill in missing values a second time.
        said = interval.mean(axis=1) if np.isfinite(interval).all() else self.machine.predict(X)
        return Predicted(said, interval[:, 0], interval[:, 1], np.empty((len(X), 0)))

    def left_out(self, y: Array) -> Predicted:
        """What is said of the learned rows, whose targets are ``y``, each left out of the fit."""
        if self.classes:
            return classified(self.machine.loo_proba())
        interval = self.machine.loo_interval(coverage=self.coverage)
        return Predicted(y - self.machine.loo_residuals(), interval[:, 0], interval[:, 1], np.empty((len(y), 0)))

    def facts(self) -> dict[str, Any]:
        """What ``gramian info`` says of it."""
        told: dict[str, Any] = {"predicts": self.target, "rows fitted": self.n_rows_}
        told |= {"classes": self.classes} if self.classes else {}
        for name, (own, trivial) in self.measures_.items():
            told[name.replace("_", " ")] = f"{own:.4g} (trivial predictor {trivial:.4g})"
        return told | {"columns": list(self.preparation.kinds_)}

    def check(self) -> None:
        """Raise an error if a part is missing or does not fit the others: predict some rows."""
        if not isinstance(self.preparation, Preparation):
            raise TypeError("the preparation is of another kind")
        if self.some_rows_.shape[1] != len(self.preparation.feature_names_):
            raise ValueError("its parts disagree on the number of columns")
        found = self.predict(self.some_rows_)
        if self.classes and found.probabilities.shape[1] != len(self.classes):
            raise ValueError("its parts disagree on the number of classes")
        if len(self.measures_) == 0 or self.n_rows_ < 1:
            raise ValueError("it does not say how well it predicts")


def classified(probabilities: Array) -> Predicted:
    """The likeliest class of every row; the first of equally likely ones."""
    unknown = np.full(len(probabilities), np.nan)
    return Predicted(probabilities.argmax(axis=1), unknown, unknown.copy(), probabilities)


def load_target_model(path: str | os.PathLike[str]) -> TargetModel:
    """Read the model that learning has written, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
        A ``model.gramian``.

    Returns
    -------
    model : TargetModel

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    return load_whole(path, TargetModel, writer="learn", again="learn from the table again")
