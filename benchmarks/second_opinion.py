"""Is kernel spectral clustering worth asking beside the neighbour graph, and would ``AutoClustering`` gain by it?

``python -m benchmarks.second_opinion --rows 600``: adjusted Rand index with the classes over the sets of
``benchmarks.no_knobs`` (``--held-out``: over the shapes that nothing was tuned on), labels dropped, columns in
standard deviations, with the number of clusters given and not. "either" is the better of the two in hindsight, the
most that any choice between them could reach; "where clear" takes kernel spectral clustering where a number of
clusters stands out under it and ``AutoClustering`` is not sure (its verdict is not "clear"), and ``AutoClustering``
elsewhere.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

from benchmarks.no_knobs import DATA, read_sets, standardized
from gramian import AutoClustering, KernelSpectralClustering, SpectralClustering
from gramian.metrics import adjusted_rand
from gramian.typing import Array

GIVEN = ("KSC", "KSC, by AMS", "neighbour graph")
UNKNOWN = ("KSC, k unknown", "AutoClustering", "either", "where clear")


def measure(X: Array, y: Array, *, automatic: bool) -> dict[str, float]:
    """The adjusted Rand index of every side on one set."""
    k = len(np.unique(y))
    Z = standardized(X)
    Z = np.where(np.isnan(Z), 0.0, Z)  # a few sets have holes; these are at the mean for all sides
    models = {
        "KSC": KernelSpectralClustering(k, random_state=0),
        "KSC, by AMS": KernelSpectralClustering(k, criterion="ams", random_state=0),
        "neighbour graph": SpectralClustering(k, kernel="neighbors", random_state=0),
    }
    found = {name: float(adjusted_rand(y, model.fit(Z).labels_)) for name, model in models.items()}
    if automatic:
        ours = KernelSpectralClustering(max_clusters=20, random_state=0).fit(Z)
        other = AutoClustering(random_state=0).fit(Z)
        a, b = (float(adjusted_rand(y, model.labels_)) for model in (ours, other))
        clear = ours.chosen_by_ != "nothing" and other.verdict_ != "clear"
        found |= {"KSC, k unknown": a, "AutoClustering": b, "either": max(a, b), "where clear": a if clear else b}
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=600, help="most rows of a set")
    parser.add_argument("--sets", nargs="*", default=[], help="only these")
    parser.add_argument("--held-out", action="store_true")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)
    sides = GIVEN if given.held_out else (*GIVEN, *UNKNOWN)
    print("| set |", " | ".join(sides), "|")
    print("|---|" + "---:|" * len(sides))
    rows = []
    for name, (X, y) in read_sets(given.data, given.rows, given.sets, held_out=given.held_out).items():
        if not 2 <= len(np.unique(y)) <= 20:
            continue
        found = measure(X, y, automatic=not given.held_out)
        rows.append([found[side] for side in sides])
        print(f"| {name} |", " | ".join(f"{found[side]:.2f}" for side in sides), "|", flush=True)
    print(f"| mean of {len(rows)} |", " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
