"""Links of the Markdown pages lead somewhere, and the checker of the built pages finds those that do not."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "reproduce" / "README.md"]
PAGES += [*sorted((ROOT / "docs" / "guide").glob("*.md")), ROOT / "docs" / "index.md"]


@pytest.fixture
def links():
    spec = importlib.util.spec_from_file_location("links", ROOT / "scripts" / "links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_and_pictures_exist(page):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    lost = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert lost == []


@pytest.mark.parametrize("page", PAGES[3:], ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_named_in_the_guide_exist(page):
    text = page.read_text(encoding="utf-8")
    named = [name.split("<")[-1].rstrip(">") for name in re.findall(r"\{doc\}`([^`]+)`", text)]
    assert [name for name in named if "examples/" not in name and not (page.parent / f"{name}.md").exists()] == []


def test_broken_links_of_built_pages_are_found(links, tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<a id="here"></a><a href="#here"></a><a href="#gone"></a><a href="sub/b.html#top"></a>'
        '<a href="sub/b.html#low"></a><a href="c.html"></a><img src="p.png"><a href="https://example.org/x"></a>'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="top"></p><a href="../a.html"></a><a href="mailto:a@b"></a>')
    assert links.broken(tmp_path) == ["a.html: #gone", "a.html: sub/b.html#low", "a.html: c.html", "a.html: p.png"]
    assert links.main(str(tmp_path)) == 1
    assert "a.html: c.html" in capsys.readouterr().out


def test_whole_pages_have_no_broken_links(links, tmp_path, capsys):
    (tmp_path / "index.html").write_text('<a href="%61.txt"></a>')
    (tmp_path / "a.txt").write_text("")
    assert links.main(str(tmp_path)) == 0
    assert "every link" in capsys.readouterr().out
