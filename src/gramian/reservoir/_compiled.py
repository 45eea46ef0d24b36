"""The state update of a reservoir, compiled by numba when it is first used.

Its counterpart in NumPy stands in :mod:`gramian.reservoir._update`, for machines without numba and short series.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramian.typing import Array

_SHIFTER = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole one in the low bits
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@njit(nogil=True, cache=True)
def advance(weights: Array, sources: Array, ends: Array, states: Array, state: Array, leak: float) -> None:
    """Turn the rows of ``states``, which hold what drives each step, into the states, starting from ``state``.

    The connections of a unit follow those of the unit before it, up to ``ends``. Their sources must not be signed:
    Python's negative indices would be looked for among them, which takes twice the time.
    """
    n = states.shape[1]
    power = np.empty(n)
    bits = power.view(np.int64)
    before = state
    for t in range(states.shape[0]):
        row = states[t]
        place = 0
        for i in range(n):
            drive = row[i]
            while place < ends[i]:
                drive += weights[place] * before[sources[place]]
                place += 1
            row[i] = drive
        _tanh(row, power, bits)
        if leak != 1.0:
            for i in range(n):
                row[i] = (1.0 - leak) * before[i] + leak * row[i]
        before = row


@njit(nogil=True, cache=True)
def _tanh(row: Array, power: Array, bits: Array) -> None:
    """tanh x = 1 − 2 / (e^{2x} + 1) in place, to 4e-16; e^y = 2^m e^r with abs(r) <= ln(2)/2 by Taylor's polynomial.

    The library's tanh takes one number at a time and four times as long. ``bits`` are those of ``power``.
    """
    n = row.shape[0]
    for i in range(n):
        y = min(max(2.0 * row[i], -80.0), 80.0)
        shifted = y * _LOG2_E + _SHIFTER
        power[i] = shifted
        m = shifted - _SHIFTER
        r = (y - m * _LN2_HIGH) - m * _LN2_LOW
        p = 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        row[i] = p
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52  # the bits of 2^m
    for i in range(n):
        row[i] = 1.0 - 2.0 / (row[i] * power[i] + 1.0)
