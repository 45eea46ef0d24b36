"""Every figure of five reports is computed again from the table, by code that does not import gramian."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

import gramian
from gramian.cli import app
from report import decoder, statements
from report.statements import Told, agrees

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


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The five reports, each by one call of the command line."""
    folder = tmp_path_factory.mktemp("reports")
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


@pytest.fixture(scope="module")
def said(reports):
    return {name: statements.statements(told) for name, told in reports.items()}


@pytest.mark.parametrize("name", ["example", *TABLES])
def test_every_statement_is_true_of_the_table(said, name):
    wrong = [f"{item.kind}: {item.said} (table: {item.found})" for item in said[name] if not item.holds]
    assert not wrong, "\n".join(wrong)
    assert len(said[name]) >= 50


def test_many_statements_of_many_kinds_were_checked(said):
    kinds = Counter(item.kind for found in said.values() for item in found)
    assert len(kinds) >= 50, kinds
    assert kinds.total() >= 1000
    assert min(len({item.kind for item in found}) for found in said.values()) >= 10


def test_the_checks_do_not_import_what_they_check():
    for module in (statements, decoder):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not any(name.split(".")[0] == "gramian" for name in names)


def test_the_mixed_table_shows_what_it_holds(reports):
    """The table with everything has hints, copies, a row of no group and columns that were left out."""
    told = reports["mixed"]
    text = told.page.by_id("glance").text
    assert "-999 occurs 9 times" in text or "−999 occurs" in text
    assert "Says almost the same as" in text
    assert "perhaps two units" in text
    assert told.groups[17] == 0
    overview = " ".join(told.summary["overview"])
    assert "Not used to compare rows: member and club." in overview


def test_a_table_without_groups_shows_none(reports):
    told = reports["noise"]
    assert told.summary["verdict"] == "none"
    page = told.page.all("main")[0].text
    assert "found again" not in page
    assert "in its group" not in page


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("1,234", 1234.4, True),
        ("1,234", 1234.6, False),
        ("−0.0123", -0.01234, True),
        ("24 %", 0.2449, True),
        ("24 %", 0.2451, False),
        ("< 0.1 %", 0.0004, True),
        ("> 99 %", 0.997, True),
        ("over 99 %", 0.998, True),
        ("2024-02-29", 19782.0, True),
        ("2024-03-01", 19782.0, False),
    ],
)
def test_numbers_are_compared_to_the_last_digit_written(text, value, holds):
    assert agrees(text, value) == holds
