"""From the edges of a network to communities, what holds them together, what bridges them, and how sure that is."""

from __future__ import annotations

import platform
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

import gramian
from gramian import MultilevelKSC, NetworkKSC
from gramian.checks import whole
from gramian.communities.comparison import MOST_EDGES, by_igraph, joined_at_random, judged
from gramian.communities.edges import Edges
from gramian.communities.layout import lay_out
from gramian.communities.model import CommunityModel, community_weights, numbered, weight_to
from gramian.communities.result import Bridge, Community, Division, Level, Partition
from gramian.communities.sentences import overview
from gramian.exploration.stages import Notify, Stages
from gramian.typing import Array, Matrix

_HUBS, _BRIDGES, _LISTED = 5, 20, 1000
_DRAWS = 5  # networks joined at random
_SMALL = 2000  # nodes up to which each of them gets a number of communities of its own
_BY_MODULARITY = 300_000  # edges up to which the number of communities is that of the largest modularity
_CLEAR = 0.1  # modularity above that of chance
_STAGES = {"finding communities": 6, "finding levels": 3, "comparing": 6, "drawing": 2}


def divide(
    edges: Edges,
    *,
    communities: int | None = None,
    levels: bool = False,
    random_state: int = 0,
    notify: Notify | None = None,
) -> tuple[Division, CommunityModel]:
    """Find the communities of a network.

    Parameters
    ----------
    edges : Edges
        From :func:`gramian.communities.read_edges`.
    communities : int, optional
        How many; by default they are chosen. Connected components of fewer than 10 nodes come on top.
    levels : bool, default False
        Find finer and coarser communities as well.
    random_state : int, default 0
        Of the networks joined at random, of the methods to compare with and of the drawing; the communities themselves
        do not depend on it.
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    division : Division
    model : CommunityModel
        For new nodes.
    """
    graph = edges.adjacency
    if not graph.nnz:
        raise ValueError(f"{edges.source} has no edge between two different nodes, so there are no communities")
    whole(random_state, "random_state", least=0)
    if communities is not None and whole(communities, "communities", instead="None") > graph.shape[0]:
        raise ValueError(
            f"communities={communities} is more than the {graph.shape[0]} nodes; pass at most {graph.shape[0]}"
        )
    alike = _all_alike(graph)
    levels = levels and not alike
    # Beyond 20,000 nodes the estimator's own choice is the gap of the eigenvalues, which real networks seldom have.
    criterion = "modularity" if graph.nnz // 2 <= _BY_MODULARITY else "auto"
    stages = Stages({name: part for name, part in _STAGES.items() if levels or name != "finding levels"}, notify)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        with stages("finding communities"):
            clusterer = NetworkKSC(1 if communities is None and alike else communities, criterion=criterion).fit(graph)
        warned = [str(warning.message) for warning in caught]
        warned += [
            "all nodes are joined to each other with the same weight, so there is one community and one level"
        ] * alike
    numbers, labels = by_size(clusterer.labels_)
    found, every = [], []
    model = CommunityModel(clusterer)
    if levels:
        with stages("finding levels"):
            model.levels = MultilevelKSC().fit(graph)
            for level, quality in zip(model.levels.levels_, model.levels.modularity_, strict=True):
                level_numbers, told = by_size(level)
                every.append(level_numbers)
                found.append(Level(told, len(level_numbers), float(quality)))
    with stages("comparing"):
        own = judged("gramian", graph, labels)
        others, why = _others(graph, random_state)
        chance = _by_chance(graph, clusterer, communities, np.random.default_rng(random_state))
    model.remember(edges.nodes, numbers, every, own.modularity)
    with stages("drawing"):
        weights = community_weights(graph, labels, own.communities)
        degree, within = np.asarray(graph.sum(axis=1)).ravel(), weight_to(weights, labels)
        division = Division(
            edges=edges, verdict=_verdict(own.modularity, chance), sentences=[], labels=labels,
            degree=degree, within=within,
            communities=described(labels, degree, within), bridges=bridges(labels, degree, within, weights),
            own=own, others=others, chance=chance, levels=found, layout=lay_out(graph, labels, random_state),
        )  # fmt: skip
    division.made.update(_made(stages, clusterer, random_state, [*edges.notes, *warned, *why]))
    division.sentences.extend(overview(division, int((labels == 0).sum()), warned))
    return division, model


# Parts ---------------------------------------------------------------------------------------------------------------


