import pytest

from web.servers import FAKE, serving


@pytest.fixture
def fake(tmp_path):
    """A server whose worker is quick and obedient."""
    with serving(tmp_path / "jobs", worker=FAKE, max_bytes=100_000) as client:
        yield client
