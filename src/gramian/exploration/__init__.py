"""Exploration of a table with missing values: clusters, ranks, outlier scores, explanations, and a model for new rows.

An application of the tasks, which it uses by their public names; :mod:`gramian.report` shows what it finds.
"""

from gramian.exploration.analyse import explore
from gramian.exploration.association import Associations
from gramian.exploration.glance import Glance
from gramian.exploration.in_parts import (
    Answering,
    Known,
    Totals,
    answer_partition,
    of_all_rows,
    totals_of,
    write_partition,
)
from gramian.exploration.model import TableModel, load_table_model
from gramian.exploration.result import (
    Alternative,
    Cluster,
    Difference,
    Exploration,
    Importance,
    Level,
    Missingness,
    Oddity,
)
from gramian.tables import Preparation, Table, UnreadableTable, read_table

__all__ = [
    "Alternative",
    "Answering",
    "Associations",
    "Cluster",
    "Difference",
    "Exploration",
    "Glance",
    "Importance",
    "Known",
    "Level",
    "Missingness",
    "Oddity",
    "Preparation",
    "Table",
    "TableModel",
    "Totals",
    "UnreadableTable",
    "answer_partition",
    "explore",
    "load_table_model",
    "of_all_rows",
    "read_table",
    "totals_of",
    "write_partition",
]
