"""The picture of the page "Which method answers my question?", drawn as SVG while the pages are built.

One column of questions with a box of names beside each, so that it reads on a phone; colours are those of the page, by
day and by night. Names lead to their pages in the reference.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import gramian
import gramian.deep
from gramian.reservoir import dynamics

FOLDER = Path(__file__).parent / "generated"

# What you have, then: what you ask, and the names that answer. A name without a page is written as code to type.
CHOICES: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (
        "a table, with holes or without",
        (
            ("Groups?", ("AutoClustering",)),
            ("… their number is known", ("SpectralClustering",)),
            ("… width and number by rows held back", ("KernelSpectralClustering",)),
            ("… in groups, or over time", ("HierarchicalKSC", "EvolvingKSC")),
            ("… other than those I know", ("AlternativeClustering",)),
            ("Predict a column?", ("LSSVMRegressor", "LSSVMClassifier")),
            ("… beyond 10,000 rows", ("FixedSizeLSSVMRegressor", "FixedSizeLSSVMClassifier")),
            ("… from a few labels", ("SemiSupervisedKSC",)),
            ("A map, fewer columns?", ("KernelPCA",)),
            ("… that depend on y", ("DependenceReduction",)),
            ("Do columns depend on others?", ("hsic_test",)),
            ("Typical, odd, similar rows?", ("RankedClustering", "KernelPageRank")),
            ("Fill the holes?", ("IncompleteGaussianMixture",)),
        ),
    ),
    (
        "a network",
        (("Communities?", ("NetworkKSC", "MultilevelKSC")), ("Nodes near this one?", ("personalized_pagerank",))),
    ),
    (
        "a series",
        (
            ("What comes next?", ("EchoStateForecaster",)),
            ("Another series at each step?", ("EchoStateNetwork",)),
            ("Noise, cycles or chaos?", ("correlation_dimension",)),
        ),
    ),
    (
        "images",
        (
            ("Groups?", ("SpectralClustering", "DivergenceClustering")),
            ("Codes and a way back?", ("KernelAutoencoder",)),
        ),
    ),
    ("similarities alone", (("Any question above", ('kernel="precomputed"',)),)),
)

WIDTH, BAND, LINE, GAP, SPLIT = 400, 30, 19, 9, 204


def write_figure(app: Any = None) -> None:
    """Write what ``docs/guide/choose.md`` shows."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "decision.svg").write_text(figure(), encoding="utf-8")


def page(name: str) -> str:
    """The page of a name in the reference, seen from the guide; empty if it is code to type."""
    if "=" in name:
        return ""
    member = next(getattr(module, name) for module in (gramian, gramian.deep, dynamics) if hasattr(module, name))
    path = member.__module__.split(".")
    homes = (".".join(path[:depth]) for depth in range(2, len(path) + 1))
    home = next(home for home in homes if name in getattr(import_module(home), "__all__", ()))
    return f"../api/generated/{home}.{name}.html"


def figure() -> str:
    """The whole picture."""
    parts, y = [], 2.0
    for have, questions in CHOICES:
        parts.append(f'<rect class="have" x="1" y="{y}" width="{WIDTH - 2}" height="{BAND}" rx="6"/>')
        parts.append(f'<text class="have" x="14" y="{y + 20}">I have {escape(have)}</text>')
        top, y = y + BAND, y + BAND + GAP
        for question, names in questions:
            height = LINE * max(len(names), len(lines(question))) + 8
            parts += answer(question, names, y, height)
            y += height + GAP
        middle = y - GAP - height / 2
        parts.append(f'<path class="branch" d="M14 {top}V{middle}"/>')
        y += GAP
    label = "Which method: for what you have, the question, and the names that answer it"
    return (
        f'<svg class="decision" viewBox="0 0 {WIDTH} {y:.0f}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg">{STYLE}{"".join(parts)}</svg>'
    )


def answer(question: str, names: tuple[str, ...], y: float, height: float) -> list[str]:
    """A question, and the box of names that it leads to."""
    middle = y + height / 2
    indent = 40 if question.startswith("…") else 28
    parts = [f'<path class="branch" d="M14 {middle}H{indent - 5}"/>']
    told = lines(question)
    for number, text in enumerate(told):
        parts.append(
            f'<text x="{indent}" y="{middle + 4.5 + 15 * (number - (len(told) - 1) / 2)}">{escape(text)}</text>'
        )
    parts.append(f'<rect class="answer" x="{SPLIT}" y="{y}" width="{WIDTH - SPLIT - 1}" height="{height}" rx="5"/>')
    for number, name in enumerate(names):
        below = middle + 4.5 + LINE * (number - (len(names) - 1) / 2)
        text = f'<text class="name" x="{SPLIT + 10}" y="{below}">{escape(name)}</text>'
        parts.append(f'<a href="{page(name)}">{text}</a>' if page(name) else text)
    return parts


def lines(question: str) -> list[str]:
    """The question in lines that fit beside the boxes."""
    found, most = [""], 19 if question.startswith("…") else 21
    for word in question.split():
        if len(found[-1]) + len(word) > most:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


STYLE = (
    "<style>"
    "svg.decision{display:block;width:100%;max-width:34rem;margin:1.5rem auto}"
    "svg.decision text{font:13px sans-serif;fill:currentColor}"
    "svg.decision text.have{font-weight:600;fill:var(--color-background-primary,#fff)}"
    "svg.decision text.name{font:12px monospace;fill:var(--color-link,currentColor)}"
    "svg.decision rect.have{fill:var(--color-foreground-primary,#222)}"
    "svg.decision rect.answer{fill:var(--color-background-secondary,none);stroke:var(--color-background-border,#999)}"
    "svg.decision path{fill:none;stroke:var(--color-foreground-muted,#999);stroke-width:1.2}"
    "svg.decision a{text-decoration:none}"
    "svg.decision a:hover text{text-decoration:underline}"
    "</style>"
)
