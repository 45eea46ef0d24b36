"""Kernel methods that need neither tuning nor labels.

Names are imported when they are first asked for, so that a program pays only for the tasks it uses.
"""

from typing import TYPE_CHECKING

from gramian.deferred import deferred

if TYPE_CHECKING:
    from gramian import datasets, kernels, metrics, plot
    from gramian.clustering import (
        KPOD,
        AutoClustering,
        ConsensusClustering,
        EvolvingKSC,
        HierarchicalKSC,
        KernelKMeans,
        KernelSpectralClustering,
        MultilevelKSC,
        NetworkKSC,
        SemiSupervisedKSC,
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
    from gramian.reservoir import (
        EchoStateForecaster,
        EchoStateNetwork,
        GeneticSearch,
        NextGenerationReservoir,
        Reservoir,
    )

__version__ = "0.1.0"

__all__ = [
    "KPOD",
    "AlternativeClustering",
    "AutoClustering",
    "ClusterKernel",
    "ConsensusClustering",
    "DependenceNetwork",
    "DependenceReduction",
    "EchoStateForecaster",
    "EchoStateNetwork",
    "EvolvingKSC",
    "FixedSizeLSSVMClassifier",
    "FixedSizeLSSVMRegressor",
    "FourierFeatures",
    "GenerativeKernelMachine",
    "GeneticSearch",
    "HierarchicalKSC",
    "IncompleteGaussianMixture",
    "IncompleteMixture",
    "KernelCCA",
    "KernelComponentAnalysis",
    "KernelECA",
    "KernelKMeans",
    "KernelPCA",
    "KernelPLS",
    "KernelPageRank",
    "KernelSpectralClustering",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "MemoryBudgetError",
    "MultiViewLSSVMRegressor",
    "MultilevelKSC",
    "NetworkKSC",
    "NextGenerationReservoir",
    "Nystroem",
    "PegasosClassifier",
    "RankedClustering",
    "Reservoir",
    "RestrictedKernelMachine",
    "ReweightedSVC",
    "SemiSupervisedKSC",
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
    "plot",
    "save",
]

# Where each name lives; type checkers read the imports above.
_HOMES = {
    ".clustering": (
        "AutoClustering",
        "ConsensusClustering",
        "EvolvingKSC",
        "HierarchicalKSC",
        "KPOD",
        "KernelKMeans",
        "KernelSpectralClustering",
        "SemiSupervisedKSC",
        "MultilevelKSC",
        "NetworkKSC",
        "SpectralClustering",
        "angular_kmeans",
    ),
    ".configuration": ("MemoryBudgetError", "config"),
    ".dependence": (
        "AlternativeClustering",
        "DependenceNetwork",
        "DependenceReduction",
        "center_alignment",
        "hsic",
        "hsic_test",
    ),
    ".embedding": ("KernelCCA", "KernelComponentAnalysis", "KernelECA", "KernelPCA", "KernelPLS"),
    ".kernels": ("ClusterKernel",),
    ".landmarks": ("FourierFeatures", "Nystroem"),
    ".lssvm": (
        "FixedSizeLSSVMClassifier",
        "FixedSizeLSSVMRegressor",
        "GenerativeKernelMachine",
        "LSSVMClassifier",
        "LSSVMRegressor",
        "MultiViewLSSVMRegressor",
        "PegasosClassifier",
        "RestrictedKernelMachine",
        "ReweightedSVC",
        "TensorKernelRegressor",
    ),
    ".mixture": ("IncompleteGaussianMixture", "IncompleteMixture"),
    ".persistence": ("load", "save"),
    ".ranking": ("KernelPageRank", "RankedClustering", "personalized_pagerank"),
    ".reservoir": ("EchoStateForecaster", "EchoStateNetwork", "GeneticSearch", "NextGenerationReservoir", "Reservoir"),
    # The applications need pandas, from the extra "app".
    ".explorer": ("explore",),
    ".forecaster": ("forecast",),
    ".imager": ("cluster_images",),
    ".learner": ("learn",),
    ".networker": ("network",),
}
_MODULES = (
    "checks", "clustering", "configuration", "datasets", "dependence", "discovery", "embedding", "estimator", "grams",
    "kernels", "landmarks", "lssvm", "metrics", "mixture", "persistence", "plot", "ranking", "reservoir", "tables",
)  # fmt: skip

__getattr__, __dir__ = deferred(__name__, _HOMES, _MODULES, ["deep"])