def by_size(labels: Array) -> tuple[Array, Array]:
    """The number of each label, from 1 for the largest community on, and of each node; −1 becomes 0.

    Examples
    --------
    >>> import numpy as np
    >>> by_size(np.array([0, 1, 1, -1]))
    (array([2, 1]), array([2, 1, 1, 0]))
    """
    sizes = np.bincount(labels[labels >= 0])
    numbers = np.empty(len(sizes), np.int64)
    numbers[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
    return numbers, numbered(numbers, labels)


def described(labels: Array, degree: Array, within: Array) -> list[Community]:
    """Size, weights, conductance and best-connected nodes of the largest communities."""
    k = int(labels.max(initial=0))
    sizes = np.bincount(labels, minlength=k + 1)
    volumes, inner = np.bincount(labels, degree, k + 1), np.bincount(labels, within, k + 1)
    total = degree.sum()
    # Sorted once: by community, then by weight to it.
    order = np.lexsort((-within, labels))
    starts = np.searchsorted(labels[order], np.arange(k + 2))
    found = []
    for c in range(1, min(k, _LISTED) + 1):
        leaving = max(float(volumes[c] - inner[c]), 0.0)
        least = min(volumes[c], total - volumes[c])
        if leaving <= 1e-12 * volumes[c]:
            leaving = 0.0
        hubs = order[starts[c] : starts[c + 1]][:_HUBS].tolist()
        cut = float(leaving / least) if least > 0 else 0.0
        found.append(Community(c, int(sizes[c]), float(inner[c]) / 2, leaving, cut, hubs, leaving == 0))
    return found


def bridges(labels: Array, degree: Array, within: Array, weights: Matrix) -> list[Bridge]:
    """Nodes of at least the median degree that edges of other communities hold most, lowest membership first."""
    joined = degree > 0
    share = np.divide(within, degree, out=np.ones_like(degree), where=joined)
    candidates = np.flatnonzero(joined & (degree >= np.median(degree[joined])) & (share < 1 - 1e-12))
    order = candidates[np.lexsort((candidates, -degree[candidates], share[candidates]))][:_BRIDGES]
    outside = weights[order].toarray()
    outside[np.arange(len(order)), labels[order]] = 0
    best = outside.argmax(axis=1)
    parts = outside[np.arange(len(order)), best] / degree[order]
    return [Bridge(int(node), int(other), float(part)) for node, other, part in zip(order, best, parts, strict=True)]


def _all_alike(graph: Matrix) -> bool:
    """Whether everyone in the only large component is joined to everyone, so that nothing tells communities apart."""
    parts = connected_components(graph, directed=False)[1]
    sizes = np.bincount(parts)
    large = np.flatnonzero(sizes >= min(NetworkKSC().min_size, int(sizes.max())))
    own = graph[parts == large[0]].data
    complete = len(own) == sizes[large[0]] * (sizes[large[0]] - 1)
    return bool(len(large) == 1 and complete and (own == own[0]).all())


def _others(graph: Matrix, seed: int) -> tuple[list[Partition], list[str]]:
    """Partitions of other methods, or why there are none."""
    if graph.nnz // 2 > MOST_EDGES:
        return [], [f"not compared with Leiden and Louvain: more than {MOST_EDGES:,} edges"]
    found = by_igraph(graph, seed)
    if found is None:
        return [], ["not compared with Leiden and Louvain: igraph is not installed (pip install igraph)"]
    return found, []


def _by_chance(graph: Matrix, clusterer: NetworkKSC, asked: int | None, rng: np.random.Generator) -> list[float]:
    """Modularities that the method reaches on networks joined at random."""
    if graph.nnz // 2 > MOST_EDGES:
        return []
    small = graph.shape[0] <= _SMALL
    found = []
    for _ in range(_DRAWS if small else 1):
        other = joined_at_random(graph, rng)
        if not other.nnz:  # nothing but loops came up, in a network of a few edges
            continue
        method = NetworkKSC(asked if small else clusterer.n_clusters_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                found.append(float(method.fit(other).modularity_))
            except ValueError:  # its largest component is too small for so many communities
                continue
    return found


def _verdict(modularity: float, chance: list[float]) -> str:
    if modularity <= max([0.0, *chance]):
        return "none"
    return "clear" if modularity - float(np.mean(chance or [0.0])) >= _CLEAR else "weak"


def _made(stages: Stages, clusterer: NetworkKSC, seed: int, notes: list[str]) -> dict[str, Any]:
    names = ("numpy", "scipy", "scikit-learn", "pandas")
    return {
        "parameters": {
            "communities asked for": clusterer.n_clusters,
            "communities of the model": clusterer.n_clusters_,
            "training nodes": clusterer.train_size_,
            "smallest component of the model": clusterer.min_size,
            "seed": seed,
        },
        "versions": {"gramian": gramian.__version__, "python": platform.python_version()}
        | {name: version(name) for name in names},
        "seconds": stages.seconds,
        "notes": notes,
    }
