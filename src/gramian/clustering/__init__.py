"""Groups from similarities."""

from gramian.clustering.alternative import AlternativeClustering, alternative_search
from gramian.clustering.angular import angular_kmeans
from gramian.clustering.consensus import ConsensusClustering
from gramian.clustering.kernel_kmeans import KernelKMeans, kmeans_objective
from gramian.clustering.spectral import SpectralClustering

__all__ = [
    "AlternativeClustering",
    "ConsensusClustering",
    "KernelKMeans",
    "SpectralClustering",
    "alternative_search",
    "angular_kmeans",
    "kmeans_objective",
]
