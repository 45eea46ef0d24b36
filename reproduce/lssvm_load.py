"""Electricity load 1 hour and 24 hours ahead: a fixed-size LS-SVM against a linear model of the same columns.

Espinoza, Suykens, Belmans and De Moor (2007) show a figure without numbers, of data that are not public: the fixed-size
machine follows the load better than a linear ARX model, and the gap is wider at 24 hours. Two public series stand in:
half hours of England and Wales (twelve weeks) and of Victoria (three years, with temperature and holidays).

Both models see the same columns at time t: the last two days, the same half hour of the next day one week ago and its
neighbours, hour and weekday as waves and indicators, temperature up to t, and the holidays of the day forecast, which
are known ahead. Beside them stand the load of a week ago and the last load.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from gramian import FixedSizeLSSVMRegressor
from gramian.datasets import read_csv
from gramian.kernels import Linear
from reproduce.table import Experiment, Options, Ours, Record, Task, markdown, select

DAY, WEEK = 48, 7 * 48  # half hours
HORIZONS = {"1 hour": 2, "24 hours": DAY}
SERIES = {"England and Wales": "electricity_taylor", "Victoria": "electricity_victoria"}
PROTOTYPES = 300
FIXED_SIZE, LINEAR, LAST_WEEK, PERSISTENCE = "fixed-size NARX", "linear ARX", "a week ago", "last load"
METHODS = (FIXED_SIZE, LINEAR, LAST_WEEK, PERSISTENCE)
BLOCKS = 8
"""Parts of the test period, over which the standard error is taken."""


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The load, and what else is known at each half hour: temperature and holiday, or nothing."""
    table = read_csv(folder / "series" / f"{SERIES[name]}.csv.gz")
    columns = dict(zip(table.feature_names, table.X.T, strict=True))
    demand = next(values for column, values in columns.items() if column.startswith("demand"))
    known = [columns[column] for column in ("temperature_c", "holiday") if column in columns]
    return demand, np.column_stack(known) if known else np.empty((len(demand), 0))


def lagged(demand: np.ndarray, known: np.ndarray, horizon: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns at time t, the load at t + horizon, and what the two trivial forecasts say of it.

    Returns
    -------
    X : ndarray (n, d)
    y : ndarray (n,)
    trivial : ndarray (n, 2)
        The load a week before the one forecast, and the last load.
    """
    t = np.arange(WEEK, len(demand) - horizon)
    ahead = t + horizon
    columns = [demand[t - lag] for lag in (*range(8), *range(8, DAY + 1, 4), 2 * DAY)]
    columns += [demand[ahead - WEEK + shift] for shift in (-2, -1, 0)]
    for waves in (1, 2):
        angle = 2 * np.pi * waves * ahead / DAY
        columns += [np.sin(angle), np.cos(angle)]
    day = ahead // DAY % 7
    columns += [(day == number).astype(float) for number in range(7)]
    if known.shape[1]:
        temperature, holiday = known.T
        columns += [temperature[t], temperature[t - DAY], temperature[t] ** 2, holiday[ahead]]
    return np.column_stack(columns), demand[ahead], np.column_stack([demand[ahead - WEEK], demand[t]])


def one_series(name: str, horizon: str, folder: Path, samples: int | None) -> list[Record]:
    """Both models, learned from the first three quarters and tested on the last."""
    demand, known = load(name, folder)
    X, y, trivial = lagged(demand, known, HORIZONS[horizon])
    cut = 3 * len(X) // 4
    here, there = np.arange(cut - HORIZONS[horizon]), np.arange(cut, len(X))
    if samples is not None:
        here = here[-samples:]
        there = there[:samples]
    center, deviation = X[here].mean(axis=0), X[here].std(axis=0)
    deviation[deviation == 0] = 1
    Z = (X - center) / deviation
    forecasts = {LAST_WEEK: trivial[there, 0], PERSISTENCE: trivial[there, 1]}
    seconds = dict.fromkeys(METHODS, 0.0)
    for method, kernel in ((FIXED_SIZE, "auto"), (LINEAR, Linear())):
        start = time.process_time()
        model = FixedSizeLSSVMRegressor(PROTOTYPES, kernel=kernel, selection="renyi", random_state=0)
        model.fit(Z[here], y[here])
        forecasts[method] = model.predict(Z[there])
        seconds[method] = time.process_time() - start
    spread = y[here].var()
    return [
        {
            "dataset": name, "method": method, "horizon": horizon, "run": block, "rows": len(here),
            "mse": float(np.mean((forecasts[method][part] - y[there][part]) ** 2) / spread),
            "mape": float(100 * np.mean(np.abs(forecasts[method][part] / y[there][part] - 1))),
            "seconds": seconds[method],
        }
        for method in METHODS
        for block, part in enumerate(np.array_split(np.arange(len(there)), BLOCKS))
    ]  # fmt: skip


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name, file in SERIES.items():
        if options.datasets is not None and name not in options.datasets:
            continue
        if not (options.data and (options.data / "series" / f"{file}.csv.gz").exists()):
            print(f"{name} left out: series/{file}.csv.gz is not in the folder named by --data", file=sys.stderr)
            continue
        for horizon in HORIZONS:
            yield partial(one_series, name, horizon, options.data, options.samples)


def report(records: list[Record]) -> str:
    lines = []
    for name in dict.fromkeys(record["dataset"] for record in records):
        for horizon in HORIZONS:
            here = select(records, dataset=name, horizon=horizon)
            linear = np.array([record["mse"] for record in select(here, method=LINEAR)])
            for method in METHODS:
                found = select(here, method=method)
                errors = np.array([record["mse"] for record in found])
                mse, gain = Ours.of(list(100 * errors)), Ours.of(list(100 * (linear - errors)))
                ahead = "" if method == LINEAR else f"{gain.mean:+.2f} ± {gain.error:.2f}"
                mape = f"{np.mean([record['mape'] for record in found]):.2f}"
                seconds, rows = f"{found[0]['seconds']:.1f}", found[0]["rows"]
                label = f"{name}, {horizon}, {method}"
                lines.append((label, f"{mse.mean:.2f} ± {mse.error:.2f}", ahead, mape, rows, seconds))
    header = ("series, horizon, method", "MSE, % of the variance", "gain over linear", "MAPE, %", "rows", "s")
    note = f"Prototypes are drawn with seed 0; ± is the standard error over {BLOCKS} parts of the test period."
    return f"{note}\n\n{markdown(header, lines)}"


EXPERIMENT = Experiment(
    name="lssvm_load",
    title="Electricity load 1 hour and 24 hours ahead (Espinoza et al. 2007, figure only)",
    runs=1,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
