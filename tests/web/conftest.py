import pytest

from web.servers import FAKE, flowers, serving


@pytest.fixture
def fake(tmp_path):
    """A server whose worker is quick and obedient."""
    with serving(tmp_path / "jobs", worker=FAKE, max_bytes=100_000) as client:
        yield client


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """A server with the worker that people get."""
    with serving(tmp_path_factory.mktemp("real")) as client:
        yield client


@pytest.fixture(scope="session")
def explored(real):
    job = real.wait_for(real.begin(flowers(), name="C:\\data\\flowers.csv"))
    assert job["state"] == "done", job["message"]
    return job
