"""The choice of a similarity, a number of clusters and a clustering for a table, with nothing to tune."""

from typing import TYPE_CHECKING

from gramian.deferred import deferred

if TYPE_CHECKING:
    from gramian.clustering.automatic.completion import CompletedGraph, Completion, shared_distances
    from gramian.clustering.automatic.estimator import AutoClustering

__all__ = ["AutoClustering", "CompletedGraph", "Completion", "shared_distances"]

# Spectral clustering needs completed rows, not the whole choice.
_HOMES = {".completion": ("CompletedGraph", "Completion", "shared_distances"), ".estimator": ("AutoClustering",)}

__getattr__, __dir__ = deferred(__name__, _HOMES)
