"""Do landmarks pay? Nyström features beside scikit-learn's, and what a choice of landmarks is worth.

Two questions. How fast, and in how much memory, do 100,000 rows become 1,000 features and a ridge regression? And do
chosen landmarks (k-means, Rényi entropy, leverage scores) approximate the kernel better, and predict better, than
uniform ones at the same number? Each timed side runs in a process of its own, sides in turn, best of three.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import r2_score
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from gramian.grams import Factor
from gramian.kernels import RBF
from gramian.landmarks import Nystroem

N_ROWS, N_COLUMNS, N_LANDMARKS = 100_000, 20, 1_000
WIDTH = 5.0
ALPHA = 1e-2
REPEATS = 3
SEEDS = 6
SELECTIONS = ("uniform", "kmeans", "renyi", "leverage")
TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "uci"
NAMES = ("magic", "letter", "covertype_15k", "spambase", "pendigits", "satimage", "optdigits")

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run() -> list[dict[str, Any]]:
    """All rows of the benchmark's table."""
    return [*speed(), *quality()]


# How fast and how large --------------------------------------------------------------------------------------


def speed() -> Iterator[dict[str, Any]]:
    """Features and ridge on 100,000 rows, each side in its own process."""
    questions: list[tuple[str, Callable[[Data], Any], Callable[[Data], Any]]] = [
        ("Nyström features + Ridge", our_ridge, peer_ridge),
        ("Nyström features alone", our_features, peer_features),
        ("Nyström ridge, features never stored", our_streamed_ridge, peer_ridge),
    ]
    for question, ours, peer in questions:
        measured: dict[str, list[dict[str, float]]] = {"ours": [], "peer": []}
        for _ in range(REPEATS):
            measured["ours"].append(alone(ours))
            measured["peer"].append(alone(peer))
        best = {side: min(results, key=lambda result: result["seconds"]) for side, results in measured.items()}
        yield {
            "question": f"{question}: {N_ROWS:,} × {N_COLUMNS} → {N_LANDMARKS:,}",
            "peer": "scikit-learn",
            "ours_seconds": best["ours"]["seconds"],
            "peer_seconds": best["peer"]["seconds"],
            "ratio": best["peer"]["seconds"] / best["ours"]["seconds"],
            "ours_peak_mb": best["ours"]["peak_mb"],
            "peer_peak_mb": best["peer"]["peak_mb"],
            "ours_r2": best["ours"]["r2"],
            "peer_r2": best["peer"]["r2"],
        }


def regression(seed: int = 0) -> Data:
    """Rows, a smooth target with noise, and 5,000 more of both for the score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS + 5_000, N_COLUMNS))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) + 0.1 * rng.normal(size=len(X))
    return X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:]


def our_features(data: Data) -> None:
    """gramian: fit and transform."""
    Nystroem(N_LANDMARKS, kernel=RBF(width=WIDTH), random_state=0).fit(data[0]).transform(data[0])


def peer_features(data: Data) -> None:
    """scikit-learn: fit and transform."""
    _peer().fit(data[0]).transform(data[0])


def our_ridge(data: Data) -> Callable[[np.ndarray], np.ndarray]:
    """gramian's features, scikit-learn's Ridge, which may work in the features' memory."""
    features = Nystroem(N_LANDMARKS, kernel=RBF(width=WIDTH), random_state=0).fit(data[0])
    model = Ridge(ALPHA, copy_X=False).fit(features.transform(data[0]), data[1])
    return lambda X: model.predict(features.transform(X))


def peer_ridge(data: Data) -> Callable[[np.ndarray], np.ndarray]:
    """The same with scikit-learn's features."""
    features = _peer().fit(data[0])
    model = Ridge(ALPHA, copy_X=False).fit(features.transform(data[0]), data[1])
    return lambda X: model.predict(features.transform(X))


def our_streamed_ridge(data: Data) -> Callable[[np.ndarray], np.ndarray]:
    """Normal equations of the centred ridge from features made a chunk at a time."""
    X, y, *_ = data
    features = Nystroem(N_LANDMARKS, kernel=RBF(width=WIDTH), random_state=0).fit(X)
    n, m = X.shape[0], features.cholesky_.shape[0]
    normal, right, total = np.zeros((m, m)), np.zeros(m), np.zeros(m)
    for rows, F in Factor((n, m), X.dtype, lambda rows: features.transform(X[rows])).chunks():
        normal += F.T @ F
        right += F.T @ y[rows]
        total += F.sum(axis=0)
    mean, offset = total / n, y.mean()
    normal -= n * np.outer(mean, mean)
    normal[np.diag_indices(m)] += ALPHA
    weights = np.linalg.solve(normal, right - n * offset * mean)
    return lambda X: (features.transform(X) - mean) @ weights + offset


def _peer() -> PeerNystroem:
    return PeerNystroem(kernel="rbf", gamma=0.5 / WIDTH**2, n_components=N_LANDMARKS, random_state=0)


