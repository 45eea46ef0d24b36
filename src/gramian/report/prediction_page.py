"""The page of a prediction: one HTML file that needs nothing else.

Python fills the template with everything that stands still, ``templates/learned.js`` answers for single rows. Names and
values come from strangers' tables and are treated as on the page of an exploration.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.colours import PAPER
from gramian.exploration.wording import are_years, number_words
from gramian.report import words
from gramian.report.axes import ticks
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.tables import IDENTIFIER, NUMBER, USED
from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.learning import Learned

_DOTS, _LISTED, _OTHERS = 2000, 5000, 3
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 520, 76, 624, 34, 462
_VERDICTS = {
    "clear": ("Predicts well", "More than half of what there is to explain is explained."),
    "weak": ("Predicts somewhat", "Better than the trivial predictor, but much stays unexplained."),
    "none": ("Predicts nothing", "No better than the trivial predictor, as far as these rows can tell."),
}
_NAMES = {
    "rmse": "Root mean squared error",
    "mae": "Mean absolute error",
    "accuracy": "Class is right in",
    "log_loss": "Log loss of the probabilities",
}


def write_learned_report(learned: Learned, path: str | Path) -> Path:
    """Write the report of a prediction as one HTML file.

    Parameters
    ----------
    learned : Learned
    path : path-like
        The file to write; its folder must exist.

    Returns
    -------
    path : Path
    """
    target = Path(path)
    target.write_text(render_learned(learned), encoding="utf-8", newline="\n")
    return target


def render_learned(learned: Learned) -> str:
    """The page as text."""
    from markupsafe import Markup

    style, script = style_sheet() + _shades(), scripts(("page", "dots", "listing", "learned"))
    badge, meaning = _VERDICTS[learned.verdict]
    plot = None if learned.classes else _plot(learned)
    rows = _listed_rows(learned)
    others = [column for column in learned.columns if column.name != learned.target]
    matter = {item.column for item in learned.matters}
    used = [column for column in others if column.kind in USED]
    facts = _facts(learned, rows, plot)
    return (
        templates()
        .get_template("learned.html.j2")
        .render(
            learned=learned,
            source=words.clean(learned.source, 2 * words.LONGEST_NAME),
            target=words.clean(learned.target, words.LONGEST_NAME),
            classes=learned.classes,
            badge=badge,
            meaning=meaning,
            n_rows=len(learned.truth),
            listed=len(rows),
            figures=_figures(learned, len(used)),
            measures=[(_NAMES[name], *_measured(name, pair)) for name, pair in learned.skill.measures.items()],
            trivial=_trivial(learned),
            trivial_said=_trivial_said(learned),
            plot=plot,
            widths_vary=_widths_vary(learned),
            holes=any(column.missing > 0 for column in used),
            shares=learned.confusion / np.maximum(learned.confusion.sum(axis=1, keepdims=True), 1),
            unlisted=[words.clean(column.name, words.LONGEST_NAME) for column in used if column.name not in matter],
            unused=[column for column in others if column.kind not in USED],
            noted=[column for column in learned.columns if column.kind in USED and column.note],
            made=how_made(learned.made),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            paper=PAPER,
            facts_json=json_for_script(facts),
        )
    )


def _shades() -> str:
    """Cells by their share, in twentieths: a style attribute would be refused by the page's policy."""
    return "\n" + "".join(f".p{i}{{--part:{i / 20:g}}}" for i in range(21)) + "\n"


def _figures(learned: Learned, n_used: int) -> list[tuple[str, str]]:
    skill = learned.skill
    told = [("rows" if skill.rows != 1 else "row", words.number(len(learned.truth)))]
    told.append(("column to predict from" if n_used == 1 else "columns to predict from", words.number(n_used)))
    if learned.classes:
        own, other = skill.measures["accuracy"]
        told += [("of classes right", words.share(own)), ("right by the most frequent class", words.share(other))]
    else:
        told += [
            ("of the variation explained", words.share(max(skill.explained, 0.0))),
            ("root mean squared error", words.number(skill.measures["rmse"][0], 3)),
            (f"of values in their {words.share(learned.coverage)} interval", words.share(skill.inside)),
        ]
    return told


def _measured(name: str, pair: tuple[float, float]) -> list[str]:
    return [words.share(value) if name == "accuracy" else words.number(value, 4) for value in pair]


def _trivial(learned: Learned) -> str:
    return "Most frequent class" if learned.classes else "Mean of the others"


def _trivial_said(learned: Learned) -> str:
    if learned.classes:
        return "the most frequent class of the rows learned from, and the shares of the classes as probabilities"
    return "the mean of the rows learned from, without the row itself"


def _widths_vary(learned: Learned) -> bool:
    """Whether intervals are wider for some rows; without a posterior they differ by the rank of one error only."""
    widths = (learned.upper - learned.lower)[learned.judged]
    finite = widths[np.isfinite(widths)]
    return bool(len(finite) and np.quantile(finite, 0.95) > 1.02 * np.quantile(finite, 0.05))


