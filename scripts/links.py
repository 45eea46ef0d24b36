"""Check the links inside the built documentation: ``python scripts/links.py docs/_build/html``.

A link to a page, a picture or a place on a page that is not there is printed, and the exit code is 1. Links to other
sites are not followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places on it that others can link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.places.add(value)


def broken(folder: Path) -> list[str]:
    """Every link of the pages in a folder that leads nowhere, as a line to print."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            place = unquote(parts.fragment)
            missing = place and target in pages and place not in pages[target].places
            if not target.exists() or missing:
                found.append(f"{path.relative_to(folder.resolve())}: {link}")
    return found


def main(folder: str) -> int:
    """Print broken links."""
    found = broken(Path(folder))
    print("\n".join(found) if found else "every link inside the documentation leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or ["docs/_build/html"]))
