"""How fast is kernel spectral clustering through landmarks: one model, a whole selection, a million rows?

Seconds here are of the processor (``process_seconds`` among the scores), because a selection of many small problems
is mostly what the clock of a busy machine would not show.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering as PeerSpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.case import Case, Scores
from gramian import KernelSpectralClustering, Nystroem, SpectralClustering
from gramian.kernels import RBF

Data = tuple[np.ndarray, np.ndarray]
Answer = tuple[np.ndarray, np.ndarray, float, int]
"""Labels, the rows they are of, seconds of the processor, clusters found."""


def _grid(n: int, seed: int = 0) -> Data:
    """Ten Gaussian clusters on a grid in the plane."""
    rng = np.random.default_rng(seed)
    centers = np.array([(6.0 * (i % 4), 6.0 * (i // 4)) for i in range(10)])
    y = rng.integers(0, 10, n)
    return centers[y] + 0.8 * rng.normal(size=(n, 2)), y


def _trained_and_assigned() -> tuple[Data, Data]:
    return _grid(10_000), _grid(100_000, seed=1)


def _assigned(model: Any, data: tuple[Data, Data]) -> Answer:
    start = time.process_time()
    labels = model.fit(data[0][0]).predict(data[1][0])
    return labels, data[1][1], time.process_time() - start, model.n_clusters_


def _selected(data: Data) -> Answer:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = KernelSpectralClustering(reduction="cholesky", random_state=0).fit(data[0])
    return model.labels_, data[1], time.process_time() - start, model.n_clusters_


def _peer_selected(data: Data) -> Answer:
    """Ten runs of scikit-learn on half of the rows, as many as there are widths: none of them can judge the others."""
    start = time.process_time()
    rows = data[0][::2]
    for _ in range(10):
        model = PeerSpectralClustering(
            10, affinity="nearest_neighbors", n_neighbors=10, eigen_solver="lobpcg", random_state=0
        ).fit(rows)
    return model.labels_, data[1][::2], time.process_time() - start, 10


def _million(data: Data) -> Answer:
    start = time.process_time()
    model = KernelSpectralClustering(10, kernel=RBF(6.0), reduction="cholesky", n_prototypes=200, random_state=0).fit(
        data[0]
    )
    return model.labels_, data[1], time.process_time() - start, model.n_clusters_


def _score(data: Any, answer: Answer) -> Scores:
    labels, y, seconds, k = answer
    return {"ari": float(adjusted_rand_score(y, labels)), "process_seconds": round(seconds, 3), "clusters": k}


def _blobs(n: int) -> Data:
    X, y = make_blobs(n, centers=10, n_features=10, cluster_std=2.0, random_state=0)
    return X, y


CASES = [
    Case(
        name="ksc_assign",
        question="Train on 10,000 × 2, 10 clusters, 100 pivots, and assign 100,000 rows",
        target="not slower than SpectralClustering(kernel=Nystroem(100)), which also assigns",
        data=_trained_and_assigned,
        sides={
            "gramian": lambda data: _assigned(
                KernelSpectralClustering(10, kernel=RBF(1.0), reduction="cholesky", n_prototypes=100, random_state=0),
                data,
            ),
            "gramian SpectralClustering": lambda data: _assigned(
                SpectralClustering(10, kernel=Nystroem(100, kernel=RBF(1.0), random_state=0), random_state=0), data
            ),
        },
        score=_score,
    ),
    Case(
        name="ksc_selection",
        question="Ten widths × 2 to 10 clusters on 20,000 rows, half of them held back",
        target="<= 3 s of the processor",
        data=lambda: _grid(20_000),
        sides={"gramian": _selected, "scikit-learn, ten runs with the number given": _peer_selected},
        score=_score,
    ),
    Case(
        name="ksc_million",
        question="One million rows × 10, 200 pivots, 10 clusters",
        target="< 2 GB peak, ten times the time of 100,000 rows",
        data=lambda: _blobs(1_000_000),
        sides={
            "gramian": _million,
            "gramian, 100,000 rows": lambda data: _million((data[0][:100_000], data[1][:100_000])),
        },
        score=_score,
        repeats=1,
    ),
]
