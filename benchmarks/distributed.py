"""More rows than one process holds, on two worker processes of one thread and 1.5 GiB each.

Rows are made chunk by chunk on the workers, the same in every run; sides in one process hold all of theirs. "seconds"
count the start of the processes, ``fit_seconds`` do not. A side runs once: it takes minutes.
"""

from __future__ import annotations

import logging
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.case import Case, Scores
from benchmarks.worker import _peak_bytes
from gramian import AutoClustering, FixedSizeLSSVMClassifier, KernelPCA, Nystroem, SpectralClustering
from gramian.kernels import ClusterKernel
from gramian.metrics import adjusted_rand

COLUMNS = 20
CHUNK = 100_000
PCA_ROWS = 4_000_000
SPEED_ROWS = 4_000_000
CLASS_ROWS, NEW_ROWS = 4_000_000, 200_000
CLUSTER_ROWS, CLUSTER_ROWS_ALONE = 2_000_000, 200_000
EXPLORE_ROWS, EXPLORE_ROWS_ALONE = 5_000_000, 1_000_000
GROUPS = 5
WORKER_MEMORY = "1.5GiB"

Answer = dict[str, Any]


def _group_of(number: int, rows: int) -> np.ndarray:
    return np.random.default_rng([number, 1]).choice(GROUPS, rows, p=[0.35, 0.25, 0.2, 0.12, 0.08])


def _rows(number: int, rows: int = CHUNK, holes: float = 0.0) -> np.ndarray:
    """The rows of a chunk: five groups in float32, some values missing."""
    rng = np.random.default_rng([number, 0])
    centers = np.random.default_rng(0).normal(0, 2.0, (GROUPS, COLUMNS)).astype(np.float32)
    X = rng.standard_normal((rows, COLUMNS), np.float32)
    X += centers[_group_of(number, rows)]
    if holes:
        X[rng.random(X.shape, np.float32) < holes] = np.nan
    return X


def _class_of(X: np.ndarray, number: int) -> np.ndarray:
    """Two classes that no plane divides; a tenth of the rows say something else."""
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2] + X[:, 3]) > 0.3
    return (y ^ (np.random.default_rng([number, 2]).random(len(X)) < 0.1)).astype(np.int8)


def _made(part: Any, holes: float, block_info: Any = None) -> np.ndarray:
    return _rows(block_info[0]["chunk-location"][0], len(part), holes)


def _classes_made(X: Any, block_info: Any = None) -> np.ndarray:
    return _class_of(X, block_info[0]["chunk-location"][0])


def _table(n: int, holes: float = 0.0) -> Any:
    """A Dask array of rows that are made where they are needed."""
    import dask.array

    places = dask.array.zeros((n, COLUMNS), np.float32, chunks=(CHUNK, COLUMNS))
    nothing = np.empty((0, 0), np.float32)
    return places.map_blocks(_made, holes, dtype=np.float32, meta=nothing)


