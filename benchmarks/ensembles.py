"""How fast is the cluster kernel, with and without holes, and what is it worth beside imputing first?"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks.case import Case, Scores
from gramian import ClusterKernel, SpectralClustering
from gramian.datasets import load_table
from gramian.grams.tiles import run_threaded
from gramian.metrics import clustering_accuracy
from gramian.mixture import mcar

RESTARTS, COMPONENTS, STEPS = 30, 30, 10
TABLES = ("breast_w", "dermatology", "ecoli", "iris", "wdbc", "wine")


def _table(n: int = 5000, rate: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, centers=10, n_features=20, cluster_std=4.0, random_state=0)
    return (mcar(X, rate, random_state=0)[0] if rate else X), y


# The ensemble and its posteriors ------------------------------------------------------------------------------


def _ours(X: np.ndarray) -> Any:
    return ClusterKernel(RESTARTS, COMPONENTS, max_iter=STEPS, random_state=0).fit(X).features(X)


def _one_mixture(X: np.ndarray, size: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).choice(len(X), len(X) // 2, replace=False)
    model = GaussianMixture(
        size, covariance_type="diag", max_iter=STEPS, tol=0, reg_covar=1e-3, init_params="k-means++", random_state=seed
    )
    return model.fit(X[rows]).predict_proba(X).astype(np.float32)


def _loop(X: np.ndarray) -> Any:
    X = StandardScaler().fit_transform(X)
    sizes = [size for _ in range(RESTARTS) for size in range(2, COMPONENTS + 1)]
    return Parallel(n_jobs=-1)(delayed(_one_mixture)(X, size, seed) for seed, size in enumerate(sizes))


def _limit(data: tuple[np.ndarray, np.ndarray]) -> None:
    """The products and exponentials of the ensemble alone, on both cores: nothing that computes them is faster."""
    n, d = data[0].shape
    n_components = sum(range(2, COMPONENTS + 1))
    width = 1 + (3 if np.isnan(data[0]).any() else 2) * d
    rng = np.random.default_rng(0)
    theta, tile = rng.normal(size=(n_components, width)) / width, rng.normal(size=(512, width))

    def work(_: int) -> None:
        for step in range(STEPS * (n // 2) // 512 + n // 512):
            gamma = theta @ tile.T
            np.exp(gamma, out=gamma)
            if step < STEPS * (n // 2) // 512:
                gamma @ tile

    run_threaded(work, range(RESTARTS), entries=1e9)


def _contrast(data: tuple[np.ndarray, np.ndarray], result: Any) -> Scores:
    """How much more alike rows of a group are than rows of different groups, under the kernel of the posteriors."""
    if result is None:
        return {}
    y = data[1][:500]
    if isinstance(result, list):
        F = np.hstack([part[:500] for part in result]) / np.sqrt(len(result))
    else:
        F = result[:500].toarray()
    K, same = F @ F.T, y[:, None] == y
    return {"within_over_between": round(float(K[same].mean() / K[~same].mean()), 1)}


# Accuracy with holes ------------------------------------------------------------------------------------------


def _tables() -> list[tuple[str, np.ndarray, np.ndarray]]:
    out = []
    for name in TABLES:
        table = load_table(name)
        for seed in range(5):
            holes = mcar(table.X, 0.3, random_state=seed)[0]
            out.append((name, StandardScaler().fit_transform(holes), table.y))
    return out


def _clusters(kernel: Any, embedding: str, imputer: Any = None) -> Any:
    def run(data: list[tuple[str, np.ndarray, np.ndarray]]) -> list[np.ndarray]:
        labels = []
        for seed, (_, X, y) in enumerate(data):
            filled = X if imputer is None else imputer.fit_transform(X)
            k = len(np.unique(y))
            model = (
                KMeans(k, n_init=10, random_state=seed)
                if kernel is None
                else SpectralClustering(k, kernel=kernel, embedding=embedding, random_state=seed)
            )
            labels.append(model.fit(filled).labels_)
        return labels

    return run


def _accuracies(data: list[tuple[str, np.ndarray, np.ndarray]], labels: list[np.ndarray]) -> Scores:
    found: dict[str, list[float]] = {}
    for (name, _, y), own in zip(data, labels, strict=True):
        found.setdefault(name, []).append(clustering_accuracy(y, own))
    return {name: round(float(np.mean(values)), 3) for name, values in found.items()}


# Scale --------------------------------------------------------------------------------------------------------


def _embed_and_cluster(data: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
    """Mixtures and axes from 5,000 rows, labels for all."""
    X, _ = data
    some = X[np.random.default_rng(0).choice(len(X), 5000, replace=False)]
    start = time.perf_counter()
    model = SpectralClustering(10, kernel="cluster", random_state=0).fit(some)
    fitted = time.perf_counter() - start
    return {"labels": model.predict(X), "fit_seconds": fitted}


def _scale_score(data: tuple[np.ndarray, np.ndarray], result: dict[str, Any]) -> Scores:
    return {
        "ari": round(float(adjusted_rand_score(data[1], result["labels"])), 4),
        "fit_seconds": round(result["fit_seconds"], 2),
    }


def _new_rows(data: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    start = time.perf_counter()
    kernel = ClusterKernel(random_state=0).fit(data[0])
    fitted = time.perf_counter()
    kernel.features(data[0][:1000])
    return {"fit_seconds": fitted - start, "features_seconds": time.perf_counter() - fitted}


def _new_rows_score(_: Any, result: dict[str, float]) -> Scores:
    return {**result, "share_of_fit": round(result["features_seconds"] / result["fit_seconds"], 4)}


def _million(n: int) -> Case:
    return Case(
        name=f"cluster_rows_{n}",
        question=f"Cluster {n:,} rows × 20 with 20 % missing: ensemble and axes from 5,000 rows, all rows labelled",
        target="peak < 6 GiB, time linear in n",
        data=lambda: _table(n, 0.2),
        sides={"gramian": _embed_and_cluster},
        score=_scale_score,
        repeats=1,
    )


CASES = [
    Case(
        name="ensemble_complete",
        question="870 mixtures, 5,000 × 20, 10 steps on half the rows, posteriors of all rows",
        target=">= 5× faster than the same mixtures in a loop",
        data=_table,
        sides={
            "gramian": lambda data: _ours(data[0]),
            "gramian, float32": lambda data: _ours(data[0].astype(np.float32)),
            "products and exponentials alone": _limit,
            "scikit-learn, joblib loop": lambda data: _loop(data[0]),
        },
        score=_contrast,
        repeats=3,
    ),
    Case(
        name="ensemble_missing",
        question="The same with 30 % of the cells missing",
        target=">= 5× faster than imputing and the loop",
        data=lambda: _table(rate=0.3),
        sides={
            "gramian": lambda data: _ours(data[0]),
            "gramian, float32": lambda data: _ours(data[0].astype(np.float32)),
            "products and exponentials alone": _limit,
            "KNNImputer, joblib loop": lambda data: _loop(KNNImputer().fit_transform(data[0])),
            "IterativeImputer, joblib loop": lambda data: _loop(IterativeImputer().fit_transform(data[0])),
        },
        score=_contrast,
        repeats=1,
    ),
    Case(
        name="holes_accuracy",
        question="Clustering accuracy, 30 % of the cells missing, six real tables, five masks each",
        target="higher than after imputing on at least 4 of 6",
        data=_tables,
        sides={
            "gramian, published recipe (kpca)": _clusters("cluster", "kpca"),
            "gramian, default": _clusters("auto", "sym"),
            "KNNImputer, same kernel (kpca)": _clusters("cluster", "kpca", KNNImputer()),
            "IterativeImputer, same kernel (kpca)": _clusters("cluster", "kpca", IterativeImputer(random_state=0)),
            "KNNImputer, k-means": _clusters(None, "", KNNImputer()),
            "IterativeImputer, k-means": _clusters(None, "", IterativeImputer(random_state=0)),
        },
        score=_accuracies,
        repeats=1,
    ),
    Case(
        name="new_rows",
        question="Features of 1,000 new rows after a fit to 5,000 × 20",
        target="< 5 % of the fit",
        data=_table,
        sides={"gramian": _new_rows},
        score=_new_rows_score,
        repeats=3,
    ),
    *(_million(n) for n in (10_000, 100_000, 1_000_000)),
]
