"""Exploration of a table with missing values: clusters, ranks, outlier scores, explanations, and a model for new rows.

An application of the tasks, which it uses by their public names; :mod:`gramian.report` shows what it finds.
"""

from gramian.exploration.analyse import explore
from gramian.exploration.association import Associations
from gramian.exploration.folder_explorer import SAMPLE, explore_folder
from gramian.exploration.glance import Glance
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
    "SAMPLE",
    "Alternative",
    "Associations",
    "Cluster",
    "Difference",
    "Exploration",
    "Glance",
    "Importance",
    "Level",
    "Missingness",
    "Oddity",
    "Preparation",
    "Table",
    "TableModel",
    "UnreadableTable",
    "explore",
    "explore_folder",
    "load_table_model",
    "read_table",
]
