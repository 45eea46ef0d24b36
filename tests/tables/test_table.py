"""The columns of a table that tell rows apart."""

from gramian.tables import table
from gramian.tables.table import USED, Column, Table


def test_columns_for_display_are_not_used():
    kinds = ["number", "category", "boolean", "date", "identifier", "constant", "text", "empty", "ignored"]
    columns = [Column(f"the {kind}", kind, 0.0) for kind in kinds]
    assert Table(None, columns, "t.csv").used == ["the number", "the category", "the boolean", "the date"]
    assert set(USED) == {table.NUMBER, table.CATEGORY, table.BOOLEAN, table.DATE}


def test_notes_of_two_tables_are_two_lists():
    first, second = Table(None, [], "a"), Table(None, [], "b")
    first.notes.append("odd")
    assert (second.notes, second.missing) == ([], [])
