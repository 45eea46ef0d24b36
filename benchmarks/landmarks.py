"""Do landmarks pay? Nyström features beside scikit-learn's, and what a choice of landmarks is worth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from benchmarks.case import Case, Scores
from gramian.datasets import read_csv
from gramian.kernels import RBF
from gramian.landmarks import Nystroem

N_ROWS, N_LANDMARKS, WIDTH = 100_000, 1_000, 5.0
SELECTIONS = ("uniform", "kmeans", "renyi", "leverage")
WIDTHS = ("median", "median30")
SEEDS = 6
TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "uci"
NAMES = ("magic", "letter", "covertype_15k", "spambase", "pendigits", "satimage")

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


# How fast and how large --------------------------------------------------------------------------------------


def _regression() -> Data:
    """Rows, a smooth target with noise, and 5,000 more of both for the score."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS + 5_000, 20))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) + 0.1 * rng.normal(size=len(X))
    return X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:]


def _ours() -> Nystroem:
    return Nystroem(N_LANDMARKS, kernel=RBF(width=WIDTH), random_state=0)


def _peer() -> PeerNystroem:
    return PeerNystroem(kernel="rbf", gamma=0.5 / WIDTH**2, n_components=N_LANDMARKS, random_state=0)


def _ridge(features: Any, data: Data) -> Pipeline:
    """Features and a ridge regression that may work in the features' memory, on both sides."""
    return make_pipeline(features, Ridge(1e-2, copy_X=False)).fit(data[0], data[1])


def _r2(data: Data, model: Pipeline) -> Scores:
    return {"test_r2": float(r2_score(data[3], model.predict(data[2])))}


# Which landmarks ---------------------------------------------------------------------------------------------


def _tables() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and ±1 class indicators of the real tables at hand, and one table of clusters of unequal size."""
    found = []
    for name in NAMES:
        if (path := TABLES / f"{name}.csv.gz").exists():
            table = read_csv(path, target="label")
            found.append((name, table.X, _indicators(table.y)))
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), (4_000 / np.arange(1, 13)).astype(int))
    X = rng.normal(scale=4, size=(12, 8))[labels] + rng.normal(size=(len(labels), 8))
    return [*found, ("unequal clusters", X, _indicators(labels % 2))]


def _indicators(labels: np.ndarray) -> np.ndarray:
    return LabelBinarizer(neg_label=-1, pos_label=1).fit_transform(labels).astype(np.float64)


def _split(X: np.ndarray, y: np.ndarray, seed: int) -> Data:
    """At most 6,000 rows to learn from and 3,000 to test, standardised by the former."""
    order = np.random.default_rng(seed).permutation(len(X))
    n_test = min(3_000, len(X) // 3)
    test, train = order[:n_test], order[n_test : n_test + 6_000]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _approximations(
    selection: str, tables: list[tuple[str, np.ndarray, np.ndarray]]
) -> list[list[tuple[float, float]]]:
    """For each table and width: relative error of K̂ on 1,500 rows and test R² of ridge, for every seed."""
    return [
        [_approximation(_split(X, y, seed), width, selection, seed) for seed in range(SEEDS)]
        for _, X, y in tables
        for width in WIDTHS
    ]


def _approximation(data: Data, width: str, selection: str, seed: int) -> tuple[float, float]:
    X, y, X_test, y_test = data
    model = Nystroem(200, kernel=RBF(width), selection=selection, random_state=seed).fit(X)
    some = X[:1_500]
    K = model.kernel_(some)
    error = float(np.linalg.norm(K - model(some)) / np.linalg.norm(K))
    ridge = RidgeCV(np.logspace(-6, 2, 9)).fit(model.transform(X), y)
    return error, float(r2_score(y_test, ridge.predict(model.transform(X_test))))


def _against_uniform(scores: dict[str, Scores]) -> None:
    """Better / equal / worse than uniform per table and width, paired over seeds, by two standard errors."""
    uniform = np.array(scores["uniform"]["_results"])
    for side in scores.values():
        own = np.array(side["_results"])
        side["mean_error"], side["mean_test_r2"] = own.mean(axis=(0, 1)).tolist()
        for place, (name, sign) in enumerate((("error", -1), ("r2", 1))):
            gain = sign * (own - uniform)[:, :, place]
            limit = 2 * gain.std(axis=1, ddof=1) / np.sqrt(SEEDS)
            better, worse = gain.mean(axis=1) > limit, gain.mean(axis=1) < -limit
            verdicts = (int(better.sum()), int((~better & ~worse).sum()), int(worse.sum()))
            side[f"{name} better/equal/worse"] = "/".join(map(str, verdicts))


def _speed_cases() -> Iterator[Case]:
    yield Case(
        name="nystroem_ridge",
        question="100,000 × 20 → 1,000 Nyström features + Ridge(copy_X=False)",
        target=">= 1.4× faster, half the memory",
        data=_regression,
        sides={
            "gramian": lambda data: _ridge(_ours(), data),
            "scikit-learn": lambda data: _ridge(_peer(), data),
        },
        score=_r2,
        repeats=5,
    )
    yield Case(
        name="nystroem_features",
        question="100,000 × 20 → 1,000 Nyström features",
        target=">= 1.4× faster, half the memory",
        data=_regression,
        sides={
            "gramian": lambda data: _ours().fit(data[0]).transform(data[0]),
            "scikit-learn": lambda data: _peer().fit(data[0]).transform(data[0]),
        },
        score=lambda _, F: {"features": F.shape[1]},
    )


CASES = [
    *_speed_cases(),
    Case(
        name="landmark_selection",
        question="Which 200 landmarks? Six real tables (when at hand) and a synthetic one, two widths, six seeds",
        target="kmeans, renyi and leverage give lower error and higher test R² than uniform",
        data=_tables,
        sides={selection: partial(_approximations, selection) for selection in SELECTIONS},
        score=lambda tables, results: {"_results": results, "tables": len(tables)},
        compare=_against_uniform,
        repeats=1,
    ),
]
