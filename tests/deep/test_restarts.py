"""Runs in processes."""

import numpy as np
import pytest
import torch
from joblib import parallel_config

from gramian.deep.architecture import build
from gramian.deep.base import weights_of
from gramian.deep.restarts import one_thread, run_restarts
from gramian.deep.training import Settings, torch_generator, train
from gramian.randomness import spawn


def run(rng, X):
    """Train a small network, and tell the threads it had."""
    module = build({"kind": "mlp", "sizes": [X.shape[1], 5, 1]}, torch_generator(rng))
    rows = torch.tensor(X)
    train(module, lambda batch: {"loss": (module(rows[batch]) ** 2).mean()}, len(X), Settings(5, batch_size=8), rng)
    return weights_of(module), torch.get_num_threads()


def test_results_do_not_depend_on_the_number_of_processes():
    """Two processes give what one gives, in the same order, each with one thread."""
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    here = run_restarts(run, spawn(0, 2), X)
    there = run_restarts(run, spawn(0, 2), X, n_jobs=2)
    assert {threads for _, threads in here + there} == {1}
    for (found, _), (expected, _) in zip(there, here, strict=True):
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)


def test_the_number_of_threads_is_restored():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5])
def test_bad_n_jobs_are_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs="):
        run_restarts(run, spawn(0, 2), np.zeros((3, 2)), n_jobs=n_jobs)


def place(rng):
    """Where a run happens."""
    from distributed import get_worker

    return get_worker().address


def test_runs_spread_over_a_cluster(cluster):
    """With joblib's backend for Dask the runs happen on its workers, and give what they give here."""
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    here = run_restarts(run, spawn(0, 2), X)
    with parallel_config(backend="dask"):
        there = run_restarts(run, spawn(0, 2), X)
        assert set(run_restarts(place, spawn(0, 4))) <= set(cluster.scheduler_info()["workers"])
    for (found, _), (expected, _) in zip(there, here, strict=True):
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)
