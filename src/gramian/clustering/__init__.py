"""Groups from similarities."""

from gramian.clustering.angular import angular_kmeans
from gramian.clustering.consensus import ConsensusClustering
from gramian.clustering.kernel_kmeans import KernelKMeans, kmeans_objective
from gramian.clustering.spectral import SpectralClustering

__all__ = ["ConsensusClustering", "KernelKMeans", "SpectralClustering", "angular_kmeans", "kmeans_objective"]
