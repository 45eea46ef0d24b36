"""Three kinds of digits, clustered once."""

import pytest

from albums.digits import digits
from gramian.albums import cluster_album, read_images


@pytest.fixture(scope="session")
def album():
    return cluster_album(read_images(digits()[0]), 3, max_iter=60)
