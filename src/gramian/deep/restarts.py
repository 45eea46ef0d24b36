"""Several runs of a training, in processes of one torch thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs

from gramian.checks import is_whole

Result = TypeVar("Result")


def run_restarts(
    run: Callable[..., Result],
    generators: Sequence[np.random.Generator],
    *arguments: Any,
    n_jobs: int | None = None,
    in_process: bool = False,
) -> list[Result]:
    """``run(generator, *arguments)`` for every generator, in processes where ``n_jobs`` asks for several.

    Every run has one torch thread, wherever it runs, so that the results do not depend on ``n_jobs``.

    Parameters
    ----------
    run : callable
        A function of a module, or a bound method; what it returns must be arrays and plain values.
    generators : sequence of numpy.random.Generator
        One per run, from :func:`gramian.randomness.spawn`.
    *arguments
        Passed to every run.
    n_jobs : int, optional
        Processes; −1 is all cores, None is one, or what ``joblib.parallel_config`` says: its backend is used, so that
        runs may spread over a Dask cluster.
    in_process : bool
        Stay in this process, for callbacks that are to see the runs.

    Returns
    -------
    results : list
        In the order of the generators.
    """
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or None")
    if in_process or len(generators) < 2 or effective_n_jobs(n_jobs) == 1:
        return [_alone(run, generator, *arguments) for generator in generators]
    tasks = (delayed(_alone)(run, generator, *arguments) for generator in generators)
    found: list[Result] = Parallel(n_jobs=n_jobs, prefer="processes")(tasks)
    return found


def _alone(run: Callable[..., Result], generator: np.random.Generator, *arguments: Any) -> Result:
    with one_thread():
        return run(generator, *arguments)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch work with one thread for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
