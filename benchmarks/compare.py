"""``python -m benchmarks.compare OLD [case ...] [--repeats N]``: is this checkout as fast as another one?

Our side of every case runs in both checkouts in turn, each time in a process of its own that imports that checkout's
gramian and benchmarks. Processor time is what counts: unlike time by the clock it hardly depends on what else the
machine does. A call of less than two seconds is made again, and the median of five more counts: the first one imports
and compiles. Cases that the other checkout does not have are left out.
"""

from __future__ import annotations

import argparse
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
import resource, sys, time, warnings
from importlib import import_module
from statistics import median
import numpy as np
module, name = sys.argv[1:]
case = next((case for case in import_module(module).CASES if case.name == name), None)
if case is None:
    sys.exit("no such case")
warnings.simplefilter("ignore")
np.ones((500, 500)) @ np.ones((500, 500))
data, side = case.data(), next(iter(case.sides.values()))
def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
def seconds():
    start = used()
    side(data)
    return used() - start
first = seconds()
print(first if first > 2 else median(seconds() for _ in range(5)))
"""


def seconds(checkout: Path, module: str, case: str) -> float | None:
    """Processor time of our side of one case; None if the checkout has no such case."""
    if not (checkout / "benchmarks" / f"{module}.py").exists():
        return None
    env = os.environ | {"PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    command = [sys.executable, "-c", _RUN, f"benchmarks.{module}", case]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout, env=env)
    if done.stderr.strip() == "no such case":
        return None
    if done.returncode:
        raise RuntimeError(f"{case} failed in {checkout}:\n{done.stderr}")
    return float(done.stdout.splitlines()[-1])


def main(old: Path, names: list[str], repeats: int) -> int:
    """Print a row per case; 1 if one is slower than allowed."""
    slower = 0
    print(f"{'case':40} {'old s':>9} {'new s':>9} {'new/old':>8}")
    for module in MODULES:
        for case in import_module(f"benchmarks.{module}").CASES:
            if names and case.name not in names:
                continue
            runs = [(seconds(old, module, case.name), seconds(NEW, module, case.name)) for _ in range(repeats)]
            pairs = [(before, after) for before, after in runs if before is not None and after is not None]
            if not pairs:
                print(f"{case.name:40} {'new':>9}", flush=True)
                continue
            before, after = (median(side) for side in zip(*pairs, strict=True))
            slower += after > ALLOWED * before
            mark = "  slower" if after > ALLOWED * before else ""
            print(f"{case.name:40} {before:9.3f} {after:9.3f} {after / before:8.2f}{mark}", flush=True)
    return int(slower > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the processor time of our side with another checkout's.")
    parser.add_argument("old", type=Path, help="the other checkout")
    parser.add_argument("cases", nargs="*", help="by default all")
    parser.add_argument("--repeats", type=int, default=3, help="processes per checkout; the median counts")
    options = parser.parse_args()
    sys.exit(main(options.old.resolve(), options.cases, options.repeats))
