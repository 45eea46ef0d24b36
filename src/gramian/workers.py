"""Dask workers for a command: those of a scheduler that runs already, or a few processes of this machine.

Work is cancelled when it is broken off, by an error or by Ctrl-C; processes that were started here are stopped.
Explorations of folders use them.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from gramian.checks import whole

__all__ = ["DEFAULT_WORKERS", "Workers", "open_workers"]

DEFAULT_WORKERS = 2
"""Processes that are started where neither a number nor a scheduler is given."""

_ANSWER = 10  # seconds within which a scheduler must answer
_AHEAD = 2  # calls for each worker that are begun before the first result is taken: one runs, one waits


class Workers:
    """Where functions are run: a client of a Dask scheduler.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def share(self, value: Any) -> Any:
        """Send a value that many calls need to all workers, once; it may be an argument of these calls."""
        return self.client.scatter(value, broadcast=True)

    def in_order(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        done: Callable[[float], None] | None = None,
    ) -> Iterator[Any]:
        """What a function returns for each tuple of arguments, in their order.

        Few calls are under way at a time, and a result is forgotten once it is taken, so that neither the workers nor
        the scheduler hold more for more calls. A call whose worker dies is made again by another.

        Parameters
        ----------
        function : callable
        calls : sequence of tuples
            The arguments of each call.
        done : callable, optional
            Told the part of the calls that is finished.

        Raises
        ------
        ConnectionError
            If the scheduler is lost, or one call has cost several workers.
        """
        following = iter(calls)
        waiting: deque[Any] = deque()

        def begin(number: int) -> None:
            for arguments in islice(following, number):
                waiting.append(self.client.submit(function, *arguments, pure=False))

        try:
            begin(_AHEAD * max(1, sum(self.client.nthreads().values())))
            for finished in range(1, len(calls) + 1):
                result = _result(waiting[0])
                waiting.popleft()
                begin(1)
                if done is not None:
                    done(finished / len(calls))
                yield result
        finally:
            if waiting:
                with suppress(OSError, TimeoutError):  # a scheduler that is gone works no more
                    self.client.cancel(list(waiting), force=True)


def _result(future: Any) -> Any:
    from distributed import KilledWorker, as_completed

    for _ in as_completed([future]):
        pass
    if future.status == "cancelled":
        raise ConnectionError(
            "the Dask scheduler or its workers were lost; start them again, and run the command again"
        )
    if future.status == "error":
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise ConnectionError(
                "several workers died at the same file, most likely for want of memory; write smaller files, or start "
                "fewer workers"
            ) from error
        raise error
    return future.result()


@contextmanager
def open_workers(workers: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Workers of a scheduler, or of this machine.

    Parameters
    ----------
    workers : int, optional
        Processes to start on this machine, of one thread each; two by default.
    scheduler : str, optional
        Address of a scheduler that runs, such as ``"tcp://10.0.0.1:8786"``.

    Raises
    ------
    ValueError
        If both are given.
    ConnectionError
        If the scheduler does not answer within ten seconds.
    ModuleNotFoundError
        If distributed is not installed; the message names the extra.
    """
    if workers is not None and scheduler is not None:
        raise ValueError(f"workers={workers} and scheduler={scheduler!r} exclude each other; pass one of them")
    if workers is not None:
        workers = whole(workers, "workers", least=1)
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"tables in many files need {error.name}, which is not installed; run pip install 'gramian[scale]'",
            name=error.name,
        ) from error
    if scheduler is not None:
        with _connected(Client, scheduler) as client:
            yield Workers(client)
        return
    with _deaf_to_interrupts():
        cluster = LocalCluster(
            n_workers=workers or DEFAULT_WORKERS,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port: two commands may run at a time
            silence_logs=logging.CRITICAL,
        )
    with cluster, Client(cluster) as client:
        yield Workers(client)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Have processes that are started here pass over Ctrl-C, which a terminal sends them too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _connected(connect: Callable[..., Any], scheduler: str) -> Any:
    import dask
    from distributed.comm.core import CommClosedError

    for loud in ("distributed.comm", "distributed.client"):
        logging.getLogger(loud).setLevel(logging.CRITICAL)
    default = dask.config.get("scheduler", None)
    try:
        return connect(scheduler, timeout=_ANSWER)
    except (TimeoutError, OSError, ValueError, CommClosedError) as error:  # ValueError: no address at all
        dask.config.set(scheduler=default)  # a client that has not connected may stay the default one
        raise ConnectionError(
            f"no Dask scheduler answers at {scheduler} within {_ANSWER} seconds; check the address, or start one "
            "with: dask scheduler"
        ) from error
