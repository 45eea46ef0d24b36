"""What tests of several folders share."""

import pytest


@pytest.fixture
def cluster():
    """The client of a Dask cluster of two workers in this process; it is the default scheduler while a test runs."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as workers,
        Client(workers) as client,
    ):
        yield client
