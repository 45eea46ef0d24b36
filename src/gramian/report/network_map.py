"""The pictures of a network's page: discs of communities with their nodes, and the tree of levels.

Pure functions from places and labels to what SVG draws. No script draws them, so they print and need no browser
features; the places of nodes go to the page's script as well, which answers for the one pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from gramian.colours import GROUPS
from gramian.communities import Division, Layout, Level
from gramian.typing import Array

WIDTH = 800
MOST_EDGES = 20_000
"""Edges that are drawn; of more the heaviest are, and a sample of those that weigh the same."""

_HEIGHTS = 280, 640
_MARGIN = 16
_LINKS = 400  # between discs, strongest first
_LAYERS = 12  # of edges: where layers cross the picture gets darker, which one path does not
_SIZES = 0.8, 1.2, 1.7, 2.3  # of dots, by how much of the largest degree they have
_LEAST_LABEL, _FULL_LABEL = 8, 20  # radii of discs that have room for a small number, and for one of full size
_LEVEL_HEIGHT, _LEVEL_LABEL = 40, 26
_LEAST_BAR = 2  # length of a bar; shorter ones side by side become one


@dataclass(frozen=True)
class Disc:
    """One community: its number, its colour's, centre and radius in the picture, and its size in nodes."""

    number: int
    colour: int
    x: float
    y: float
    radius: float
    size: int

    @property
    def labelled(self) -> bool:
        return self.radius >= _LEAST_LABEL

    @property
    def small(self) -> bool:
        """Whether the number is a small one, which a phone does not show."""
        return self.radius < _FULL_LABEL


@dataclass(frozen=True)
class NetworkMap:
    """A picture of ``width`` × ``height``.

    Attributes
    ----------
    discs : list of Disc
    links : list of (x, y, x, y, width)
        Between discs, where nodes are not drawn.
    edges : list of (colour, path)
        In layers; the colour is −1 for edges between communities.
    ends : ndarray (2, m) of int
        The nodes of the edges that are drawn.
    dots : list of (colour, width, path)
    rings : list of (x, y, radius)
        Around the plainest bridges.
    places : ndarray (n, 2)
        Of the nodes; NaN for those that are not drawn.
    """

    height: int
    discs: list[Disc]
    links: list[tuple[float, float, float, float, float]]
    edges: list[tuple[int, str]]
    ends: Array
    dots: list[tuple[int, float, str]]
    rings: list[tuple[float, float, float]]
    places: Array
    width: int = WIDTH


def network_map(division: Division, *, most_edges: int = MOST_EDGES) -> NetworkMap:
    """Discs, with nodes and edges in them if the layout has places for nodes, with links between them otherwise."""
    layout, labels = division.layout, division.labels
    centre, scale, height = _view(layout)

    def placed(points: Array) -> Array:
        return np.round((points - centre) * scale + [WIDTH / 2, height / 2], 1)

    sizes = np.bincount(labels, minlength=len(layout.discs) + 1)
    discs = [
        Disc(i + 1, i % len(GROUPS["light"]), float(x), float(y), round(float(radius) * scale, 1), int(sizes[i + 1]))
        for i, ((x, y), radius) in enumerate(zip(placed(layout.discs[:, :2]), layout.discs[:, 2], strict=True))
    ]
    if not len(layout.nodes):
        nowhere = np.full((len(labels), 2), np.nan)
        return NetworkMap(height, discs, _links(discs, layout.between), [], np.empty((2, 0), int), [], [], nowhere)
    places = placed(layout.nodes)
    ends = _shown_edges(division, np.isfinite(places[:, 0]), most_edges)
    lines = _edges(labels, ends, places)
    widths = _widths(division.degree, int(np.isfinite(places[:, 0]).sum()))
    rings = _rings(division, places, widths)
    return NetworkMap(height, discs, [], lines, ends, _dots(labels, places, widths), rings, places)


def _view(layout: Layout) -> tuple[Array, float, int]:
    """The centre of the discs, the scale that fits them into the picture, and the height of that."""
    spot, radius = layout.discs[:, :2], layout.discs[:, 2:]
    low, high = (spot - radius).min(axis=0), (spot + radius).max(axis=0)
    across, up = np.maximum(high - low, 1e-9)
    room = WIDTH - 2 * _MARGIN
    scale = min(room / across, (_HEIGHTS[1] - 2 * _MARGIN) / up)
    height = int(np.clip(np.ceil(scale * up) + 2 * _MARGIN, *_HEIGHTS))
    return (low + high) / 2, float(scale), height


def _links(discs: list[Disc], between: Array) -> list[tuple[float, float, float, float, float]]:
    """Lines between discs, weakest first, so that the strongest are on top; their width follows the root of weight."""
    one, other = np.nonzero(np.triu(between, 1))
    weights = between[one, other]
    order = np.argsort(-weights, kind="stable")[:_LINKS][::-1]
    return [
        (discs[a].x, discs[a].y, discs[b].x, discs[b].y, round(0.6 + 7 * float(np.sqrt(w / weights.max())), 1))
        for a, b, w in zip(one[order], other[order], weights[order], strict=True)
    ]


