"""A network that several files of tests look at."""

import pytest
from sklearn.datasets import load_wine

from gramian.dependence.network.dependence_network import DependenceNetwork


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def wine_network(wine):
    return DependenceNetwork(random_state=0).fit(*wine)
