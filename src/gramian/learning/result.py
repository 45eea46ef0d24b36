"""What was learned about one column of a table: plain data, from which the page and the files are made.

Rows are counted from 0 in the order of the input, classes from 0 in the order of ``classes``. Arrays have one entry per
row of the table unless said otherwise. Every prediction of a row was made without the row's own value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gramian.tables import Column
from gramian.typing import Array

LEFT_OUT, HELD_OUT, NEW = "left out", "held out", "new"
"""How a row was predicted: left out of the fit that it is part of; never part of it; or there is nothing to compare."""


@dataclass(frozen=True)
class Skill:
    """How well the column is predicted, and how well without the other columns.

    Attributes
    ----------
    rows : int
        How many rows the errors are of.
    held_out : bool
        True for rows that were not learned from, False for rows each of which was left out in turn.
    measures : dict of str to (float, float)
        Numbers: "rmse" and "mae". Classes: "accuracy" and "log_loss". The model's, and that of the trivial predictor,
        which says the mean of the other rows, or the most frequent class (and the shares of the classes).
    explained : float
        1 − mean squared error (classes: log loss) of the model by that of the trivial predictor; R² of rows left out.
    certainty : float
        Mean gain over the trivial predictor by its standard error over the rows; below 2 it may be chance.
    inside : float
        Share of the rows whose value lies in its interval; NaN for classes.
    """

    rows: int
    held_out: bool
    measures: dict[str, tuple[float, float]]
    explained: float
    certainty: float
    inside: float = float("nan")


@dataclass(frozen=True)
class Matter:
    """A column that matters: the error is larger when its values are shuffled between rows.

    Attributes
    ----------
    column, kind : str
    increase : float
        Of the root mean squared error (classes: of the log loss), as a share of it.
    spread : float
        Standard error of ``increase`` over the rows.
    """

    column: str
    kind: str
    increase: float
    spread: float


@dataclass(frozen=True)
class Surprise:
    """A row far from what the other rows predict.

    Attributes
    ----------
    row : int
    score : float
        Numbers: distance of value and prediction by half of the interval. Classes: 1 − probability of its own class.
    reason : str
        In plain words.
    """

    row: int
    score: float
    reason: str


@dataclass(frozen=True)
class Confidence:
    """Share of right answers among rows whose most probable class had a probability from ``low`` to ``high``."""

    low: float
    high: float
    rows: int
    said: float
    right: float


@dataclass(frozen=True)
class Learned:
    """Everything that was found about a column: its predictions, their error, and the columns that matter.

    Attributes
    ----------
    source : str
        Name of the file, without its folders.
    target : str
    columns : list of Column
    frame : pandas.DataFrame (n, n_columns)
        The table as read, typed, with missing values missing.
    cells : dict of str to pyarrow.ChunkedArray
        The columns as they were read.
    classes : list of str
        As the table writes them; empty if the target is a number.
    verdict : {"clear", "weak", "none"}
        How well the target is predicted.
    sentences : list of str
        The result in plain words, most important first.
    skill : Skill
    truth : ndarray (n,)
        Value, or number of the class; NaN or −1 where there is none.
    predicted : ndarray (n,)
        Likewise.
    lower, upper : ndarray (n,)
        The interval of ``coverage``; NaN for classes.
    probabilities : ndarray (n, n_classes)
    how : ndarray of str (n,)
        "left out", "held out", or "new" for a row without a value of the target.
    coverage : float
    matters : list of Matter
        Largest first; columns within the noise are not listed.
    surprises : list of Surprise
    confusion : ndarray (n_classes, n_classes)
        Rows by true and predicted class, over the rows that ``skill`` is of.
    confidences : list of Confidence
    made : dict
        Parameters, versions, seconds of each stage.
    """

    source: str
    target: str
    columns: list[Column]
    frame: Any
    cells: dict[str, Any]
    classes: list[str]
    verdict: str
    sentences: list[str]
    skill: Skill
    truth: Array
    predicted: Array
    lower: Array
    upper: Array
    probabilities: Array
    how: Array
    coverage: float
    matters: list[Matter]
    surprises: list[Surprise]
    confusion: Array
    confidences: list[Confidence] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def judged(self) -> Array:
        """Which rows the errors are of, (n,)."""
        wanted = HELD_OUT if self.skill.held_out else LEFT_OUT
        return self.how == wanted
