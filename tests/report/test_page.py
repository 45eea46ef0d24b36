"""The page is whole, small, safe and readable for everybody."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from gramian.exploration.result import Cluster, Missingness
from gramian.report import write_report
from gramian.report.page import PAGE_LIMIT, _runner_up, render
from gramian.tables.table import Column
from report.decoder import Page, read_column
from report.sample import NASTY, make_exploration, nasty_exploration


def test_the_page_is_well_formed(page):
    assert page.mismatched == []
    assert page.unclosed == []
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))


def test_one_file_that_asks_nobody(page):
    """No element loads anything, no style or script names an address, and the policy forbids it anyway."""
    for element in page.elements:
        assert "src" not in element.attributes
        assert "style" not in element.attributes
        assert not any(name.startswith("on") for name in element.attributes)
        assert element.attributes.get("href", "#").startswith(("#", "data:"))
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    script = page.all("script")[-1].text
    for word in ("fetch(", "XMLHttpRequest", "import(", "innerHTML", "eval(", "document.write", "http:", "https:"):
        assert word not in script
    policy = next(m.attributes["content"] for m in page.all("meta") if "http-equiv" in m.attributes)
    assert "default-src 'none'" in policy
    for text in (style, script):
        assert b64encode(sha256(text.encode()).digest()).decode() in policy


def test_headings_and_landmarks_guide_a_screen_reader(page):
    assert all(len(page.all(tag)) >= 1 for tag in ("header", "nav", "main", "footer"))
    levels = [int(element.tag[1]) for element in page.elements if re.fullmatch("h[1-6]", element.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for element in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            if name in element.attributes:
                page.by_id(element.attributes[name])
        if element.tag == "svg":
            assert element.attributes.get("aria-hidden") == "true" or element.attributes.get("aria-label")
        if element.tag in ("select", "input"):
            assert element.within("label")
        if element.tag == "th":
            assert element.attributes["scope"] in ("col", "row")
        if element.tag == "a":
            page.by_id(element.attributes["href"][1:])


def test_everything_found_is_told(customers, page):
    text = page.all("main")[0].text
    told = [*customers.sentences, customers.alternative.sentence, customers.missingness.informative[0][2]]
    told += [cluster.sentence for cluster in customers.clusters + customers.alternative.clusters]
    told += [odd.reason for odd in customers.oddities] + [view.title for view in customers.views]
    for sentence in told:
        assert sentence in text
    assert "Clear groups" in text
    rows = {element.attributes["data-row"] for element in page.elements if "data-row" in element.attributes}
    assert {str(row) for cluster in customers.clusters for row in cluster.typical} <= rows


def test_every_column_is_shown_at_a_glance(customers, page):
    text = page.by_id("glance").text
    for item in customers.glances:
        assert item.column in text
        assert all(figure in text for pair in item.figures for figure in pair)
    titles = [element.text for element in page.all("title") if element.within("svg")]
    age = next(item for item in customers.glances if item.column == "age")
    rows = [int(title.rsplit(": ", 1)[1].split()[0].replace(",", "")) for title in titles[: len(age.names)]]
    assert sum(rows) in {int(item.bars.sum()) for item in customers.glances}
    assert "2 rows repeat an earlier row" in text
    assert "Most closely: basket and plan (0.80)." in text
    assert "basket and income: 0.10" in titles
    assert not any("plan and income" in title for title in titles)  # unknown


def test_plain_words(page):
    """No jargon outside of "How this was made", whose parameters have the names they have."""
    text = "".join(section.text for section in page.all("section") if section.attributes["id"] != "made")
    for word in ("cluster", "kernel", "hsic", "embedding", "outlier", "exemplar", "nan", "none\n"):
        assert not re.search(rf"\b{word}", text, re.IGNORECASE), word
    assert not re.search(r"\b1 (rows|groups|columns)\b", text)


def test_numbers_stand_in_the_words_of_people():
    exploration = make_exploration(1500)
    text = Page(render(exploration)).by_id("overview").text
    assert "1,500" in text
    assert "5.9 %" in text or "5.8 %" in text or "6 %" in text


def test_size_of_a_small_page(page):
    assert len(page.html.encode()) < 400_000


def test_a_hundred_thousand_rows_of_twenty_columns_fit(tmp_path):
    exploration = make_exploration(100_000, n_extra=5)
    assert exploration.frame.shape == (100_000, 20)
    path = write_report(exploration, tmp_path / "report.html")
    assert path.stat().st_size < PAGE_LIMIT
    page = Page(path.read_text(encoding="utf-8"))
    facts = page.facts
    assert facts["rows"] == 100_000
    text = page.by_id("map").text
    for name in facts["left_out"]:
        assert name in text
    assert len(facts["columns"]) >= 16
    if facts["rounded"]:
        assert "rounded" in text
        assert "rows.csv has all of them as they came" in page.by_id("rows").text


def test_what_does_not_fit_is_left_out_and_named():
    exploration = make_exploration(3000)
    html = render(exploration, limit=275_000)
    assert len(html.encode()) <= 275_000
    page = Page(html)
    assert page.facts["left_out"]
    assert all(name in page.by_id("map").text for name in page.facts["left_out"])


def test_many_columns_with_long_names_fit():
    """What is said about columns counts too: 400 names of 60 letters, each written as an escape of six."""
    exploration = make_exploration(200)
    names = ["<" * 80 + str(j) for j in range(400)]
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 400)), columns=names)
    columns = [Column(name, "number", 0.0) for name in names]
    bare = replace(exploration, columns=columns, frame=frame, importances=[], missingness=Missingness(0, 200, [], []))
    html = render(bare, limit=450_000)
    assert len(html.encode()) <= 450_000
    assert Page(html).facts["left_out"]


def test_of_very_many_groups_the_largest_have_cards():
    exploration = make_exploration(4000)
    labels = np.arange(4000) % 2000
    clusters = [
        replace(exploration.clusters[0], label=label, size=2, typical=[label, label + 2000]) for label in range(2000)
    ]
    other = replace(exploration.alternative, labels=labels, clusters=clusters)
    html = render(replace(exploration, labels=labels, clusters=clusters, alternative=other), limit=2_000_000)
    assert len(html.encode()) <= 2_000_000
    page = Page(html)
    assert re.search(r"groups\s*2,000", page.by_id("overview").text)
    for section in ("groups", "another"):
        assert "The 60 largest of 2,000 groups" in page.by_id(section).text
    assert sum(element.attributes.get("class", "").startswith("card ") for element in page.all("article")) == 120


def test_a_large_table_shows_a_sample_and_says_so():
    exploration = make_exploration(2500)
    page = Page(render(exploration, most_rows=500))
    assert page.facts["rows"] == 500
    assert "a sample of 500 of the 2,500 rows" in page.by_id("map").text
    assert len(page.block("rows")) == 4 * 500
    assert "2,500" in page.by_id("overview").text


def test_nothing_of_the_table_becomes_markup(page):
    """Hostile names, values and sentences give the same elements as harmless ones, and no other."""
    hostile = Page(render(nasty_exploration()))
    assert hostile.mismatched == []
    assert hostile.unclosed == []
    scripts = [element for element in hostile.all("script") if "type" not in element.attributes]
    assert len(scripts) == 1
    assert scripts[0].text == page.all("script")[-1].text
    assert hostile.all("img") == []
    assert {element.tag for element in hostile.elements} <= {element.tag for element in page.elements}
    allowed = {name for element in page.elements for name in element.attributes}
    assert {name for element in hostile.elements for name in element.attributes} <= allowed
    assert "<" not in hostile.by_id("facts").text
    assert "49" not in hostile.by_id("title").text


def test_what_cannot_be_shown_is_cut(page):
    html = render(nasty_exploration())
    text = Page(html).all("main")[0].text
    assert max(len(word) for word in text.split()) < 700
    assert not re.search("[\u202a-\u202e\x00-\x08\ud800-\udfff]", html)
    assert "alert(1)" in text


def test_hostile_values_can_be_read_back():
    exploration = nasty_exploration()
    page = Page(render(exploration))
    fact = next(one for one in page.facts["columns"] if one["kind"] == "category" and one["levels"] == len(NASTY))
    read = read_column(fact, page.block(fact["block"]), page.facts["rows"])
    assert read[:2] == NASTY[:2]
    assert read[9] == "x" * 119 + "…"


@pytest.mark.parametrize("verdict", ["clear", "weak", "none"])
def test_a_table_without_groups_or_gaps(verdict):
    """One group, no alternative, nothing odd, nothing missing, no views: every section still says something."""
    exploration = make_exploration(50)
    frame = exploration.frame[["age"]].fillna(40.0)
    single = replace(
        exploration,
        verdict=verdict,
        frame=frame,
        columns=[Column("age", "number", 0.0)],
        labels=np.zeros(50, dtype=int),
        rank=np.arange(1, 51),
        clusters=[Cluster(0, 50, 1.0, [3], [], "All rows.")],
        oddities=[],
        missingness=Missingness(0.0, 50, [], []),
        alternative=None,
        views=[],
        evidence=[],
        made={},
    )
    page = Page(render(single))
    assert page.mismatched == []
    text = page.all("main")[0].text
    assert "No value is missing" in text
    assert "Typical rows" in text
    assert "Group 1" not in text
    assert "when rows are left out" not in text  # one group is always found again
    assert "1\n" in text or "group" in text
    assert not re.search(r"\b1 (rows|groups|columns)\b", text)


def test_sentences_run_from_left_to_right_around_names_that_do_not():
    """The first letter of a name must not turn an English sentence around."""
    name = "שם"
    exploration = make_exploration(60)
    column = replace(exploration.columns[-1], name=name, note="always the same")
    cluster = replace(exploration.clusters[0], sentence=f"{name} is high.")
    page = Page(
        render(
            replace(
                exploration,
                source=f"{name}.csv",
                sentences=[f"{name} tells most."],
                columns=[*exploration.columns[:-1], column],
                clusters=[cluster, *exploration.clusters[1:]],
            )
        )
    )
    for text in (f"{name} is high.", f"{name} tells most.", f"{name} was not used"):
        around = [element for element in page.elements if text in element.text]
        assert around
        assert all("dir" not in element.attributes for element in around)
    assert {f"{name}.csv", name} <= {element.text for element in page.all("bdi")}


def test_ways_are_told_whole_and_nothing_to_say_takes_no_heading():
    exploration = make_exploration(60)
    title = "The same, as a walk from row to row, so that large and small steps count alike and ends meet"
    made = exploration.made | {"notes": [], "parameters": {}}
    views = [replace(exploration.views[0], title=title, chosen=True), *exploration.views[1:]]
    page = Page(render(replace(exploration, views=views, made=made)))
    assert page.by_id("made").text.count(title) == 2
    page = Page(render(replace(exploration, views=views[:1], made=made)))
    assert page.by_id("made").text.count(title) == 1
    assert "Agreement" not in page.by_id("made").text  # with which other way?
    headings = [element.text for element in page.all("h3")]
    assert "Versions" in headings
    assert not {"Notes", "Parameters"} & set(headings)


@pytest.mark.parametrize(
    ("asked", "badge", "figure"), [("chosen", "No groups Nothing", "0"), (1, "One group As asked", "1")]
)
def test_one_group_is_none_unless_it_was_asked_for(asked, badge, figure):
    """Where one group was asked for, nobody looked for others, so the page must not say that there are none."""
    exploration = make_exploration(40)
    alone = Cluster(0, 40, float("nan"), [0], [], "no column stands out.")
    found = replace(
        exploration, verdict="none", labels=np.zeros(40, int), clusters=[alone], alternative=None, evidence=[],
        views=[], made={"parameters": {"clusters": asked}},
    )  # fmt: skip
    page = Page(render(found))
    overview = re.sub(r"\s+", " ", page.by_id("overview").text)
    assert badge in overview
    words = [element.text.strip() for element in page.all("dt")][:4]
    figures = dict(zip(words, [element.text for element in page.all("dd")], strict=False))
    assert figures["groups" if figure == "0" else "group"] == figure


def test_rows_in_no_group_are_said_to_be_in_none():
    exploration = make_exploration(120)
    labels = exploration.labels.copy()
    labels[exploration.oddities[0].row] = -1
    page = Page(render(replace(exploration, labels=labels)))
    assert "in no group" in page.by_id("odd").text


def test_the_templates_travel_with_the_package():
    """Hatch ships whatever lies in the package's folder; every part the page is made of lies there."""
    from importlib.resources import files

    names = {item.name for item in files("gramian.report").joinpath("templates").iterdir()}
    assert {"report.html.j2", "parts.html.j2", "report.css", "start.js", "map.js", "decode.js"} <= names


