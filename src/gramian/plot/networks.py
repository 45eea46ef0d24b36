"""Networks with their communities, laid out as on the pages of :func:`gramian.network`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, asked, axes_for, halo, marker, name_of
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_EDGES = 12_000  # more are a grey carpet
_MOST_NUMBERS = 30
_MODELS = "NetworkKSC, MultilevelKSC and other clusterers of nodes"


def network(model: Any, graph: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw a network with its communities: nodes inside the disc of their community, or discs alone if they are many.

    Parameters
    ----------
    model : fitted estimator with ``labels_`` of the nodes
        As :class:`gramian.NetworkKSC`, or what :func:`gramian.network` returns, which needs no graph.
    graph : SciPy sparse or array-like (n, n), networkx or igraph graph
        The network that was fitted.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import NetworkKSC, plot
    >>> from gramian.datasets import make_planted_graph
    >>> graph, y = make_planted_graph(150, 3, degree=12, inside=0.9, random_state=0)
    >>> ax = plot.network(NetworkKSC().fit(graph), graph)
    >>> ax.get_title()
    '150 nodes in 3 communities'
    """
    from gramian.communities import lay_out, read_edges

    found = getattr(model, "found", None)
    if found is not None and hasattr(found, "layout"):
        adjacency, numbers, layout = found.edges.adjacency, np.asarray(found.labels), found.layout
        names = np.arange(1, int(numbers.max(initial=0)) + 1)
        shade = np.arange(-1, int(numbers.max(initial=0)))
    else:
        labels = np.asarray(asked(model, "labels_", question="plot.network", models=_MODELS))
        if graph is None:
            raise TypeError(
                f"plot.network needs the graph, which {name_of(model)} does not keep; pass the one that was fitted: "
                "plot.network(model, graph)"
            )
        adjacency = read_edges(graph).adjacency
        if adjacency.shape[0] != len(labels):
            raise ValueError(f"graph has {adjacency.shape[0]} nodes and labels_ {len(labels)}; pass the fitted graph")
        numbers, names = _by_size(labels)
        shade = np.concatenate([[-1], names])  # as other pictures of these labels colour them
        layout = lay_out(adjacency, numbers)
    ax = axes_for(ax, (6.4, 5.6))
    colours = Colours.on(ax)
    ax.set_aspect("equal")
    ax.axis("off")
    if len(layout.nodes):
        _draw_nodes(ax, colours, adjacency, layout.nodes, numbers, shade)
    else:
        _draw_discs(ax, colours, layout, shade)
    for (x, y, radius), name in zip(layout.discs[:_MOST_NUMBERS], names, strict=False):
        above = (x, y + 1.02 * radius) if len(layout.nodes) else (x, y)
        ax.text(*above, str(name), ha="center", va="center", weight="bold", color=colours.ink,
                path_effects=halo(colours), zorder=6)  # fmt: skip
    k = int(numbers.max(initial=0))
    ax.set_title(f"{len(numbers):,} nodes in {k} communit{'y' if k == 1 else 'ies'}")
    ax.margins(0.08)  # the numbers stand above their discs
    ax.autoscale_view()
    return ax


def _by_size(labels: Array) -> tuple[Array, Array]:
    """Communities from 1, largest first, 0 for none, as the layout counts them; and what the model calls each."""
    own, sizes = np.unique(labels[labels >= 0], return_counts=True)
    names = own[np.argsort(-sizes, kind="stable")]
    place = {name: i + 1 for i, name in enumerate(names.tolist())}
    return np.array([place.get(label, 0) for label in labels.tolist()], dtype=np.int64), names


def _draw_nodes(ax: Axes, colours: Colours, adjacency: Any, nodes: Array, numbers: Array, shade: Array) -> None:
    from matplotlib.collections import LineCollection

    edges = adjacency.tocoo()
    one, other = edges.coords if hasattr(edges, "coords") else (edges.row, edges.col)
    kept = np.flatnonzero((one < other) & np.isfinite(nodes[one, 0]) & np.isfinite(nodes[other, 0]))
    if len(kept) > _MOST_EDGES:
        kept = np.random.default_rng(0).choice(kept, _MOST_EDGES, replace=False)
    one, other = one[kept], other[kept]
    faint = float(np.clip(40 / np.sqrt(max(len(kept), 1)), 0.12, 0.7))
    across = numbers[one] != numbers[other]
    for chosen, order in ((across, 1), (~across, 2)):
        ends = np.stack([nodes[one[chosen]], nodes[other[chosen]]], axis=1)
        shades = [colours.quiet if away else colours.group(shade[number])
                  for away, number in zip(across[chosen], numbers[one[chosen]], strict=True)]  # fmt: skip
        strength = faint * (0.5 if order == 1 else 1.0)
        ax.add_collection(LineCollection(list(ends), colors=shades, linewidths=0.6, alpha=strength, zorder=order))
    size = float(np.clip(900 / np.sqrt(len(nodes)), 8, 60))
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    sizes = size * np.clip(np.sqrt(degrees / max(float(np.median(degrees)), 1e-300)), 0.5, 3)
    for number in np.unique(numbers):
        own = np.flatnonzero((numbers == number) & np.isfinite(nodes[:, 0]))
        ax.scatter(
            nodes[own, 0], nodes[own, 1], s=sizes[own], color=colours.group(shade[number]),
            marker=marker(shade[number]),
            edgecolors=colours.paper, linewidths=0.5, zorder=4,
        )  # fmt: skip


def _draw_discs(ax: Axes, colours: Colours, layout: Any, shade: Array) -> None:
    from matplotlib.patches import Circle

    strongest = float(layout.between.max(initial=0.0)) or 1.0
    for i, j in zip(*np.nonzero(np.triu(layout.between, 1)), strict=True):
        width = 6 * np.sqrt(layout.between[i, j] / strongest)
        if width > 0.3:
            ax.plot(layout.discs[[i, j], 0], layout.discs[[i, j], 1], color=colours.pale, linewidth=width, zorder=1)
    for i, (x, y, radius) in enumerate(layout.discs):
        ax.add_patch(Circle((x, y), radius, facecolor=colours.group(shade[i + 1]), edgecolor=colours.paper, zorder=3))
