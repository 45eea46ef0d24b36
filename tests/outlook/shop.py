"""A small series for tests: what a shop sells, with a week's season and a price that is known in advance."""

import numpy as np
import pandas as pd


def shop(days=260, *, seed=0, ahead=0):
    """Days with ``sold`` and ``price``; ``sold`` is missing in the last ``ahead`` rows."""
    rng = np.random.default_rng(seed)
    n = days + ahead
    price = 5 + rng.integers(0, 3, n)
    sold = 100 + 20 * np.sin(2 * np.pi * np.arange(n) / 7) - 6.0 * price + rng.normal(size=n)
    frame = pd.DataFrame(
        {"day": pd.date_range("2024-01-01", periods=n, freq="D"), "sold": sold.round(2), "price": price}
    )
    if ahead:
        frame.loc[frame.index[-ahead:], "sold"] = np.nan
    return frame
