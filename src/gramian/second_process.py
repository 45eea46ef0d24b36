"""A second process for work beside the first: two cores for Python code, which the threads of one process do not have.

A program that has its process for itself, as the command line has, opens :func:`second_process`; within it,
:func:`start` has work done there. Everywhere else the work is done when its result is asked for. Results are the same
either way, so that whoever calls :func:`start` need not know.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any

from threadpoolctl import threadpool_limits

from gramian.configuration import config, threads

__all__ = ["has_second_process", "second_process", "start"]

_GONE = (EOFError, OSError)
_open: list[_SecondProcess] = []


class _SecondProcess:
    """A copy of this process that works off what it is sent, in that order."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end, self._pipe), daemon=True)
        asked_to_end = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, asked_to_end)  # until the copy has learned how to take them
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads of BLAS, which knows of copies
                self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, asked_to_end)
        other_end.close()
        self._asked, self._answers = 0, list[tuple[bool, Any]]()

    def start(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[[], Any]:
        number = self._asked
        try:
            self._pipe.send((function, arguments))
        except _GONE:
            return _Later(function, arguments)
        self._asked += 1

        def result() -> Any:
            try:
                while len(self._answers) <= number:
                    self._answers.append(self._pipe.recv())
            except _GONE:  # it was killed: of the two it is the one that can be spared
                return function(*arguments)
            done, answer = self._answers[number]
            if not done:
                raise answer
            return answer

        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


class _Later:
    """Work that is done when its result is asked for the first time."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._work = function, arguments
        self._results: list[Any] = []

    def __call__(self) -> Any:
        if not self._results:
            function, arguments = self._work
            self._results.append(function(*arguments))
        return self._results[0]


@contextmanager
def second_process() -> Iterator[None]:
    """A context within which :func:`start` runs work in a copy of this process, as it is now.

    Only where a copy is safe and of use: on Linux, with two cores, and as long as there is one thread, since locks that
    other threads hold would stay shut in the copy. The copy ends with the block, and with this process however that
    ends. Ctrl-C is for this process alone.
    """
    alone = threading.active_count() == 1 and not _open
    if not alone or threads() < 2 or sys.platform != "linux":
        yield
        return
    second = _SecondProcess()
    _open.append(second)
    try:
        yield
    finally:
        _open.remove(second)
        second.end()


def has_second_process() -> bool:
    """Whether :func:`start` has work done beside this process."""
    return bool(_open)


def start(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Start work in the second process, if there is one; what is returned gives its result.

    Parameters
    ----------
    function : callable
        Of a module, not of another function. It changes nothing that others see: no files, no arguments.
    *arguments : object
        What a copy of is sent.

    Examples
    --------
    >>> import math
    >>> from gramian.second_process import second_process, start
    >>> with second_process():
    ...     factorial = start(math.factorial, 5)
    ...     factorial()
    120
    """
    return _open[-1].start(function, arguments) if _open else _Later(function, arguments)


def _serve(pipe: Connection, other_end: Connection) -> None:
    """What the second process does until the first closes the pipe."""
    other_end.close()
    _open.clear()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    warnings.simplefilter("ignore")
    waiting: SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, waiting), daemon=True).start()
    with config(threads=1), threadpool_limits(1):
        while True:
            function, arguments = waiting.get()
            try:
                answer = ForkingPickler.dumps((True, function(*arguments)))
            except Exception as error:  # for the first process, whatever it is
                answer = ForkingPickler.dumps((False, error))
            try:
                pipe.send_bytes(answer)
            except _GONE:
                os._exit(0)


def _receive(pipe: Connection, waiting: SimpleQueue[Any]) -> None:
    """Take work as soon as it comes, so that the first process never waits; end when that has ended."""
    try:
        while True:
            waiting.put(pipe.recv())
    except _GONE:
        os._exit(0)
