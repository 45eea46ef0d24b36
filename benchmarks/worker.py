"""One side of one case in this process: ``python -m benchmarks.worker module case side`` prints a line of JSON."""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import psutil


def _peak_bytes() -> int:
    """Most memory this process has held; getrusage would answer with the parent's, if that had more."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    module, name, side = sys.argv[1:]
    case = next(case for case in import_module(module).CASES if case.name == name)
    warnings.simplefilter("ignore")  # a peer's warnings would hide the table
    warm_up = np.ones((500, 500))
    warm_up @ warm_up  # starts the BLAS threads
    data = case.data()
    before = psutil.Process().memory_info().rss
    start = time.perf_counter()
    result = case.sides[side](data)
    seconds = time.perf_counter() - start
    peak = _peak_bytes()
    line = {
        "seconds": seconds,
        "peak_mb": peak / 1e6,
        "before_mb": before / 1e6,
        "scores": case.score(data, result),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
