"""The page of a network: one HTML file that needs nothing else.

Python fills the template with everything that stands still, ``templates/network.js`` answers for single nodes. Names
come from strangers' files and are treated as on the page of an exploration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gramian.colours import PAPER
from gramian.communities import Division
from gramian.report import words
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.report.network_map import NetworkMap, level_tree, network_map
from gramian.typing import Array

_LISTED, _COMMUNITIES, _LEVEL_COLUMNS = 5000, 200, 6
_SCRIPTS = ("page", "dots", "listing", "network")
_VERDICTS = {
    "clear": ("Clear communities", "Far more edges stay inside them than in networks that are joined at random."),
    "weak": ("Weak communities", "A little more holds them together than chance would: read them as tendencies."),
    "none": ("No communities", "Networks that are joined at random divide as well, so these may be chance."),
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

    style, script = style_sheet(), scripts(_SCRIPTS)
    badge, meaning = _VERDICTS[division.verdict]
    if division.own.communities == 1:
        meaning = "All nodes are in one."
    elif not division.chance:
        meaning = "Judged by their modularity alone: they were not compared with networks joined at random."
    picture = network_map(division)
    listed = _listed(division)
    counted = division.edges.counted
    return (
        templates()
        .get_template("network.html.j2")
        .render(
            division=division,
            source=words.clean(division.edges.source, 2 * words.LONGEST_NAME),
            badge=badge,
            meaning=meaning,
            n_nodes=len(division.labels),
            figures=_figures(division),
            counted=counted,
            map=picture,
            drawn=int(np.isfinite(picture.places[:, 0]).sum()),
            communities=division.communities[:_COMMUNITIES],
            largest=max(item.size for item in division.communities),
            name=lambda node: words.clean(division.edges.nodes[node], words.LONGEST_NAME),
            membership=division.membership,
            tree=level_tree(division.levels) if division.levels else None,
            largest_of=lambda level: int(np.bincount(level.labels)[1:].max()),
            chance=float(np.mean(division.chance)) if division.chance else None,
            listed=len(listed),
            made=how_made(division.made),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            paper=PAPER,
            facts_json=json_for_script(_facts(division, picture, listed, counted)),
        )
    )


def _figures(division: Division) -> list[tuple[str, str]]:
    n, m, k = len(division.labels), division.edges.n_edges, division.own.communities
    weight = "of the edges stay inside" if division.edges.counted else "of the edge weight stays inside"
    told = [
        ("node" if n == 1 else "nodes", words.number(n)),
        ("edge" if m == 1 else "edges", words.number(m)),
        ("community" if k == 1 else "communities", words.number(k)),
        (weight, words.share(float(division.within.sum() / division.degree.sum()))),
        ("modularity", f"{division.own.modularity:.3f}".replace("-", "−")),
    ]
    return told


# Nodes for the script ------------------------------------------------------------------------------------------------


def _listed(division: Division) -> Array:
    """All nodes, or those that the page names and the best connected."""
    n = len(division.labels)
    if n <= _LISTED:
        return np.arange(n)
    named = {node for item in division.communities[:_COMMUNITIES] for node in item.hubs}
    named |= {bridge.node for bridge in division.bridges}
    rank = division.degree.copy()
    rank[sorted(named)] = np.inf
    return np.sort(np.argsort(-rank, kind="stable")[:_LISTED])


def _facts(division: Division, picture: NetworkMap, listed: Array, counted: bool) -> dict[str, Any]:
    """Nodes with what is shown of them and where they are drawn, and their edges as pairs of places among these."""
    levels = division.levels[:_LEVEL_COLUMNS]
    membership, degree = division.membership, division.degree
    rows = []
    for node in listed.tolist():
        label, own = int(division.labels[node]), float(degree[node])
        groups = [label, *(int(level.labels[node]) for level in levels)]
        cells = [str(group) if group else "" for group in groups]
        item: dict[str, Any] = {
            "row": node + 1,
            "name": words.clean(division.edges.nodes[node], words.LONGEST_NAME),
            "cells": [cells[0], words.share(membership[node]) if label else "", words.number(own), *cells[1:]],
            "values": [groups[0] or None, round(float(membership[node]), 4), float(f"{own:.6g}")]
            + [group or None for group in groups[1:]],
        }
        if np.isfinite(picture.places[node, 0]):
            item |= {"x": float(picture.places[node, 0]), "y": float(picture.places[node, 1])}
        rows.append(item)
    drawn = np.isfinite(picture.places[:, 0])
    place = np.cumsum(drawn) - 1  # all nodes are listed where nodes are drawn, so these count the rows with places
    head = ["Community", "Membership", "Edges" if counted else "Weight of edges"]
    return {
        "first": "Node",
        "noun": "node",
        "told": len(head),
        "head": head + [f"Level {i}" for i in range(1, len(levels) + 1)],
        "numeric": [True] * (3 + len(levels)),
        "rows": rows,
        "edges": place[picture.ends].T.ravel().tolist(),
    }
