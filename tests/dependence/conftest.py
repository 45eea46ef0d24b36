"""Random numbers, and a network, that several files of tests look at."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from gramian.dependence.network.dependence_network import DependenceNetwork


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def wine_network(wine):
    return DependenceNetwork(random_state=0).fit(*wine)