def _shown_edges(division: Division, drawn: Array, most: int) -> Array:
    """Ends (2, m) of edges between drawn nodes, each once; of too many the heaviest, at random where equal."""
    entries = coo_array(division.edges.adjacency)
    one, other = entries.coords
    kept = np.flatnonzero((one < other) & drawn[one] & drawn[other])
    if len(kept) > most:
        mixed = np.random.default_rng(0).permutation(kept)
        kept = np.sort(mixed[np.argsort(-entries.data[mixed], kind="stable")[:most]])
    return np.array([one[kept], other[kept]])


def _edges(labels: Array, ends: Array, places: Array) -> list[tuple[int, str]]:
    one, other = ends
    colour = np.where(labels[one] == labels[other], (labels[one] - 1) % len(GROUPS["light"]), -1)
    lines = np.rint(np.hstack([places[one], places[other]])).astype(int)
    layer = np.random.default_rng(0).integers(_LAYERS, size=len(one))
    found = []
    for own in np.unique(colour):
        for one_layer in range(_LAYERS):
            chosen = lines[(colour == own) & (layer == one_layer)]
            if len(chosen):
                found.append((int(own), "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in chosen)))
    return found


def _widths(degree: Array, n_drawn: int) -> Array:
    """Of the dots, in a few steps: the root of the degree counts."""
    base = float(np.clip(130 / np.sqrt(max(n_drawn, 1)), 3, 9))
    share = np.sqrt(degree / max(degree.max(), 1e-300))
    step = np.minimum((share * len(_SIZES)).astype(int), len(_SIZES) - 1)
    return np.round(base * np.array(_SIZES)[step], 1)


def _dots(labels: Array, places: Array, widths: Array) -> list[tuple[int, float, str]]:
    """Dots by size and colour; larger ones last, so that they are on top."""
    drawn = np.isfinite(places[:, 0])
    colour = (labels - 1) % len(GROUPS["light"])
    found = []
    for width in np.unique(widths[drawn]):
        same = drawn & (widths == width)
        for own in np.unique(colour[same]):
            path = "".join(f"M{x:g} {y:g}h0" for x, y in places[same & (colour == own)])
            found.append((int(own), float(width), path))
    return found


def _rings(division: Division, places: Array, widths: Array) -> list[tuple[float, float, float]]:
    """Around the first bridges, if they are drawn; at most one node in ten is marked, else the marks say nothing."""
    most = int(np.ceil(len(places) / 10))
    nodes = [bridge.node for bridge in division.bridges[:most] if np.isfinite(places[bridge.node, 0])]
    return [(float(places[i, 0]), float(places[i, 1]), round(float(widths[i]) / 2 + 3, 1)) for i in nodes]


# The tree of levels --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A community of one level, or several small ones side by side, as a bar.

    Attributes
    ----------
    x, width : float
        Where it begins, and how long it is.
    colour : int
    number : int
        Of the community, the first if it is several.
    size : int
        In nodes.
    communities : int
    """

    x: float
    width: float
    colour: int
    number: int
    size: int
    communities: int = 1

    @property
    def labelled(self) -> bool:
        return self.width >= _LEVEL_LABEL and self.communities == 1

    @property
    def thin(self) -> bool:
        """Whether gaps at its ends would leave nothing of it."""
        return self.width < 4

    @property
    def narrow(self) -> bool:
        """Whether the number has no room on a phone."""
        return self.width < 2 * _LEVEL_LABEL


@dataclass(frozen=True)
class LevelTree:
    """Levels as rows of bars, coarsest first; below each bar stand the communities it is made of."""

    rows: list[tuple[int, list[Cell]]]  # number of the level, from 1 for the finest
    width: int = WIDTH
    step: int = _LEVEL_HEIGHT

    @property
    def height(self) -> int:
        return self.step * len(self.rows)


def level_tree(levels: list[Level]) -> LevelTree:
    """Bars as long as communities are large, in the colours of the coarsest level with more than one.

    Parameters
    ----------
    levels : list of Level
        Finest first, nested in each other.
    """
    joined = np.flatnonzero(levels[0].labels > 0)
    labels = np.column_stack([level.labels[joined] for level in levels])
    order = np.lexsort(labels.T)  # by the last key, the coarsest, first
    labels = labels[order]
    several = [place for place, level in enumerate(levels) if level.communities > 1]
    leader = labels[:, several[-1] if several else -1]
    rows = []
    for place in reversed(range(len(levels))):
        coloured = bool(several) and place <= several[-1]
        rows.append((place + 1, _cells(labels[:, place], leader if coloured else np.zeros_like(leader))))
    return LevelTree(rows)


def _cells(labels: Array, leader: Array) -> list[Cell]:
    """Bars of the runs of equal labels; those too short to see become one with their neighbours of the same leader."""
    unit = WIDTH / max(len(labels), 1)
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    sizes = np.diff(np.append(starts, len(labels)))
    short = sizes * unit < _LEAST_BAR
    joined = short[1:] & short[:-1] & (leader[starts][1:] == leader[starts][:-1])
    first = np.flatnonzero(np.concatenate([[True], ~joined]))
    found = []
    for place, stop in zip(first, np.append(first[1:], len(starts)), strict=True):
        start, size = int(starts[place]), int(sizes[place:stop].sum())
        colour = int(leader[start] - 1) % len(GROUPS["light"]) if leader[start] else -1
        extent = round(unit * start, 1), round(unit * size, 1)
        found.append(Cell(*extent, colour, int(labels[start]), size, int(stop - place)))
    return found
