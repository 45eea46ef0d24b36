"""Days of hourly particulate matter, clustered year after year with and without memory.

Langone, Agudelo, De Moor and Suykens (2014) follow clusters of stations that measure PM10 hour by hour over two weeks;
there is a figure and no number, and the data are not public. Two public series of one station each stand in: PM10 at
Marylebone Road in London (1998 to 2005) and PM2.5 in Beijing (2010 to 2014). So the rows are days of 24 hours, a
snapshot is a year, and hours that were not measured stay missing.

Each year is clustered by :class:`gramian.EvolvingKSC` under the cluster kernel. There are no true labels; asked is
whether clusters are found again in the next year: how many events are reported, and how many days of a year have the
same label under the model of the next year.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from gramian import ClusterKernel, EvolvingKSC
from gramian.datasets import read_csv
from reproduce.table import Experiment, Options, Ours, Record, Task, markdown, select

SERIES = {"London PM10": ("london_air_pm10", "pm10"), "Beijing PM2.5": ("beijing_pm25", "pm2.5")}
MEMORIES = (0.0, 0.3, 0.6)
NUMBERS = (None, 3, 4)
SHOWN = (3, 0.3)
"""Clusters and memory of the table of what the clusters are."""

NIGHT, RUSH = slice(0, 5), [7, 8, 9, 16, 17, 18, 19]


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Hours and what was measured in them, NaN where nothing was."""
    file, column = SERIES[name]
    table = read_csv(folder / "series" / f"{file}.csv.gz")
    columns = dict(zip(table.feature_names, table.X.T, strict=True))
    if "date" in columns:
        hours = np.array(table.categories["date"], "datetime64[h]")[columns["date"].astype(int)]
    else:
        year, month, day, hour = (columns[part].astype(int) for part in ("year", "month", "day", "hour"))
        months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
        hours = (months.astype("datetime64[D]") + (day - 1)).astype("datetime64[h]") + hour
    return hours, columns[column]


def by_day(hours: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The days with at least one measurement, and their 24 hours on a logarithmic scale.

    Returns
    -------
    days : ndarray of datetime64[D] (n,)
    rows : ndarray (n, 24)
    """
    day = hours.astype("datetime64[D]")
    every = np.arange(day.min(), day.max() + 1)
    rows = np.full((len(every), 24), np.nan)
    rows[(day - every[0]).astype(int), (hours - day).astype(int)] = np.log1p(np.maximum(values, 0))
    measured = np.isfinite(rows).any(axis=1)
    return every[measured], rows[measured]


def one_series(name: str, k: int | None, memory: float, run: int, folder: Path, options: Options) -> list[Record]:
    """All years under one memory; a record for each year, the first without the share of days that keep their label."""
    days, rows = by_day(*load(name, folder))
    years = days.astype("datetime64[Y]")
    kernel = ClusterKernel(options.restarts, options.components)
    model = EvolvingKSC(k, kernel=kernel, memory=memory, random_state=run)
    records: list[Record] = []
    before: tuple[np.ndarray, np.ndarray] | None = None
    for year in np.unique(years):
        here = years == year
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a day that is like no other has no label
            model.partial_fit(rows[here])
            kept = None if before is None else float(np.mean(model.predict(before[0]) == before[1]))
        events = [event for event in model.events_ if event.snapshot == model.n_snapshots_ - 1]
        records.append({
            "dataset": name, "method": f"memory {memory:g}", "n_clusters": "chosen" if k is None else str(k),
            "run": run, "year": str(year), "found": model.n_clusters_, "events": len(events), "kept": kept,
            "what": "; ".join(f"{event.kind} {event.before} to {event.after}" for event in events),
            "seconds": time.process_time() - start, **profiles(model.labels_, days[here], rows[here]),
        })  # fmt: skip
        before = rows[here], model.labels_
    return records


def profiles(labels: np.ndarray, days: np.ndarray, rows: np.ndarray) -> Record:
    """The days of each label: number, mean, night, rush hours, and how many lie from October to March."""
    month = days.astype("datetime64[M]").astype(int) % 12 + 1
    found: Record = {}
    for label in np.unique(labels[labels >= 0]):
        some = labels == label
        level = {"mean": rows[some], "night": rows[some, NIGHT], "rush": rows[some][:, RUSH]}
        found[f"days {label}"] = int(some.sum())
        found[f"cold {label}"] = float(np.isin(month[some], [10, 11, 12, 1, 2, 3]).mean())
        found |= {f"{part} {label}": float(np.expm1(np.nanmean(values))) for part, values in level.items()}
    return found


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name, (file, _) in SERIES.items():
        if options.datasets is not None and name not in options.datasets:
            continue
        if not (options.data and (options.data / "series" / f"{file}.csv.gz").exists()):
            print(f"{name} left out: series/{file}.csv.gz is not in the folder named by --data", file=sys.stderr)
            continue
        for k in NUMBERS:
            for memory in MEMORIES:
                for run in range(runs):
                    yield partial(one_series, name, k, memory, run, options.data, options)


def report(records: list[Record]) -> str:
    lines, kinds = [], []
    for name in dict.fromkeys(record["dataset"] for record in records):
        for number in dict.fromkeys(record["n_clusters"] for record in records):
            for method in dict.fromkeys(record["method"] for record in records):
                here = select(records, dataset=name, n_clusters=number, method=method)
                runs = sorted({record["run"] for record in here})
                found = " ".join(str(record["found"]) for record in select(here, run=0))
                events = Ours.of([sum(record["events"] for record in select(here, run=run)) for run in runs])
                kept = Ours.of([np.mean([r["kept"] for r in select(here, run=run)[1:]]) for run in runs])
                seconds = np.mean([sum(record["seconds"] for record in select(here, run=run)) for run in runs])
                lines.append((f"{name}, {number} clusters, {method}", found, events, kept, f"{seconds:.1f}"))
        shown = select(records, dataset=name, n_clusters=str(SHOWN[0]), method=f"memory {SHOWN[1]:g}", run=0)
        kinds += [(f"{name}, label {label}", *_averages(shown, label)) for label in _labels(shown)]
    header = ("series, clusters, memory", "clusters in each year (run 0)", "events", "days that keep their label", "s")
    note = (
        "Days that keep their label: of the days of a year, those with the same label in the model of the next year; "
        "mean over the years. ± is the standard error over runs, which differ in the mixtures of the cluster kernel."
    )
    told = f"What the {SHOWN[0]} clusters with memory {SHOWN[1]:g} are (run 0; geometric means in µg/m³):"
    columns = ("series, label", "days", "in October to March", "mean", "00 to 04 h", "7 to 9 and 16 to 19 h")
    return f"{note}\n\n{markdown(header, lines)}\n\n{told}\n\n{markdown(columns, kinds)}"


def _labels(records: list[Record]) -> list[int]:
    return sorted({int(key.split()[1]) for record in records for key in record if key.startswith("days ")})


def _averages(records: list[Record], label: int) -> tuple[object, ...]:
    """Over the years, weighted by days."""
    some = [record for record in records if f"days {label}" in record]
    days = np.array([record[f"days {label}"] for record in some])
    mean = {
        part: float(np.average([record[f"{part} {label}"] for record in some], weights=days))
        for part in ("cold", "mean", "night", "rush")
    }
    levels = (f"{mean[part]:.0f}" for part in ("mean", "night", "rush"))
    return int(days.sum()), f"{mean['cold']:.0%}", *levels


EXPERIMENT = Experiment(
    name="ksc_days",
    title="Days of hourly particulate matter over the years (Langone et al. 2014, figure only)",
    runs=1,
    tasks=tasks,
    report=report,
)