def test_facts_are_plain_json(page):
    assert json.loads(json.dumps(page.facts, allow_nan=False)) == page.facts


def test_long_names_break_where_a_reader_would_break_them():
    from gramian.report.html import _breaking

    assert str(_breaking("abdominocentesis_total_protein")) == "abdominocentesis_<wbr>total_<wbr>protein"
    assert str(_breaking("averageMonthlyBalance")) == "average<wbr>Monthly<wbr>Balance"
    assert str(_breaking("measure_17 is <b> 12.345 %")) == "measure_17 is &lt;b&gt; 12.345\xa0%"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (1.0, "2 groups are coarser and found again more surely (100 %, against 96 %)."),
        (0.9604, "2 groups are coarser and found again as surely (96 %)."),
        (0.949, "2 groups are coarser and found again nearly as surely (95 %, against 96 %)."),
        (0.8, "The runner-up, 2 groups, is coarser and found again less surely (80 %)."),
    ],
)
def test_the_runner_up_is_as_sure_as_its_figure(other, said):
    assert _runner_up([(2, other), (3, 0.96), (4, 0.5)], 3) == said


def test_a_score_that_others_have_too_is_not_called_the_highest(customers):
    """Two ways with one score: no score is higher; a way below another was chosen for something else."""
    first, second, third = customers.views
    said = {}
    for score in (0.5, 0.82, 0.9):
        tied = replace(customers, views=[first, replace(second, score=score), third])
        text = re.sub(r"\s+", " ", Page(render(tied)).by_id("made").text)
        said[score] = re.search(r"Mixtures that allow gaps was used(.*?)\.", text)[1]
    assert said == {0.5: ", because its score is the highest", 0.82: ", because no score is higher", 0.9: ""}
