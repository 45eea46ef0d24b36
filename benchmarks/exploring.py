"""How long does ``gramian explore`` take from a file to a report, and how much memory?"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.case import Case, Scores


def _table(n: int) -> Path:
    """A file of five groups, 10 % holes, 14 numbers (one has a heavy tail), 4 categories, a yes/no and a date."""
    rng = np.random.default_rng(0)
    group = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    X = rng.normal(0, 2.2, (5, 14))[group] + rng.normal(size=(n, 14))
    X[:, 12] = np.exp(X[:, 12])
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(14)])
    for j in range(4):
        shares = rng.dirichlet(np.full(6, 0.6), 5).cumsum(axis=1)
        level = (rng.random(n)[:, None] > shares[group]).sum(axis=1).clip(0, 5)
        frame[f"c{j}"] = np.array(list("abcdef"))[level]
    frame["flag"] = np.where(rng.random(n) < np.array([0.1, 0.3, 0.5, 0.7, 0.9])[group], "yes", "no")
    days = pd.to_timedelta(rng.integers(0, 900, n) + 100 * group, "D")
    frame["when"] = (pd.Timestamp("2021-01-01") + days).strftime("%Y-%m-%d")
    path = Path(tempfile.mkdtemp()) / "table.csv"
    frame.mask(rng.random(frame.shape) < 0.1).to_csv(path, index=False)
    return path


def _categories(n: int) -> Path:
    """A file of four groups, 10 % holes, 2 numbers and 4 categories of 6 levels: many rows are equal."""
    rng = np.random.default_rng(0)
    group = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    X = rng.normal(0, 2.5, (4, 2))[group] + rng.normal(size=(n, 2))
    frame = pd.DataFrame(X.round(4), columns=["x0", "x1"])
    for j in range(4):
        shares = rng.dirichlet(np.full(6, 0.6), 4).cumsum(axis=1)
        level = (rng.random(n)[:, None] > shares[group]).sum(axis=1).clip(0, 5)
        frame[f"c{j}"] = np.array(list("abcdef"))[level]
    path = Path(tempfile.mkdtemp()) / "table.csv"
    frame.mask(rng.random(frame.shape) < 0.1).to_csv(path, index=False)
    return path


def _explore(path: Path) -> Path:
    out = path.parent / "out"
    command = [sys.executable, "-m", "gramian", "explore", str(path), "--out", str(out), "-q"]
    # Installed packages are compiled once; this setting would have every run compile gramian anew.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, env=settings)
    return out


def _score(path: Path, out: Path) -> Scores:
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "groups": len(summary["groups"]),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "command_peak_mb": round(used.ru_maxrss / 1e3),
        "report_mb": round((out / "report.html").stat().st_size / 1e6, 2),
        "model_mb": round((out / "model.gramian").stat().st_size / 1e6, 1),
    }


def _case(
    name: str, n: int, target: str, repeats: int, table: Callable[[int], Path] = _table, columns: int = 20
) -> Case:
    return Case(
        name=name,
        question=f"gramian explore: {n:,} rows × {columns} columns, 10 % missing, from the file to the report",
        target=target,
        data=lambda: table(n),
        sides={"gramian": _explore},
        score=_score,
        repeats=repeats,
    )


CASES = [
    _case("explore_1k", 1000, "<= 6 s", 3),
    _case("explore_100k", 100_000, "<= 40 s", 1),
    _case("explore_categories_200k", 200_000, "<= 90 s", 1, _categories, 6),
    _case("explore_1m", 1_000_000, "<= 240 s, peak memory < 4 GB", 1),
]
