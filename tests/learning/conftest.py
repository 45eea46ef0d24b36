import pytest

from gramian.learning import learn
from gramian.tables import read_table
from learning.houses import houses


@pytest.fixture(scope="session")
def priced():
    """What is learned about the price, of which some values are missing, and the model."""
    frame = houses()
    frame.loc[[3, 50], "price"] = None
    return learn(read_table(frame, ignore=["sold"]), "price")


@pytest.fixture(scope="session")
def sold():
    """What is learned about the classes "open" and "sold", and the model."""
    return learn(read_table(houses(), ignore=["price"]), "sold")
