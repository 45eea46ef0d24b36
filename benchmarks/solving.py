"""Why one solver: factorizations against SciPy and scikit-learn, and conjugate gradients with and without landmarks.

``diagonal`` is what regularisation adds to K: the regularisation of an LS-SVM (larger fits harder) is its inverse, so
1, 100 and 10,000 are the diagonals 1, 0.01 and 0.0001.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_ridge import KernelRidge

from benchmarks.case import Case, Scores
from gramian.grams import DenseGram, FeatureGram, Gram
from gramian.kernels import RBF

N = 3000
TOL = 1e-8


def _rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5))
    return X, np.sin(X[:, :1]) + 0.1 * rng.standard_normal((N, 1))


def _system(width: float, diagonal: float) -> tuple[Gram, np.ndarray, float]:
    X, Y = _rows()
    return DenseGram(RBF(width)(X)), Y, diagonal


def _features() -> tuple[Gram, np.ndarray, float]:
    rng = np.random.default_rng(0)
    F = rng.standard_normal((20_000, 500))
    return FeatureGram(F), rng.standard_normal((20_000, 3)), 1.0


def _cholesky(data: Any) -> Any:
    gram, Y, diagonal = data
    return gram.factorization(diagonal, "cholesky").solve(Y), 0


def _scipy(data: Any) -> Any:
    gram, Y, diagonal = data
    A = gram.matrix + diagonal * np.eye(len(Y))
    return cho_solve(cho_factor(A, overwrite_a=True), Y), 0


def _ridge(data: Any) -> Any:
    gram, Y, diagonal = data
    return KernelRidge(alpha=diagonal, kernel="precomputed").fit(gram.matrix, Y).dual_coef_, 0


def _dual(data: Any) -> Any:
    gram, Y, diagonal = data
    return gram.factorization(diagonal, "dual").solve(Y), 0


def _woodbury(data: Any) -> Any:
    gram, Y, diagonal = data
    F = gram.factor.matrix
    small = F.T @ F + diagonal * np.eye(F.shape[1])
    return (Y - F @ cho_solve(cho_factor(small, overwrite_a=True), F.T @ Y)) / diagonal, 0


def _iterate(preconditioner: int | str, data: Any) -> Any:
    gram, Y, diagonal = data
    system = gram.factorization(diagonal, "cg", preconditioner=preconditioner)
    return system.solve(Y, tol=TOL), system.n_iter


def _residual(data: Any, result: Any) -> Scores:
    gram, Y, diagonal = data
    X, products = result
    residual = np.linalg.norm(Y - gram @ X - diagonal * X) / np.linalg.norm(Y)
    return {"residual": float(residual), "products": int(products)}


def _iterations(width: float, regularization: int) -> Case:
    return Case(
        name=f"solve_cg_{width:g}_{regularization}",
        question=f"Conjugate gradients to {TOL:.0e}: RBF({width:g}), n = {N:,}, regularisation {regularization:,}",
        target="no more products than without landmarks, fewer where the kernel is smooth",
        data=partial(_system, width, 1 / regularization),
        sides={
            "gramian": partial(_iterate, "auto"),
            "plain": partial(_iterate, 0),
            "200 landmarks": partial(_iterate, 200),
        },
        score=_residual,
    )


CASES = [
    Case(
        name="solve_dense",
        question=f"(K + I) X = Y by factorising, RBF Gram, n = {N:,}",
        target="as fast as SciPy, one n×n array less than either",
        data=partial(_system, 3.0, 1.0),
        sides={"gramian": _cholesky, "SciPy cho_factor": _scipy, "KernelRidge": _ridge},
        score=_residual,
    ),
    Case(
        name="solve_features",
        question="(F Fᵀ + I) X = Y with 500 features, n = 20,000",
        target="as fast as Woodbury written out",
        data=_features,
        sides={"gramian": _dual, "NumPy": _woodbury},
        score=_residual,
    ),
    *(_iterations(width, regularization) for width in (0.3, 1.0, 3.0) for regularization in (1, 100, 10_000)),
]
