"""How long does ``import gramian`` take, against scikit-learn's clustering module?"""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.case import Case, Scores


def _import_seconds(statement: str) -> float:
    """Best of several fresh interpreters, less an interpreter that imports nothing."""

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(once(statement) for _ in range(15)) - min(once("pass") for _ in range(15))


def _ratio(scores: dict[str, Scores]) -> None:
    for side in scores.values():
        side["ratio"] = side["import_s"] / scores["scikit-learn"]["import_s"]


CASES = [
    Case(
        name="import_time",
        question="import gramian, against import sklearn.cluster (fresh interpreters, best of 15)",
        target="<= 1.15 × import sklearn.cluster",
        data=lambda: None,
        sides={
            "gramian": lambda _: _import_seconds("import gramian"),
            "scikit-learn": lambda _: _import_seconds("import sklearn.cluster"),
        },
        score=lambda _, seconds: {"import_s": round(seconds, 4)},
        compare=_ratio,
    )
]
