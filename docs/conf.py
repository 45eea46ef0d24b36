"""How Sphinx builds the documentation; run it with ``make docs``."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

import gramian

sys.path.insert(0, str(Path(__file__).parent))
import decision_figure
import gallery_pages
import model_pictures
import performance_pages

project = "gramian"
author = copyright = "the gramian authors"
release = gramian.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "generated", "notebooks"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]

# The lists of names come from each subpackage's __all__, so a new public name is documented by itself.
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"


def second_names() -> dict[str, str]:
    """Public names that a subpackage shares with the one where they live: from the second to the first."""
    found = {}
    for subpackage in pkgutil.iter_modules(gramian.__path__, "gramian."):
        if not subpackage.ispkg:
            continue
        for name in getattr(importlib.import_module(subpackage.name), "__all__", ()):
            member = getattr(importlib.import_module(subpackage.name), name)
            home = ".".join((getattr(member, "__module__", None) or subpackage.name).split(".")[:2])
            if home != subpackage.name and name in getattr(importlib.import_module(home), "__all__", ()):
                found[f"{subpackage.name}.{name}"] = f"{home}.{name}"
    return found


autosummary_context = {"second_names": second_names()}
python_maximum_signature_line_length = 60  # beyond, a parameter in each line: a phone would break words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": gallery_pages.PAGES,
    "filename_pattern": gallery_pages.RUN_NOW,
    "within_subsection_order": "FileNameSortKey",  # the numbers are the order of the tour
    "image_scrapers": ("gallery_pages.saved_pictures",),
    "reset_argv": "gallery_pages.give_docstring",
    "abort_on_example_error": True,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
}

html_theme = "furo"
html_title = f"gramian {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]


SHORT_NAMES = {f"gramian.{name}": f"gramian{home}.{name}" for home, names in gramian._HOMES.items() for name in names}
SHORT_NAMES |= autosummary_context["second_names"]


def link_short_names(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Lead ``gramian.KernelPCA`` to the page of ``gramian.embedding.KernelPCA``: the reference is by subpackage."""
    whole = SHORT_NAMES.get(node.get("reftarget", "")) if node.get("refdomain") == "py" else None
    if whole is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], whole, node, content)


def skip_foreign_members(app: Any, what: str, name: str, member: object, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn defines: their own documentation is scikit-learn's."""
    module = getattr(member, "__module__", None) or "gramian"
    return None if module.startswith("gramian") else True


def open_one_branch(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Open the sidebar at the page being read only: all names on every page would take most of the build."""
    if "toctree" in context:
        whole = context["toctree"]
        context["toctree"] = lambda **options: whole(**options | {"collapse": True})


def mark_wide_pictures(app: Any, doctree: Any) -> None:
    """Give pictures of several panels side by side a class of their own, by which a phone does not shrink them."""
    from PIL import Image

    for picture in doctree.findall(nodes.image):
        path = Path(app.srcdir) / picture["uri"]
        if path.suffix == ".png" and path.is_file():
            with Image.open(path) as image:
                if image.width > 2 * image.height:
                    picture["classes"].append("wide")


def break_long_names(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let long names in running text and tables go on in a new line before a capital and behind ``.``, ``_``, ``(``."""

    def broken(found: re.Match[str]) -> str:
        return found[1] + re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\w[._(=])(?=\w)", "<wbr>", found[2]) + "</span>"

    if context.get("body"):
        context["body"] = re.sub(r'(<span class="pre">)([^<&]{12,})</span>', broken, context["body"])


def escape_formulas(app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Keep ``labels_`` and ``|x|`` in running text from being read as a link and a substitution.

    Docstrings are written to be read at the prompt; what stands in backticks or in an example is left alone.
    """
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))  # and what it prints
        if example or line.lstrip().startswith(("..", ":")):
            continue
        parts = re.split(r"(``.*?``|`[^`]*`)", line)
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r"(?<![\\\w*])(\w+)_(?![\w`{*])", r"\1\\_", parts[i])
            parts[i] = re.sub(r"(?<!\\)\|", r"\\|", parts[i])
        lines[number] = "".join(parts)


def setup(app: Any) -> None:
    """Connect what cannot be said by a setting."""
    app.connect("builder-inited", performance_pages.write_pages)
    app.connect("builder-inited", decision_figure.write_figure)
    app.connect("builder-inited", model_pictures.write_pictures)
    app.connect("builder-inited", gallery_pages.place_kept_pictures, priority=100)  # before sphinx-gallery
    app.connect("source-read", gallery_pages.add_kept_output)
    app.connect("html-page-context", open_one_branch, priority=400)  # before furo asks for the sidebar
    app.connect("html-page-context", break_long_names)
    app.connect("doctree-read", mark_wide_pictures)
    app.connect("missing-reference", link_short_names)
    app.connect("autodoc-skip-member", skip_foreign_members)
    # After numpydoc, which has turned the sections into reST by then.
    app.connect("autodoc-process-docstring", escape_formulas, priority=600)
