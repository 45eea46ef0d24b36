"""What new users stumbled over in reports, point by point: each must stay gone.

The points are those of the list behind ``explore``; figures of the same reports are checked in test_statements.py.
"""

import io
import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import gramian
from gramian.cli import app
from gramian.exploration.analyse import _alternative, _another, _telling_category
from gramian.report.page import PAGE_LIMIT, render
from gramian.tables import Preparation, read_table
from report.decoder import Page, merge
from report.five_tables import TABLES
from report.sample import make_exploration

NAMES = ["example", *TABLES]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


@pytest.mark.parametrize("name", NAMES)
def test_point_1_clear_means_that_every_group_is_found_again(reports, name):
    """The chart has every number of groups tried, its caption the runner-up; levels go from coarse to fine."""
    told = reports[name]
    tried = told.summary["numbers_of_groups"]
    if told.summary["verdict"] == "clear":
        assert min(group["stability"] for group in told.summary["groups"]) >= 0.6
        assert "shaky" not in told.page.by_id("groups").text.lower()
    made = told.page.by_id("made").text
    charts = told.with_class("evidence")
    assert len(charts) == (1 if tried else 0)
    for chart in charts:
        drawn = next(element for element in told.inside(chart) if element.tag == "svg").attributes["aria-label"]
        assert all(re.search(rf"\b{item['groups']} groups?\b", drawn) for item in tried)
        if len([item for item in tried if item["groups"] > 1]) > 1:
            assert re.search(r"found again (as|nearly as|more) surely|The runner-up", made)
    sizes = [len(level["groups"]) for level in told.summary["levels"]]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("name", NAMES)
def test_point_2_there_is_one_number_for_found_again(reports, name):
    told = reports[name]
    overview = re.sub(r"\s+", " ", told.page.by_id("overview").text)
    if told.summary["verdict"] == "none":
        assert "overlap" not in overview
        return
    least = min(group["stability"] for group in told.summary["groups"])
    assert told.summary["stability"] == least
    chart = {item["groups"]: item["stability"] for item in told.summary["numbers_of_groups"]}
    assert chart[len(told.summary["groups"])] == pytest.approx(least)
    figure = [element.text for element in told.inside(told.page.by_id("overview")) if element.tag == "dd"][-1]
    assert f"found again at {figure} overlap" in told.page.by_id("groups").text


@pytest.mark.parametrize("name", NAMES)
def test_point_3_odd_rows_are_no_small_group_and_their_reasons_name_values(reports, name):
    told = reports[name]
    typical = {row for group in told.summary["groups"] for row in group["typical"]}
    rows = [item["row"] for item in told.summary["odd_rows"]]
    assert not typical & set(rows)
    if any("copies of others" in text for text in told.summary["overview"]):  # of which each is listed once
        assert len(told.cells.iloc[[row - 1 for row in rows]][told.used].drop_duplicates()) == len(rows)
    # What the overview counts is what the list has; where it is cut, the page says so.
    headline = [re.match(r"([\d,]+) rows? (?:is|are) like few others", text) for text in told.summary["overview"]]
    counted = sum(int(match[1]) for match in headline if match)
    assert counted == told.summary["number_of_odd_rows"]
    assert len(rows) == min(counted, 20)
    assert (f"The 20 oddest of {counted}." in told.page.by_id("odd").text) == (counted > 20)
    assert all(item["score"] >= 0.6 for item in told.summary["odd_rows"])
    for item in told.summary["odd_rows"]:
        assert any(f"{column} " in item["reason"] for column in told.used), item["reason"]
    sizes = np.bincount(told.groups)
    own, times = np.unique(told.groups[[row - 1 for row in rows]], return_counts=True)
    assert (times <= 0.5 * sizes[own]).all()


