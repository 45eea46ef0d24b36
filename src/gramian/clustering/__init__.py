"""Clustering: spectral and kernel spectral clustering, kernel k-means, consensus, k-means with missing values."""

from typing import TYPE_CHECKING

from gramian.deferred import deferred

if TYPE_CHECKING:
    from gramian.clustering.angular import angular_kmeans
    from gramian.clustering.automatic import AutoClustering, CompletedGraph, Completion, shared_distances
    from gramian.clustering.consensus import ConsensusClustering
    from gramian.clustering.evolving import EvolvingKSC
    from gramian.clustering.hierarchical import HierarchicalKSC
    from gramian.clustering.kernel_kmeans import KernelKMeans, kmeans_objective
    from gramian.clustering.kpod import KPOD
    from gramian.clustering.ksc import KernelSpectralClustering
    from gramian.clustering.multilevel import MultilevelKSC
    from gramian.clustering.network import NetworkKSC
    from gramian.clustering.semi_supervised import SemiSupervisedKSC
    from gramian.clustering.spectral import SpectralClustering
    from gramian.dependence.projection.alternative import AlternativeClustering, alternative_search

__all__ = [
    "KPOD",
    "AlternativeClustering",
    "AutoClustering",
    "CompletedGraph",
    "Completion",
    "ConsensusClustering",
    "EvolvingKSC",
    "HierarchicalKSC",
    "KernelKMeans",
    "KernelSpectralClustering",
    "MultilevelKSC",
    "NetworkKSC",
    "SemiSupervisedKSC",
    "SpectralClustering",
    "alternative_search",
    "angular_kmeans",
    "kmeans_objective",
    "shared_distances",
]

_HOMES = {
    ".angular": ("angular_kmeans",),
    ".automatic": ("AutoClustering", "CompletedGraph", "Completion", "shared_distances"),
    ".consensus": ("ConsensusClustering",),
    ".evolving": ("EvolvingKSC",),
    ".hierarchical": ("HierarchicalKSC",),
    ".kernel_kmeans": ("KernelKMeans", "kmeans_objective"),
    ".kpod": ("KPOD",),
    ".ksc": ("KernelSpectralClustering",),
    ".multilevel": ("MultilevelKSC",),
    ".network": ("NetworkKSC",),
    ".semi_supervised": ("SemiSupervisedKSC",),
    ".spectral": ("SpectralClustering",),
    # Clusterings that stand on dependence measures, which themselves stand on this package.
    "gramian.dependence": ("AlternativeClustering", "alternative_search"),
}

__getattr__, __dir__ = deferred(__name__, _HOMES)
