"""Named stages of long work: what is being done, for how long, and what is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Notify = Callable[[str, float], None]
"""Called with the name of a stage and the part of all work that is done before it, from 0 to 1."""


class Stages:
    """Times stages and tells somebody about them.

    Parameters
    ----------
    weights : dict
        Stage → its part of the work, in any unit.
    notify : callable, optional

    Examples
    --------
    >>> told = []
    >>> stages = Stages({"reading": 1, "thinking": 3}, lambda name, done: told.append((name, done)))
    >>> with stages("reading"):
    ...     pass
    >>> with stages("thinking"):
    ...     pass
    >>> told
    [('reading', 0.0), ('thinking', 0.25), ('', 1.0)]
    """

    def __init__(self, weights: Mapping[str, float], notify: Notify | None = None) -> None:
        self.weights = weights
        self.notify = notify
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        self._tell(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
        if len(self.seconds) == len(self.weights):
            self._tell("")

    def _tell(self, name: str) -> None:
        if self.notify is not None:
            done = sum(self.weights[stage] for stage in self.seconds)
            self.notify(name, done / sum(self.weights.values()))
