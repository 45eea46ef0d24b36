"""How the compliance tests build, feed and question an estimator they know nothing about.

Every estimator of the registry is built by its defaults or by the table below, given small data of the kind its
tags ask for, and asked everything it can answer.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone, is_classifier, is_regressor
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from gramian.discovery import all_estimators
from gramian.kernels import RBF, TL1, ClusterKernel, Linear, NeighborGraph
from gramian.kernels.base import Kernel


class DotProduct:
    """A kernel function, as a user would write one; a class, so that it prints the same in every process."""

    def __call__(self, X: Any, Y: Any) -> Any:
        return X @ Y.T

    def __repr__(self) -> str:
        return "DotProduct()"


class Falling:
    """A function of a squared distance, or its derivative, as a user would write them for a ProfileKernel."""

    def __init__(self, power: int) -> None:
        self.power = power

    def __call__(self, squared: Any) -> Any:
        return (-1) ** (self.power - 1) * (1 + squared) ** -self.power

    def __repr__(self) -> str:
        return f"Falling({self.power})"


# Classes that need arguments, or smaller ones than their defaults to be quick on a few dozen rows.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "AlternativeClustering": {"kernel": "rbf"},  # the default tries several widths
    "ClassAverageChain": {"max_layers": 3},
    "ConsensusClustering": {"n_partitions": 20},
    "ClusterKernel": {"n_restarts": 4, "max_components": 5},
    "Columns": {"kernel": RBF(), "columns": slice(None, None, -1)},
    "DependenceNetwork": {"n_features": 30, "max_layers": 3},
    "DEC": {"n_clusters": 3, "n_components": 2, "hidden_layer_sizes": (10,), "pretrain_iter": 20, "max_iter": 10},
    "IDEC": {"n_clusters": 3, "n_components": 2, "hidden_layer_sizes": (10,), "pretrain_iter": 20, "max_iter": 10},
    "DivergenceClustering": {"n_clusters": 3, "hidden_layer_sizes": (20,), "max_iter": 40, "learning_rate": 0.01},
    "EchoStateNetwork": {"n_units": 20},
    "FixedSizeLSSVMClassifier": {"n_prototypes": 10},
    "FixedSizeLSSVMRegressor": {"n_prototypes": 10},
    "FunctionKernel": {"function": DotProduct()},
    "FourierFeatures": {"n_components": 10},
    "HierarchicalKSC": {"max_clusters": 3, "threshold": 0.0},  # whatever the data, without a word of warning
    "GeneticSearch": {
        "estimator": Ridge(),
        "param_space": {"alpha": (0.01, 1.0)},
        "population_size": 4,
        "n_generations": 2,
        "n_offspring": 3,
        "n_evaluations": 1,
    },
    "KernelAutoencoder": {
        "n_components": 4,
        "kernel": ClusterKernel(3, 5),
        "hidden_layer_sizes": (6,),
        "activation": "tanh",
        "max_iter": 5,
        "pretrain_iter": 3,
    },
    "KernelPageRank": {"kernel": ClusterKernel(3, 5)},
    "NextGenerationReservoir": {"lags": 2},
    "Normalized": {"kernel": RBF()},
    "Nystroem": {"n_components": 5},
    "RankedClustering": {"kernel": ClusterKernel(3, 5)},
    "PegasosClassifier": {"n_prototypes": 10, "max_iter": 2000},
    "ProfileKernel": {"value": Falling(1), "derivative": Falling(2)},
    "Product": {"first": RBF(), "second": Linear()},
    "Reservoir": {"n_units": 20},
    "Scaled": {"factor": 0.5, "kernel": RBF()},
    "StackedAutoencoder": {
        "n_components": 4,
        "hidden_layer_sizes": (6,),
        "activation": "tanh",
        "max_iter": 5,
        "pretrain_iter": 3,
    },
    "Sum": {"first": RBF(), "second": Linear()},
}

ARGUMENTS |= {  # networks: few steps, few units
    "GenerativeRKM": {"n_components": 2, "hidden_layer_sizes": (6,), "n_features": 4, "n_modes": 2, "max_iter": 5},
    "KernelNetClustering": {"max_iter": 1, "n_refine": 1, "pretrain_iter": 60, "steps_per_iter": 10, "n_init": 2},
    "MultiViewDivergenceClustering": {
        "n_clusters": 3,
        "hidden_layer_sizes": (20,),
        "max_iter": 40,
        "learning_rate": 0.01,
    },
    "MultiViewNetworkRegressor": {"hidden_layer_sizes": (8,), "max_iter": 60, "learning_rate": 0.05},
    "NeuralKernelClassifier": {"units": 8, "n_features": 20, "max_iter": 60, "learning_rate": 0.02},
    "NeuralKernelRegressor": {"units": 8, "n_features": 20, "max_iter": 100, "learning_rate": 0.02},
    "StiefelRKM": {"n_components": 2, "hidden_layer_sizes": (6,), "n_features": 4, "max_iter": 5},
    "Transformed": {"transformer": StandardScaler(), "kernel": RBF()},
}

# Settings that take another path through the code and are held to the same promises. Every estimator with a
# kernel is also tried with similarities instead of rows, if its tags say that it takes them.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "ClusterKernel": [{"threshold": 0}, {"hard": True}, {"covariance_type": "full"}],
    "ConsensusClustering": [{"linkage": "single"}, {"linkage": "spectral"}, {"subsample": 0.7}, {"base": "mixture"}],
    "DependenceNetwork": [{"feature_map": "exact"}, {"width": "median", "decision_space": "projection"}],
    "AlternativeClustering": [{"kernel": "polynomial"}],
    "DependenceReduction": [{"mode": "supervised"}, {"kernel": "linear"}, {"normalize": True}],
    "DivergenceClustering": [{"n_init": 3, "combine": "vote"}, {"n_init": 2, "combine": "consensus"}],
    "EvolvingKSC": [{"incremental": True}],
    "EchoStateNetwork": [{"reduction": "kpca"}, {"reduction": "pca", "feedback_scaling": 0.1}],
    "FixedSizeLSSVMClassifier": [{"sparsity": "rwl1"}],
    "FixedSizeLSSVMRegressor": [{"kernel": "linear"}, {"n_prototypes": "auto"}],
    "IncompleteGaussianMixture": [
        {"covariance_type": "tied"},
        {"covariance_type": "diag"},
        {"covariance_type": "spherical"},
    ],
    "IncompleteMixture": [{"covariance_type": "full"}],
    "KernelPCA": [{"center": False}],
    "MultilevelKSC": [{"kernel": "rbf"}],
    "NetworkKSC": [{"criterion": "baf", "n_clusters": None}, {"refine": False}],
    "Nystroem": [{"kernel": "tl1"}, {"selection": "cholesky"}],
    "KernelSpectralClustering": [
        {"reduction": "cholesky", "n_prototypes": 10},
        {"reduction": "reduced_set", "n_prototypes": 10},
        {"reduction": "group_lasso", "n_prototypes": 10},
        {"kernel": TL1(30.0)},
        {"kernel": NeighborGraph(3)},
        {"n_clusters": 3, "decoding": "hamming"},
    ],
    "KernelPageRank": [{"order": "restart", "n_components": 3}],
    "RankedClustering": [{"normalized": False}, {"metric": "cosine"}],
    "Reservoir": [{"connectivity": 0.5, "noise": 0.01}],
    "SemiSupervisedKSC": [{"n_prototypes": 10}],
    "SpectralClustering": [
        {"embedding": "sym"},
        {"embedding": "kpca", "kernel": "rbf"},
        {"embedding": "keca", "kernel": "rbf"},
    ],
}
PRECOMPUTED = {"kernel": "precomputed"}

# What an estimator answers for rows; those of a fit come as attributes.
METHODS = ("predict", "transform", "predict_proba", "decision_function", "score_samples", "features", "diagonal")
ATTRIBUTES = ("labels_", "embedding_", "eigenvalues_")


def build(cls: type[BaseEstimator], **changes: Any) -> Any:
    """An unfitted, repeatable instance of ``cls``."""
    arguments = {name: clone(value, safe=False) for name, value in ARGUMENTS.get(cls.__name__, {}).items()}
    estimator = cls(**arguments)
    if isinstance(estimator, ClusterMixin) and "n_clusters" in estimator.get_params(deep=False):
        # As scikit-learn does with its own: the checks' data hold two or three groups.
        estimator.set_params(n_clusters=2)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=0)
    return estimator.set_params(**changes)


def by_defaults() -> list[Any]:
    """The estimators that :func:`build` changes, as their defaults make them; some have parameters without default."""
    found = []
    for _, cls in all_estimators():
        if cls.__module__.startswith("gramian.deep."):  # whose defaults train for a minute and more at every fit
            continue
        if any(parameter.default is parameter.empty for parameter in signature(cls).parameters.values()):
            continue
        plain = cls()
        if "random_state" in plain.get_params(deep=False):
            plain.set_params(random_state=0)
        if repr(plain) != repr(build(cls)):
            found.append(plain)
    return found


def name_of(estimator: Any) -> str:
    """How a test's id names the estimator: its class and, for a variant, what is set."""
    name = type(estimator).__name__
    values = estimator.get_params(deep=False)
    for changes in [PRECOMPUTED, *VARIANTS.get(name, [])]:
        if all(isinstance(values.get(key), type(value)) and values[key] == value for key, value in changes.items()):
            return f"{name}({', '.join(f'{key}={value}' for key, value in changes.items())})"
    return name


