"""The choice of a similarity, a number of clusters and a clustering for a table, with nothing to tune."""

from gramian.clustering.automatic.completion import CompletedGraph, Completion, shared_distances
from gramian.clustering.automatic.estimator import AutoClustering

__all__ = ["AutoClustering", "CompletedGraph", "Completion", "shared_distances"]
