"""Tables with columns of several kinds: read them from files, and turn their columns into numbers.

Lies below the tasks. Importing it needs no pandas; reading a file or a data frame does (the extra ``app``).
"""

from gramian.tables.codes import on_one_scale
from gramian.tables.copies import without_copies
from gramian.tables.partitions import (
    Layout,
    common_layout,
    find_partitions,
    in_partitions,
    joined_table,
    layout_of,
    name_of_partitions,
    partition_rows,
    partition_statistics,
    typed_rows,
)
from gramian.tables.prepare import Preparation
from gramian.tables.read import UnreadableTable, read_table, typed_table
from gramian.tables.statistics import ColumnStatistics, Quantiles, merged_in_turn
from gramian.tables.table import (
    BOOLEAN,
    CATEGORY,
    CODES,
    CONSTANT,
    DATE,
    EMPTY,
    IDENTIFIER,
    IGNORED,
    NUMBER,
    TEXT,
    USED,
    Column,
    Reading,
    Table,
    nearest,
)
from gramian.tables.unseen import Unseen, unseen_values
from gramian.tables.written import as_written

__all__ = [
    "BOOLEAN",
    "CATEGORY",
    "CODES",
    "CONSTANT",
    "DATE",
    "EMPTY",
    "IDENTIFIER",
    "IGNORED",
    "NUMBER",
    "TEXT",
    "USED",
    "Column",
    "ColumnStatistics",
    "Layout",
    "Preparation",
    "Quantiles",
    "Reading",
    "Table",
    "UnreadableTable",
    "Unseen",
    "as_written",
    "common_layout",
    "find_partitions",
    "in_partitions",
    "joined_table",
    "layout_of",
    "merged_in_turn",
    "name_of_partitions",
    "nearest",
    "on_one_scale",
    "partition_rows",
    "partition_statistics",
    "read_table",
    "typed_rows",
    "typed_table",
    "unseen_values",
    "without_copies",
]
