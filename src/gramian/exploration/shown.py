"""A few cells of every row in little space, for a model that shows the rows it names.

The texts of a column lie one after the other in one array of bytes, beside their lengths: a model file has room for
the cells of a million rows, and reading one needs nothing but NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.tables import IDENTIFIER, Table, as_written
from gramian.typing import Array

_COLUMNS = 4  # that have most to do with the groups, beside one that names the rows
_LONGEST = 24  # characters, of at most four bytes each

Cells = dict[str, dict[str, Array]]
"""For each column the bytes of all its texts and the length of each."""


def shown_cells(table: Table, telling: Sequence[str]) -> Cells:
    """Cells of the first identifier and of the most telling columns, as they were read.

    Parameters
    ----------
    table : Table
    telling : sequence of str
        Columns, the most telling first.
    """
    names = [column.name for column in table.columns if column.kind == IDENTIFIER][:1] + list(telling[:_COLUMNS])
    return {name: _packed(table.cells[name] if name in table.cells else table.frame[name]) for name in names}


def cells_of(shown: Cells, rows: Array) -> list[dict[str, str]]:
    """The cells of some rows by the names of their columns, "" where there is none."""
    found: list[dict[str, str]] = [{} for _ in rows]
    for name, packed in shown.items():
        ends = np.cumsum(packed["lengths"], dtype=np.int64)
        for cells, row in zip(found, rows, strict=True):
            start = int(ends[row]) - int(packed["lengths"][row])
            cells[name] = packed["bytes"][start : int(ends[row])].tobytes().decode()
    return found


def _packed(values: Any) -> dict[str, Array]:
    import pyarrow.compute as pc

    texts = pc.fill_null(as_written(values), "")
    long = pc.greater(pc.utf8_length(texts), _LONGEST)
    cut = pc.binary_join_element_wise(pc.utf8_slice_codeunits(texts, 0, _LONGEST - 1), "…", "")
    texts = pc.if_else(long, cut, texts)
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.uint8)
    joined = "".join(texts.to_pylist()).encode()
    return {"lengths": lengths, "bytes": np.frombuffer(joined, np.uint8)}
