"""What was learned, in plain words."""

from __future__ import annotations

import numpy as np

from gramian.exploration.wording import count, listing, number, percent, short
from gramian.learning.result import HELD_OUT, LEFT_OUT, NEW, Learned
from gramian.tables import CATEGORY, USED

_FEW = 10  # different whole values that may be codes of classes
_ALL = 0.995  # explained share from which a column is probably made from the target


def overview(found: Learned, learned_rows: int, copies: int) -> list[str]:
    """The most important first: how well, beside the trivial predictor, what matters, and what to keep in mind.

    Parameters
    ----------
    found : Learned
    learned_rows : int
    copies : int
        Rows that are copies of others in every column.
    """
    told = _classes(found) if found.classes else _numbers(found)
    if not found.classes and (values := _few_whole_numbers(found)):
        # Before the figures, which are those of another question if the values are classes.
        told.insert(
            0,
            f"{found.target} is read as a number and has {values} different whole values; if they are classes, pass "
            f"--category {found.target}.",
        )
    if note := _numbers_as_classes(found):
        told.insert(0, f"{found.target} is read as classes: {note}.")
    if found.verdict != "none" and found.skill.explained > _ALL:
        told.append(f"That is almost everything: see that no column is made from {found.target}.")
    if found.verdict != "none":
        names = [item.column for item in found.matters]
        most = f"What matters most: {listing(names[:3])}." if names else "No single column matters clearly."
        told.append(most)
    n = len(found.truth)
    known = int((found.how != NEW).sum())
    if known < n:
        rows = count(n - known, "row has", "rows have")
        told.append(f"{rows} no value of {found.target}: predicted, but not learned from.")
    if not found.skill.held_out and (alone := int((found.how == HELD_OUT).sum())):
        rows = count(alone, "row has", "rows have")
        told.append(f"{rows} no value but that of {found.target}: not learned from, and not in the errors.")
    if found.skill.held_out:
        told.append(
            f"Learned from {learned_rows:,} of the {known:,} rows; the errors are those of the other "
            f"{found.skill.rows:,}."
        )
    if copies:
        told.append(
            f"{count(copies, 'row is a copy', 'rows are copies')} of others in every column; if they are the same "
            "cases twice, the errors look smaller than they are."
        )
    unused = [column.name for column in found.columns if column.kind not in USED and column.name != found.target]
    if unused:
        told.append(f"Not used: {listing(unused[:5])}{' and others' if len(unused) > 5 else ''}.")
    return told


def _few_whole_numbers(found: Learned) -> int:
    """How many different values a target has that may be codes; 0 if it cannot be."""
    values = np.unique(found.truth[np.isfinite(found.truth)])
    return len(values) if len(values) <= _FEW and (values == np.rint(values)).all() else 0


def _numbers_as_classes(found: Learned) -> str:
    """Why a target of whole numbers was read as classes, and how it is a quantity; empty if the user said so."""
    own = next(column for column in found.columns if column.name == found.target)
    if own.kind != CATEGORY or not own.note or not all(text.lstrip("+-").isdigit() for text in found.classes):
        return ""
    return own.note if "--number" in own.note else f"{own.note}; if it is a quantity, pass --number {found.target}"


def _numbers(found: Learned) -> list[str]:
    error, trivial = (number(value) for value in found.skill.measures["rmse"])
    whose = "not learned from" if found.skill.held_out else "left out"
    if found.verdict == "none":
        told = [
            f"The other columns do not predict {found.target}: for rows {whose} the error is {error} (root mean "
            f"square), and {trivial} if every row is predicted by the mean."
        ]
    else:
        told = [
            f"The other columns explain {percent(found.skill.explained)} of the variation of {found.target}.",
            f"For rows {whose} the error is {error} (root mean square); if every row is predicted by the mean, it "
            f"is {trivial}.",
        ]
    half = (found.upper - found.lower)[found.judged] / 2
    if np.isfinite(half).all():
        told.append(
            f"The {percent(found.coverage)} intervals reach about ±{number(float(np.median(half)))} and held "
            f"the true value in {percent(found.skill.inside)} of the rows."
        )
    else:
        told.append(f"There are too few rows for {percent(found.coverage)} intervals.")
    return told


def _classes(found: Learned) -> list[str]:
    right, trivial = found.skill.measures["accuracy"]
    loss, trivial_loss = found.skill.measures["log_loss"]
    whose = "not learned from" if found.skill.held_out else "left out"
    # Of the rows learned from, which may not be that of all rows; the same class as in the skill.
    frequent = short(found.classes[int(np.bincount(found.truth[found.how == LEFT_OUT]).argmax())])
    compared = f"always saying {frequent} in {percent(trivial)}"
    if found.verdict == "none":
        return [
            f"The other columns do not predict {found.target}: the class is right in {percent(right)} of the rows "
            f"{whose}, {compared}, and the probabilities are no better than the shares of the classes."
        ]
    if right <= trivial:
        return [
            f"The other columns tell a little of {found.target}: the class is right in {percent(right)} of the rows "
            f"{whose}, no more than {compared}, but the probabilities are better than the shares of the classes "
            f"(log loss {number(loss)} instead of {number(trivial_loss)})."
        ]
    return [
        f"The other columns predict {found.target} right in {percent(right)} of the rows {whose}; {compared}.",
        f"The log loss of the probabilities is {number(loss)}; of the shares of the classes it is "
        f"{number(trivial_loss)}.",
    ]
