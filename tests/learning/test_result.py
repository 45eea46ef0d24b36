"""The rows that errors are of."""

from dataclasses import replace

import numpy as np


def test_judged_rows_are_left_out_or_held_out(priced):
    found, _ = priced
    np.testing.assert_array_equal(np.flatnonzero(~found.judged), [3, 50])
    held = replace(found, skill=replace(found.skill, held_out=True))
    assert not held.judged.any()
