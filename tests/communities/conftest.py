"""The clubs, divided once."""

import io

import pytest

from communities.clubs import clubs, written
from gramian.communities import divide, read_edges


@pytest.fixture(scope="session")
def divided():
    """Division and model of the clubs, with levels."""
    return divide(read_edges(io.StringIO(written(clubs()))), levels=True)
