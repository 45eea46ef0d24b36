"""Drawings that stand in the page as they are: no script draws them, so they print and need no browser features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.colours import GROUPS
from gramian.report.data import first_view, label_places
from gramian.typing import Array

WIDTH, HEIGHT = 800, 500
MOST_POINTS = 3_000
"""A still map of more rows is a sample: the file stays small and a printer fast."""


@dataclass(frozen=True)
class StillGroup:
    """The points of one group as an SVG path of dots, and where its number stands."""

    label: int
    colour: int
    path: str
    x: int
    y: int


@dataclass(frozen=True)
class StillMap:
    """A map of rows as dots in a box of 800 × 500."""

    groups: list[StillGroup]
    dot: float
    width: int = WIDTH
    height: int = HEIGHT


def still_map(coordinates: Array, labels: Array, *, height: int = HEIGHT) -> StillMap:
    """Dots of (a sample of) the rows, one path for each group."""
    coordinates = np.nan_to_num(np.asarray(coordinates, dtype=float))
    rows = np.arange(len(labels))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
    left, right, bottom, top = first_view(coordinates)
    margin = 14
    scale = min((WIDTH - 2 * margin) / max(right - left, 1e-300), (height - 2 * margin) / max(top - bottom, 1e-300))
    x = WIDTH / 2 + (coordinates[:, 0] - (left + right) / 2) * scale
    y = height / 2 - (coordinates[:, 1] - (bottom + top) / 2) * scale
    drawn = rows[(np.abs(x[rows] - WIDTH / 2) <= WIDTH / 2) & (np.abs(y[rows] - height / 2) <= height / 2)]
    names = label_places(np.column_stack([x, y]), labels)
    groups = []
    for label in np.unique(labels):
        own = drawn[labels[drawn] == label]
        path = "".join(
            f"M{a} {b}h0" for a, b in zip(np.rint(x[own]).astype(int), np.rint(y[own]).astype(int), strict=True)
        )
        place = names[label] if label >= 0 else np.median(np.column_stack([x, y])[labels == label], axis=0)
        groups.append(
            StillGroup(
                label=int(label),
                colour=int(label) % len(GROUPS["light"]) if label >= 0 else -1,
                path=path,
                x=round(float(place[0])),
                y=round(float(place[1])),
            )
        )
    return StillMap(
        groups=groups, dot=round(float(np.clip(11 - 2 * np.log10(max(len(drawn), 1)), 3, 8)), 1), height=height
    )


@dataclass(frozen=True)
class EvidencePoint:
    """One number of groups in the chart of the evidence."""

    groups: int
    value: float
    x: float
    y: float
    chosen: bool


def evidence_points(evidence: list[tuple[int, float]], chosen: int, *, width: int, height: int) -> list[EvidencePoint]:
    """Places of the evidence in a box: numbers of groups from left to right, 0 to 1 from bottom to top."""
    if not evidence:
        return []
    pairs = sorted((int(groups), float(value)) for groups, value in evidence)
    first, last = pairs[0][0], max(pairs[-1][0], pairs[0][0] + 1)
    return [
        EvidencePoint(
            groups=groups,
            value=value,
            x=round((groups - first) / (last - first) * width, 1),
            y=round((1 - min(max(value, 0), 1)) * height, 1),
            chosen=groups == chosen,
        )
        for groups, value in pairs
        if np.isfinite(value)
    ]


@dataclass(frozen=True)
class StackedBars:
    """A histogram as stacked bars, one path for each group, in a box of ``width`` × ``height``."""

    paths: list[tuple[int, str]]
    slots: list[tuple[float, float, str]]
    width: int
    height: int


def stacked_bars(counts: Array, names: list[str], *, width: int = 240, height: int = 72) -> StackedBars:
    """Bars of counts (b, k), the groups of each on top of each other, the highest as high as the box.

    ``paths`` has the colour and the path of every group that has rows; ``slots`` the left end, the width and the text
    of every bar, for a reader who points at it.
    """
    b, k = counts.shape
    slot = width / max(b, 1)
    scale = height / max(int(counts.sum(axis=1).max(initial=0)), 1)
    tops = np.round(height - scale * counts.cumsum(axis=1), 1)
    bottoms = np.column_stack([np.full(b, float(height)), tops[:, :-1]]) if k else np.zeros((b, 0))
    bar = round(0.86 * slot, 1)
    paths = []
    for group in range(k):
        own = np.flatnonzero(counts[:, group])
        path = "".join(
            f"M{slot * i:.1f} {bottoms[i, group]:g}V{tops[i, group]:g}h{bar:g}V{bottoms[i, group]:g}z" for i in own
        )
        if path:
            paths.append((group % len(GROUPS["light"]), path))
    slots = [
        (round(slot * i, 1), round(slot, 1), f"{name}: {int(rows):,} rows".replace(": 1 rows", ": 1 row"))
        for i, (name, rows) in enumerate(zip(names, counts.sum(axis=1), strict=True))
    ]
    return StackedBars(paths, slots, width, height)
