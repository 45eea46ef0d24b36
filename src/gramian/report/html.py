"""What all pages have in common: templates, style sheet, scripts, and the policy that lets nothing else run."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramian.colours import GROUPS, INK, PAPER, css_variables, group_shape
from gramian.exploration.wording import count
from gramian.report import words

if TYPE_CHECKING:
    from jinja2 import Environment

_BREAKS = re.compile(r"(?<=[^\W_]_)(?=[^\W_])|(?<=[^\W\d_][./-])(?=[^\W\d_])|(?<=[a-z])(?=[A-Z][a-z])")


def templates() -> Environment:
    """The templates with the filters that write names, numbers and sentences."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("gramian.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": words.number,
        "share": words.share,
        "effect": words.effect,
        "steadiness": words.steadiness,
        "row_name": words.row_name,
        "group_name": words.group_name,
        "name": lambda text: words.clean(text, words.LONGEST_NAME),
        "sentence": lambda text: _breaking(words.clean(text, words.LONGEST_SENTENCE)),
        "breaking": _breaking,
    }
    environment.globals |= {
        "count": count,
        "shape": group_shape,
        "n_colours": len(GROUPS["light"]),
        "first_row": words.FIRST_ROW,
    }
    return environment


def _breaking(text: str) -> Any:
    """A text whose very long names may go on in a new line behind _ - . / and before a capital; numbers stay whole."""
    from markupsafe import Markup, escape

    whole = text.replace(" %", "\u00a0%")
    parts = re.sub(r"\S{15,}", lambda word: _BREAKS.sub("\0", word[0]), whole).split("\0")
    return Markup("<wbr>").join(escape(part) for part in parts)


def how_made(made: dict[str, Any]) -> list[tuple[str, Any]]:
    """Parameters, versions and times as titled lists; whatever else is said comes under its own name."""
    titles = {"parameters": "Parameters", "versions": "Versions", "seconds": "Seconds", "notes": "Notes"}
    sections: list[tuple[str, Any]] = []
    rest: list[tuple[str, str]] = []
    for key, value in made.items():
        title = titles.get(key, words.clean(str(key).replace("_", " ").capitalize(), words.LONGEST_NAME))
        if isinstance(value, dict):
            sections.append((title, [(words.clean(name, words.LONGEST_NAME), _said(v)) for name, v in value.items()]))
        elif isinstance(value, list | tuple):
            sections.append((title, [words.clean(item, words.LONGEST_SENTENCE) for item in value]))
        else:
            rest.append((title, _said(value)))
    return [(title, items) for title, items in [*sections, ("Also", rest)] if items]


def _said(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int | float):
        return words.number(value)
    if isinstance(value, list | tuple | set):
        return words.clean(", ".join(str(item) for item in value) or "none", words.LONGEST_SENTENCE)
    return words.clean(value, words.LONGEST_SENTENCE)


def _read(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def style_sheet() -> str:
    """The style sheet with the colours of both themes in front; paper is always light."""
    light = f"--ink:{INK['light']};--paper:{PAPER['light']};{css_variables('light')}"
    dark = f"--ink:{INK['dark']};--paper:{PAPER['dark']};{css_variables('dark')}"
    colours = (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
    groups = "".join(f".g{i}{{--own:var(--g{i})}}" for i in range(len(GROUPS["light"])))
    return colours + groups + "\n" + _read("report.css")


def scripts(names: Sequence[str]) -> str:
    """The named scripts in one scope of their own."""
    return "(() => {\n'use strict';\n" + "\n".join(_read(f"{name}.js") for name in names) + "})();\n"


def policy(style: str, script: str) -> str:
    """No connection at all; the page's own style and script by their digests and no other."""

    def digest(text: str) -> str:
        return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def json_for_script(facts: dict[str, Any]) -> Any:
    """JSON that no HTML parser can leave: every ``<``, ``>`` and ``&`` is written as an escape."""
    from markupsafe import Markup

    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
