"""What was found about images, in sentences."""

from __future__ import annotations

import numpy as np

from gramian.albums.result import SURE, Album
from gramian.exploration.wording import count, percent

__all__ = ["overview"]

_UNSURE = 0.5  # share of clearly placed images below which the clusters are said to be doubtful


def overview(album: Album) -> list[str]:
    """The most important first."""
    n, filled = len(album.names), [cluster for cluster in album.clusters if cluster.size]
    told = [
        f"{count(n, 'image')} of {album.source} {'falls' if n == 1 else 'fall'} into {count(len(filled), 'cluster')}."
    ]
    if len(filled) > 1:
        first, last = filled[0], filled[-1]
        told.append(
            f"The largest holds {count(first.size, 'image')} ({percent(first.share)}), the smallest {last.size:,} "
            f"({percent(last.share)})."
        )
    if empty := len(album.clusters) - len(filled):
        told.append(
            f"{count(empty, 'cluster')} of the {len(album.clusters)} asked for {'is' if empty == 1 else 'are'} empty; "
            "ask for fewer clusters or more steps."
        )
    sure = float(np.mean(album.probability >= SURE))
    told.append(
        f"The network gives {percent(sure)} of the images to their cluster with a probability of {SURE} or more."
    )
    if sure < _UNSURE:
        told.append("That is little: the images may have no such clusters, or the network needs more steps.")
    if np.isfinite(album.kept):
        told.append(
            f"{percent(album.kept)} of the images stayed in the cluster that spectral clustering of their pixels, from "
            "which the network starts, had given them."
        )
    return told
