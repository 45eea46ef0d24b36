"""The page of a prediction: its figures are those of the rows, and strangers' names stay text."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gramian.learning import learn
from gramian.report.prediction_page import render_learned, write_learned_report
from gramian.report.words import number, share
from gramian.tables import read_table
from learning.conftest import priced, sold
from learning.houses import houses
from report.decoder import Page

__all__ = ["priced", "sold"]


@pytest.fixture(scope="module")
def number_page(priced):
    return Page(render_learned(priced[0]))


@pytest.fixture(scope="module")
def class_page(sold):
    return Page(render_learned(sold[0]))


def test_figures_of_the_page_are_those_of_the_rows(priced, number_page):
    found, _ = priced
    text = number_page.by_id("overview").text
    error = (found.truth - found.predicted)[found.judged]
    assert number(float(np.sqrt(np.mean(error**2))), 4) in text
    assert number(float(np.abs(error).mean()), 4) in text
    assert share(found.skill.explained) in text
    for item in found.matters:
        assert share(item.increase) in number_page.by_id("columns").text
    for item in found.surprises:
        assert f"price is {item.reason.split(' is ')[1].split(',')[0]}" in number_page.by_id("odd").text


def test_dots_lie_where_their_values_are(priced, number_page):
    """Places on the page, turned back by the scale of two ticks, are predictions and true values."""
    found, _ = priced
    facts = json.loads(number_page.by_id("facts").text)
    drawn = [row for row in facts["rows"] if "x" in row]
    rows = np.array([row["row"] - 1 for row in drawn])
    assert set(rows) == set(np.flatnonzero(found.judged))
    x, y = (np.array([row[axis] for row in drawn]) for axis in "xy")
    for place, values in ((x, found.predicted[rows]), (y, found.truth[rows])):
        slope, offset = np.polyfit(values, place, 1)
        np.testing.assert_allclose(slope * values + offset, place, atol=0.06)
    low, high = (np.array([row["ends"][j] for row in drawn]) for j in (0, 1))
    inside = (high <= y) & (y <= low)  # upwards on a screen is less
    assert inside.mean() == pytest.approx(found.skill.inside, abs=0.02)


def test_the_confusion_is_that_of_the_rows(sold, class_page):
    found, _ = sold
    table = pd.crosstab(found.truth, found.predicted)
    text = class_page.by_id("plotted").text
    for i in range(2):
        for j in range(2):
            assert number(table.loc[i, j]) in text
            assert share(table.loc[i, j] / table.loc[i].sum()).replace(" %", "\u00a0%") in text or (
                share(table.loc[i, j] / table.loc[i].sum()) in text
            )
    facts = json.loads(class_page.by_id("facts").text)
    assert facts["head"][-3:] == ["True", "Predicted", "Probability"]
    assert len(facts["rows"]) == len(found.truth)


def test_pages_are_well_formed_and_need_nothing_else(number_page, class_page):
    for page in (number_page, class_page):
        assert not page.mismatched
        assert "http://" not in page.html.replace("http://www.w3.org", "")
        assert "https://" not in page.html
        assert " style=" not in page.html


def test_strangers_names_stay_text(tmp_path):
    frame = houses(40).rename(columns={"area": "<script>alert(1)</script>", "price": "</script><b>p"})
    frame["town"] = frame["town"].str.replace("north", "<img src=x onerror=alert(1)>")
    found, _ = learn(read_table(frame, ignore=["sold"]), "</script><b>p")
    html = write_learned_report(found, tmp_path / "p.html").read_text("utf-8")
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "</script><b>" not in html


def test_large_tables_show_some_rows(priced):
    found, _ = priced
    many = 60
    tiled = {
        name: np.concatenate([getattr(found, name)] * many) for name in ("truth", "predicted", "lower", "upper", "how")
    }
    frame = pd.concat([found.frame] * many, ignore_index=True)
    big = replace(found, frame=frame, probabilities=np.empty((len(frame), 0)), **tiled)
    page = Page(render_learned(replace(big, skill=replace(found.skill, rows=many * found.skill.rows))))
    facts = json.loads(page.by_id("facts").text)
    assert len(facts["rows"]) == 5000
    assert "Drawn are 2,000 of 9,480 rows" in page.by_id("plotted").text
    assert {item.row + 1 for item in found.surprises} <= {row["row"] for row in facts["rows"]}
    assert len(page.html) < 3_000_000
