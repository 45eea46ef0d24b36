"""The outlook of a shop, made once."""

import pytest

from gramian.outlook import foresee, read_series
from outlook.shop import shop


@pytest.fixture(scope="session")
def outlook():
    frame = shop()
    frame.loc[30:33, "sold"] = None
    return foresee(read_series(frame, "sold"), 7)
