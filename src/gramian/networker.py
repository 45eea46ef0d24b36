"""``gramian.network``: one call from an edge list to communities, a report and a model for new nodes.

Beside :mod:`gramian.explorer` and :mod:`gramian.learner`: it reads and divides (:mod:`gramian.communities`) and writes
(:mod:`gramian.report`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramian.communities import CommunityModel, Division, divide, read_edges
from gramian.outcome import Outcome
from gramian.partitions import refuse_partitions
from gramian.report import (
    network_nodes,
    network_summary,
    placed_nodes,
    write_network_folder,
    write_network_report,
)

__all__ = ["Divided", "network"]


@dataclass(frozen=True, repr=False)
class Divided(Outcome):
    """What :func:`network` found in a network.

    Attributes
    ----------
    found : Division
        Everything, as plain data.
    model : CommunityModel
        For new nodes; ``gramian.save(model, path)`` keeps it, and ``gramian assign`` reads it.
    """

    found: Division
    model: CommunityModel

    @property
    def verdict(self) -> str:
        """Whether there are communities beyond chance: "clear", "weak" or "none"."""
        return self.found.verdict

    @property
    def nodes(self) -> Any:
        """Every node with community, membership, degree, and levels if asked for; a pandas DataFrame."""
        return network_nodes(self.found)

    @property
    def communities(self) -> Any:
        """One row per community, of the 1,000 largest: size, edges, conductance, best-connected nodes; a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.summary()["communities"]).set_index("number")

    def place(self, edges: Any) -> Any:
        """New nodes with community, membership and a note, by their edges to the nodes of the network; a DataFrame.

        Parameters
        ----------
        edges : what :func:`network` reads
            Edges among known nodes, and among new ones, are not used.
        """
        return placed_nodes(self.model, read_edges(edges, weighted=self.found.edges.weighted))

    def summary(self) -> dict[str, Any]:
        """The findings without the single nodes, ready for JSON."""
        return network_summary(self.found)

    def _write_report(self, path: Path) -> Path:
        return write_network_report(self.found, path)

    def _write_folder(self, folder: Path, *, force: bool) -> None:
        write_network_folder(self.found, self.model, folder, force=force)


def network(
    edges: Any,
    *,
    communities: int | None = None,
    levels: bool = False,
    weighted: bool = True,
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> Divided:
    """Find the communities of a network, what holds them together, and what bridges them.

    Parameters
    ----------
    edges : path, open file, SciPy sparse or array, pandas or polars data frame, networkx or igraph graph
        One edge per line, ``u v`` or ``u v weight``; ``"-"`` is the standard input. Directions do not count: weights of
        all lines between two nodes add up.
    communities : int, optional
        How many; by default they are chosen. Connected components of fewer than 10 nodes come on top.
    levels : bool, default False
        Find finer and coarser communities as well.
    weighted : bool, default True
        Whether to read weights.
    random_state : int, default 0
        Of what the result is compared with; the communities do not depend on it.
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    divided : Divided

    Examples
    --------
    >>> import gramian
    >>> from gramian.datasets import make_planted_graph
    >>> adjacency, y = make_planted_graph(300, 3, degree=12, inside=0.9, random_state=0)
    >>> divided = gramian.network(adjacency)
    >>> divided.verdict, len(divided.communities), list(divided.nodes)
    ('clear', 3, ['node', 'community', 'membership', 'degree'])

    A new node with two edges into the last community:

    >>> import pandas as pd
    >>> new = pd.DataFrame({"source": ["newcomer", "newcomer"], "target": ["250", "260"]})
    >>> divided.place(new)[["node", "membership"]].values.tolist()
    [['newcomer', 1.0]]
    """
    refuse_partitions("network", edges, "pass edges.compute(), or rank its nodes with personalized_pagerank")
    found, model = divide(
        read_edges(edges, weighted=weighted),
        communities=communities,
        levels=levels,
        random_state=random_state,
        notify=notify,
    )
    return Divided(found, model)
