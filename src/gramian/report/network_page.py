"""The page of a network: one HTML file that needs nothing else.

Python fills the template with the map and everything else that stands still, ``templates/listing.js`` answers for
single nodes. Names come from strangers' edge lists and are treated as on the page of an exploration.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramian.communities import Division
from gramian.report import words
from gramian.report.colours import GROUPS, PAPER
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.typing import Array

_WIDTH, _HEIGHT, _MARGIN = 800, 600, 16
_LISTED, _SHOWN, _LINES, _BANDS, _LABELS = 5000, 100, 8000, 200, 40
_LEAST_BLOCK, _LEAST_NAMED = 0.5, 11.0  # heights in the tree: of a block that is drawn, and of one with its number
_VERDICTS = {
    "clear": ("Clear communities", "Far more edges stay inside them than in networks joined at random."),
    "weak": ("Weak communities", "A few more edges stay inside them than in networks joined at random."),
    "none": ("No communities", "Networks of the same degrees that are joined at random divide as well."),
}


def write_network_report(division: Division, path: str | Path) -> Path:
    """Write the report of a network as one HTML file.

    Parameters
    ----------
    division : Division
    path : path-like
        The file to write; its folder must exist.

    Returns
    -------
    path : Path
    """
    target = Path(path)
    target.write_text(render_network(division), encoding="utf-8", newline="\n")
    return target


def render_network(division: Division) -> str:
    """The page as text."""
    from markupsafe import Markup

    style, script = style_sheet(), scripts(("page", "listing", "network"))
    badge, meaning = _VERDICTS[division.verdict]
    if division.own.communities == 1:
        meaning = "All nodes are in one."
    elif not division.chance:
        meaning = "Judged by their modularity alone: the network is too large to be joined at random for comparison."
    picture = drawn_map(division)
    listed = _listed_nodes(division)
    names = division.edges.nodes
    return (
        templates()
        .get_template("network.html.j2")
        .render(
            division=division,
            source=words.clean(division.edges.source, 2 * words.LONGEST_NAME),
            badge=badge,
            meaning=meaning,
            n_nodes=len(division.labels),
            listed=len(listed),
            figures=_figures(division),
            map=picture,
            communities=division.communities[:_SHOWN],
            largest=max((item.size for item in division.communities), default=1),
            hubs={item.number: [_name(names[node]) for node in item.hubs] for item in division.communities[:_SHOWN]},
            bridges=[(bridge, _name(names[bridge.node])) for bridge in division.bridges],
            chance=float(np.mean(division.chance)) if division.chance else None,
            tree=drawn_tree(division) if division.levels else None,
            made=how_made(division.made),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            paper=PAPER,
            facts_json=json_for_script(_facts(division, listed, picture)),
        )
    )


def _name(text: str) -> str:
    return words.clean(text, words.LONGEST_NAME)


def _figures(division: Division) -> list[tuple[str, str]]:
    stay = "of the edge weight inside" if division.edges.weighted else "of the edges inside"
    return [
        ("node" if len(division.labels) == 1 else "nodes", words.number(len(division.labels))),
        ("edge" if division.edges.n_edges == 1 else "edges", words.number(division.edges.n_edges)),
        ("community" if division.own.communities == 1 else "communities", words.number(division.own.communities)),
        (stay, words.share(float(division.within.sum() / division.degree.sum()))),
        ("modularity", words.number(division.own.modularity, 3)),
    ]


# The map -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Disc:
    """A community on the map."""

    number: int
    x: float
    y: float
    radius: float
    dots: str  # a path, empty where nodes are not drawn


@dataclass(frozen=True)
class NetworkMap:
    """Communities as discs, with their nodes as dots where these are few enough, and edges."""

    discs: list[Disc]
    nodes: Array  # (n, 2), NaN for a node that is not drawn; (0, 2) if none are
    lines: str  # edges of nodes, a path
    n_lines: int
    strength: float  # opacity of the lines
    bands: list[tuple[float, float, float, float, float]]  # between discs: ends and width
    dot: float
    labelled: int
    width: int = _WIDTH
    height: int = _HEIGHT


def drawn_map(division: Division) -> NetworkMap:
    """The layout of a network in a box of 800 × 600."""
    layout = division.layout
    discs = np.asarray(layout.discs, dtype=float)
    low, high = (discs[:, :2] - discs[:, 2:]).min(axis=0), (discs[:, :2] + discs[:, 2:]).max(axis=0)
    if high[1] - low[1] > high[0] - low[0]:  # the long side lies
        discs, nodes, low, high = discs[:, [1, 0, 2]], layout.nodes[:, ::-1], low[::-1], high[::-1]
    else:
        nodes = layout.nodes
    room = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    scale = float((room / np.maximum(high - low, 1e-12)).min())
    height = max(_HEIGHT // 3, min(_HEIGHT, round(scale * float(high[1] - low[1])) + 2 * _MARGIN))
    middle, box = (low + high) / 2, np.array([_WIDTH, height]) / 2
    centres, radii = box + (discs[:, :2] - middle) * scale, discs[:, 2] * scale
    places = np.round(box + (nodes - middle) * scale, 1)
    n_drawn = int(np.isfinite(places[:, 0]).sum())
    lines, n_lines = _edge_lines(division, places) if n_drawn else ("", 0)
    found = []
    for number, ((x, y), radius) in enumerate(zip(centres, radii, strict=True), start=1):
        own = places[division.labels == number] if n_drawn else []
        dots = "".join(f"M{a:g} {b:g}h0" for a, b in own)
        found.append(Disc(number, round(float(x), 1), round(float(y), 1), round(float(radius), 1), dots))
    return NetworkMap(
        discs=found,
        nodes=places,
        lines=lines,
        n_lines=n_lines,
        strength=round(float(np.clip(4 / np.sqrt(max(n_lines, 1)), 0.05, 0.35)), 2),
        bands=[] if n_lines else _bands(layout.between, centres),
        dot=round(float(np.clip(110 / np.sqrt(max(n_drawn, 1)), 2.5, 12)), 1),
        labelled=min(len(found), _LABELS),
        height=height,
    )


def _edge_lines(division: Division, places: Array) -> tuple[str, int]:
    """Lines of at most so many edges, spread evenly over all of them."""
    graph = division.edges.adjacency
    one = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    other = graph.indices
    kept = (one < other) & np.isfinite(places[one, 0]) & np.isfinite(places[other, 0])
    one, other = one[kept], other[kept]
    if len(one) > _LINES:
        some = np.sort(np.random.default_rng(0).choice(len(one), _LINES, replace=False))
        one, other = one[some], other[some]
    lines = (f"M{a:g} {b:g}L{c:g} {d:g}" for (a, b), (c, d) in zip(places[one], places[other], strict=True))
    return "".join(lines), len(one)


def _bands(between: Array, centres: Array) -> list[tuple[float, float, float, float, float]]:
    """Lines between the centres of joined communities, the heaviest of them, as wide as they are heavy."""
    one, other = np.nonzero(np.triu(between, 1))
    heavy = np.argsort(-between[one, other], kind="stable")[:_BANDS]
    one, other = one[heavy], other[heavy]
    if not len(one):
        return []
    width = np.clip(9 * np.sqrt(between[one, other] / between[one[0], other[0]]), 0.6, 9)
    rows = np.column_stack([centres[one], centres[other], width])
    return [(*map(float, np.round(row, 1)),) for row in rows]  # type: ignore[misc]


# The tree ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A community of one level in the tree."""

    x: float
    y: float
    height: float
    colour: int
    number: int
    size: int
    named: bool


