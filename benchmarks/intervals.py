"""Do intervals of LS-SVM regression hold as many new targets as they promise?

Five problems: diabetes, Friedman 1 and 3, and the next value of two series from 14 earlier ones (half-hours of
electricity demand, daily minima of temperature; both from the folder of data sets beside the repository). Intervals
promise their coverage for rows like the fitted ones, which random halves are. A series that drifts is another question,
so it is asked in time order as well: 1,000 rows are fitted and all that came later are predicted, with one model, or
with a model fitted anew to the last 1,000 rows after every 200.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman3
from sklearn.model_selection import train_test_split

from benchmarks.case import Case, Scores
from gramian.lssvm import LSSVMRegressor

SERIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "series"
LAGS, COVERAGE = 14, 0.9
SPLITS, MOST_ROWS = 5, 1000
FITTED, REFITTED_AFTER = 1000, 200

Problem = tuple[np.ndarray, np.ndarray]


def _next_value(name: str, column: str) -> Problem:
    values = pd.read_csv(SERIES / f"{name}.csv.gz")[column].to_numpy(float)
    windows = np.lib.stride_tricks.sliding_window_view(values, LAGS + 1)
    return windows[:, :LAGS], windows[:, LAGS]


def _problems() -> dict[str, Problem]:
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman 1": make_friedman1(MOST_ROWS, noise=1.0, random_state=0),
        "friedman 3": make_friedman3(MOST_ROWS, noise=0.1, random_state=0),
        "electricity": _next_value("electricity_taylor", "demand_mw"),
        "temperature": _next_value("melbourne_temperature", "tmin"),
    }


def _inside(fitted: Problem, new: Problem) -> np.ndarray:
    low, high = LSSVMRegressor(random_state=0).fit(*fitted).predict_interval(new[0], COVERAGE).T
    return (low <= new[1]) & (new[1] <= high)


def _random_halves(problems: dict[str, Problem]) -> Scores:
    found = {}
    for name, (X, y) in problems.items():
        shares = []
        for seed in range(SPLITS):
            drawn = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
            train, new, targets, truth = train_test_split(X[drawn], y[drawn], test_size=0.5, random_state=seed)
            shares.append(_inside((train, targets), (new, truth)).mean())
        found[name] = float(np.mean(shares))
    return found


def _in_time_order(problems: dict[str, Problem], step: int | None = None) -> Scores:
    found = {}
    for name in ("electricity", "temperature"):
        X, y = problems[name]
        starts = range(FITTED, len(y), step or len(y))
        parts = []
        for start in starts:
            past, coming = slice(start - FITTED, start), slice(start, start + (step or len(y)))
            parts.append(_inside((X[past], y[past]), (X[coming], y[coming])))
        found[name] = float(np.concatenate(parts).mean())
    return found


def _score(_: Any, found: Scores) -> Scores:
    return {name: round(share, 4) for name, share in found.items()}


CASES = [
    Case(
        name="interval_coverage",
        question="share of new targets inside intervals of 90 %, by problem",
        target="0.9 within 0.03 for rows like those fitted; in time order reported",
        data=_problems,
        sides={
            "random halves": _random_halves,
            "in time order, one model": _in_time_order,
            "in time order, fitted anew": lambda problems: _in_time_order(problems, REFITTED_AFTER),
        },
        score=_score,
        repeats=1,
    )
]
