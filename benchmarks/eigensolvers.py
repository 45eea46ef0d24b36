"""Why one eigen-solver: ours against ARPACK, LOBPCG and LAPACK on the matrices that occur here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh, lobpcg
from sklearn.datasets import make_blobs, make_moons

from benchmarks.case import Case, Scores
from gramian.grams import Gram
from gramian.kernels import RBF, NeighborGraph

K = 20


def _dense() -> Gram:
    X = np.random.default_rng(0).standard_normal((5000, 20)) * np.linspace(1.5, 0.5, 20)
    return RBF(5.0).fit(X).gram(X).centered()


def _graph(X: np.ndarray) -> Gram:
    return NeighborGraph(10).fit(X).gram(X).normalized()


def _lobpcg(gram: Gram) -> Any:
    start = np.random.default_rng(0).standard_normal((gram.shape[0], K))
    return lobpcg(gram, start, largest=True, tol=1e-4, maxiter=500)


def _residual(gram: Gram, pairs: Any) -> Scores:
    values, vectors = pairs
    residual = np.linalg.norm(gram @ vectors - vectors * values, axis=0).max() / np.abs(values).max()
    return {"_values": np.sort(values)[::-1].tolist(), "residual": float(residual)}


def _missed(scores: dict[str, Scores]) -> None:
    best = np.max([side["_values"] for side in scores.values()], axis=0)
    for side in scores.values():
        side["largest_value_missed_by"] = float(np.max(best - np.array(side["_values"])))


def _case(name: str, question: str, data: Any) -> Case:
    return Case(
        name=name,
        question=question,
        target="the fastest at residual <= 1e-4, no eigenvalue missed",
        data=data,
        sides={
            "gramian": lambda gram: gram.eigenpairs(K, tol=1e-4),
            "ARPACK": lambda gram: eigsh(gram, K, which="LA", tol=1e-4, v0=np.ones(gram.shape[0])),
            "LOBPCG": _lobpcg,
        },
        score=_residual,
        compare=_missed,
    )


CASES = [
    _case("eigen_dense", f"Top {K} eigenpairs, centred RBF Gram, n = 5,000", _dense),
    _case(
        "eigen_blobs",
        f"Top {K} eigenpairs, neighbour graph of 20 blobs in 10-D, n = 20,000",
        lambda: _graph(make_blobs(20_000, centers=20, n_features=10, random_state=0)[0]),
    ),
    _case(
        "eigen_moons",
        f"Top {K} eigenpairs, neighbour graph of two noisy moons (small gaps), n = 10,000",
        lambda: _graph(make_moons(10_000, noise=0.1, random_state=0)[0]),
    ),
]
