"""What was found in a network, in plain words."""

from __future__ import annotations

import numpy as np

from gramian.communities.result import Division
from gramian.exploration.wording import count, listing, number, percent, short


def overview(found: Division, alone: int, warned: list[str]) -> list[str]:
    """The most important first: how many communities, how good they are, and what to keep in mind.

    Parameters
    ----------
    found : Division
    alone : int
        Nodes without edges.
    warned : list of str
        What the method warned of.
    """
    n, k = len(found.labels), found.own.communities
    inside = float(found.within.sum() / found.degree.sum())
    stays = "the edges stay" if found.edges.counted else "the edge weight stays"
    told = [
        f"{count(n, 'node')} and {count(found.edges.n_edges, 'edge')} fall into "
        f"{count(k, 'community', 'communities')}; {percent(inside)} of {stays} inside them."
    ]
    told.append(_against_chance(found))
    told.append(_sizes(found))
    if found.bridges:
        names = [short(found.edges.nodes[bridge.node]) for bridge in found.bridges[:3]]
        told.append(f"The plainest {'bridge' if len(names) == 1 else 'bridges'} between communities: {listing(names)}.")
    if found.levels:
        counts = ", ".join(f"{level.communities:,}" for level in found.levels)
        told.append(f"From fine to coarse there are {counts} communities.")
    if found.others:
        best = max(found.others, key=lambda other: other.modularity)
        told.append(
            f"{best.method} reaches a modularity of {best.modularity:.3f} with "
            f"{count(best.communities, 'community', 'communities')}."
        )
    if alone:
        told.append(f"{count(alone, 'node has', 'nodes have')} no edges and no community.")
    told += found.edges.remarks()
    told += [text[:1].upper() + text[1:] + "." for text in warned]
    return told


def _against_chance(found: Division) -> str:
    if found.own.communities == 1:
        return "The modularity of one community is 0."
    reached = f"The modularity is {found.own.modularity:.3f}"
    if not found.chance:
        return f"{reached}; the network was not compared with one that is joined at random."
    random = float(np.mean(found.chance))
    same = "in networks of the same degrees that are joined at random the same method reaches"
    if found.verdict == "none":
        return f"{reached}, but {same} {random:.3f}: these communities may be chance."
    few = "" if found.verdict == "clear" else ", so take them with care"
    return f"{reached}; {same} {random:.3f}{few}."


def _sizes(found: Division) -> str:
    sizes = np.bincount(found.labels)[1:]
    small = int((sizes < 10).sum())
    text = (
        f"The largest community has {count(int(sizes.max()), 'node')}, the median one {number(float(np.median(sizes)))}"
    )
    apart = sum(item.apart for item in found.communities)
    if apart == found.own.communities and apart > 1:
        return f"{text}; no edge runs between communities."
    return f"{text}; {count(small, 'has', 'have')} fewer than 10." if small and len(sizes) > 1 else f"{text}."
