"""The page about pictures shows one of each function of gramian.plot."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pictures: pip install 'gramian[app]'")
DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def pictures(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import model_pictures

    return model_pictures


def test_every_function_has_its_picture(pictures):
    from gramian import plot

    assert set(pictures.DRAWINGS) == set(plot.__all__) - {"style"}


def test_pictures_are_drawn_for_both_papers_and_named_on_the_page(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "DRAWINGS", {"clusters": lambda: lambda ax: ax.plot([0, 1])})
    pictures.write_pictures()
    text = (tmp_path / "pictures.inc").read_text("utf-8")
    for theme in ("light", "dark"):
        assert (tmp_path / f"plot_clusters_{theme}.png").stat().st_size > 1000
        assert f"plot_clusters_{theme}.png\n:figclass: only-{theme}" in text