def test_point_4_new_rows_with_unusual_values_are_flagged(reports, tmp_path):
    told = reports["mixed"]
    new = told.cells.iloc[[0, 1, 2, 3]].copy()
    new.loc[:, new.columns != "member"] = told.cells.iloc[[30, 31, 33, 34]].loc[:, new.columns != "member"].to_numpy()
    new.iloc[1, new.columns.get_loc("plan")] = "gold"
    new.iloc[2, new.columns.get_loc("height")] = "950"
    new.iloc[3, 1:] = ""
    new.to_csv(tmp_path / "new.csv", index=False)
    result = run("assign", told.folder / "model.gramian", tmp_path / "new.csv")
    found = pd.read_csv(io.StringIO(result.stdout), dtype=str, keep_default_na=False)
    assert "plan 'gold' was not seen" in found["note"][1]
    assert "height 950 lies outside" in found["note"][2]
    assert found["note"][3] == "no value to compare by"
    assert found["group"][3] == "0"
    assert "2 rows have values that were not seen" in result.stderr
    assert "1 row has no value to compare by and no group" in result.stderr
    # Point 8: the cells are those of the file.
    assert (found[list(new)].to_numpy() == new.to_numpy()).all()


def test_point_5_columns_at_a_glance_have_hints(reports):
    """Codes of missing values, mixed units, near copies and codes are asked about; associations are told in words."""
    told = reports["mixed"]
    text = re.sub(r"\s+", " ", told.page.by_id("glance").text)
    assert len(told.with_class("glance")) == told.cells.shape[1]
    for hint in ("-999 occurs", "perhaps two units", "Says almost the same as"):
        assert hint in text
    assert "12 rows repeat an earlier row" in text
    assert "Most closely: " in text
    notes = told.page.by_id("made").text
    assert "member was not used: identifier" in notes
    assert "club was not used: constant" in notes
    assert "gender is read as category" in notes


def test_point_6_the_first_ten_thousand_rows_are_listed_within_the_limit():
    page = Page(render(make_exploration(12_000)))
    assert page.facts["listed"] == 10_000
    assert len(merge(page.block("rank"), 10_000, 4)) == 10_000
    assert len(page.html.encode()) < PAGE_LIMIT
    assert "The first 10,000 of 12,000 rows" in page.by_id("rows").text
    for part in ("table-search", "table-head", "table-body"):
        page.by_id(part)


def test_point_7_explore_is_a_function(reports):
    """The result has groups, rows, a model, a report and a folder; test_explorer.py tries all kinds of sources."""
    told = reports["noise"]
    frame = pd.read_csv(told.table)
    found = gramian.explore(frame)
    pd.testing.assert_frame_equal(found.rows[list(frame)], frame)
    assert found.summary()["overview"] == told.summary["overview"]
    assert found.rows["oddness"].tolist() == told.rows["oddness"].astype(float).tolist()
    assert len(found.groups) == 1
    assert callable(found.report)
    assert callable(found.save)


@pytest.mark.parametrize("name", NAMES)
def test_point_8_rows_are_counted_alike_everywhere(reports, name):
    """Row and group of the page, summary.json and rank are those of rows.csv, counted from 1."""
    told = reports[name]
    for group in told.summary["groups"]:
        assert (told.groups[np.array(group["typical"]) - 1] == group["label"]).all()
    ranked = json.loads(run("rank", told.folder / "model.gramian", "--cluster", 1, "--top", 3, "--json").stdout)
    assert ranked[0]["row"] == told.summary["groups"][0]["typical"][0]
    for item in ranked:
        assert item["group"] == told.groups[item["row"] - 1]
        for column, text in item["values"].items():
            assert text.rstrip("…") == told.rows[column][item["row"] - 1][: len(text.rstrip("…"))]


def test_point_9_copies_are_said(reports):
    """That they change nothing is tested with a table pasted four times, in test_cli.py."""
    overview = reports["mixed"].summary["overview"]
    assert "12 rows are copies of others and changed nothing." in overview
    assert not any("cop" in text for text in reports["noise"].summary["overview"])


