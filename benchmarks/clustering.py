"""How fast is spectral clustering, up to a million rows, and are the clusters right?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering as PeerSpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.case import Case, Scores
from gramian import Nystroem, SpectralClustering
from gramian.datasets import make_rings


def _blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, centers=10, n_features=10, cluster_std=2.0, random_state=0)
    return X, y


def _rings(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_rings(n, random_state=0)
    return X, y


def _peer(k: int, solver: str) -> Any:
    return PeerSpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=10, eigen_solver=solver, random_state=0, n_jobs=-1
    )


def _ari(data: tuple[np.ndarray, np.ndarray], model: Any) -> Scores:
    X, y = data
    scores = {"ari": float(adjusted_rand_score(y, model.labels_))}
    if hasattr(model, "predict"):
        scores["ari_of_predict"] = float(adjusted_rand_score(y[:2000], model.predict(X[:2000])))
    return scores


def _case(name: str, question: str, k: int, data: Any) -> Case:
    return Case(
        name=name,
        question=question,
        target=">= 5× faster than the default (arpack), not slower than lobpcg, ARI not lower, and it predicts",
        data=data,
        sides={
            "gramian": lambda data: SpectralClustering(k, kernel="neighbors", random_state=0).fit(data[0]),
            "scikit-learn arpack": lambda data: _peer(k, "arpack").fit(data[0]),
            "scikit-learn lobpcg": lambda data: _peer(k, "lobpcg").fit(data[0]),
        },
        score=_ari,
        repeats=3,
    )


CASES = [
    _case("spectral_blobs", "Spectral clustering, 20,000 rows, 10 blobs in 10-D", 10, lambda: _blobs(20_000)),
    _case("spectral_rings", "Spectral clustering, 20,000 rows, 2 rings in 2-D", 2, lambda: _rings(20_000)),
    Case(
        name="spectral_million",
        question="Spectral clustering through 200 landmarks, 1,000,000 rows × 10, 10 blobs (scikit-learn cannot)",
        target="finishes, < 4 GiB peak, ARI >= 0.99",
        data=lambda: _blobs(1_000_000),
        sides={
            "gramian": lambda data: SpectralClustering(
                10, kernel=Nystroem(200, selection="kmeans", random_state=0), random_state=0
            ).fit(data[0]),
        },
        score=_ari,
        repeats=1,
    ),
]
