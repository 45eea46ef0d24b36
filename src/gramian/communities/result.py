"""What was found in a network: plain data, from which the page and the files are made.

Nodes are counted from 0 in the order of the input. Communities are counted from 1, largest first; 0 is none, of a node
without edges. Weights of edges are counted once unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.communities.edges import Edges
from gramian.communities.layout import Layout
from gramian.typing import Array


@dataclass(frozen=True)
class Community:
    """One community.

    Attributes
    ----------
    number, size : int
    inside, leaving : float
        Weight of the edges inside it, and of those to other communities.
    conductance : float
        ``leaving`` by the smaller of the degrees inside and outside it, added.
    hubs : list of int
        The nodes of the largest weight to others of the community, largest first.
    apart : bool
        Whether no edge leaves it: a connected component.
    """

    number: int
    size: int
    inside: float
    leaving: float
    conductance: float
    hubs: list[int]
    apart: bool


@dataclass(frozen=True)
class Bridge:
    """A well-connected node with much of its weight in other communities.

    Attributes
    ----------
    node : int
    other : int
        The other community that most of its weight goes to.
    share : float
        Of its weight that goes there.
    """

    node: int
    other: int
    share: float


@dataclass(frozen=True)
class Level:
    """Communities on one level.

    Attributes
    ----------
    labels : ndarray (n,)
        From 1, largest first; 0 for none.
    communities : int
    modularity : float
    """

    labels: Array
    communities: int
    modularity: float


@dataclass(frozen=True)
class Partition:
    """How good a partition is, whatever method found it.

    Attributes
    ----------
    method : str
    communities : int
    modularity : float
    conductance : float
        Mean over communities.
    """

    method: str
    communities: int
    modularity: float
    conductance: float


@dataclass(frozen=True)
class Division:
    """Everything that was found in a network: communities, levels, bridges and places in a plane.

    Attributes
    ----------
    edges : Edges
    verdict : {"clear", "weak", "none"}
        Whether there are communities beyond those of chance.
    sentences : list of str
        The result in plain words, most important first.
    labels : ndarray (n,)
        Community of each node.
    degree : ndarray (n,)
        Weight of its edges, their number if nothing is weighted or repeated.
    within : ndarray (n,)
        The part of ``degree`` that stays in its community.
    communities : list of Community
    bridges : list of Bridge
        Lowest membership first.
    own : Partition
    others : list of Partition
        Of other methods, and why there are none in ``made``.
    chance : list of float
        Modularities of the same method on networks of the same degrees, joined at random; empty if not computed.
    levels : list of Level
        Finest first; empty if not asked for.
    layout : Layout
        Where nodes or communities are drawn.
    made : dict
        Parameters, versions, seconds of each stage, notes.
    """

    edges: Edges
    verdict: str
    sentences: list[str]
    labels: Array
    degree: Array
    within: Array
    communities: list[Community]
    bridges: list[Bridge]
    own: Partition
    others: list[Partition]
    chance: list[float]
    levels: list[Level]
    layout: Layout
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def membership(self) -> Array:
        """The share of each node's weight that stays in its community, (n,); 0 for a node without edges."""
        return np.divide(self.within, self.degree, out=np.zeros_like(self.degree), where=self.degree > 0)
