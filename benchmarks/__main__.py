"""``python -m benchmarks [name ...]``: measure, print a table, write ``benchmarks/results.json``.

Rows of cases that were not run this time are kept, so that one case can be measured anew.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

MODULES = (
    "imports",
    "embedding",
    "clustering",
    "landmarks",
    "eigensolvers",
    "solving",
    "lssvm",
    "fixed_size",
    "intervals",
    "reservoir",
    "reservoir_studies",
    "forecasting",
    "deep",
    "deep_clustering",
    "semi_supervised",
    "mixtures",
    "ensembles",
    "ranking",
    "networks",
    "kernel_ranking",
    "dependence",
    "projections",
    "exploring",
    "ksc",
    "kernel_net",
    "distributed",
)
RESULTS = Path(__file__).with_name("results.json")


def main(names: list[str]) -> int:
    cases = {case.name: (f"benchmarks.{m}", case) for m in MODULES for case in import_module(f"benchmarks.{m}").CASES}
    unknown = [name for name in names if name not in cases]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(cases)}", file=sys.stderr)
        return 2
    machine = _machine()
    console = Console(width=150)
    console.print(machine)
    kept = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    for name in names or cases:
        module, case = cases[name]
        rows = [row | {"measured": machine} for row in case.measure(module)]
        console.print(_table(case.question, case.target, rows))
        kept = [row for row in kept if row["case"] != name] + rows
        RESULTS.write_text(json.dumps({"rows": kept}, indent=1) + "\n")
    return 0


def _table(question: str, target: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=f"{question}\n[dim]target: {target}[/dim]", title_justify="left")
    keys = sorted({key for row in rows for key in row["scores"]})
    for column in ("side", "seconds", "× ours", "peak MB", "before MB", *keys):
        table.add_column(column, justify="left" if column == "side" else "right")
    for row in rows:
        scores = [_shown(row["scores"].get(key)) for key in keys]
        ratio = f"{row['times_slower_than_ours']:.2f}"
        table.add_row(row["side"], f"{row['seconds']:.3f}", ratio, str(row["peak_mb"]), str(row["before_mb"]), *scores)
    return table


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _machine() -> dict[str, Any]:
    """What the figures depend on, with the GEMM rate that bounds them all and what else ran in the minute before."""
    load = os.getloadavg()[0]
    A = np.random.default_rng(0).standard_normal((3000, 3000))
    A @ A
    start = time.perf_counter()
    for _ in range(3):
        A @ A
    gemm = 3 * 2 * 3000**3 / (time.perf_counter() - start) / 1e9
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit.stdout.strip(),
        "cores": psutil.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "processor": _processor(),
        "float64_gemm_gflops": round(gemm, 1),
        "load": round(load, 1),
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "scipy", "scikit-learn", "gramian")},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
