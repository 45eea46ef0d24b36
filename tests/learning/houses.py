"""A table of houses whose price and sale follow from some of the other columns, with holes, categories and dates."""

import numpy as np
import pandas as pd


def houses(n=160, *, seed=0, holes=0.08):
    """Price by area, town and garden; sold by the year it was built; a column of noise, an identifier, a constant."""
    rng = np.random.default_rng(seed)
    area = rng.lognormal(4.5, 0.3, n).round(1)
    town = rng.choice(["north", "south", "harbour"], n)
    garden = rng.choice(["yes", "no"], n)
    built = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D")
    price = 2.0 * area + 60 * (town == "harbour") + 40 * (garden == "yes") + 8 * rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "id": [f"h{i:04d}" for i in range(n)],
            "area": area,
            "town": town,
            "garden": garden,
            "built": built.strftime("%Y-%m-%d"),
            "noise": rng.normal(size=n).round(3),
            "country": "NO",
        }
    )
    hidden = ["area", "town", "built", "noise"]
    frame[hidden] = frame[hidden].mask(rng.random((n, len(hidden))) < holes)
    frame["price"] = price.round(1)
    frame["sold"] = np.where((built.year > 1985) ^ (rng.random(n) < 0.08), "sold", "open")
    return frame