def _in_memory(n: int, holes: float = 0.0) -> np.ndarray:
    return np.concatenate([_rows(i, min(CHUNK, n - i * CHUNK), holes) for i in range(-(-n // CHUNK))])


def _groups_of_all(n: int) -> np.ndarray:
    return np.concatenate([_group_of(i, min(CHUNK, n - i * CHUNK)) for i in range(-(-n // CHUNK))])


# Sides --------------------------------------------------------------------------------------------------------------


def _on_workers(work: Callable[[int], Answer], n: int, workers: int = 2) -> Answer:
    """What ``work`` answers, with the seconds and the memory that workers and client took for it."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=WORKER_MEMORY,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(time.process_time)
        answer = _timed(work, n)
        spent = client.run(time.process_time)
        answer["worker_cpu"] = sum(spent[worker] - before.get(worker, 0.0) for worker in spent)
        answer["worker_peak_mb"] = max(client.run(_peak_bytes).values()) / 1e6
        answer["workers_lost"] = len(set(before) - set(spent))
    return answer


def _timed(work: Callable[[int], Answer], n: int) -> Answer:
    start, spent = time.perf_counter(), time.process_time()
    answer = work(n)
    answer["fit_seconds"] = time.perf_counter() - start
    answer["client_cpu"] = time.process_time() - spent
    answer["rows"] = n
    return answer


def _side(work: Callable[[int], Answer], n: int, *, workers: int = 0) -> Callable[[Any], Answer]:
    """A side on so many worker processes, or in this process."""
    return lambda _: _on_workers(work, n, workers) if workers else _timed(work, n)


def _pca(X: Any) -> Answer:
    # The same landmarks on both sides: each draws them from a sample of its own otherwise.
    kernel = Nystroem(300, random_state=0).fit(_rows(0, 50_000)).frozen()
    model = KernelPCA(10, kernel=kernel).fit(X)
    return {"_eigenvalues": model.eigenvalues_.astype(float).tolist()}


def _pca_apart(n: int) -> Answer:
    return _pca(_table(n))


def _pca_alone(n: int) -> Answer:
    return _pca(_in_memory(n))


def _new_rows() -> tuple[np.ndarray, np.ndarray]:
    X = _rows(1_000_000, NEW_ROWS)
    return X, _class_of(X, 1_000_000)


def _machine_apart(n: int) -> Answer:
    X = _table(n)
    y = X.map_blocks(_classes_made, drop_axis=1, dtype=np.int8, meta=np.empty(0, np.int8))
    model = FixedSizeLSSVMClassifier(300, random_state=0).fit(X, y)
    X_new, y_new = _new_rows()
    return {"accuracy": float(np.mean(model.predict(X_new) == y_new)), "regularization": float(model.regularization_)}


def _descent(n: int) -> Answer:
    """Scikit-learn's, chunk by chunk, in one pass."""
    scaler = StandardScaler().fit(_rows(0))
    model = SGDClassifier(loss="log_loss", random_state=0)
    for i in range(-(-n // CHUNK)):
        X = _rows(i, min(CHUNK, n - i * CHUNK))
        model.partial_fit(scaler.transform(X), _class_of(X, i), classes=[0, 1])
    X_new, y_new = _new_rows()
    return {"accuracy": float(np.mean(model.predict(scaler.transform(X_new)) == y_new))}


def _spectral() -> SpectralClustering:
    return SpectralClustering(GROUPS, kernel=ClusterKernel(5, 10), random_state=0)


def _automatic() -> AutoClustering:
    return AutoClustering(random_state=0)


def _clusters_apart(model: Callable[[], Any], n: int) -> Answer:
    return _clustered(model().fit(_table(n, 0.1)), lambda fitted: fitted.labels_.compute(), n)


def _clusters_alone(model: Callable[[], Any], n: int) -> Answer:
    return _clustered(model().fit(_in_memory(n, 0.1)), lambda fitted: fitted.labels_, n)


def _clustered(model: Any, labels: Callable[[Any], np.ndarray], n: int) -> Answer:
    return {"ari": float(adjusted_rand(_groups_of_all(n), labels(model))), "clusters": int(model.n_clusters_)}


def _clustering(model: Callable[[], Any]) -> dict[str, Callable[[Any], Answer]]:
    return {
        "gramian, 2 workers": _side(partial(_clusters_apart, model), CLUSTER_ROWS, workers=2),
        "gramian, one process": _side(partial(_clusters_alone, model), CLUSTER_ROWS_ALONE),
    }


# Files --------------------------------------------------------------------------------------------------------------


def _folder(n: int) -> Path:
    """Parquet files of 250,000 rows: 19 numbers and a category, a tenth of the values missing."""
    folder = Path(tempfile.mkdtemp()) / "table"
    folder.mkdir()
    for i in range(-(-n // 250_000)):
        rows = min(250_000, n - i * 250_000)
        frame = pd.DataFrame(_rows(i, rows, 0.1)[:, :19], columns=[f"x{j}" for j in range(19)])
        frame["kind"] = np.array(list("abcde"))[_group_of(i, rows)]
        frame["kind"] = frame["kind"].mask(np.random.default_rng(i).random(rows) < 0.3)
        frame.to_parquet(folder / f"{i:04d}.parquet", index=False)
    return folder


def _explore_apart(n: int) -> Answer:
    from gramian.explorer import explore_folder

    table = _folder(n)
    return _explored(table, lambda out: explore_folder(table, out, workers=2))


def _explore_alone(n: int) -> Answer:
    from gramian import explore

    def run(out: Path) -> Any:
        frame = pd.concat([pd.read_parquet(path) for path in sorted(table.iterdir())], ignore_index=True)
        found = explore(frame)
        found.save(out)
        return found

    table = _folder(n)
    return _explored(table, run)


def _explored(table: Path, run: Callable[[Path], Any]) -> Answer:
    """From files to a report; the workers are those that have ended since."""
    out, start = table.parent / "found", time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = run(out)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    report_mb = (out / "report.html").stat().st_size / 1e6
    shutil.rmtree(table.parent)
    return {
        "explore_seconds": seconds,
        "groups": len(found.groups),
        "report_mb": report_mb,
        "worker_cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "worker_peak_mb": after.ru_maxrss / 1e3,
    }


# Scores -------------------------------------------------------------------------------------------------------------


def _score(_: Any, answer: Answer) -> Scores:
    found = {name: round(value, 4) if isinstance(value, float) else value for name, value in answer.items()}
    seconds = answer.get("explore_seconds", answer["fit_seconds"])
    return found | {"microseconds_per_row": round(1e6 * seconds / answer["rows"], 3)}


def _score_by_processor(data: Any, answer: Answer) -> Scores:
    """Where sides have different numbers of rows: with the processor time of all processes, whatever else runs."""
    spent = answer["client_cpu"] + answer.get("worker_cpu", 0.0)
    return _score(data, answer) | {
        "processor_seconds": round(spent, 4),
        "processor_microseconds_per_row": round(1e6 * spent / answer["rows"], 3),
    }


def _same_eigenvalues(scores: dict[str, Scores]) -> None:
    """The largest relative difference from one process."""
    alone = np.array(scores["gramian, one process"]["_eigenvalues"])
    for found in scores.values():
        difference = np.abs(np.array(found["_eigenvalues"]) / alone - 1).max()
        found["eigenvalue_difference"] = float(f"{difference:.2g}")


def _no_data() -> None:
    """The rows are made inside the sides, as they are on workers."""


_CASES: dict[str, tuple[str, str, dict[str, Callable[[Any], Answer]]]] = {
    "workers_kernel_pca": (
        f"KernelPCA(kernel=Nystroem(300)) of {PCA_ROWS:,} × {COLUMNS} on two workers, beside one process",
        "same eigenvalues to 1e-6; at most 1.3 times the seconds; client below 600 MB",
        {
            "gramian, 2 workers": _side(_pca_apart, PCA_ROWS, workers=2),
            "gramian, one process": _side(_pca_alone, PCA_ROWS),
        },
    ),
    "workers_speed_up": (
        f"KernelPCA(kernel=Nystroem(300)) of {SPEED_ROWS:,} × {COLUMNS}: two workers beside one",
        "one worker takes at least 1.6 times the seconds",
        {
            "gramian, 2 workers": _side(_pca_apart, SPEED_ROWS, workers=2),
            "gramian, 1 worker": _side(_pca_apart, SPEED_ROWS, workers=1),
        },
    ),
    "workers_classifier": (
        f"FixedSizeLSSVMClassifier(300) of {CLASS_ROWS:,} × {COLUMNS}, regularization chosen, beside SGD",
        "finishes; accuracy not lower",
        {
            "gramian, 2 workers": _side(_machine_apart, CLASS_ROWS, workers=2),
            "scikit-learn SGD": _side(_descent, CLASS_ROWS),
        },
    ),
    "workers_spectral": (
        f"SpectralClustering of {CLUSTER_ROWS:,} rows with 10 % missing, beside one process at {CLUSTER_ROWS_ALONE:,}",
        "ARI within 0.01",
        _clustering(_spectral),
    ),
    "workers_auto": (
        f"AutoClustering of {CLUSTER_ROWS:,} rows with 10 % missing, beside one process at {CLUSTER_ROWS_ALONE:,}",
        "ARI within 0.01",
        _clustering(_automatic),
    ),
    "workers_explore": (
        f"explore a folder of {EXPLORE_ROWS:,} × {COLUMNS}, beside one table of {EXPLORE_ROWS_ALONE:,}",
        "time per row at most 1.3 times; report below 5 MB",
        {
            "gramian, 2 workers": _side(_explore_apart, EXPLORE_ROWS),
            "gramian, one process": _side(_explore_alone, EXPLORE_ROWS_ALONE),
        },
    ),
}

_OF_OTHER_SIZES = ("workers_spectral", "workers_auto", "workers_explore")

CASES = [
    Case(
        name=name,
        question=question,
        target=target,
        data=_no_data,
        sides=sides,
        score=_score_by_processor if name in _OF_OTHER_SIZES else _score,
        compare=_same_eigenvalues if name == "workers_kernel_pca" else None,
        repeats=1,
    )
    for name, (question, target, sides) in _CASES.items()
]
