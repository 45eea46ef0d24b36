"""From a table with holes, categories and dates to groups, reasons and a model, without anything to tune."""

from gramian.explore.analyse import explore
from gramian.explore.model import TableModel
from gramian.explore.prepare import Preparation
from gramian.explore.read import Table, UnreadableTable, read_table
from gramian.explore.result import Exploration

__all__ = ["Exploration", "Preparation", "Table", "TableModel", "UnreadableTable", "explore", "read_table"]