@pytest.mark.filterwarnings("ignore:clusters and projection still changed")  # explore says what matters of it
def test_point_10_another_grouping_is_not_a_few_rows_apart(tmp_path):
    """Two groupings that have nothing to do with each other: told the first, the second is found."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 200))
    columns = [first * 6.0, first * 6.0, second * 5.0, second * 5.0, second * 5.0]
    frame = pd.DataFrame(np.column_stack(columns) + rng.normal(size=(200, 5)), columns=["a", "b", "x", "y", "z"])
    frame.iloc[0] = np.nan
    table = read_table(frame)
    preparation = Preparation().fit(table)
    X = preparation.transform(table)
    labels = np.where(np.arange(200) == 0, -1, first)
    values = dict(zip(preparation.feature_columns_, X.T, strict=True))
    found = _another(X, labels, np.arange(200), np.ones(5, bool), 0)
    assert found is not None
    other = _alternative(table, found, values, np.arange(200), 0)
    assert other is not None
    agreement = np.mean(other.labels[1:] == second[1:])
    assert max(agreement, 1 - agreement) > 0.95
    assert other.labels[0] == -1  # no value, no group
    sizes = [cluster.size for cluster in other.clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) >= 20
    assert all(len(cluster.typical) == 5 for cluster in other.clusters)
    assert {item.column for cluster in other.clusters for item in cluster.differences} >= {"x", "y", "z"}
    # A table's own category is no other way to group its rows, nor is one that no other column depends on.
    sex = np.where(second == 0, "m", "w")
    assert not _telling_category(read_table(frame.assign(sex=np.resize(["m", "w"], 200))), other.labels, np.arange(200))
    assert _telling_category(read_table(frame.assign(sex=sex)), other.labels, np.arange(200))
    assert _another(X, labels, np.arange(200), np.array([True, True, False, False, False]), 0) is None


@pytest.mark.parametrize("seed", range(3))
def test_point_10_a_column_that_tells_nothing_is_no_other_grouping(seed):
    rng = np.random.default_rng(100 + seed)
    group = rng.integers(0, 2, 100)
    a, b, c = rng.normal(size=100) + 6 * group, rng.normal(size=100) - 5 * group, rng.normal(size=100)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "sex": rng.choice(["m", "w"], 100)})
    found = gramian.explore(frame).found
    assert "sex tells nothing about the other columns and does not count for the groups." in found.sentences
    assert found.alternative is None


def test_point_11_no_groups_is_said_in_one_plain_sentence(reports):
    told = reports["noise"]
    lead = told.summary["overview"][0]
    assert lead == "No groups stand out among the 120 rows: random rows of such columns look just as grouped."
    text = told.page.all("main")[0].text
    assert not re.search(r"Group \d|in its group|found again|steady", text)
    assert told.summary["levels"] == []
    assert told.summary["numbers_of_groups"] == []
    assert len(told.page.facts["groups"]) == 1


def test_point_12_ranks_have_headers_values_and_digits_that_differ(reports):
    told = reports["mixed"]
    lines = run("rank", told.folder / "model.gramian", "--like", 1, "--top", 5).stdout.splitlines()
    assert lines[0].split()[:4] == ["row", "group", "score", "member"]
    assert len({line.split()[2] for line in lines[1:]}) == 5
    error = run("explore", told.table, "--ignore", "hieght", "--out", told.folder.parent / "new").stderr
    assert "did you mean 'height'" in error
    text = re.sub(r"\s+", " ", told.page.by_id("glance").text)
    assert re.search(r"largest 20\d\d\b", text)  # a year without a separator
    assert not re.search(r"\b[12],\d{3}\b", told.page.by_id("odd").text)


@pytest.mark.parametrize("name", NAMES)
def test_point_12_groups_are_numbered_by_size(reports, name):
    told = reports[name]
    sizes = np.bincount(told.groups)[1:]
    assert all(a >= b for a, b in pairwise(sizes))
    assert [group["size"] for group in told.page.facts["groups"]] == sizes.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_point_13_the_map_has_no_rings_and_numbers_do_not_overlap(reports, name):
    """Rows fill the place they lie in: the nearest dots of a dot lie all around it, not on a line or a circle."""
    told = reports[name]
    n = len(told.cells)
    raw = told.page.block("map")
    places = np.column_stack([merge(raw, n, 2), merge(raw, n, 2, 2 * n)]).astype(float)
    width = np.ptp(places, axis=0).max()
    marks = np.array([group["at"] for group in told.page.facts["groups"]], float)
    apart = np.linalg.norm(marks[:, None] - marks, axis=2)[np.triu_indices(len(marks), 1)]
    assert (apart > 0.035 * width).all()
    # A ring or a strip has nearly all of a neighbourhood's spread in one direction.
    near = np.argsort(np.linalg.norm(places[:, None] - places, axis=2), axis=1)[:, :15]
    clouds = places[near] - places[near].mean(axis=1, keepdims=True)
    spread = np.linalg.eigvalsh(np.einsum("nki,nkj->nij", clouds, clouds))
    assert np.median(spread[:, 0] / np.maximum(spread[:, 1], 1e-12)) > 0.05