def alone(side: Callable[[Data], Any]) -> dict[str, float]:
    """Time, peak memory above the data and score of one side, in a new process."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measure, (side,))


def _measure(side: Callable[[Data], Any]) -> dict[str, float]:
    data = regression()
    warm = tuple(part[:2000] for part in data)
    side(warm)  # type: ignore[arg-type]  # loads what is loaded at first use
    before = _memory_mb("VmRSS")
    start = time.perf_counter()
    predict = side(data)
    seconds = time.perf_counter() - start
    peak = _memory_mb("VmHWM") - before
    r2 = float("nan") if predict is None else float(r2_score(data[3], predict(data[2])))
    return {"seconds": seconds, "peak_mb": peak, "r2": r2}


def _memory_mb(field: str) -> float:
    """Resident memory of this process, now (VmRSS) or at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


# Which landmarks ---------------------------------------------------------------------------------------------


def quality(names: tuple[str, ...] = NAMES, m: int = 200) -> Iterator[dict[str, Any]]:
    """‖K − K̂‖/‖K‖ and test R² of every selection, on real tables and at two widths, over the same random splits."""
    for name, X, y in tables(names):
        for width in ("median", "median30"):
            scores = {selection: [] for selection in SELECTIONS}  # type: dict[str, list[tuple[float, ...]]]
            for seed in range(SEEDS):
                split = _split(X, y, seed)
                for selection in SELECTIONS:
                    scores[selection].append(_approximation(*split, width, selection, m, seed))
            uniform = np.array(scores["uniform"])
            for selection in SELECTIONS:
                own = np.array(scores[selection])
                error, r2, seconds = own.mean(axis=0).tolist()
                error_se, r2_se, _ = _standard_error(own)
                error_gain, r2_gain, _ = (own - uniform).mean(axis=0).tolist()
                error_gain_se, r2_gain_se, _ = _standard_error(own - uniform)
                yield {
                    "question": f"{selection} landmarks, {name} {X.shape[0]} × {X.shape[1]}, width={width}, m={m}",
                    "peer": "uniform",
                    "ours_seconds": seconds,
                    "peer_seconds": float(uniform[:, 2].mean()),
                    "ratio": float(uniform[:, 0].mean()) / error,
                    "error": error,
                    "error_se": error_se,
                    "r2": r2,
                    "r2_se": r2_se,
                    "r2_gain": r2_gain,
                    "r2_gain_se": r2_gain_se,
                    # Splits are shared, so the differences to uniform are paired; two standard errors count.
                    "error_against_uniform": _verdict(-error_gain, error_gain_se),
                    "r2_against_uniform": _verdict(r2_gain, r2_gain_se),
                }


def _verdict(gain: float, standard_error: float) -> str:
    return "better" if gain > 2 * standard_error else "worse" if gain < -2 * standard_error else "equal"


def _standard_error(values: np.ndarray) -> list[float]:
    return (values.std(axis=0, ddof=1) / np.sqrt(len(values))).tolist()


def _split(X: np.ndarray, y: np.ndarray, seed: int) -> Data:
    """At most 6,000 rows to learn from and 3,000 to test, standardised by the former."""
    order = np.random.default_rng(seed).permutation(len(X))
    n_test = min(3_000, len(X) // 3)
    test, train = order[:n_test], order[n_test : n_test + 6_000]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _approximation(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, width: str, selection: str, m: int, seed: int
) -> tuple[float, float, float]:
    """Relative error of K̂ on 1,500 rows, test R² of ridge (regularised by generalised CV), seconds of fit."""
    start = time.perf_counter()
    model = Nystroem(m, kernel=RBF(width), selection=selection, random_state=seed).fit(X)
    seconds = time.perf_counter() - start
    some = X[:1_500]
    K = model.kernel_(some)
    error = float(np.linalg.norm(K - model(some)) / np.linalg.norm(K))
    ridge = RidgeCV(np.logspace(-6, 2, 9)).fit(model.transform(X), y)
    return error, float(r2_score(y_test, ridge.predict(model.transform(X_test)))), seconds


def tables(names: tuple[str, ...] = NAMES) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and ±1 class indicators of the real tables at hand, and one table of clusters of unequal size."""
    present = [name for name in names if (TABLES / f"{name}.csv.gz").exists()]
    if present:
        import pandas as pd

        for name in present:
            table = pd.read_csv(TABLES / f"{name}.csv.gz")
            X = table.drop(columns="label").to_numpy(np.float64)
            yield name, X, _indicators(table["label"].to_numpy())
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), (4_000 / np.arange(1, 13)).astype(int))
    X = rng.normal(scale=4, size=(12, 8))[labels] + rng.normal(size=(len(labels), 8))
    yield "unequal clusters", X, _indicators(labels % 2)


def _indicators(labels: np.ndarray) -> np.ndarray:
    return LabelBinarizer(neg_label=-1, pos_label=1).fit_transform(labels).astype(np.float64)


if __name__ == "__main__":
    for row in run():
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