@dataclass(frozen=True)
class Tree:
    """Levels as columns, coarsest first; blocks are as high as communities are large, and stand beside their parts."""

    blocks: list[Block]
    grounds: list[tuple[float, float, int]]  # behind all parts of a community of the coarsest level
    titles: list[tuple[float, int, str]]  # place, communities, modularity
    step: float
    width: int = _WIDTH
    height: int = 460


def drawn_tree(division: Division) -> Tree:
    """All levels beside each other."""
    levels = [level.labels for level in reversed(division.levels)]
    joined = np.flatnonzero(levels[0] > 0)
    order = joined[np.lexsort(tuple(level[joined] for level in reversed(levels)))]
    top, height = 44.0, Tree.height - 52.0
    step = _WIDTH / len(levels)
    blocks = []
    for place, level in enumerate(levels):
        found = level[order]
        starts = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
        stops = np.append(starts[1:], len(found))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            tall = height * (stop - start) / len(found)
            if tall < _LEAST_BLOCK:
                continue
            colour = (int(levels[0][order[start]]) - 1) % len(GROUPS["light"])
            y = top + height * start / len(found)
            blocks.append(
                Block(
                    round(place * step, 1), round(y, 1), round(max(tall - 0.8, 0.4), 1), colour, int(found[start]),
                    stop - start, tall >= _LEAST_NAMED,
                )
            )  # fmt: skip
    titles = [
        (round(place * step, 1), level.communities, f"{level.modularity:.3f}")
        for place, level in enumerate(reversed(division.levels))
    ]
    grounds = [(block.y, block.height, block.colour) for block in blocks if block.x == 0]
    return Tree(blocks, grounds, titles, round(step, 1))


# Nodes for the script ------------------------------------------------------------------------------------------------


def _listed_nodes(division: Division) -> Array:
    """All nodes, or those of the largest degree and the bridges, in the order of the input."""
    n = len(division.labels)
    if n <= _LISTED:
        return np.arange(n)
    bridges = [bridge.node for bridge in division.bridges]
    heavy = np.argsort(-division.degree, kind="stable")[: _LISTED - len(bridges)]
    return np.unique(np.concatenate([heavy, np.array(bridges, dtype=heavy.dtype)]))


def _facts(division: Division, nodes: Array, picture: NetworkMap) -> dict[str, Any]:
    """Nodes with what is shown of them, and where their dots are."""
    levels = [level.labels for level in division.levels]
    head = ["Community", "Membership", "Degree", *(f"Level {i}" for i in range(1, len(levels) + 1))]
    membership = division.membership
    drawn = len(picture.nodes) > 0
    rows = []
    for node in nodes.tolist():
        own, share, degree = int(division.labels[node]), float(membership[node]), float(division.degree[node])
        others = [int(level[node]) for level in levels]
        item: dict[str, Any] = {
            "row": node + 1,
            "name": _name(division.edges.nodes[node]),
            "cells": [str(own or ""), words.share(share), words.number(degree), *(str(i or "") for i in others)],
            "values": [own, round(share, 4), degree, *others],
        }
        if drawn and np.isfinite(picture.nodes[node, 0]):
            item |= {"x": float(picture.nodes[node, 0]), "y": float(picture.nodes[node, 1])}
        rows.append(item)
    return {"title": "Node", "many": "nodes", "head": head, "numeric": [True] * len(head), "rows": rows}
