"""The page of a forecast: its figures are those of the outlook, its lines are where the values are."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gramian.report.forecast_page import _line, _plot, _time_ticks, render_forecast, write_forecast_report
from outlook.conftest import outlook
from report.decoder import Page

__all__ = ["outlook"]


@pytest.fixture(scope="module")
def page(outlook):
    return Page(render_forecast(outlook[0]))


def test_steps_and_rules_are_those_of_the_outlook(outlook, page):
    found, _ = outlook
    text = page.by_id("before").text
    for rival in found.rivals:
        assert f"{rival.mase:.3f}" in text
        assert f"{rival.nrmse:.3f}" in text
    steps = page.by_id("steps").text
    for label in found.next_labels:
        assert label in steps
    for sentence in found.sentences:
        assert sentence in page.by_id("overview").text.replace("\u00a0", " ").replace("\u200b", "")


def test_lines_go_through_the_values(outlook):
    found, _ = outlook
    plot = _plot(found)
    x, y = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", plot.forecast), float).T
    low, high = y[1:].argmax(), y[1:].argmin()  # SVG counts downwards
    assert (low, high) == (found.forecast.argmin(), found.forecast.argmax())
    assert (np.diff(x) > 0).all()
    assert x[0] == plot.now
    assert plot.band.startswith("M")
    assert len(re.findall(r"[ML]", plot.band)) == 2 * 8


def test_missing_values_break_the_line():
    x = y = np.arange(5.0)
    assert _line(x, y, np.array([True, True, False, True, False])) == "M0 0h0L1 1M3 3h0"


def test_steps_that_were_left_out_break_the_line(outlook):
    """As missing values do: a straight line over a gap would be made up."""
    found, _ = outlook
    cut = np.append(np.arange(200), np.arange(210, 260))
    short = replace(found, values=found.values[cut], places=found.places[cut], labels=[found.labels[i] for i in cut])
    assert _plot(found).history.count("M") == 1
    assert _plot(short).history.count("M") == 2
    assert _line(np.arange(3.0), np.arange(3.0), None, np.array([False, False, True])) == "M0 0h0L1 1M2 2h0"


def test_ticks_of_time_leave_out_a_time_of_day_that_says_nothing():
    hours = [f"2024-01-{day:02} {hour:02}:00" for day in range(1, 11) for hour in (0, 12)]
    assert _time_ticks(np.arange(20.0), hours)[0] == (0.0, "2024-01-01")
    assert _time_ticks(np.arange(3.0), ["1", "2", "3"]) == [(0.0, "1"), (1.0, "2"), (2.0, "3")]


def test_names_of_strangers_stay_text(outlook, tmp_path):
    found, _ = outlook
    odd = replace(found, column="<script>x</script>", source="<b>", time="<i>", notes=["<u>"], sentences=["<em>"])
    text = write_forecast_report(odd, tmp_path / "page.html").read_text("utf-8")
    for tag in ("<script>x", "<b>", "<i>", "<u>", "<em>"):
        assert tag not in text


def test_a_forecast_without_a_look_back_says_why(outlook):
    found, _ = outlook
    short = replace(found, rivals=[], errors=np.empty(0))
    assert "too short to look back" in render_forecast(short)
    assert "moved on without looking back" in render_forecast(replace(short, made={}))


def test_a_constant_series_can_be_drawn(outlook):
    found, _ = outlook
    flat = {name: np.full(7, 3.0) for name in ("forecast", "lower", "upper")}
    text = render_forecast(replace(found, values=np.full(len(found.values), 3.0), **flat))
    assert "nan" not in re.sub("<style>.*</style>", "", text, flags=re.DOTALL).lower()
