"""Least-squares support vector machines beside kernel ridge and the SVM of scikit-learn.

Every side measures its own processor time, because the clock of a busy machine tells little; the column of seconds is
the clock's. "Nothing set" takes ten tables of the folder of data sets beside the repository.

Both sides of the given machines solve by LAPACK's Cholesky factorisation, which runs at the speed of a matrix product.
Of 9,000 rows ours is in single precision and refined. Leaving each of 4,000 rows out takes the inverse of the factor as
well, as many operations again. In double both would take 0.35 and 0.39 seconds beside 0.63 of the peer's whole fit; the
inverse is one in single precision, 0.18 seconds, whose error is measured (``gramian.grams.triangular``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.case import Case, Scores
from gramian.configuration import config
from gramian.kernels import RBF
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "uci"
NAMES = ("pima", "ionosphere", "sonar", "vehicle", "wdbc", "segment", "glass", "ecoli", "seeds", "heart_statlog")
SEEDS = 5
MOST_ROWS = 1200
WIDTHS = 2.0 ** np.arange(-2, 4)  # times √d, the six widths of both searches
WIDTH = 4.0
REGULARIZATION = 10.0


def _clocked(work: Callable[[], Any]) -> dict[str, Any]:
    """What one thread takes, for that is all that the peers use beside BLAS."""
    with config(threads=1):
        start = time.process_time()
        result = work()
        return {"result": result, "processor": time.process_time() - start}


def _rows(n: int, d: int, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)
    return X.astype(dtype), y.astype(dtype)


def _machine(data: Any) -> Any:
    X, y = data
    return _clocked(lambda: LSSVMRegressor(RBF(WIDTH), regularization=REGULARIZATION).fit(X, y).predict(X[:500]))


def _single(data: Any) -> Any:
    return _machine(tuple(part.astype(np.float32) for part in data))


def _ridge(data: Any) -> Any:
    X, y = data
    return _clocked(
        lambda: KernelRidge(alpha=1 / REGULARIZATION, kernel="rbf", gamma=0.5 / WIDTH**2).fit(X, y).predict(X[:500])
    )


def _machine_left_out(data: Any) -> Any:
    X, y = data

    def work() -> Any:
        model = LSSVMRegressor(RBF(WIDTH), regularization=REGULARIZATION).fit(X, y)
        return y[:500] - model.loo_residuals()[:500]

    return _clocked(work)


def _fit_score(data: Any, result: Any) -> Scores:
    y = data[1][:500]
    error = float(np.mean((result["result"] - y) ** 2) / y.var())
    return {"processor_seconds": round(result["processor"], 3), "relative_error": round(error, 4)}


# Sweeps ----------------------------------------------------------------------------------------------------


def _friedman(n: int) -> Any:
    X, y = make_friedman1(n + 1000, noise=1.0, random_state=0)
    return X[:n], y[:n], X[n:], y[n:]


def _tuned(data: Any) -> Any:
    X, y, new, truth = data
    return _clocked(lambda: LSSVMRegressor(random_state=0).fit(X, y).score(new, truth))


def _ridge_search(data: Any) -> Any:
    X, y, new, truth = data
    gammas = 0.5 / (X.shape[1] * WIDTHS**2)
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = {"kernelridge__gamma": gammas, "kernelridge__alpha": np.geomspace(1e-6, 1e2, 15)}

    def work() -> Any:
        search = GridSearchCV(model, grid, cv=5, scoring="neg_mean_squared_error").fit(X, y - y.mean())
        return 1 - np.mean((search.predict(new) + y.mean() - truth) ** 2) / truth.var()

    return _clocked(work)


def _sweep_score(data: Any, result: Any) -> Scores:
    return {"processor_seconds": round(result["processor"], 3), "r2": round(float(result["result"]), 4)}


# Nothing set -----------------------------------------------------------------------------------------------


def _tables() -> Any:
    found = {}
    for name in NAMES:
        lines = np.genfromtxt(TABLES / f"{name}.csv.gz", delimiter=",", dtype=str, skip_header=1)
        found[name] = lines[:, :-1].astype(float), lines[:, -1]
    return found


def _over_tables(fit: Callable[[Any, Any], Any], data: Any) -> Any:
    rows = {}
    for name, (X, y) in data.items():
        right, seconds = [], 0.0
        for seed in range(SEEDS):
            train, new, labels, truth = train_test_split(X, y, test_size=0.3, random_state=seed)
            train, labels = train[:MOST_ROWS], labels[:MOST_ROWS]
            start = time.process_time()
            right.append(fit(train, labels).score(new, truth))
            seconds += time.process_time() - start
        rows[name] = {"n": len(train), "accuracy": float(np.mean(right)), "seconds": seconds / SEEDS}
    return rows


def _nothing_set(X: Any, y: Any) -> Any:
    return LSSVMClassifier(random_state=0).fit(X, y)


def _svc_search(X: Any, y: Any) -> Any:
    grid = {"svc__C": np.geomspace(0.1, 1000, 5), "svc__gamma": 0.5 / (X.shape[1] * WIDTHS**2)}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(X, y)


def _tables_score(data: Any, result: Any) -> Scores:
    cells = {name: f"n={r['n']} {r['accuracy']:.4f} {r['seconds']:.3f}s" for name, r in result.items()}
    mean = float(np.mean([row["accuracy"] for row in result.values()]))
    return {"mean_accuracy": round(mean, 4), **cells}


# Conjugate gradients ---------------------------------------------------------------------------------------


def _iterate(regularization: float, data: Any) -> Any:
    X, Y = data
    with config(memory_budget="1GB"):  # the matrix would take 3.2 GB

        def work() -> Any:
            gram = RBF(WIDTH)._fitted(X).gram(X)
            system = gram.factorization(1 / regularization)
            found = system.solve(Y, tol=1e-6)
            return gram, found, system.n_iter, system.method

        return _clocked(work) | {"regularization": regularization}


def _iterate_score(data: Any, result: Any) -> Scores:
    gram, found, products, method = result["result"]
    left = data[1] - gram @ found - found / result["regularization"]
    residual = float((np.linalg.norm(left, axis=0) / np.linalg.norm(data[1], axis=0)).max())
    return {
        "processor_seconds": round(result["processor"], 2),
        "method": method,
        "products": products,
        "residual": residual,
    }


def _many_rows() -> Any:
    X, y = _rows(20_000, 10)
    return X, np.column_stack([np.ones_like(y), y])


CASES = [
    Case(
        name="lssvm_given_9000",
        question="Regression with given width and regularization, n = 9,000 × 20",
        target=">= 1.5× faster than kernel ridge, <= 40 % of its memory",
        data=partial(_rows, 9000, 20),
        sides={"gramian": _machine, "gramian, float32": _single, "KernelRidge": _ridge},
        score=_fit_score,
        repeats=5,
    ),
    Case(
        name="lssvm_loo_4000",
        question="The same with all leave-one-out residuals, n = 4,000 × 20; the peer fits only",
        target="<= 1.2× the bare fit of kernel ridge",
        data=partial(_rows, 4000, 20),
        sides={"gramian": _machine_left_out, "KernelRidge": _ridge},
        score=_fit_score,
        repeats=5,
    ),
    *(
        Case(
            name=f"lssvm_sweep_{n}",
            question=f"Width and regularization chosen, n = {n:,} × 10; the peer searches 6 × 15 points in 5 folds",
            target=">= 10× faster to 600 rows, >= 5× at 1,200; error not larger",
            data=partial(_friedman, n),
            sides={"gramian": _tuned, "GridSearchCV(KernelRidge)": _ridge_search},
            score=_sweep_score,
            repeats=1,
        )
        for n in (500, 1200)
    ),
    Case(
        name="lssvm_nothing_set",
        question="Nothing set: ten tables, 70 % to learn (at most 1,200 rows), five seeds; processor seconds per fit",
        target="mean accuracy not lower, >= 5× faster to 600 rows, >= 2× at 1,200",
        data=_tables,
        sides={"gramian": partial(_over_tables, _nothing_set), "GridSearchCV(SVC)": partial(_over_tables, _svc_search)},
        score=_tables_score,
        repeats=1,
    ),
    Case(
        name="lssvm_cg_20000",
        question="Conjugate gradients, n = 20,000, RBF, two right-hand sides to 1e-6, a budget of 1 GB",
        target="report products, seconds and memory",
        data=_many_rows,
        sides={f"regularization {g:g}": partial(_iterate, g) for g in (1.0, 100.0, 10_000.0)},
        score=_iterate_score,
        repeats=1,
    ),
]
