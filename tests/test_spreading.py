"""Ensembles and sweeps give on a Dask cluster, through joblib, what they give here."""

import os

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from gramian import ConsensusClustering, LSSVMClassifier, LSSVMRegressor
from gramian.kernels import ClusterKernel
from gramian.spreading import on_cluster, run_pieces


@pytest.fixture
def holed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) + 5 * np.repeat([0, 1, 2], 40)[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def place(_number):
    from distributed import get_worker

    return get_worker().address


def test_pieces_run_on_the_workers_and_come_in_order(cluster):
    places = {}
    with parallel_config(backend="dask"):
        assert on_cluster()
        run_pieces(place, 6, lambda i: (i,), places.__setitem__, entries=1.0, n_workers=1)
    assert list(places) == list(range(6))
    assert set(places.values()) <= set(cluster.scheduler_info()["workers"])


def test_processes_of_this_machine_are_no_cluster():
    """They would be started for a fit of a moment."""
    seen = {}
    with parallel_config(n_jobs=2):
        assert not on_cluster()
        run_pieces(lambda i: os.getpid(), 2, lambda i: (i,), seen.__setitem__, entries=1.0, n_workers=1)
    assert set(seen.values()) == {os.getpid()}


@pytest.mark.parametrize("options", [{}, {"covariance_type": "spherical"}, {"covariance_type": "tied"}])
def test_mixtures_are_those_of_one_process(cluster, holed, options):
    kernel = ClusterKernel(4, 5, random_state=0, **options)
    before = cluster.cluster.scheduler.transition_counter
    with parallel_config(backend="dask"):
        there = kernel.fit(holed)(holed)
    assert cluster.cluster.scheduler.transition_counter > before
    assert_array_equal(there, kernel.fit(holed)(holed))


def test_categories_go_to_the_workers_too(cluster, holed):
    holed[:, 3] = np.arange(120) % 3
    kernel = ClusterKernel(3, 4, categorical_features=[3], random_state=0)
    with parallel_config(backend="dask"):
        there = kernel.fit(holed)
        assert_array_equal(
            there.levels_, ClusterKernel(3, 4, categorical_features=[3], random_state=0).fit(holed).levels_
        )


@pytest.mark.parametrize("base", ["kmeans", "mixture"])
def test_partitions_are_those_of_one_process(cluster, holed, base):
    X = np.nan_to_num(holed) if base == "kmeans" else holed
    model = ConsensusClustering(3, n_partitions=30, base=base, random_state=0)
    here = model.fit(X)
    labels, memberships = here.labels_, here.memberships_
    before = cluster.cluster.scheduler.transition_counter
    with parallel_config(backend="dask"):
        there = model.fit(X)
    assert cluster.cluster.scheduler.transition_counter > before
    assert_array_equal(there.labels_, labels)
    assert (there.memberships_ != memberships).nnz == 0
    assert_array_equal(there.predict(X), labels)


@pytest.mark.parametrize("model", [LSSVMRegressor("rbf"), LSSVMClassifier("rbf")])
def test_leave_one_out_chooses_the_same(cluster, holed, model):
    """The sweep over regularizations and widths is array work of one process, whatever joblib is told."""
    X, y = np.nan_to_num(holed), np.repeat([0, 1, 2], 40)
    here = model.fit(X, y)
    chosen, answers = here.regularization_, here.predict(X)
    with parallel_config(backend="dask"):
        there = model.fit(X, y)
    assert_allclose(there.regularization_, chosen, rtol=1e-12)
    assert_allclose(there.predict(X), answers, rtol=1e-12)
