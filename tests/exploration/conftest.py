"""A table of three groups with holes, categories and dates, explored once for all tests."""

import numpy as np
import pandas as pd
import pytest


def customers(n=150, *, seed=0, holes=0.1):
    """Three groups in age, income, plan and date; a column of noise, an identifier and a constant."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame(
        {
            "id": np.arange(n) + 1000,
            "age": (rng.normal([25, 45, 70], 4, (n, 3))[np.arange(n), group]).round(),
            "income": np.exp(rng.normal([7, 9, 8], 0.25, (n, 3))[np.arange(n), group]).round(2),
            "plan": np.array(["basic", "pro", "senior"])[np.where(rng.random(n) < 0.9, group, rng.integers(0, 3, n))],
            "joined": (
                pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 200, n) + 400 * group, "D")
            ).strftime("%Y-%m-%d"),
            "noise": rng.normal(size=n).round(3),
            "country": "NO",
        }
    )
    hidden = frame.columns.drop(["id", "country"])
    frame[hidden] = frame[hidden].mask(rng.random((n, len(hidden))) < holes)
    return frame, group


@pytest.fixture(scope="session")
def customers_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "customers.csv"
    customers()[0].to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def explored(customers_file, tmp_path_factory):
    """The exploration, its model and the folder it was written to."""
    from gramian.exploration import explore
    from gramian.report.outputs import write_folder
    from gramian.tables import read_table

    found, model = explore(read_table(customers_file))
    folder = tmp_path_factory.mktemp("explored") / "out"
    write_folder(found, model, folder)
    return found, model, folder
