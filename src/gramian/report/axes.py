"""Axes of the pictures on pages: round numbers to mark, and moments of time."""

from __future__ import annotations

import numpy as np


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers between two."""
    rough = (high - low) / 5
    size = 10.0 ** np.floor(np.log10(rough))
    step = size * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough)
    first = np.ceil(low / step)
    return [float(place * step) + 0.0 for place in np.arange(first, np.floor(high / step) + 1)]  # no −0
