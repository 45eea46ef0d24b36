"""Cluster samples: spectral and kernel spectral clustering, kernel k-means, consensus clustering, holes in k-means."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Offer the clusterings that stand on dependence measures, which themselves stand on this package."""
    if name in ("AlternativeClustering", "alternative_search"):
        return getattr(import_module("gramian.dependence"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
