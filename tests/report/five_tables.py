"""Five small tables and the reports that the command line makes of them, for the tests of what reports say."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

import gramian
from gramian.cli import app
from report.statements import Told

EXAMPLE = Path(gramian.__file__).parent / "datasets" / "data" / "horse_colic.csv.gz"


def mixed_table():
    """Three groups with holes, categories, dates, truth values, codes, years, copies and columns that say nothing."""
    rng = np.random.default_rng(5)
    n = 150
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    pick = np.arange(n), group
    weight = rng.normal([60, 80, 120], [5, 6, 8], (n, 3))[pick].round(1)
    weight[rng.choice(n, 9, replace=False)] = -999
    height = rng.normal([160, 172, 190], [3, 4, 4], (n, 3))[pick].round(1)
    joined = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 200, n) + 300 * group, "D")
    table = pd.DataFrame(
        {
            "member": [f"M{i:04d}" for i in range(n)],
            "weight": weight,
            "height": height,
            "inches": (height / 2.54).round(2),
            "plan": np.array(["basic", "pro", "senior"])[np.where(rng.random(n) < 0.85, group, rng.integers(0, 3, n))],
            "smoker": np.where(rng.random(n) < 0.1 + 0.35 * group, "t", "f"),
            "gender": rng.choice([1, 2], n),
            "joined": joined.strftime("%d.%m.%Y"),
            "born": rng.integers(1935, 2008, n),
            "protein": np.where(rng.random(n) < 0.3, rng.normal(7, 0.5, n), rng.normal(70, 5, n)).round(1),
            "club": "North",
        }
    ).astype(str)
    holed = ["weight", "height", "plan", "smoker", "joined", "protein"]
    table[holed] = table[holed].mask(rng.random((n, len(holed))) < 0.08, "")
    table.iloc[17, 1:-1] = ""
    return pd.concat([table, table.iloc[20:32].assign(member=[f"X{i}" for i in range(12)])])


def noise():
    rng = np.random.default_rng(11)
    return pd.DataFrame(rng.normal(size=(120, 4)).round(3), columns=["a", "b", "c", "d"])


TABLES = {
    "iris": lambda: load_iris(as_frame=True).data.round(2),
    "wine": lambda: load_wine(as_frame=True).data.round(4),
    "mixed": mixed_table,
    "noise": noise,
}


def written_reports(folder):
    """The five reports beside their tables, each by one call of the command line."""
    found = {}
    for name in ("example", *TABLES):
        arguments = ["explore", "--out", str(folder / name), "--quiet"]
        path = EXAMPLE
        if name != "example":
            path = folder / f"{name}.csv"
            TABLES[name]().to_csv(path, index=False)
            arguments.append(str(path))
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        found[name] = Told(path, folder / name)
    return found
