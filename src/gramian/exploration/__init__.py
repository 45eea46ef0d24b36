"""From a table with missing values, categories and dates to groups, reasons and a model, with nothing to tune."""

from gramian.exploration.analyse import explore
from gramian.exploration.model import TableModel
from gramian.exploration.result import Exploration
from gramian.tables import Preparation, Table, UnreadableTable, read_table

__all__ = ["Exploration", "Preparation", "Table", "TableModel", "UnreadableTable", "explore", "read_table"]
