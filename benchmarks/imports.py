"""How long does a first estimator of gramian take to import, against scikit-learn's clustering module?

``import gramian`` alone imports next to nothing, so that it would measure nothing.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from benchmarks.case import Case, Scores


def _import_seconds(statement: str) -> float:
    """Processor time of the import: least of several fresh interpreters, less an interpreter that imports nothing."""

    def once(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once(statement) for _ in range(15)) - min(once("pass") for _ in range(15))


def _ratio(scores: dict[str, Scores]) -> None:
    for side in scores.values():
        side["ratio"] = side["import_s"] / scores["scikit-learn"]["import_s"]


CASES = [
    Case(
        name="import_time",
        question="import SpectralClustering, against import sklearn.cluster (processor time, best of 15 interpreters)",
        target="<= 1.15 × import sklearn.cluster",
        data=lambda: None,
        sides={
            "gramian": lambda _: _import_seconds("from gramian import SpectralClustering"),
            "scikit-learn": lambda _: _import_seconds("import sklearn.cluster"),
        },
        score=lambda _, seconds: {"import_s": round(seconds, 4)},
        compare=_ratio,
    )
]
