"""Progress bars of long loops.

One bar per loop, nested loops below each other: drawn by rich on standard error of a terminal, and as an output of the
cell in a notebook. Nothing is drawn, and rich is not even imported, when ``verbose`` is 0 or there is neither.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from operator import length_hint
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["progress", "steps"]

Item = TypeVar("Item")


def progress(items: Iterable[Item], label: str, *, total: float | None = None, verbose: int = 0) -> Iterator[Item]:
    """Iterate over ``items`` while a bar shows how many are done.

    Parameters
    ----------
    items : iterable
        What to loop over.
    label : str
        What the loop does, in words the user knows, such as ``"Fitting mixtures"``.
    total : float, default=None
        How many items there are, when ``items`` cannot tell; unknown totals give a moving bar.
    verbose : int, default=0
        Draw only if this is not 0, in a terminal or a notebook.

    Yields
    ------
    item
        The items, unchanged and in order.

    Examples
    --------
    >>> from gramian.progress import progress
    >>> [n * n for n in progress([1, 2, 3], "Squaring", verbose=1)]
    [1, 4, 9]
    """
    if total is None:
        hint = length_hint(items, -1)
        total = hint if hint >= 0 else None
    with steps(label, total=total, verbose=verbose) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def steps(label: str, *, total: float | None = None, verbose: int = 0) -> Iterator[Callable[..., None]]:
    """Show a progress bar that the caller advances, for loops of uneven steps.

    Parameters
    ----------
    label : str
        What the block does.
    total : float, default=None
        The sum of all steps; None gives a moving bar.
    verbose : int, default=0
        Draw only if this is not 0, in a terminal or a notebook.

    Yields
    ------
    advance : callable
        ``advance(amount=1)`` moves the bar; it may be called from any thread.

    Examples
    --------
    >>> from gramian.progress import steps
    >>> with steps("Reading rows", total=1000, verbose=1) as advance:
    ...     for chunk in (400, 600):
    ...         advance(chunk)
    """
    if not verbose or not (_on_terminal() or _in_notebook()):
        yield _stand_still
        return
    display = _screen.enter()
    task: Any = display.add_task(label, total=total)
    try:
        yield lambda amount=1: display.advance(task, amount)
    finally:
        _screen.leave(task)


def _stand_still(amount: float = 1) -> None:
    """Take the place of ``advance`` when nobody is watching."""


def _on_terminal() -> bool:
    # Standard error is None under pythonw and may have been closed by a daemon.
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


def _in_notebook() -> bool:
    """Whether a kernel shows what is displayed; never imports IPython itself."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Screen:
    """The one live display of the process, shared by nested and concurrent loops.

    rich allows one live display per console, so an inner loop adds its bar to the display of the outer one.
    A finished inner bar disappears; the display closes with its last bar.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._display: Progress | _CellOutput | None = None
        self._open = 0

    def enter(self) -> Progress | _CellOutput:
        with self._lock:
            if self._display is None:
                self._display = _new_display()
                self._display.start()
            self._open += 1
            return self._display

    def leave(self, task: Any) -> None:
        with self._lock:
            display = self._display
            self._open -= 1
            if display is None:
                return
            if self._open:
                display.remove_task(task)
            else:
                self._display = None
                display.stop()


class _CellOutput:
    """The bars as one output of a notebook's cell, drawn anew at most ten times a second.

    rich would need ipywidgets here, in the notebook and in the kernel.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[int, tuple[str, float, float | None]] = {}
        self._handle: Any = None
        self._html: Any = None
        self._drawn = self._began = time.monotonic()

    def start(self) -> None:
        from IPython import display

        shown: Any = display  # IPython has no types for it
        self._html = shown.HTML
        self._handle = shown.display(self._html(""), display_id=True)

    def add_task(self, label: str, *, total: float | None = None) -> int:
        with self._lock:
            number = max(self._tasks, default=-1) + 1
            self._tasks[number] = label, 0.0, total
            self._draw()
        return number

    def advance(self, task: int, amount: float = 1) -> None:
        with self._lock:
            label, done, total = self._tasks[task]
            self._tasks[task] = label, done + amount, total
            if time.monotonic() - self._drawn > 0.1:
                self._draw()

    def remove_task(self, task: int) -> None:
        with self._lock:
            del self._tasks[task]
            self._draw()

    def stop(self) -> None:
        with self._lock:
            self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        seconds = f"{self._drawn - self._began:.0f} s"
        lines = [
            f"<div>{escape(label)} <progress {'' if total is None else f'max={total:g} '}value={done:g}></progress> "
            f"{done:g}{'' if total is None else f'/{total:g}'} · {seconds}</div>"
            for label, done, total in self._tasks.values()
        ]
        self._handle.update(self._html("".join(lines)))


def _new_display() -> Progress | _CellOutput:
    if not _on_terminal():
        return _CellOutput()
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(file=sys.stderr),
    )


_screen = _Screen()
