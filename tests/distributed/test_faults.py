"""Workers that die, that have less memory than the data, or lose their scheduler: what a user sees of it."""

import logging
import os
import signal
import subprocess
import sys
import threading
from contextvars import copy_context
from functools import partial

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gramian import AutoClustering, FixedSizeLSSVMClassifier, FourierFeatures, KernelPCA
from gramian.kernels import ClusterKernel
from gramian.workers import Workers

PARTS, ROWS, COLUMNS = 6, 50, 4
LIMIT = 500_000_000  # bytes of each worker, as conftest.py starts them
NOTHING = np.empty((0, 0))  # what Dask would otherwise learn from a partition made here


def rows_of(number, rows, columns):
    """Two groups, with a generator of its own for each partition."""
    rng = np.random.default_rng(number)
    out = rng.random((rows, columns))
    out += 5 * rng.integers(2, size=(rows, 1))
    return out


def generated(_, folder=None, dies_at=None, rows=ROWS, columns=COLUMNS, block_id=(0, 0)):
    """Rows of a partition; the third one kills its worker when it is made for the time ``dies_at``."""
    if folder is not None and block_id[0] == 2:
        made = len(os.listdir(folder))
        open(os.path.join(folder, f"{made}"), "w").close()
        if made == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
    return rows_of(block_id[0], rows, columns)


def table(parts=PARTS, rows=ROWS, columns=COLUMNS, **options):
    """A Dask array that is made partition by partition, on the workers."""
    make = partial(generated, rows=rows, columns=columns, **options)
    return da.zeros((parts * rows, columns), chunks=(rows, columns)).map_blocks(make, dtype=float, meta=NOTHING)


def principal(X):
    model = KernelPCA(2, kernel=FourierFeatures(20, random_state=0)).fit(X)
    return model, [model.eigenvalues_, model.expansion_.weights]


def classifier(X):
    model = FixedSizeLSSVMClassifier(10, random_state=0).fit(X, X[:, 0] > 3)
    return model, [model.decision_function(np.eye(COLUMNS)), model.regularization_]


def groups(X):
    model = AutoClustering(2, random_state=0).fit(X[:, :2])
    return model, [model.predict(np.eye(2))]


@pytest.mark.parametrize("fit", [principal, classifier, groups])
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client, tmp_path, fit):
    """It dies in the last pass over the rows that the fit makes; the numbers are those without a death.

    But for rounding: BLAS adds up in an order that depends on where an array lies in memory.
    """
    (tmp_path / "counted").mkdir()
    (tmp_path / "killed").mkdir()
    with dask.config.set(scheduler="synchronous"):
        _, expected = fit(table(folder=str(tmp_path / "counted")))
    passes = len(os.listdir(tmp_path / "counted"))
    before = set(client.run(os.getpid).values())
    _, found = fit(table(folder=str(tmp_path / "killed"), dies_at=passes - 1))
    assert len(os.listdir(tmp_path / "killed")) > passes - 1
    client.wait_for_workers(2, timeout=60)
    assert len(before & set(client.run(os.getpid).values())) == 1
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_a_worker_killed_in_the_middle_of_predict_changes_nothing(client, tmp_path):
    model, _ = classifier(table())
    expected = model.predict(np.vstack([rows_of(i, ROWS, COLUMNS) for i in range(PARTS)]))
    assert_array_equal(model.predict(table(folder=str(tmp_path), dies_at=0)).compute(), expected)
    assert len(os.listdir(tmp_path)) == 2


def test_mixtures_with_holes_are_fitted_on_the_workers(client):
    """One restart a task, in other processes, with the kernel of one process."""
    from joblib import parallel_config

    X = rows_of(0, 300, 4)
    X[::7, 1] = np.nan
    kernel = ClusterKernel(4, 4, random_state=0)
    alone = KernelPCA(2, kernel=kernel).fit(X)
    with parallel_config(backend="dask"):
        apart = KernelPCA(2, kernel=kernel).fit(da.from_array(X, chunks=(100, 4)))
    assert_allclose(apart.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
    assert_allclose(apart.embedding_.compute(), alone.embedding_, atol=1e-9)


def peak():
    """Most bytes that this process has held."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_a_table_larger_than_a_workers_memory_is_fitted_within_it(client):
    """Generated partition by partition: no worker is killed for its memory, and the client holds no such array."""
    X = table(parts=24, rows=100_000, columns=30)
    assert X.nbytes > 1.1 * LIMIT
    before, here = set(client.run(os.getpid).values()), peak()
    model = KernelPCA(2, kernel=FourierFeatures(10, random_state=0)).fit(X)
    assert model.embedding_[:100_000].compute().shape == (100_000, 2)
    assert set(client.run(os.getpid).values()) == before
    assert max(client.run(peak).values()) < LIMIT
    assert peak() - here < LIMIT / 4


# The scheduler ------------------------------------------------------------------------------------------------------


def waits(_, path):
    """A partition that is not ready before a test is over."""
    open(path, "w").close()
    threading.Event().wait(20)


@pytest.fixture
def others(tmp_path):
    """A scheduler and a worker in processes of their own, which a test may kill."""
    from distributed import Client

    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m"]
    file = str(tmp_path / "scheduler.json")
    alone = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    running = [subprocess.Popen([*start, "distributed.cli.dask_scheduler", "--scheduler-file", file, *alone], **quiet)]
    try:
        one = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "5"]
        running.append(
            subprocess.Popen([*start, "distributed.cli.dask_worker", "--scheduler-file", file, *one], **quiet)
        )
        client = Client(scheduler_file=file, timeout=60, set_as_default=False)
        try:
            client.wait_for_workers(1, timeout=60)
            yield client, running[0]
        finally:
            client.close(timeout=1)  # there is no scheduler to say goodbye
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_lost_scheduler_is_one_error(others, tmp_path, monkeypatch):
    """Of a fit and of the calls of a command, which do not wait for it to come back."""
    client, scheduler = others
    for loud in ("distributed.client", "distributed.comm"):
        monkeypatch.setattr(logging.getLogger(loud), "disabled", True)
    path = tmp_path / "begun"
    errors = []

    def fit():
        X = da.zeros((10, 2), chunks=(5, 2)).map_blocks(waits, path=str(path), dtype=float, meta=NOTHING)
        try:
            KernelPCA(2, kernel=FourierFeatures(5, random_state=0)).fit(X)
        except Exception as error:
            errors.append(error)

    lost = pytest.raises(ConnectionError, match="the Dask scheduler or its workers were lost; start them again")
    with client.as_current():  # around both threads: Dask's default scheduler is one setting of the whole process
        running = threading.Thread(target=copy_context().run, args=(fit,))
        running.start()
        while not path.exists():
            assert running.is_alive(), errors  # a fit that fails before would be waited for without end
            threading.Event().wait(0.05)
        threading.Timer(0.5, scheduler.kill).start()
        with lost:
            list(Workers(client).in_order(os.path.exists, [(str(path),)] * 3))
        running.join(15)
    assert len(errors) == 1
    assert "scheduler-connection-lost" in str(errors[0])
