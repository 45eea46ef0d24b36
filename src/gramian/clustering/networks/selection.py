"""How many communities? A model of many scores, cut to those of each number of communities and judged.

====================  ==================================================================================================
criterion             judges
====================  ==================================================================================================
modularity            the partition of all nodes, refined
gap                   the eigenvalues alone: the largest relative gap
baf                   the angles of the scores of nodes that were not trained on to the prototypes
====================  ==================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.clustering.core.n_clusters import relative_gaps
from gramian.clustering.ksc import Directions, Eigenproblem
from gramian.clustering.networks.refinement import group_weights, modularity_of, refined
from gramian.clustering.networks.subgraph import SubgraphModel
from gramian.grams.features import unit_rows
from gramian.typing import Array, Matrix

_EVERY = 40  # up to so many communities every number is tried, beyond every twentieth part of it
_ROWS = 5000  # scores at most on which angles are judged


@dataclass
class Selection:
    """What was found for each number of communities.

    Attributes
    ----------
    counts : ndarray (c,)
        Numbers of communities, rising.
    gap, baf, modularity : ndarray (c,)
        NaN where not computed.
    """

    counts: Array
    gap: Array
    baf: Array
    modularity: Array

    def best(self, criterion: str) -> int:
        """The number of communities of the largest value, the smallest of equal ones."""
        return int(self.counts[int(np.nanargmax(getattr(self, criterion)))])

    def table(self) -> dict[str, Array]:
        """The same as a dictionary of columns."""
        return {"n_clusters": self.counts, "gap": self.gap, "baf": self.baf, "modularity": self.modularity}


def tried(most: int) -> list[int]:
    """The numbers of communities that are tried."""
    counts = list(range(2, min(most, _EVERY) + 1))
    while counts[-1] < most:
        counts.append(min(most, counts[-1] + max(1, counts[-1] // 20)))
    return counts


def by_gap(problem: Eigenproblem, most: int) -> Selection:
    """The relative gaps of the eigenvalues."""
    values = np.concatenate([[1.0], problem.values.astype(np.float64)])
    values = np.concatenate([values, np.zeros(max(0, most + 1 - len(values)))])[: most + 1]
    nothing = np.full(most - 1, np.nan)
    return Selection(np.arange(2, most + 1), relative_gaps(values), nothing, nothing.copy())


def by_partitions(
    graph: Matrix,
    looped: Matrix,
    model: SubgraphModel,
    problem: Eigenproblem,
    trained: Array,
    most: int,
    criterion: str,
    refine: bool,
) -> tuple[Selection, dict[int, Directions]]:
    """Angles, and with ``criterion="modularity"`` the modularity of the partition, for many numbers of communities.

    Scores are computed once, and sliced. Between the tried numbers around the best one all others are tried, too.

    Returns
    -------
    selection : Selection
    decoders : dict from the number of communities to the decoder that was judged
    """
    every = criterion == "modularity"
    others = np.setdiff1d(np.arange(graph.shape[0]), trained)
    held = others if len(others) >= most else np.arange(graph.shape[0])
    held = held if every or len(held) <= _ROWS else held[np.linspace(0, len(held) - 1, _ROWS).astype(int)]
    scores = model.scores(looped if every else looped[held]).astype(np.float32)
    rows = held if every else np.arange(len(held))
    fitted = problem.scores().astype(np.float32)
    all_gaps = by_gap(problem, most)
    found: dict[int, tuple[float, float]] = {}
    decoders: dict[int, Directions] = {}

    def judge(k: int) -> None:
        decoders[k] = Directions.of(fitted[:, : k - 1], k)
        cosines = unit_rows(scores[:, : k - 1]) @ unit_rows(decoders[k].prototypes).T
        labels = np.argmax(cosines, axis=1)
        near, own = cosines[rows, labels[rows]], labels[rows]
        sizes = np.bincount(own, minlength=k)
        angles = float((np.bincount(own, near, k) / np.maximum(sizes, 1)).mean()) if k > 2 else np.nan
        quality = np.nan
        if every:
            partition = refined(graph, labels, k) if refine else labels
            quality = modularity_of(*group_weights(graph, partition, k))
        found[k] = angles, quality

    grid = tried(most)
    for k in grid:
        judge(k)
    column = 1 if every else 0
    best = max(grid, key=lambda k: (-np.inf if np.isnan(found[k][column]) else found[k][column], -k))
    place = grid.index(best)
    for k in range(grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]):
        if k not in found:
            judge(k)
    counts = np.array(sorted(found))
    angles, quality = np.array([found[k] for k in counts]).T
    return Selection(counts, all_gaps.gap[counts - 2], angles, quality), decoders
