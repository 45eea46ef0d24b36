"""Independent pieces of one fit: on threads of this process, or on the cluster that joblib is told to use.

Each piece has a random generator of its own and is sent what it needs, so that where it runs changes nothing. The
ensembles of :class:`gramian.kernels.ClusterKernel` and :class:`gramian.ConsensusClustering` are learned so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from gramian.grams import tiles

__all__ = ["on_cluster", "run_pieces"]


def on_cluster() -> bool:
    """Whether ``joblib.parallel_config`` names the backend of a cluster, as ``backend="dask"`` does.

    Processes of this machine are none: to start them costs more than many a fit, which has threads.
    """
    backend, _ = get_active_backend()
    return getattr(backend, "client", None) is not None


def run_pieces(
    function: Callable[..., Any],
    count: int,
    arguments: Callable[[int], tuple[Any, ...]],
    take: Callable[[int, Any], None],
    *,
    entries: float,
    n_workers: int,
) -> None:
    """Call ``function`` with the arguments of every piece, and ``take`` with its number and result.

    Parameters
    ----------
    function : callable
        Of a module, or a partial of one, that changes nothing but what it returns.
    count : int
        Pieces.
    arguments, take : callable
        Arguments of a piece by its number are made when it begins, and its result is taken when it ends: those of all
        may be large together.
    entries : float
        What the work is about as large as, in kernel values: little is not worth threads.
    n_workers : int
        Threads.
    """
    if on_cluster():
        tasks = (delayed(function)(*arguments(i)) for i in range(count))
        for i, result in enumerate(Parallel(return_as="generator")(tasks)):
            take(i, result)
        return
    tiles.run_threaded(lambda i: take(i, function(*arguments(i))), range(count), entries=entries, n_workers=n_workers)
