"""Three kinds of digits, clustered once for all tests."""

from functools import cache

import pytest

from albums.digits import digits
from gramian.albums import cluster_album, read_images


@cache  # the tests of the report import the fixture, which makes another one of it
def _clustered():
    return cluster_album(read_images(digits()[0]), 3, max_iter=60)


@pytest.fixture(scope="session")
def album():
    return _clustered()
