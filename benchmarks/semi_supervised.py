"""Ten labels of each class among 20,000 rows: is clustering by landmarks faster than label spreading, and as right?

Seconds of fit are those of the processor, so that other work on the machine does not count; the median of five fits.
The tables lie in the folder named by GRAMIAN_DATA, by default that beside the project.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from benchmarks.case import Case, Scores
from gramian import SemiSupervisedKSC
from gramian.datasets import read_csv

FOLDER = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
PER_CLASS, N_PROTOTYPES, N_NEW, N_FITS = 10, 300, 1000, 5

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def _table(name: str) -> Data:
    """Rows in standard units, classes, and classes with all but ten of each hidden."""
    table = read_csv(FOLDER / "uci" / f"{name}.csv.gz", target="label")
    y = np.unique(table.y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    few = np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.permutation(np.flatnonzero(y == label))[:PER_CLASS]] = label
    return StandardScaler().fit_transform(table.X), y, few


def _timed(make: Any, data: Data) -> Scores:
    """Fit, the accuracy on the rows without label, and the seconds of fit and of predict for 1,000 rows."""
    X, y, few = data
    fits, predictions = [], []
    for _ in range(N_FITS):
        start = time.process_time()
        model = make().fit(X, few)
        fitted = time.process_time()
        model.predict(X[:N_NEW])
        fits.append(fitted - start)
        predictions.append(time.process_time() - fitted)
    hidden = few < 0
    return {
        "fit_seconds": median(fits),
        "predict_seconds": median(predictions),
        "accuracy": float(np.mean(model.transduction_[hidden] == y[hidden])),
    }


CASES = [
    Case(
        name=f"semi_supervised_{name}",
        question=f"{name}: ten labels of each class, 300 landmarks, nothing else set",
        target=">= 3× faster fit by processor time; accuracy beside it",
        data=partial(_table, name),
        sides={
            "gramian": partial(_timed, partial(SemiSupervisedKSC, n_prototypes=N_PROTOTYPES, random_state=0)),
            "scikit-learn": partial(_timed, partial(LabelSpreading, kernel="knn")),
        },
        score=lambda _, scores: scores,
        repeats=1,
    )
    for name in ("letter", "magic")
]
