"""How sphinx-gallery shows the scripts of docs/gallery; conf.py names these functions.

The scripts stay programs of their own: they print, and save their pictures in a folder ``demo``. Short ones run while
the pages are built. Long ones are run once; what they printed and drew then stands in docs/gallery/kept.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

SCRIPTS = Path(__file__).parent / "gallery"
PAGES = "examples"
KEPT = {path.stem: path for path in sorted((SCRIPTS / "kept").glob("*.txt"))}
RUN_NOW = rf"[/\\](?!{'|'.join(KEPT)})\d{{3}}_\w+\.py$"


def give_docstring(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """No arguments for the script, but its docstring: sphinx-gallery empties it, and ``--help`` is made from it."""
    text = Path(script_vars["src_file"]).read_text(encoding="utf-8")
    script_vars["example_globals"]["__doc__"] = ast.get_docstring(ast.parse(text), clean=False)
    return []


def saved_pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **options: Any) -> str:
    """Show the pictures that a script saved, since it closes its figures."""
    folder = Path(block_vars["src_file"]).parent / "demo"
    shown = []
    for picture in sorted(folder.glob("*.png")):
        target = block_vars["image_path_iterator"].next()
        shutil.move(picture, target)
        shown.append(target)
    shutil.rmtree(folder, ignore_errors=True)
    return figure_rst(shown, gallery_conf["src_dir"])


def place_kept_pictures(app: Any) -> None:
    """Put kept pictures where sphinx-gallery looks for the first picture of a script, and so for its thumbnail."""
    images = Path(app.srcdir) / PAGES / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, printed in KEPT.items():
        shutil.copyfile(printed.with_suffix(".png"), images / f"sphx_glr_{name}_001.png")


def add_kept_output(app: Any, page: str, source: list[str]) -> None:
    """Show what a long script printed and drew when it was run once, above its code as on the other pages."""
    name = page.removeprefix(f"{PAGES}/")
    if name not in KEPT:
        return
    lines = [
        "Kept from one run:",
        "",
        f".. image:: /{PAGES}/images/sphx_glr_{name}_001.png",
        "   :alt: what the script draws",
        "   :class: sphx-glr-single-img",
        "",
        ".. code-block:: none",
        "",
        *(f"    {line}" for line in KEPT[name].read_text(encoding="utf-8").splitlines()),
        "",
        "",
    ]
    code = ".. GENERATED FROM PYTHON SOURCE LINES"
    before, found, after = source[0].partition(code)
    if not found:
        raise RuntimeError(f"the page of {name} has no line {code!r}; sphinx-gallery writes its pages differently now")
    source[0] = before + "\n".join(lines) + found + after