# The plot ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plot:
    """Dots of true against predicted values, one scale for both."""

    low: float
    high: float
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    path: str
    dot: float
    dots: int
    drawn: Array  # rows
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _RIGHT
    top: int = _TOP
    bottom: int = _BOTTOM

    def x(self, value: float) -> float:
        return round(_LEFT + (value - self.low) / (self.high - self.low) * (_RIGHT - _LEFT), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_BOTTOM - float(np.clip(share, 0, 1)) * (_BOTTOM - _TOP), 1)


def _plot(learned: Learned) -> _Plot:
    rows = _some(np.flatnonzero(learned.judged), learned, _DOTS)
    true, said = learned.truth[rows], learned.predicted[rows]
    low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
    margin = 0.03 * (high - low) or abs(high) or 1.0
    low, high = low - margin, high + margin
    frame = _Plot(low, high, [], [], "", 0.0, len(rows), rows)
    said_as = number_words(learned.truth)
    marks = ticks(low, high)
    return _Plot(
        low,
        high,
        [(frame.x(tick), said_as(tick)) for tick in marks],
        [(frame.y(tick), said_as(tick)) for tick in marks],
        "".join(f"M{frame.x(a)} {frame.y(b)}h0" for a, b in zip(said, true, strict=True)),
        round(float(np.clip(150 / np.sqrt(len(rows)), 3.5, 9)), 1),
        len(rows),
        rows,
    )


def _some(rows: Array, learned: Learned, most: int) -> Array:
    """At most so many of the rows, at random but for the odd ones, which are kept."""
    if len(rows) <= most:
        return rows
    odd = np.intersect1d([item.row for item in learned.surprises], rows).astype(int)
    rest = np.random.default_rng(0).permutation(np.setdiff1d(rows, odd))[: most - len(odd)]
    return np.sort(np.concatenate([odd, rest]))


# Rows for the script -------------------------------------------------------------------------------------------------


def _listed_rows(learned: Learned) -> Array:
    return _some(np.arange(len(learned.truth)), learned, _LISTED)


def _facts(learned: Learned, rows: Array, plot: _Plot | None) -> dict[str, Any]:
    """Rows with what is shown of them, and where their dots are."""
    shown = _shown_columns(learned)
    others = [learned.frame[name].iloc[rows].tolist() for name, _ in shown]
    head = [words.clean(name, words.LONGEST_NAME) for name, _ in shown]
    drawn = set(plot.drawn.tolist()) if plot else set()
    found = []
    for place, row in enumerate(rows.tolist()):
        cells = [words.cell(column[place], kind) for column, (_, kind) in zip(others, shown, strict=True)]
        values: list[Any] = [None] * len(cells)
        said, amounts = _said_of(learned, row)
        item: dict[str, Any] = {"row": row + 1, "cells": cells + said, "values": values + amounts}
        if plot and row in drawn:
            item |= {"x": plot.x(learned.predicted[row]), "y": plot.y(learned.truth[row])}
            if np.isfinite(learned.lower[row]):
                item["ends"] = [plot.y(learned.lower[row]), plot.y(learned.upper[row])]
        found.append(item)
    titles = (
        ["True", "Predicted", "Probability"] if learned.classes else ["True", "Predicted", "From", "To", "Residual"]
    )
    numeric = [False] * len(head) + ([False, False, True] if learned.classes else [True] * 5)
    return {"head": head + titles, "numeric": numeric, "rows": found}


def _shown_columns(learned: Learned) -> list[tuple[str, str]]:
    """A column that names the rows and those that matter most, with how their values are written."""
    kinds = {column.name: column.kind for column in learned.columns}
    names = [name for name, kind in kinds.items() if kind == IDENTIFIER and name != learned.target][:1]
    names += [item.column for item in learned.matters[:_OTHERS]]
    return [
        (name, "year" if kinds[name] == NUMBER and are_years(learned.frame[name]) else kinds[name]) for name in names
    ]


def _said_of(learned: Learned, row: int) -> tuple[list[str], list[Any]]:
    """True value, prediction and what goes with it, as texts and as numbers to sort by."""
    if learned.classes:
        true, said = int(learned.truth[row]), int(learned.predicted[row])
        probability = float(learned.probabilities[row, said])
        names = [words.clean(learned.classes[true]) if true >= 0 else "", words.clean(learned.classes[said])]
        return [*names, words.share(probability)], [None, None, round(probability, 4)]
    values = [learned.truth[row], learned.predicted[row], learned.lower[row], learned.upper[row]]
    values.append(values[0] - values[1])
    write = number_words(learned.truth)
    texts = [write(float(value)) if np.isfinite(value) else "" for value in values[:4]]
    texts.append(words.number(values[4], 3) if np.isfinite(values[4]) else "")
    return texts, [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]
