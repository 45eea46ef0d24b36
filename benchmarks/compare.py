"""``python -m benchmarks.compare OLD [case ...]``: is this checkout as fast as another one?

Our side of every case runs in both checkouts in turn, each time in a process of its own that imports that checkout's
gramian and benchmarks. Processor time is what counts: unlike time by the clock it hardly depends on what else the
machine does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from statistics import median

from benchmarks.__main__ import MODULES

ALLOWED = 1.1  # median processor time of the new checkout over that of the old one
NEW = Path(__file__).parent.parent

_RUN = """
import json, os, sys, warnings
from importlib import import_module
import numpy as np
module, name = sys.argv[1:]
case = next(case for case in import_module(module).CASES if case.name == name)
warnings.simplefilter("ignore")
np.ones((500, 500)) @ np.ones((500, 500))
data = case.data()
side = next(iter(case.sides.values()))
start = sum(os.times()[:4])  # the process and those it started
side(data)
print(json.dumps(sum(os.times()[:4]) - start))
"""


def seconds(checkout: Path, module: str, case: str) -> float:
    """Processor time of our side of one case."""
    env = os.environ | {"PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    command = [sys.executable, "-c", _RUN, module, case]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout, env=env)
    if done.returncode:
        raise RuntimeError(f"{case} failed in {checkout}:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def main(old: str, names: list[str], repeats: int = 3) -> int:
    """Print a row per case; 1 if one is slower than allowed."""
    slower = 0
    print(f"{'case':40} {'old s':>9} {'new s':>9} {'new/old':>8}")
    for module in MODULES:
        for case in import_module(f"benchmarks.{module}").CASES:
            if names and case.name not in names:
                continue
            runs: dict[Path, list[float]] = {Path(old).resolve(): [], NEW: []}
            for _ in range(repeats):
                for checkout, found in runs.items():
                    found.append(seconds(checkout, f"benchmarks.{module}", case.name))
            before, after = (median(found) for found in runs.values())
            slower += after > ALLOWED * before
            mark = "  slower" if after > ALLOWED * before else ""
            print(f"{case.name:40} {before:9.3f} {after:9.3f} {after / before:8.2f}{mark}", flush=True)
    return int(slower > 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.compare OLD [case ...]")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
