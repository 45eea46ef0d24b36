"""Two worker processes of one thread and 500 MB each, for the tests of this folder; nothing of them stays behind."""

import logging

import dask
import psutil
import pytest

LIMIT = 500_000_000


@pytest.fixture(scope="module")
def machines():
    """The client of a cluster of two processes; it is the default scheduler inside ``with machines.as_current()``."""
    from distributed import Client, LocalCluster

    before = set(psutil.Process().children(recursive=True))
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "spawn"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
    left = [process for process in psutil.Process().children(recursive=True) if process not in before]
    # Python's own tracker of shared memory lives as long as the process that started it.
    left = [process for process in left if "resource_tracker" not in " ".join(process.cmdline())]
    assert not psutil.wait_procs(left, timeout=10)[1]


@pytest.fixture
def client(machines):
    """That client as the default scheduler of one test, with both workers there."""
    machines.wait_for_workers(2, timeout=60)
    with machines.as_current():
        yield machines
