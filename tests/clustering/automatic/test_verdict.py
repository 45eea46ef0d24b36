"""The verdict asks for structure first, then for agreement and for every cluster."""

import numpy as np
import pytest

from gramian.clustering.automatic.verdict import verdict


@pytest.mark.parametrize(
    ("excess", "agreement", "stability", "expected"),
    [
        (1.01, 0.8, [0.6, 0.9], "clear"),
        (1.0, 1.0, [1.0, 1.0], "none"),
        (0.0, 1.0, [1.0, 1.0], "none"),
        (np.nan, 1.0, [1.0, 1.0], "none"),
        (5.0, 0.79, [1.0, 1.0], "weak"),
        (5.0, 1.0, [1.0, 0.59], "weak"),
        (np.inf, 1.0, [1.0], "clear"),
    ],
)
def test_verdicts(excess, agreement, stability, expected):
    assert verdict(excess, agreement, np.array(stability)) == expected
