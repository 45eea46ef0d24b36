"""Small fitted models that several pictures are drawn of."""

import numpy as np
import pytest

import gramian
from gramian.datasets import load_table, make_rings


@pytest.fixture(scope="session")
def blobs():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [30, 25, 20])
    centres = 9.0 * np.array([[0, 0, 0], [1, 0, 1], [0, 1, -1]])
    return rng.normal(size=(75, 3)) + centres[labels], labels


@pytest.fixture(scope="session")
def ranked(blobs):
    return gramian.RankedClustering(3, kernel=gramian.kernels.RBF("median20"), random_state=0).fit(blobs[0])


@pytest.fixture(scope="session")
def rings():
    return make_rings(random_state=0)[0]


@pytest.fixture(scope="session")
def split_rings(rings):
    return gramian.SpectralClustering(None, random_state=0).fit(rings)


@pytest.fixture(scope="session")
def wine():
    return load_table("wine")
