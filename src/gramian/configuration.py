"""Settings of the whole library: how much memory one object may take and how many threads work.

Everything that would allocate much asks :func:`require_memory` first, so a too large problem is refused with
the alternative named instead of being killed half way.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

_DEFAULT_FRACTION = 0.25
_UNITS = {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_settings: dict[str, int | None] = {"memory_budget": None, "threads": None}


class MemoryBudgetError(MemoryError):
    """Raised before an allocation that would exceed ``gramian.config(memory_budget=...)``."""


class config:
    """Read or change the settings; as a context manager, change them for a while.

    Parameters
    ----------
    memory_budget : int, float or str, optional
        The most bytes one matrix may take, as a number or like ``"2GB"`` or ``"512MiB"``. The default is a
        quarter of the machine's memory (of the container's, where there is a limit); in a task of a Dask worker, of
        that task's share of the worker's.
    threads : int, optional
        Worker threads for blocks computed on the fly. The default is the number of usable cores; in a task of a Dask
        worker, one.

    Attributes
    ----------
    memory_budget, threads : int
        The values now in force.

    Examples
    --------
    >>> import gramian
    >>> with gramian.config(memory_budget="1GB") as settings:
    ...     settings.memory_budget
    1000000000
    """

    def __init__(self, *, memory_budget: float | str | None = None, threads: int | None = None) -> None:
        self._before = dict(_settings)
        if threads is not None and (not isinstance(threads, Integral) or isinstance(threads, bool) or threads < 1):
            raise ValueError(f"threads={threads!r} must be a positive whole number")
        if memory_budget is not None:
            _settings["memory_budget"] = _parse_bytes(memory_budget)
        if threads is not None:
            _settings["threads"] = int(threads)

    @property
    def memory_budget(self) -> int:
        return memory_budget()

    @property
    def threads(self) -> int:
        return threads()

    def __enter__(self) -> config:
        return self

    def __exit__(self, *exception: object) -> None:
        _settings.update(self._before)

    def __repr__(self) -> str:
        return f"gramian.config(memory_budget={self.memory_budget}, threads={self.threads})"


def memory_budget() -> int:
    """The most bytes one matrix may take."""
    chosen = _settings["memory_budget"]
    if chosen is not None:
        return chosen
    worker = _dask_worker()
    limit = worker.memory_manager.memory_limit if worker is not None else None
    return int(_DEFAULT_FRACTION * (limit / worker.state.nthreads if limit else _machine_memory()))


def threads() -> int:
    """The number of worker threads for blocks computed on the fly."""
    chosen = _settings["threads"]
    if chosen is not None:
        return chosen
    if _dask_worker() is not None:  # which runs as many tasks as it has threads
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_memory(n_bytes: float, what: str, instead: str) -> None:
    """Refuse, before it happens, an allocation above the budget.

    Parameters
    ----------
    n_bytes : float
        Size of what is about to be allocated.
    what, instead : str
        Named in the message: the object, and what the caller can do instead.
    """
    budget = memory_budget()
    if n_bytes > budget:
        raise MemoryBudgetError(
            f"{what} needs {_shown(n_bytes)}, above the memory budget of {_shown(budget)}; "
            f"{instead}, or raise the budget with gramian.config(memory_budget=...)"
        )


def _dask_worker() -> Any:
    """The Dask worker whose task calls, or None."""
    module = sys.modules.get("distributed.worker")
    try:
        return None if module is None else module.get_worker()
    except (AttributeError, ValueError):  # half imported; no task
        return None


def _shown(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.3g} MB"


def _parse_bytes(value: float | str) -> int:
    size: float = -1.0
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-zA-Z]*)\s*", value)
        if match is not None and match[2].lower() in _UNITS:
            size = float(match[1]) * _UNITS[match[2].lower()]
    elif isinstance(value, Real) and not isinstance(value, bool):
        size = float(value)
    if not 1 <= size < float("inf"):
        raise ValueError(f"memory_budget={value!r} is not a size in bytes; write it like '2GB' or 2e9")
    return int(size)


@cache  # asked before every block of a Gram; reading the files takes longer than a small block
def _machine_memory() -> int:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 2**30
    for limit_file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        path = Path(limit_file)
        if path.exists() and (text := path.read_text().strip()).isdigit():
            physical = min(physical, int(text))
    return int(physical)
