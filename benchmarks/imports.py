"""How long does a first estimator of gramian take to import, against scikit-learn's clustering module?

``import gramian`` alone imports next to nothing, so that it would measure nothing.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from benchmarks.case import Case, Scores

OURS, THEIRS = "from gramian import SpectralClustering", "import sklearn.cluster"


def _in_turn(statement: str) -> Scores:
    """Processor time of the import, and its ratio to scikit-learn's in the same minute.

    Least of several fresh interpreters, which import one thing after the other, less one that imports nothing.
    """

    def once(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    rounds = [[once(code) for code in (statement, THEIRS, "pass")] for _ in range(15)]
    own, theirs, nothing = map(min, zip(*rounds, strict=True))
    return {"import_s": round(own - nothing, 4), "ratio": round((own - nothing) / (theirs - nothing), 3)}


CASES = [
    Case(
        name="import_time",
        question="import SpectralClustering, against import sklearn.cluster (processor time, best of 15 interpreters)",
        target="<= 1.15 × import sklearn.cluster",
        data=lambda: None,
        sides={"gramian": lambda _: _in_turn(OURS), "scikit-learn": lambda _: _in_turn(THEIRS)},
        score=lambda _, found: found,
    )
]
