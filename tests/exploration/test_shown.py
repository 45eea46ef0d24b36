"""Cells kept in a model come back as they were, cut where they are long."""

import numpy as np
import pandas as pd

from gramian.exploration.shown import cells_of, shown_cells
from gramian.tables import read_table


def test_cells_come_back(tmp_path):
    names = ["Ö" * 30, "日本", "", "x, y"] * 10
    frame = pd.DataFrame({"id": np.arange(40) + 100, "name": names, "size": [f"{i}.50" for i in range(40)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    shown = shown_cells(table, ["size", "name"])
    assert list(shown) == ["id", "size", "name"]
    rows = cells_of(shown, np.array([39, 0, 1, 2]))
    assert rows[0] == {"id": "139", "size": "39.50", "name": "x, y"}
    assert [row["name"] for row in rows[1:]] == ["Ö" * 23 + "…", "日本", ""]


def test_at_most_four_telling_columns_beside_an_identifier():
    rng = np.random.default_rng(0)
    table = read_table(pd.DataFrame(rng.normal(size=(30, 6)), columns=list("abcdef")))
    assert list(shown_cells(table, list("fedcba"))) == list("fedc")
    assert cells_of(shown_cells(table, ["a"]), np.array([3])) == [{"a": str(table.frame["a"][3])}]
