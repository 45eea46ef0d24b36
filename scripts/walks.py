"""How much of the library does one call walk through? Count the functions entered and the files they stand in.

    python scripts/walks.py            # the installed gramian
    PYTHONPATH=other/src python scripts/walks.py

Functions are distinct code objects of the package entered while the call runs, on any thread; imports, lambdas'
and comprehensions' own frames count as they stand. Every walk runs once before it is counted, so that what is
compiled, imported or cached at first use is not part of it. The data are made here: 300 rows.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gramian

PACKAGE = str(Path(gramian.__file__).parent)
ROWS = 300


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three groups in five columns: complete, with a tenth of the values missing, and the groups."""
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 3
    X = 4.0 * rng.standard_normal((3, 5))[y] + rng.standard_normal((ROWS, 5))
    return X, np.where(rng.random(X.shape) < 0.1, np.nan, X), y


def walks() -> dict[str, Callable[[], Any]]:
    """The calls that are counted."""
    X, holes, y = data()
    return {
        "SpectralClustering().fit(X with missing values)": lambda: gramian.SpectralClustering(3, random_state=0).fit(
            holes
        ),
        "KernelPCA(kernel=Nystroem(50)).fit(X)": lambda: gramian.KernelPCA(
            2, kernel=gramian.Nystroem(50, random_state=0)
        ).fit(X),
        "DependenceReduction(2).fit(X, y)": lambda: gramian.DependenceReduction(2).fit(X, y),
        "gramian explore table.csv": lambda: explore(holes),
    }


def explore(X: np.ndarray) -> None:
    """What the command line does, from a file to a folder of results."""
    from gramian.cli import main

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        rows = [",".join("" if np.isnan(value) else f"{value:.4f}" for value in row) for row in X]
        table.write_text("\n".join(["a,b,c,d,e", *rows]) + "\n")
        sys.argv = ["gramian", "explore", str(table), "--out", str(Path(folder, "out")), "--quiet"]
        try:
            main()
        except SystemExit as stop:
            if stop.code not in (0, None):
                raise


def entered(call: Callable[[], Any]) -> Counter[str]:
    """Functions of the package that ``call`` enters, counted by file."""
    seen: set[Any] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = [code for code in seen if code.co_filename.startswith(PACKAGE) and code.co_name != "<module>"]
    return Counter(str(Path(code.co_filename).relative_to(PACKAGE)) for code in ours)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{PACKAGE}\n{'functions':>9} {'files':>5}  walk")
    for name, call in walks().items():
        call()
        files = entered(call)
        print(f"{files.total():9} {len(files):5}  {name}")
        if "--files" in sys.argv[1:]:
            for file, count in sorted(files.items()):
                print(f"{'':9} {count:5}    {file}")


if __name__ == "__main__":
    main()
