"""Kernel learning without labels and without knobs."""

from gramian import datasets, kernels, metrics
from gramian.clustering import KernelKMeans, SpectralClustering, angular_kmeans
from gramian.configuration import MemoryBudgetError, config
from gramian.embedding import KernelECA, KernelPCA
from gramian.landmarks import FourierFeatures, Nystroem
from gramian.persistence import load, save

__version__ = "0.1.0.dev0"

__all__ = [
    "FourierFeatures",
    "KernelECA",
    "KernelKMeans",
    "KernelPCA",
    "MemoryBudgetError",
    "Nystroem",
    "SpectralClustering",
    "angular_kmeans",
    "config",
    "datasets",
    "kernels",
    "load",
    "metrics",
    "save",
]
