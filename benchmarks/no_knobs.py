"""How good are the clusters of ``AutoClustering``, with nothing to tune, beside the usual methods?

It gets what ``gramian explore`` gives it: the set goes through a file, ``read_table`` and ``Preparation``.

``python -m benchmarks.no_knobs --rates 0 0.2 --rows 1000``: mean adjusted Rand index with the classes over the shapes
``fcps`` and ``sipu`` and 23 tables of UCI, labels dropped, values taken away at random, with the number of clusters
given and not. Large sets count with a random part of their rows.

What the others get: columns in standard deviations, holes filled by ``KNNImputer`` (5 neighbours, scikit-learn's
default). Without the number of clusters: k-means and spectral clustering (10 neighbours) take the best silhouette, the
Gaussian mixture (full covariances, 10 starts, 3 while the number is looked for) the least BIC, all of 2 to 20. HDBSCAN
has its defaults, takes no number of clusters, and its noise counts as one cluster.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.impute import KNNImputer
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

from gramian import AutoClustering
from gramian.datasets import read_csv
from gramian.metrics import adjusted_rand
from gramian.tables import BOOLEAN, CATEGORY, Preparation, read_table
from gramian.typing import Array

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OURS = "gramian"
SHAPES = ("fcps", "sipu")
HELD_OUT = ("wut", "graves", "other", "deric_artificial")
"""Shapes that nothing was tuned on: looked at once, when all else was settled."""
TABLES = (
    "balance_scale", "banknote", "breast_w", "dermatology", "divorce", "ecoli", "glass", "heart_statlog", "ionosphere",
    "iris", "optdigits", "pendigits", "pima", "satimage", "seeds", "segment", "sonar", "vehicle", "vote", "vowel",
    "wdbc", "wine", "yeast",
)  # fmt: skip
COUNTS = range(2, 21)


def read_sets(folder: Path, rows: int, wanted: list[str], *, held_out: bool = False) -> dict[str, tuple[Array, Array]]:
    """Rows (a random part of large sets) and classes, by name."""
    sets: dict[str, tuple[Array, Array]] = {}
    for name in HELD_OUT if held_out else SHAPES:
        with np.load(folder / "shapes" / f"{name}.npz") as file:
            for shape in sorted(key[:-2] for key in file.files if key.endswith("_X")):
                classes = file[f"{shape}_y"] if f"{shape}_y" in file.files else file[f"{shape}_y_a"]
                sets[f"{name}/{shape}"] = file[f"{shape}_X"].astype(float), classes
    sets.pop("sipu/birch2", None)
    for name in () if held_out else TABLES:
        sets[f"uci/{name}"] = _table(folder / "uci" / f"{name}.csv.gz")
    chosen = {}
    for name, (X, y) in sets.items():
        if wanted and name not in wanted and name.split("/")[0] not in wanted:
            continue
        kept = np.sort(np.random.default_rng(0).choice(len(X), min(rows, len(X)), replace=False))
        chosen[name] = X[kept], np.unique(y[kept], return_inverse=True)[1]
    return chosen


def _table(path: Path) -> tuple[Array, Array]:
    """The columns of numbers; yes and no as 1 and 0 in a table of nothing else."""
    table = read_csv(path, target="label", categorical=["label"])
    numbers = [j for j, name in enumerate(table.feature_names) if name not in table.categories]
    return np.asarray(table.X[:, numbers] if numbers else table.X, float), np.asarray(table.y)


def pierced(X: Array, rate: float, seed: int) -> Array:
    """X with a part of its values taken away, all alike likely."""
    return np.where(np.random.default_rng(seed).random(X.shape) < rate, np.nan, X)


def standardized(X: Array) -> Array:
    """Columns in standard deviations, holes filled."""
    deviation = np.nanstd(X, axis=0)
    Z = (X - np.nanmean(X, axis=0)) / np.where(deviation > 0, deviation, 1)
    return KNNImputer().fit_transform(Z) if np.isnan(Z).any() else Z


def prepared(X: Array) -> tuple[Array, list[str], list[str]]:
    """The features that ``gramian explore`` makes of a file of these numbers, the column of each, and categories."""
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    rows = [",".join("" if np.isnan(value) else repr(value).removesuffix(".0") for value in row) for row in X.tolist()]
    text = "\n".join([",".join(names), *(row or '""' for row in rows)])
    table = read_table("set.csv", columns=names, stream=io.BytesIO(text.encode()))
    preparation = Preparation().fit(table)
    categories = [column.name for column in table.columns if column.kind in (CATEGORY, BOOLEAN)]
    return preparation.transform(table), preparation.feature_columns_, categories


# The others: labels of standardised, complete rows; k is None where it is not known ---------------------------------


def kmeans(Z: Array, k: int | None, seed: int) -> Array:
    return _best_silhouette(Z, k, lambda k: KMeans(k, n_init=10, random_state=seed).fit_predict(Z))


def spectral(Z: Array, k: int | None, seed: int) -> Array:
    def fit(k: int) -> Array:
        model = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=min(10, len(Z)), random_state=seed)
        return model.fit_predict(Z)

    return _best_silhouette(Z, k, fit)


def gaussian_mixture(Z: Array, k: int | None, seed: int) -> Array:
    if k is None:
        trials = [GaussianMixture(c, n_init=3, reg_covar=1e-4, random_state=seed).fit(Z) for c in _counts(Z)]
        k = min(trials, key=lambda model: model.bic(Z)).n_components
    return GaussianMixture(k, n_init=10, reg_covar=1e-4, random_state=seed).fit_predict(Z)


def hdbscan(Z: Array, k: int | None, seed: int) -> Array:
    return HDBSCAN(copy=True).fit_predict(Z)


def _best_silhouette(Z: Array, k: int | None, fit: Callable[[int], Array]) -> Array:
    if k is not None:
        return fit(k)
    found = [fit(c) for c in _counts(Z)]
    return max(found, key=lambda labels: silhouette_score(Z, labels) if len(np.unique(labels)) > 1 else -1.0)


def _counts(Z: Array) -> range:
    return range(COUNTS.start, min(COUNTS.stop, len(Z)))


OTHERS: dict[str, Callable[[Array, int | None, int], Array]] = {
    "k-means": kmeans,
    "Gaussian mixture": gaussian_mixture,
    "kNN spectral": spectral,
    "HDBSCAN": hdbscan,
}


def measure(X: Array, y: Array, k: int | None, seed: int, sides: list[str]) -> dict[str, tuple[float, float]]:
    """Adjusted Rand index and seconds of each side."""
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = standardized(X)
        for side in sides:
            start = time.perf_counter()
            if side == OURS:
                features, columns, categories = prepared(X)
                labels = (
                    AutoClustering(k, random_state=seed)
                    .fit(features, feature_columns=columns, categorical_columns=categories)
                    .labels_
                )
            else:
                labels = OTHERS[side](Z, k, seed)
            out[side] = adjusted_rand(y, labels), time.perf_counter() - start
    return out


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.no_knobs", description="Groups without tuning.")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with shapes/ and uci/")
    parser.add_argument("--rates", type=float, nargs="*", default=[0.0, 0.2], help="parts of the values taken away")
    parser.add_argument("--sets", nargs="*", default=[], help="such as uci/iris or fcps; all by default")
    parser.add_argument("--held-out", action="store_true", help="the shapes that nothing was tuned on, instead")
    parser.add_argument("--runs", type=int, default=1, help="with different holes and starts")
    parser.add_argument("--rows", type=int, default=1000, help="most rows of a set")
    parser.add_argument("--counts", nargs="*", default=["given", "unknown"], choices=["given", "unknown"])
    parser.add_argument("--sides", nargs="*", default=[OURS, *OTHERS], choices=[OURS, *OTHERS])
    given = parser.parse_args(arguments)
    sets = read_sets(given.data, given.rows, given.sets, held_out=given.held_out)
    settings = [(rate, counts) for rate in given.rates for counts in given.counts]
    print(f"{len(sets)} sets of at most {given.rows} rows, {given.runs} run(s)\n")
    _row("set", "k", *given.sides, "seconds of ours")
    _row("---", *["---:"] * (len(given.sides) + 2))
    scores: dict[tuple[float, str], list[list[float]]] = {setting: [] for setting in settings}
    for name, (X, y) in sets.items():
        k = int(y.max()) + 1
        for rate, counts in settings:
            known = k if counts == "given" else None
            runs = [measure(pierced(X, rate, run), y, known, run, given.sides) for run in range(given.runs)]
            means = [float(np.mean([run[side][0] for run in runs])) for side in given.sides]
            seconds = float(np.mean([run[given.sides[0]][1] for run in runs]))
            scores[rate, counts].append(means)
            _row(f"{name}, {rate:.0%} missing, k {counts}", k, *(f"{mean:.2f}" for mean in means), f"{seconds:.1f}")
    print()
    _row("mean adjusted Rand index", *given.sides)
    _row("---", *["---:"] * len(given.sides))
    for (rate, counts), rows in scores.items():
        means = np.mean(rows, axis=0).tolist()
        shown = [f"**{mean:.3f}**" if mean == max(means) else f"{mean:.3f}" for mean in means]
        _row(f"{rate:.0%} missing, k {counts}", *shown)
    return 0


def _row(*cells: Any) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
