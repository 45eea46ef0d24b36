"""A network as it was read: names of nodes, and one line for each edge.

:mod:`gramian.communities.reading` makes it from files, :mod:`gramian.communities.graphs` from objects in memory; the
analysis and the model take the adjacency matrix from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array

from gramian.exploration.wording import count
from gramian.typing import Array, Matrix

_MOST = 1e300  # sum of all weights


class UnreadableEdges(ValueError):
    """A file or object that cannot be read as a network; the message is one line that says where and what to do."""


@dataclass(frozen=True)
class Edges:
    """The lines of an edge list.

    Attributes
    ----------
    source : str
        Name of the file, without its folders.
    nodes : list of str
        Names, in the order in which they come first.
    ends : ndarray (2, m) of int
        The two nodes of each line, loops and repetitions included.
    weights : ndarray (m,)
        At least 0; 1 where none are given.
    weighted : bool
        Whether weights were given.
    notes : list of str
        What was decided while reading.
    """

    source: str
    nodes: Sequence[str]
    ends: Array
    weights: Array
    weighted: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Sums over nodes are taken from both ends, and squared relative to the largest.
        if len(self.weights) and float(self.weights.max()) > _MOST / len(self.weights):
            raise UnreadableEdges(
                f"{self.source}: the weight {self.weights.max():g} is too large to add up; divide all weights by it"
            )

    @cached_property
    def adjacency(self) -> Matrix:
        """Symmetric CSR weights (n, n) without loops: those of all lines between two nodes, in either direction, added.

        Examples
        --------
        >>> import numpy as np
        >>> edges = Edges("here", ["a", "b"], np.array([[0, 1, 0], [1, 0, 0]]), np.ones(3))
        >>> edges.adjacency.toarray()
        array([[0., 2.],
               [2., 0.]])
        """
        n, (one, other) = len(self.nodes), self.ends
        kept = (one != other) & (self.weights > 0)
        one, other, weights = one[kept], other[kept], self.weights[kept]
        both = np.concatenate([one, other]), np.concatenate([other, one])
        graph = csr_array(coo_array((np.concatenate([weights, weights]), both), shape=(n, n)))
        graph.sort_indices()
        return graph

    @property
    def n_edges(self) -> int:
        """Pairs of different nodes that are joined."""
        return int(self.adjacency.nnz // 2)

    @property
    def counted(self) -> bool:
        """Whether every edge weighs one, so that sums of weights are numbers of edges."""
        return bool((self.adjacency.data == 1).all())

    def remarks(self) -> list[str]:
        """What the lines are like, in plain words: weights, loops, repetitions."""
        loops = int((self.ends[0] == self.ends[1]).sum())
        nothing = int(((self.weights == 0) & (self.ends[0] != self.ends[1])).sum())
        again = self.ends.shape[1] - loops - nothing - self.n_edges
        told = []
        if self.weighted:
            told.append("Edges have weights, which count.")
        if loops:
            told.append(f"{count(loops, 'self loop does', 'self loops do')} not count.")
        if again:
            told.append(f"{count(again, 'line repeats an edge', 'lines repeat edges')}; weights add up.")
        if nothing:
            told.append(f"{count(nothing, 'edge of weight 0 does', 'edges of weight 0 do')} not count.")
        return told
