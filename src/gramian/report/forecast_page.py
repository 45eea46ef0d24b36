"""The page of a forecast: one HTML file that needs nothing else.

Everything stands still but the theme. Names come from strangers' tables and are treated as on the other pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.colours import PAPER
from gramian.exploration.wording import number_words
from gramian.report import words
from gramian.report.axes import ticks
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.outlook import Outlook

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 380, 78, 984, 20, 330
_HISTORY = 6  # times as many steps of the past as of the future
_MOST, _LEAST = 600, 60  # steps of the past that are drawn
_LISTED = 200  # steps to come in the table of the page; forecast.csv has all


def write_forecast_report(outlook: Outlook, path: str | Path) -> Path:
    """Write the report of a forecast as one HTML file.

    Parameters
    ----------
    outlook : Outlook
    path : path-like
        The file to write; its folder must exist.

    Returns
    -------
    path : Path
    """
    target = Path(path)
    target.write_text(render_forecast(outlook), encoding="utf-8", newline="\n")
    return target


def render_forecast(outlook: Outlook) -> str:
    """The page as text."""
    from markupsafe import Markup

    style, script = style_sheet(), scripts(("page", "forecast"))
    said = number_words(outlook.values[np.isfinite(outlook.values)])
    steps = zip(outlook.next_labels, outlook.forecast, outlook.lower, outlook.upper, strict=True)
    rivals = [(rival, rival.rule == outlook.chosen) for rival in outlook.rivals]
    return (
        templates()
        .get_template("forecast.html.j2")
        .render(
            outlook=outlook,
            source=words.clean(outlook.source, 2 * words.LONGEST_NAME),
            column=words.clean(outlook.column, words.LONGEST_NAME),
            figures=_figures(outlook),
            plot=_plot(outlook),
            errors=_errors(outlook),
            rivals=rivals,
            steps=[(label, *map(said, map(float, row))) for label, *row in list(steps)[:_LISTED]],
            made=how_made(outlook.made),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            paper=PAPER,
            facts_json=json_for_script({}),
        )
    )


def _figures(outlook: Outlook) -> list[tuple[str, str]]:
    told = [("steps seen", words.number(outlook.n_steps)), ("steps forecast", words.number(len(outlook.forecast)))]
    if outlook.n_missing:
        told.append(("values missing", words.number(outlook.n_missing)))
    own = next((rival for rival in outlook.rivals if rival.rule == outlook.chosen), None)
    if own is not None and np.isfinite(own.mase):
        told.append((f"of the error of {outlook.repeating}", words.share(own.mase)))
        if np.isfinite(own.coverage):
            told.append((f"of values in their {words.share(outlook.coverage)} band", words.share(own.coverage)))
    return told


# Pictures ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plot:
    """Lines over time, ready for an SVG."""

    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    history: str
    forecast: str
    band: str
    now: float
    drawn: int
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _RIGHT
    top: int = _TOP
    bottom: int = _BOTTOM


def _plot(outlook: Outlook) -> _Plot:
    """The end of the history and the forecast with its band."""
    h = len(outlook.forecast)
    shown = min(len(outlook.values), max(_LEAST, min(_MOST, _HISTORY * h)))
    past, places = outlook.values[-shown:], outlook.places[-shown:]
    start, end = float(places[0]), float(outlook.next_places[-1])
    seen = past[np.isfinite(past)]
    low = float(min(seen.min(), outlook.lower.min()))
    high = float(max(seen.max(), outlook.upper.max()))
    margin = 0.05 * (high - low) or abs(high) or 1.0
    low, high = low - margin, high + margin

    def x(place: Any) -> Array:
        return np.round(_LEFT + (np.asarray(place) - start) / ((end - start) or 1.0) * (_RIGHT - _LEFT), 1)

    def y(value: Any) -> Array:
        return np.round(_BOTTOM - (np.asarray(value) - low) / (high - low) * (_BOTTOM - _TOP), 1)

    said = number_words(seen)
    now = places[np.flatnonzero(np.isfinite(past))[-1]]
    future_x = x(np.append(now, outlook.next_places))
    last = seen[-1]
    upper = zip(future_x, y(np.append(last, outlook.upper)), strict=True)
    lower = zip(future_x[::-1], y(np.append(last, outlook.lower))[::-1], strict=True)
    labels = outlook.labels[-shown:] + outlook.next_labels
    return _Plot(
        _time_ticks(x(np.append(places, outlook.next_places)), labels),
        [(float(y(tick)), said(tick)) for tick in ticks(low, high)],
        _line(x(places), y(np.where(np.isfinite(past), past, low)), np.isfinite(past), _after_gap(places)),
        _line(future_x, y(np.append(last, outlook.forecast))),
        "M" + "L".join(f"{a:g} {b:g}" for a, b in [*upper, *lower]) + "Z",
        float(x(now)),
        shown,
    )


def _errors(outlook: Outlook) -> _Plot | None:
    """The mean error of the backtest by the number of steps ahead."""
    h = len(outlook.errors)
    if h < 2:
        return None
    known = np.isfinite(outlook.errors)  # of a short series with holes, a step ahead may never have been seen
    high = float(outlook.errors[known].max(initial=0.0)) * 1.08 or 1.0
    x = np.round(_LEFT + np.arange(h) / (h - 1) * (_RIGHT - _LEFT), 1)
    y = np.round(_BOTTOM - outlook.errors / high * (_BOTTOM - _TOP), 1)
    said = number_words(outlook.errors)
    marks = [(round(_BOTTOM - tick / high * (_BOTTOM - _TOP), 1), said(tick)) for tick in ticks(0.0, high)]
    steps = sorted({1, *(int(tick) for tick in ticks(1.0, float(h)) if tick == int(tick))})
    return _Plot([(float(x[k - 1]), str(k)) for k in steps], marks, "", _line(x, y, known), "", 0.0, h)


def _after_gap(places: Array) -> Array:
    """Rows before which steps were left out of the table."""
    steps = np.diff(places)
    return np.append(False, steps > 1.5 * np.median(steps)) if len(steps) else np.zeros(len(places), bool)


def _line(x: Array, y: Array, known: Array | None = None, apart: Array | None = None) -> str:
    """A line that is broken where a value is missing, and before those ``apart``; a value alone is a dot."""
    known = np.ones(len(x), bool) if known is None else known
    apart = np.zeros(len(x), bool) if apart is None else apart
    parts, pen = [], False
    for a, b, there, begins in zip(x, y, known, apart, strict=True):
        pen = pen and not begins
        if there:
            parts.append(f"{'L' if pen else 'M'}{a:g} {b:g}" + ("" if pen else "h0"))
        pen = bool(there)
    return "".join(parts)


def _time_ticks(x: Array, labels: list[str]) -> list[tuple[float, str]]:
    """About five moments, evenly spread; dates without the time of day, where that is the same for all of them."""
    places = np.linspace(0, len(labels) - 1, 6).round().astype(int)
    chosen = places[:-1] if len(labels) > 6 else np.arange(len(labels))
    texts = [labels[place] for place in chosen]
    if all(" " in text for text in texts) and len({text.split()[0] for text in texts}) == len(texts):
        texts = [text.split()[0] for text in texts]
    return [(float(x[place]), text) for place, text in zip(chosen, texts, strict=True)]
