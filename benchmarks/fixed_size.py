"""Does a fixed-size machine learn and answer faster than features with a ridge classifier? And a million rows?

Seconds of fit and of predict are those of the processor, so that other work on the machine does not count. Both sides
draw their prototypes at random, and accuracy differs by .002 from draw to draw, so it is a mean over several.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.pipeline import make_pipeline

from benchmarks.case import Case, Scores
from gramian import FixedSizeLSSVMClassifier
from gramian.kernels import RBF

N_PROTOTYPES, WIDTH, REGULARIZATION = 500, 5.0, 1.0
N_NEW = 10_000
DRAWS = 20

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _classes(n: int, dtype: Any = np.float64) -> Data:
    """Twenty columns, four of which say the class; a tenth of the rows say something else."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + N_NEW, 20)).astype(dtype)
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) > 0.3
    y ^= rng.uniform(size=len(X)) < 0.1
    return X[:n], y[:n], X[n:], y[n:]


def _ours(regularization: float | None, seed: int = 0) -> FixedSizeLSSVMClassifier:
    kernel = RBF(width=WIDTH)
    return FixedSizeLSSVMClassifier(N_PROTOTYPES, kernel=kernel, regularization=regularization, random_state=seed)


def _peer(classifier: Any, seed: int = 0) -> Any:
    features = PeerNystroem(kernel="rbf", gamma=0.5 / WIDTH**2, n_components=N_PROTOTYPES, random_state=seed)
    return make_pipeline(features, classifier)


def _timed(model: Any, data: Data) -> Scores:
    """Fit and predict, with the seconds of each."""
    start = time.process_time()
    model.fit(*data[:2])
    fitted = time.process_time()
    found = model.predict(data[2])
    done = time.process_time()
    return {
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "accuracy": float(np.mean(found == data[3])),
    }


def _drawn(make: Callable[[int], Any], data: Data) -> Scores:
    """Seconds in the middle of several draws of prototypes, and their mean accuracy with its standard error."""
    runs = [_timed(make(seed), data) for seed in range(DRAWS)]
    right = [run["accuracy"] for run in runs]
    seconds = {name: float(np.median([run[name] for run in runs])) for name in ("fit_seconds", "predict_seconds")}
    return seconds | {
        "accuracy": float(np.mean(right)),
        "standard_error": float(np.std(right, ddof=1) / np.sqrt(DRAWS)),
    }


def _given_sides() -> dict[str, Any]:
    return {
        "gramian": lambda data: _drawn(lambda seed: _ours(REGULARIZATION, seed), data),
        "scikit-learn": lambda data: _drawn(lambda seed: _peer(RidgeClassifier(1 / REGULARIZATION), seed), data),
    }


CASES = [
    Case(
        name="fixed_size",
        question="100,000 × 20, 500 prototypes, width and regularization given: fit, and predict 10,000 rows",
        target=">= 2× faster fit, >= 5× faster predict, accuracy not lower",
        data=partial(_classes, 100_000),
        sides=_given_sides(),
        score=lambda _, scores: scores,
        repeats=1,
    ),
    Case(
        name="fixed_size_single",
        question="the same in single precision",
        target=">= 2× faster fit, >= 5× faster predict, accuracy not lower",
        data=partial(_classes, 100_000, np.float32),
        sides=_given_sides(),
        score=lambda _, scores: scores,
        repeats=1,
    ),
    Case(
        name="fixed_size_chosen",
        question="100,000 × 20, 500 prototypes, regularization chosen",
        target="a tenth of a million rows, to see that time is linear in rows",
        data=partial(_classes, 100_000),
        sides={
            "gramian": lambda data: _timed(_ours(None), data),
            "scikit-learn": lambda data: _timed(_peer(RidgeClassifierCV(np.logspace(-3, 3, 13), cv=5)), data),
        },
        score=lambda _, scores: scores,
        repeats=1,
    ),
    Case(
        name="fixed_size_million",
        question="1,000,000 × 20, 500 prototypes, regularization chosen",
        target="finishes, peak < 2 GB, ten times the seconds of 100,000 rows",
        data=partial(_classes, 1_000_000),
        sides={"gramian": lambda data: _timed(_ours(None), data)},
        score=lambda _, scores: scores,
        repeats=1,
    ),
]
