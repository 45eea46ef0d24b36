"""Tables for people: read a file or a data frame, know the kinds of its columns, and turn them into numbers."""

from gramian.tables.kinds import Column
from gramian.tables.prepare import Preparation
from gramian.tables.read import Table, UnreadableTable, read_table

__all__ = ["Column", "Preparation", "Table", "UnreadableTable", "read_table"]
