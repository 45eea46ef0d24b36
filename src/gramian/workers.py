"""Dask workers for a command: those of a scheduler that runs already, or a few processes of this machine.

Work is cancelled when the block ends early, by an error or by Ctrl-C; processes that were started here are stopped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from gramian.checks import whole

__all__ = ["DEFAULT_WORKERS", "Workers", "open_workers"]

DEFAULT_WORKERS = 2
"""Processes that are started where neither a number nor a scheduler is given."""

_ANSWER = 10  # seconds within which a scheduler must answer


class Workers:
    """Where functions are run: a client of a Dask scheduler.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._futures: list[Any] = []

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a function called by a worker; arguments may be results of earlier calls, which stay where they are."""
        future = self.client.submit(function, *arguments, pure=False)
        self._futures.append(future)
        return future

    def share(self, value: Any) -> Any:
        """Send a value that many calls need to the workers, once."""
        return self.client.scatter(value, broadcast=True)

    def results(self, futures: Iterable[Any], done: Callable[[float], None] | None = None) -> list[Any]:
        """What the calls returned, in their order; ``done`` is told the part that is finished."""
        futures = list(futures)
        self.wait(futures, done)
        return list(self.client.gather(futures))

    def wait(self, futures: Iterable[Any], done: Callable[[float], None] | None = None) -> None:
        """Wait until all calls have ended, and raise the first error among them."""
        from distributed import as_completed

        futures = list(futures)
        for finished, future in enumerate(as_completed(futures), start=1):
            if future.status == "cancelled":
                raise ConnectionError("the Dask scheduler was lost; start it again, and run the command again")
            if future.status == "error":
                raise future.exception()
            if done is not None:
                done(finished / len(futures))

    def merged(self, merge: Callable[[list[Any]], Any], futures: list[Any], at_once: int = 16) -> Any:
        """One result of many that lie on workers, merged some at a time, so that no place holds all of them."""
        while len(futures) > 1:
            futures = [
                self.submit(merge, futures[start : start + at_once]) for start in range(0, len(futures), at_once)
            ]
        return self.results(futures)[0]

    def cancel(self) -> None:
        """Cancel all that was submitted."""
        with suppress(OSError, asyncio.TimeoutError):  # a scheduler that is gone works no more
            self.client.cancel(self._futures, force=True)


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
        If the scheduler does not answer within ten seconds, or is lost.
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
    cluster = None
    try:
        if scheduler is not None:
            client = _connected(Client, scheduler)
        else:
            cluster = LocalCluster(
                n_workers=workers or DEFAULT_WORKERS,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
            client = Client(cluster)
        with client:
            opened = Workers(client)
            try:
                yield opened
            except BaseException:
                opened.cancel()
                raise
    finally:
        if cluster is not None:
            cluster.close()


def _connected(connect: Callable[..., Any], scheduler: str) -> Any:
    from distributed.comm.core import CommClosedError

    for loud in ("distributed.comm", "distributed.client"):
        logging.getLogger(loud).setLevel(logging.CRITICAL)
    try:
        return connect(scheduler, timeout=_ANSWER)
    except (TimeoutError, OSError, CommClosedError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {scheduler} within {_ANSWER} seconds; check the address, or start one "
            "with: dask scheduler"
        ) from error
