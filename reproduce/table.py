"""Runs an experiment's tasks, keeps one tidy record per score, and prints published and our figures side by side.

An experiment is a module with an ``EXPERIMENT``: it lists independent tasks (one mask of one run, usually) and turns
the records they return into markdown. ``__main__`` runs them by name.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from gramian.progress import progress

COLUMNS = (
    "experiment",
    "dataset",
    "mechanism",
    "rate",
    "method",
    "imputation",
    "run",
    "acc",
    "nmi",
    "ari",
    "cosine",
    "contrast",
    "seconds",
)
"""Of the CSV, before those that only some experiments have; what a record does not have stays empty."""

PAPER_RUNS = 30

Record = dict[str, Any]
Task = Callable[[], list[Record]]


@dataclass(frozen=True)
class Options:
    """What a reader may change; None leaves it to the experiment.

    Parameters
    ----------
    runs : int, optional
        Repetitions, each with its own mask and seeds.
    rates : tuple of float, optional
        Only these rates of missing values, shares of points or widths.
    datasets : tuple of str, optional
        Only these tables, where there are several.
    restarts, components : int
        Size of the cluster kernel's ensemble; the paper's is 30 and 30.
    samples : int, optional
        Rows, where the experiment draws them or leaves them out in turn.
    rbf_convention : {"half", "paper"}
        Form of the RBF kernel where an experiment shows one only; see :func:`reproduce.baselines.rbf`.
    data : path, optional
        Folder with data that does not come with the package.
    jobs : int
        Processes.
    full : bool
        As many runs as the paper has, where ``runs`` does not say.
    pictures : path
        Folder for figures.
    """

    runs: int | None = None
    rates: tuple[float, ...] | None = None
    datasets: tuple[str, ...] | None = None
    restarts: int = 30
    components: int = 30
    samples: int | None = None
    rbf_convention: Literal["half", "paper"] = "half"
    data: Path | None = None
    jobs: int = 1
    full: bool = False
    pictures: Path = Path("demo")

    def chosen_rates(self, rates: Sequence[float]) -> tuple[float, ...]:
        """Of the experiment's rates those that were asked for."""
        return tuple(rate for rate in rates if self.rates is None or rate in self.rates)


@dataclass(frozen=True)
class Experiment:
    """A published table or figure.

    Parameters
    ----------
    name, title : str
        For the command line and for the heading.
    runs : int
        Default repetitions, chosen to take minutes; the paper has 30.
    tasks : callable
        (options, runs) → functions without arguments that return records and can run in any order.
    report : callable
        Records → markdown.
    names_ensemble : bool
        Whether the heading tells the size of the cluster kernels.
    published_runs : int
        Repetitions of the paper.
    """

    name: str
    title: str
    runs: int
    tasks: Callable[[Options, int], Iterable[Task]]
    report: Callable[[list[Record]], str]
    names_ensemble: bool = True
    published_runs: int = PAPER_RUNS

    def run(self, options: Options) -> tuple[list[Record], str]:
        """The records in the order of the tasks, and the report."""
        runs = options.runs or (self.published_runs if options.full else self.runs)
        tasks = list(self.tasks(options, runs))
        if not tasks:
            raise ValueError(f"rates={options.rates} leave nothing of {self.name} to run; pass rates that it has")
        # Each process keeps to one thread, so that they do not fight over the cores.
        results = Parallel(n_jobs=options.jobs, return_as="generator")(delayed(_alone)(task) for task in tasks)
        records: list[Record] = []
        for part in progress(results, self.name, total=len(tasks), verbose=1):
            records += [{"experiment": self.name, **record} for record in part]
        size = f"; cluster kernels of {options.restarts} restarts and up to {options.components} components"
        repeated = f"{runs} {'run' if runs == 1 else 'runs'}{size if self.names_ensemble else ''}"
        return records, f"## {self.title}\n\n{repeated}.\n\n{self.report(records)}\n"


def _alone(task: Task) -> list[Record]:
    with threadpool_limits(1):
        return task()


def write_csv(records: Iterable[Record], path: Path) -> None:
    """One line per record, with ``COLUMNS`` and then whatever else the records hold."""
    records = list(records)
    columns = dict.fromkeys([*COLUMNS, *(key for record in records for key in record)])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


# Figures ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """A mean over the paper's 30 runs and its standard deviation, where that is printed."""

    mean: float
    std: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if self.std is None else f"{self.mean:.3f} ({self.std:.3f})"


@dataclass(frozen=True)
class Ours:
    """A mean over runs with its standard error; one run has none."""

    mean: float
    error: float | None
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Ours:
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        return cls(float(np.mean(values)), error, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}" if self.error is not None else f"{self.mean:.3f}"


def difference(ours: Ours, published: Published) -> str:
    """Ours minus published, with the standard error of that difference where both sides tell theirs."""
    gap = f"{ours.mean - published.mean:+.3f}"
    if ours.error is None or published.std is None:
        return gap
    return f"{gap} ± {np.hypot(ours.error, published.std / np.sqrt(PAPER_RUNS)):.3f}"


def select(records: Iterable[Record], **wanted: Any) -> list[Record]:
    """Records with these entries."""
    return [record for record in records if all(record[key] == value for key, value in wanted.items())]


def summary(records: Iterable[Record], score: str = "acc") -> Ours:
    """Mean and standard error of a score over records."""
    return Ours.of([record[score] for record in records])


def best_imputation(records: Iterable[Record], score: str = "acc") -> tuple[str, Ours]:
    """The imputation with the highest mean, which only one who has the labels can know; and that mean."""
    by_name: dict[str, list[float]] = {}
    for record in records:
        by_name.setdefault(record["imputation"], []).append(record[score])
    name = max(by_name, key=lambda key: float(np.mean(by_name[key])))
    return name, Ours.of(by_name[name])


def lead(records: Iterable[Record], rivals: Iterable[Record], score: str = "acc", by: Sequence[str] = ("run",)) -> Ours:
    """How far ahead records are of rivals, run by run: both saw the same data, so most of the noise cancels."""
    others = {tuple(record[key] for key in by): record[score] for record in rivals}
    return Ours.of([record[score] - others[tuple(record[key] for key in by)] for record in records])


def signed(ours: Ours) -> str:
    """A lead with its sign."""
    return f"{ours.mean:+.3f}" if ours.error is None else f"{ours.mean:+.3f} ± {ours.error:.3f}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
