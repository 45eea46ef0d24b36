"""The columns of an edge list: which are the ends and which is the weight, by their names; and data frames of edges.

:mod:`gramian.communities.reading` asks here about the first line of a file and about data frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.communities.edges import Edges, UnreadableEdges
from gramian.typing import Array

# In small letters, without blanks, dashes and underscores.
_FIRST = frozenset(
    {"source", "from", "src", "u", "node1", "nodea", "start", "tail", "sender", "id1", "fromnodeid", "fromid"}
)
_SECOND = frozenset(
    {"target", "to", "dst", "v", "node2", "nodeb", "end", "head", "receiver", "id2", "tonodeid", "toid"}
)
_WEIGHT = frozenset({"weight", "weights", "w", "count", "value", "strength"})


def end_columns(names: Sequence[str], *, letters: bool = True) -> tuple[int, ...] | None:
    """The places of the two ends, and of the weight if there is one; None if the names are no usual ones.

    Parameters
    ----------
    names : sequence of str
    letters : bool, default True
        Whether u, v and w are such names. In the first line of a file they may be nodes.

    Examples
    --------
    >>> end_columns(["Weight", "day", "from", "to"]), end_columns(["Source", "Target"]), end_columns(["anna", "ben"])
    ((2, 3, 0), (0, 1), None)
    """
    words = ["".join(c for c in str(name).casefold() if c.isalnum()) for name in names]
    first, second, weight = (
        next((place for place, word in enumerate(words) if word in known and (letters or len(word) > 1)), None)
        for known in (_FIRST, _SECOND, _WEIGHT)
    )
    if first is None or second is None:
        return None
    return (first, second) if weight is None else (first, second, weight)


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def checked_weight(value: Any) -> float:
    """A weight as a number; an error says what is wrong with it."""
    try:
        weight = float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"the weight {str(value)[:40]!r} is not a number; correct it, or leave weights out (--unweighted)"
        ) from None
    if weight < 0:
        raise ValueError(f"the weight {weight:g} is negative; drop negative edges or take absolute values")
    if not np.isfinite(weight):
        raise ValueError(f"the weight {str(value)[:40]!r} is not finite; correct it, or drop the edge")
    return weight


def frame_edges(frame: Any, weighted: bool) -> Edges:
    """The edges in the rows of a data frame: columns of the usual names, else the first two and a numeric third."""
    name, columns = "the data frame", list(frame.columns)
    if len(columns) < 2:
        raise UnreadableEdges(f"{name} has {len(columns)} columns; pass one for each end of the edges")
    places = end_columns(columns)
    if places is None:
        places = (0, 1, 2) if len(columns) == 3 else (0, 1)
    cells = [frame[columns[place]].to_list() for place in (places if weighted else places[:2])]
    index: dict[str, int] = {}
    ends = np.array([_codes(column, index, name) for column in cells[:2]], dtype=np.int64).reshape(2, -1)
    if len(cells) == 2:
        weights: Array = np.ones(ends.shape[1])
    else:
        weights = np.empty(ends.shape[1])
        for row, value in enumerate(cells[2]):
            try:
                weights[row] = checked_weight(value)
            except ValueError as error:
                raise UnreadableEdges(f"{name}, row {row + 1}: {error}") from None
    notes = [f"columns read: {', '.join(str(columns[place]) for place in places[: len(cells)])}"]
    return Edges(name, list(index), ends, weights, len(cells) == 3, notes)


def _codes(values: list[Any], index: dict[str, int], name: str) -> list[int]:
    """Numbers of the nodes of a column; names that are not in the index yet are put there."""
    codes = []
    for row, value in enumerate(values):
        if value is None or value != value or value == "":
            raise UnreadableEdges(f"{name}, row {row + 1}: the name of a node is missing; drop the row")
        codes.append(index.setdefault(node_name(value), len(index)))
    return codes


def node_name(value: Any) -> str:
    """The name of a node as text; a whole number has no point, as a file would have it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
