"""Kernel learning without labels and without knobs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gramian import kernels
from gramian.clustering import (
    KPOD,
    AutoClustering,
    ConsensusClustering,
    KernelKMeans,
    SpectralClustering,
    angular_kmeans,
)
from gramian.configuration import MemoryBudgetError, config
from gramian.dependence import (
    AlternativeClustering,
    DependenceNetwork,
    DependenceReduction,
    center_alignment,
    hsic,
    hsic_test,
)
from gramian.embedding import KernelCCA, KernelComponentAnalysis, KernelECA, KernelPCA, KernelPLS
from gramian.kernels import ClusterKernel
from gramian.landmarks import FourierFeatures, Nystroem
from gramian.lssvm import (
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    GenerativeKernelMachine,
    LSSVMClassifier,
    LSSVMRegressor,
    MultiViewLSSVMRegressor,
    PegasosClassifier,
    RestrictedKernelMachine,
    ReweightedSVC,
    TensorKernelRegressor,
)
from gramian.mixture import IncompleteGaussianMixture, IncompleteMixture
from gramian.persistence import load, save
from gramian.ranking import KernelPageRank, RankedClustering, personalized_pagerank

if TYPE_CHECKING:
    from gramian import datasets, metrics

__version__ = "0.1.0.dev0"

__all__ = [
    "KPOD",
    "AlternativeClustering",
    "AutoClustering",
    "ClusterKernel",
    "ConsensusClustering",
    "DependenceNetwork",
    "DependenceReduction",
    "FixedSizeLSSVMClassifier",
    "FixedSizeLSSVMRegressor",
    "FourierFeatures",
    "GenerativeKernelMachine",
    "IncompleteGaussianMixture",
    "IncompleteMixture",
    "KernelCCA",
    "KernelComponentAnalysis",
    "KernelECA",
    "KernelKMeans",
    "KernelPCA",
    "KernelPLS",
    "KernelPageRank",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "MemoryBudgetError",
    "MultiViewLSSVMRegressor",
    "Nystroem",
    "PegasosClassifier",
    "RankedClustering",
    "RestrictedKernelMachine",
    "ReweightedSVC",
    "SpectralClustering",
    "TensorKernelRegressor",
    "angular_kmeans",
    "center_alignment",
    "config",
    "datasets",
    "hsic",
    "hsic_test",
    "kernels",
    "load",
    "metrics",
    "personalized_pagerank",
    "save",
]


def __getattr__(name: str) -> Any:
    """Import what only some programs use when it is first asked for."""
    if name in ("datasets", "metrics"):
        return import_module(f"gramian.{name}")
    if name == "explore":  # needs pandas, from the extra "app"
        return import_module("gramian.explorer").explore
    if name == "learn":
        return import_module("gramian.learner").learn
    raise AttributeError(f"module 'gramian' has no attribute {name!r}")
