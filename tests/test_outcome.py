"""Outcomes write their report and folder where they are told to, and say what was found."""

import re
from dataclasses import dataclass
from html import unescape
from types import SimpleNamespace

import pandas as pd

from gramian.outcome import Outcome, index_of


@dataclass(frozen=True, repr=False)
class Found(Outcome):
    def summary(self):
        return {"n": 1}

    def _write_report(self, path):
        path.write_text("page")
        return path

    def _write_folder(self, folder, *, force):
        folder.mkdir(exist_ok=force)
        self._write_report(folder / "report.html")


def test_reports_go_to_a_path_or_to_a_new_folder(tmp_path):
    outcome = Found(SimpleNamespace(sentences=["one", "two"]), None)
    assert outcome.report(str(tmp_path / "mine.html")) == tmp_path / "mine.html"
    first, second = outcome.report(), outcome.report()
    assert first.read_text() == "page"
    assert first.parent != second.parent
    assert outcome.save(str(tmp_path / "folder")) == tmp_path / "folder"
    assert outcome.save(tmp_path / "folder", force=True).is_dir()
    assert repr(outcome) == "one\ntwo"


def test_only_frames_have_an_index():
    assert list(index_of(pd.DataFrame({"a": [1]}, index=[7]))) == [7]
    assert index_of([1, 2]) is None
    assert index_of("text") is None
    assert index_of(3) is None


def test_a_notebook_shows_the_page_in_a_frame_that_folds_away():
    """The frame holds the page as it is written, and the first sentence stands above it; both are escaped."""
    outcome = Found(SimpleNamespace(sentences=['3 < 4 "groups"', "two"]), None)
    shown = outcome._repr_html_()
    frame = re.search(r'srcdoc="([^"]*)"', shown)
    assert frame is not None
    assert unescape(frame[1]) == "page"
    assert "<summary><b>3 &lt; 4 &quot;groups&quot;</b></summary>" in shown
    assert shown.startswith("<details open")
    assert "sandbox='allow-scripts allow-downloads'" in shown