def is_pairwise(estimator: Any) -> bool:
    """Whether X is a matrix of similarities instead of rows of features."""
    return bool(get_tags(estimator).input_tags.pairwise)


def _instances(cls: type[BaseEstimator]) -> list[Any]:
    """The class by its defaults, then its variants."""
    instances = [build(cls), *(build(cls, **changes) for changes in VARIANTS.get(cls.__name__, []))]
    if not issubclass(cls, Kernel) and "kernel" in cls._get_param_names():
        instances += [similar for similar in [build(cls, **PRECOMPUTED)] if is_pairwise(similar)]
    return instances


ESTIMATORS: list[Any] = [instance for _, cls in all_estimators() for instance in _instances(cls)]


def can(*methods: str) -> list[Any]:
    """The estimators that have any of the methods."""
    return [estimator for estimator in ESTIMATORS if any(hasattr(estimator, method) for method in methods)]


def samples(n: int = 40, dtype: Any = np.float64) -> Any:
    """Two groups of rows with three columns, seeded."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(n, 3)) + np.where(np.arange(n) % 2, 2.5, 0.0)[:, None]
    return X.astype(dtype)


def data(estimator: Any, n: int = 40, dtype: Any = np.float64) -> tuple[Any, Any]:
    """X of the kind the estimator takes, and the y it needs (None if it needs none)."""
    X = samples(n, dtype)
    if get_tags(estimator).input_tags.positive_only:
        X = np.abs(X)
    rows = X
    if is_pairwise(estimator):
        X = RBF(width=1.0)(X)
    if is_classifier(estimator):
        return X, np.arange(n) % 2
    if is_regressor(estimator) or get_tags(estimator).target_tags.required:
        return X, rows.sum(axis=1)
    return X, None


def answers(estimator: Any, X: Any) -> dict[str, Any]:
    """Everything a fitted estimator says about the rows of X, by name, as dense arrays."""
    found = {}
    for name in METHODS:
        # A kernel has ``features`` only if it is one with finite features.
        if hasattr(estimator, name) and (name != "features" or estimator.has_features):
            found[name] = getattr(estimator, name)(X)
    if isinstance(estimator, Kernel):
        found["block"] = estimator(X)
    for name in ATTRIBUTES:
        if hasattr(estimator, name):
            found[name] = getattr(estimator, name)
    return {name: dense(value) for name, value in found.items()}


def dense(value: Any) -> Any:
    """An array, whatever container the answer came in."""
    if hasattr(value, "toarray"):
        return value.toarray()
    return value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)
