"""How fast and how large is kernel PCA, exact, through landmarks, and for new rows?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from benchmarks.case import Case, Scores
from gramian import KernelPCA, Nystroem
from gramian.kernels import RBF

WIDTH = 5.0  # close to the median distance of 20 standard normal features, 6.2


def _normal(n: int, d: int = 20) -> np.ndarray:
    """Anisotropic Gaussian data: a spectrum that decays, as real tables have."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.linspace(1.5, 0.5, d)


def _peer(solver: str) -> Any:
    return PeerKernelPCA(20, kernel="rbf", gamma=0.5 / WIDTH**2, eigen_solver=solver, random_state=0, copy_X=False)


def _eigenvalues(_: Any, model: Any) -> Scores:
    return {"_eigenvalues": np.asarray(model.eigenvalues_).tolist()}


def _relative_error(scores: dict[str, Scores]) -> None:
    reference = np.array(scores["scikit-learn arpack"]["_eigenvalues"])
    for side in scores.values():
        side["largest_eigenvalue_error"] = float(np.abs(np.array(side["_eigenvalues"]) / reference - 1).max())


def _subset_error(X: np.ndarray, model: KernelPCA) -> Scores:
    """Eigenvalues per sample against those of exact kernel PCA of 10,000 of the rows."""
    subset = X[np.random.default_rng(1).choice(len(X), 10_000, replace=False)]
    exact = KernelPCA(20, kernel=RBF(WIDTH)).fit(subset)
    # The scores of the subset under both models: how much of the exact ones is a linear image of ours?
    ours = np.linalg.qr(model.transform(subset) - model.transform(subset).mean(axis=0))[0]
    theirs = exact.embedding_
    residual = np.linalg.norm(theirs - ours @ (ours.T @ theirs)) / np.linalg.norm(theirs)
    ratio = (model.eigenvalues_ / len(X)) / (exact.eigenvalues_ / len(subset))
    return {"eigenvalue_error": float(np.abs(ratio - 1).max()), "subspace_residual": float(residual)}


def _new_rows() -> dict[str, Any]:
    X = _normal(25_000)
    fit, new = X[:5000], X[5000:]
    return {
        "gramian": KernelPCA(20, kernel=RBF(WIDTH)).fit(fit),
        "peer": _peer("arpack").fit(fit),
        "new": new,
    }


def _spread(_: Any, Z: np.ndarray) -> Scores:
    return {"_absolute": np.abs(Z[::1000]).tolist()}


def _agreement(scores: dict[str, Scores]) -> None:
    first, second = (np.array(side["_absolute"]) for side in scores.values())
    for side in scores.values():
        side["difference"] = float(np.abs(first - second).max())


CASES = [
    Case(
        name="kernel_pca",
        question="Exact kernel PCA, RBF, n = 10,000 × 20, k = 20",
        target=">= 2× faster than arpack, not slower than randomized, error <= 1e-6, peak <= 1 GB",
        data=lambda: _normal(10_000),
        sides={
            "gramian": lambda X: KernelPCA(20, kernel=RBF(WIDTH)).fit(X),
            "scikit-learn arpack": lambda X: _peer("arpack").fit(X),
            "scikit-learn randomized": lambda X: _peer("randomized").fit(X),
        },
        score=_eigenvalues,
        compare=_relative_error,
    ),
    Case(
        name="kernel_pca_landmarks",
        question="Kernel PCA, n = 100,000 × 20, k = 20, through 1,000 landmarks (scikit-learn needs 80 GB)",
        target="finishes, < 2 GB, error against exact on 10,000 rows reported",
        data=lambda: _normal(100_000),
        sides={
            "gramian": lambda X: KernelPCA(20, kernel=Nystroem(1000, kernel=RBF(WIDTH), random_state=0)).fit(X),
            "gramian, k-means landmarks": lambda X: KernelPCA(
                20, kernel=Nystroem(1000, kernel=RBF(WIDTH), selection="kmeans", random_state=0)
            ).fit(X),
        },
        score=_subset_error,
        repeats=1,
    ),
    Case(
        name="kernel_pca_transform",
        question="KernelPCA.transform of 20,000 new rows, fitted on 5,000",
        target=">= 1.5× faster, peak memory <= half",
        data=_new_rows,
        sides={
            "gramian": lambda data: data["gramian"].transform(data["new"]),
            "scikit-learn": lambda data: data["peer"].transform(data["new"]),
        },
        score=_spread,
        compare=_agreement,
    ),
]
