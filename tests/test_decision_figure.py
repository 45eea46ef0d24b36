"""The picture of the page that names a method: names exist, lead to their pages, and fit in their boxes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("torch", reason="gramian.deep is in the picture: pip install 'gramian[deep]'")
DOCS = Path(__file__).parents[1] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def drawn(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import decision_figure

    return decision_figure


def test_every_name_leads_to_the_page_of_the_subpackage_that_exports_it(drawn):
    assert drawn.page("AutoClustering") == "../api/generated/gramian.clustering.AutoClustering.html"
    assert drawn.page("AlternativeClustering") == "../api/generated/gramian.dependence.AlternativeClustering.html"
    assert drawn.page("correlation_dimension").endswith("/gramian.reservoir.dynamics.correlation_dimension.html")
    assert drawn.page('kernel="precomputed"') == ""
    with pytest.raises(StopIteration):
        drawn.page("NoSuchModel")


def test_the_picture_names_what_the_table_beside_it_names(drawn):
    table = (DOCS / "guide" / "choose.md").read_text(encoding="utf-8")
    missing = {
        name
        for _, questions in drawn.CHOICES
        for _, names in questions
        for name in names
        if name not in table and name not in {"IncompleteGaussianMixture", "personalized_pagerank"}
    }
    assert missing <= {"correlation_dimension", "KernelAutoencoder"}


def test_the_picture_is_one_readable_column(drawn):
    root = ElementTree.fromstring(drawn.figure())
    assert root.get("viewBox").startswith("0 0 400 ")
    for text in root.iter(f"{SVG}text"):
        x, room = float(text.get("x")), drawn.SPLIT if text.get("class") is None else drawn.WIDTH
        wide = 7.4 if text.get("class") == "name" else 7.9
        assert x + wide * len(text.text) <= room, text.text
    tops = [float(box.get("y")) for box in root.iter(f"{SVG}rect")]
    assert tops == sorted(tops)


def test_long_questions_are_broken_at_words(drawn):
    assert drawn.lines("Do columns depend on others?") == ["Do columns depend on", "others?"]
