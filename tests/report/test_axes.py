"""Axes mark round numbers."""

import pytest

from gramian.report.axes import ticks


def test_ticks_are_round_numbers_between_the_ends():
    assert ticks(0.0, 10.0) == [0, 2, 4, 6, 8, 10]
    assert ticks(-0.013, 0.011) == pytest.approx([-0.01, -0.005, 0, 0.005, 0.01])
    assert str(ticks(-0.4, 2.0)[0]) == "0.0"  # not −0, which would be written
