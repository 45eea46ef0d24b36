"""The tutorial notebooks run in a real kernel, and show tables, pictures, reports and progress."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SOURCE = Path(__file__).parents[1] / "src"
TUTORIALS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook in an empty folder; gives its cells with their outputs."""
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures are to be shown below their cells
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")

    def call(notebook):
        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
        return client.execute().cells

    return call


def outputs(cells, kind):
    """What cells show of a kind, such as "text/html"."""
    shown = [output for cell in cells for output in cell.get("outputs", [])]
    return [output["data"][kind] for output in shown if kind in output.get("data", {})]


def said(cells):
    """What cells wrote to standard error: warnings, above all."""
    return [output["text"] for cell in cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]


def test_there_are_three_tutorials():
    assert [path.stem for path in TUTORIALS] == ["network", "series", "table"]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_sources_are_kept_without_outputs(path):
    """Outputs would go stale and make every change unreadable; the documentation shows its own."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_run_and_show_pictures_a_report_and_a_diagram(path, run):
    cells = run(nbformat.read(path, as_version=4))
    assert len(outputs(cells, "image/png")) >= 2
    pages = outputs(cells, "text/html")
    reports = [page for page in pages if "gramian-report" in page]
    assert len(reports) == 1
    assert len(reports[0]) < 1_200_000
    assert any("gramian-chosen" in page and "Found:" in page for page in pages)
    assert said(cells) == []


def test_progress_shows_in_a_notebook_and_ends_at_the_full_count(run):
    """One output of the cell moves on; nothing goes to standard error, and rich and ipywidgets are not needed."""
    source = (
        "import sys\n"
        "from gramian.progress import progress\n"
        "for i in progress(range(30), 'Outer <loop>', verbose=1):\n"
        "    for j in progress(range(2), 'Inner loop', verbose=1): pass\n"
        "print('rich' in sys.modules, 'ipywidgets' in sys.modules)\n"
    )
    quiet = "for i in progress(range(3), 'Quiet', verbose=0): pass"
    cells = run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (source, quiet)]))
    (shown,) = outputs(cells, "text/html")
    assert "Outer &lt;loop&gt;" in shown
    assert "max=30 value=30" in shown
    assert "30/30" in shown
    assert "Inner loop" not in shown
    assert said(cells) == []
    assert [output["text"] for output in cells[0].outputs if output.get("name") == "stdout"] == ["False False\n"]
