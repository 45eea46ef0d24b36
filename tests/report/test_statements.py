"""Every figure of five reports is computed again from the table, by code that does not import gramian."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from report import decoder, statements
from report.five_tables import TABLES
from report.statements import agrees


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
    assert "-999 occurs" in text
    assert "Says almost the same as" in text
    assert "perhaps two units" in text
    assert told.groups[17] == 0
    overview = " ".join(told.summary["overview"])
    assert "Not used to compare rows: member and club." in overview
    assert "1 row has no value to compare by and no group." in overview


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
        ("under 0.1 %", 0.0004, True),
        ("over 99 %", 0.99, False),
        ("over 99 %", 0.998, True),
        ("2024-02-29", 19782.0, True),
        ("2024-03-01", 19782.0, False),
    ],
)
def test_numbers_are_compared_to_the_last_digit_written(text, value, holds):
    assert agrees(text, value) == holds
