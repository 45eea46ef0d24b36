"""What is packed into the page: the rows of the map and their values, small enough to travel inside one file.

A block is an array in columns of bytes (all lowest bytes first, then the next), compressed and written in base64;
``facts`` tells how to read each one. The page unpacks a block when it first needs it. Blocks that the map cannot do
without come first, then the embedding, then the columns in order of importance. Numbers that lie on a decimal grid
are kept exactly; others are rounded to 65,534 steps, or to 1,022 where room is short; columns for which no room is
left are named in ``facts["left_out"]``.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.exploration import Exploration
from gramian.exploration.wording import are_years
from gramian.report.words import FIRST_GROUP, FIRST_ROW, LONGEST_NAME, cell, clean
from gramian.tables import BOOLEAN, CONSTANT, DATE, EMPTY, IDENTIFIER, NUMBER
from gramian.typing import Array

MOST_ROWS = 200_000
"""Rows a map shows at most; of larger tables a sample is drawn."""

LISTED_ROWS = 10_000
"""Rows the table on the page lists at most: the first of those that the map shows."""

_FINE, _COARSE = 65_534, 1_022
_FACTS = 1_000  # most characters it takes to name a column, to tell how to read it and that it is rounded
_EMBEDDING_PART = 0.35  # of the room; likeness needs a few directions, values need the rest
_LEVEL = 6  # of compression; 9 takes six times as long for one per cent
_DAY = 86_400
_LABEL_ROOM, _LABEL_TURNS = 0.04, 50  # of the map's width that a number takes
_LABELS = 100  # more numbers than this cover the map wherever they stand


@dataclass
class Packed:
    """Blocks by name, in base64, and what the page must know to read them."""

    facts: dict[str, Any]
    blocks: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(block) for block in self.blocks.values())


def pack(exploration: Exploration, room: int, *, most_rows: int = MOST_ROWS) -> Packed:
    """Pack the rows for the map into about ``room`` characters.

    Parameters
    ----------
    exploration : Exploration
    room : int
        Characters the blocks may take together.
    most_rows : int, default=200_000
        A larger table is sampled; typical and odd rows are always shown.
    """
    rows = shown_rows(exploration, most_rows)
    n_rows = exploration.n_rows
    packed = Packed({"rows": len(rows), "all_rows": n_rows, "first_row": FIRST_ROW, "first_group": FIRST_GROUP})
    if len(rows) < n_rows:
        packed.blocks["rows"] = _block(_planes(rows if exploration.numbers is None else exploration.numbers[rows], 4))
    _pack_map(exploration, rows, packed)
    _pack_embedding(exploration.embedding[rows], packed, int(_EMBEDDING_PART * room))
    _pack_columns(exploration, rows, packed, room)
    return packed


def shown_rows(exploration: Exploration, most: int) -> Array:
    """Rows the map shows, in order: all, or a sample that holds every row the page speaks of."""
    n_rows = len(exploration.labels)
    if n_rows <= most:
        return np.arange(n_rows)
    clusters = list(exploration.clusters)
    for grouping in exploration.other_groupings().values():
        clusters += grouping.clusters
    named = {row for cluster in clusters for row in cluster.typical} | {odd.row for odd in exploration.oddities}
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[sorted(named)] = True
    rest = np.flatnonzero(~chosen)
    chosen[np.random.default_rng(0).choice(rest, most - int(chosen.sum()), replace=False)] = True
    return np.flatnonzero(chosen)


def first_view(coordinates: Array) -> tuple[float, float, float, float]:
    """The box (left, right, bottom, top) a map opens with: everything, unless a few rows lie far out."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    inner_low, inner_high = np.quantile(coordinates, [0.005, 0.995], axis=0)
    margin = 0.25 * np.maximum(inner_high - inner_low, 1e-12)
    if np.any(high - low > 4 * (inner_high - inner_low + 1e-12)):
        low, high = np.maximum(low, inner_low - margin), np.minimum(high, inner_high + margin)
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _pack_map(exploration: Exploration, rows: Array, packed: Packed) -> None:
    coordinates = np.nan_to_num(np.asarray(exploration.coordinates, dtype=float))[rows]
    low = coordinates.min(axis=0)
    # One step for both axes: the map must not stretch either of them.
    step = max(float((coordinates.max(axis=0) - low).max()) / _FINE, 1e-300)
    codes = np.rint((coordinates - low) / step).astype(np.uint16)
    packed.blocks["map"] = _block(_planes(codes[:, 0], 2) + _planes(codes[:, 1], 2))
    left, right, bottom, top = first_view(coordinates)
    inside = np.all((coordinates >= [left, bottom]) & (coordinates <= [right, top]), axis=1)
    view = [(left - low[0]) / step, (right - low[0]) / step, (bottom - low[1]) / step, (top - low[1]) / step]
    packed.facts["map"] = {"view": [round(float(edge)) for edge in view], "outside": int((~inside).sum())}
    packed.facts["groups"] = _pack_groups(exploration.labels[rows], codes, packed, "group")
    if exploration.alternative is not None:
        labels = exploration.alternative.labels[rows]
        packed.facts["alternative"] = _pack_groups(labels, codes, packed, "alternative")
    sizes = np.bincount(exploration.labels - exploration.labels.min())
    own = sizes[exploration.labels - exploration.labels.min()][rows]
    typicality = 1 - (exploration.rank[rows] - 1) / np.maximum(own - 1, 1)
    for name, values in (("oddness", exploration.oddness[rows]), ("typicality", typicality)):
        packed.blocks[name] = _block(_planes(np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)), 1))
    listed = rows[:LISTED_ROWS]
    packed.blocks["membership"] = _block(
        _planes(np.rint(255 * np.clip(np.nan_to_num(exploration.membership[listed]), 0, 1)), 1)
    )
    packed.blocks["rank"] = _block(_planes(exploration.rank[listed], 4))
    packed.facts["listed"] = len(listed)


def _pack_groups(labels: Array, codes: Array, packed: Packed, name: str) -> list[dict[str, Any]]:
    """Labels as a block (0: in no group), and where each group's number is written on the map."""
    width = 1 if labels.max() < 255 else 2
    packed.blocks[name] = _block(_planes(np.maximum(labels + 1, 0), width))
    packed.facts.setdefault("widths", {})[name] = width
    sizes = np.bincount(labels[labels >= 0], minlength=int(labels.max()) + 1)
    places = label_places(codes.astype(float), labels)
    return [{"size": int(size), "at": [round(x), round(y)]} for size, (x, y) in zip(sizes, places, strict=True)]


def label_places(coordinates: Array, labels: Array) -> Array:
    """Where the number of each group stands on a map, (k, 2): at its median, moved apart where numbers overlap."""
    k = int(labels.max(initial=-1)) + 1
    shown = np.unique(labels[labels >= 0])
    places = np.zeros((k, 2))
    found = np.array([np.median(coordinates[labels == label], axis=0) for label in shown]).reshape(-1, 2)
    least = _LABEL_ROOM * float(np.ptp(coordinates, axis=0).max(initial=0.0))
    # Two numbers at one place go different ways, each along a direction of its own.
    angles = 2.4 * np.arange(len(shown))
    own_way = np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(_LABEL_TURNS if len(shown) <= _LABELS else 0):
        apart = found[:, None] - found
        distance = np.linalg.norm(apart, axis=2)
        np.fill_diagonal(distance, np.inf)
        if distance.min(initial=np.inf) >= least:
            break
        way = np.where((distance > 0)[..., None], apart / np.maximum(distance, 1e-300)[..., None], own_way[:, None])
        found += 0.5 * (np.clip(least - distance, 0, None)[..., None] * way).sum(axis=1)
    places[shown] = found
    return places


def _pack_embedding(embedding: Array, packed: Packed, room: int) -> None:
    """The strongest directions of the embedding as 8 or 16 bit integers, each direction with its own step.

    An eigenbasis of ZᵀZ keeps the dot products of rows best for a given number of directions.
    """
    rows = np.nan_to_num(np.asarray(embedding, dtype=np.float32))
    moments = (rows.T @ rows).astype(np.float64)
    values, vectors = np.linalg.eigh(moments)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    kept = np.cumsum(values) / max(values.sum(), 1e-300)
    wanted = min(int(np.searchsorted(kept, 0.999)) + 1, len(kept))
    affordable = int(0.75 * room) // len(rows)  # bytes for each row
    width = 2 if 2 * wanted <= affordable else 1
    directions = max(min(wanted, affordable // width), 1)
    parts = rows @ vectors[:, :directions].astype(np.float32)
    most = 32_767 if width == 2 else 127
    steps = np.maximum(np.abs(parts).max(axis=0), 1e-30) / most
    codes = np.rint(parts / steps).astype(f"<i{width}")
    packed.blocks["embedding"] = _block(
        b"".join(_planes(codes[:, j].view(f"<u{width}"), width) for j in range(directions))
    )
    packed.facts["embedding"] = {
        "width": width,
        "steps": [float(step) for step in steps],
        "directions": int(embedding.shape[1]),
        "kept": round(float(kept[directions - 1]), 4),
    }


def _pack_columns(exploration: Exploration, rows: Array, packed: Packed, room: int) -> None:
    """Columns by importance: finely if all fit; else coarsely, but for the first ones if that fits; else not at all."""
    order = _by_importance(exploration)
    taken = exploration.frame.iloc[rows]
    kinds = [column.kind for column in exploration.columns]
    fine = {j: pack_column(taken.iloc[:, j], kinds[j]) for j in order}
    free = room - packed.size - _FACTS * len(order)
    offered = fine
    if sum(len(block) for _, block in fine.values()) > free:
        offered = {j: pack_column(taken.iloc[:, j], kinds[j], most_steps=_COARSE) for j in order}
    chosen, left_out = {}, []
    for j in order:
        if len(offered[j][1]) <= free:
            chosen[j] = offered[j]
            free -= len(offered[j][1])
        else:
            left_out.append(j)
    for j in chosen:
        more = len(fine[j][1]) - len(chosen[j][1])
        if more <= free:
            chosen[j] = fine[j]
            free -= more
    facts = []
    for j, (how, block) in chosen.items():
        packed.blocks[f"column-{j}"] = block
        name = clean(exploration.columns[j].name, LONGEST_NAME)
        facts.append({"name": name, "kind": kinds[j], "block": f"column-{j}", **how})
    packed.facts["columns"] = facts
    packed.facts["left_out"] = [clean(exploration.columns[j].name, LONGEST_NAME) for j in left_out]
    # One step in 65,534 does not show; one in 1,022 does.
    coarse = [j for j, (how, _) in chosen.items() if chosen[j] is not fine[j] and how != fine[j][0]]
    packed.facts["rounded"] = [clean(exploration.columns[j].name, LONGEST_NAME) for j in coarse]


def _by_importance(exploration: Exploration) -> list[int]:
    """Positions of the columns: as they matter for the groups, then names of rows, then the rest."""
    place = {item.column: i for i, item in enumerate(exploration.importances)}
    last = len(place)

    def key(j: int) -> tuple[int, int, int]:
        column = exploration.columns[j]
        return place.get(column.name, last), {IDENTIFIER: 0, CONSTANT: 2}.get(column.kind, 1), j

    return sorted((j for j, column in enumerate(exploration.columns) if column.kind != EMPTY), key=key)


def pack_column(series: Any, kind: str, *, most_steps: int = _FINE) -> tuple[dict[str, Any], str]:
    """One column as a block, and how to read it; code 0 is a missing value."""
    if kind == DATE:
        how, raw = _pack_dates(_seconds(series), by_day=most_steps < _FINE)
    elif kind == NUMBER:
        how, raw = _pack_numbers(_floats(series), most_steps)
    else:
        how, raw = _pack_levels(series, kind)
    return how, _block(raw)


def _pack_numbers(values: Array, most_steps: int) -> tuple[dict[str, Any], bytes]:
    known = values[np.isfinite(values)]
    if not len(known):
        return _with_codes({"scale": "grid", "low": 0, "step": 1, "decimals": 0, "exact": True}, values)
    low, high = float(known.min()), float(known.max())
    largest = 2**32 - 2 if most_steps == _FINE else most_steps
    for decimals in range(7):
        grid = known * 10**decimals
        if (high - low) * 10**decimals > largest or np.abs(grid).max() > 2**53:
            break
        # A billionth is noise of arithmetic, unless the whole column is that small.
        noise = 1e-9 * np.maximum(np.abs(grid), min(np.abs(grid).max(), 1))
        if np.all(np.abs(grid - np.rint(grid)) <= noise):
            offset = round(low * 10**decimals)
            codes = np.rint(values * 10**decimals) - offset + 1
            how = {"scale": "grid", "low": offset, "step": 1, "decimals": decimals, "exact": True}
            if are_years(known):
                how["years"] = True
            return _with_codes(how, codes)
    centre, spread = float(np.median(known)), float(np.subtract(*np.quantile(known, [0.75, 0.25])))
    # Heavy tails would leave a linear scale with few steps for most rows.
    curved = spread > 0 and (high - low) / spread > 50
    bent = np.arcsinh((values - centre) / spread) if curved else values
    ends = np.arcsinh((np.array([low, high]) - centre) / spread) if curved else np.array([low, high])
    # Divided first: the width of a column may be more than a float can be, or nothing.
    step = float(ends[1] / most_steps - ends[0] / most_steps) or max(1e-9 * abs(low), 5e-324)
    how = {"scale": "curved" if curved else "linear", "low": float(ends[0]), "step": step, "exact": False}
    if curved:
        how |= {"centre": centre, "spread": spread}
    return _with_codes(how, np.rint(bent / step - ends[0] / step) + 1)


def _pack_dates(seconds: Array, *, by_day: bool) -> tuple[dict[str, Any], bytes]:
    known = seconds[np.isfinite(seconds)]
    unit = _DAY if by_day or not np.any(known % _DAY) else 1
    units = np.floor(seconds / unit)
    low = float(np.floor(known.min() / unit)) if len(known) else 0.0
    if len(known) and (known.max() - known.min()) / unit > 2**32 - 2:
        unit, units, low = _DAY, np.floor(seconds / _DAY), float(np.floor(known.min() / _DAY))
    return _with_codes({"scale": "date", "low": low, "step": unit, "exact": True}, units - low + 1)


def _with_codes(how: dict[str, Any], codes: Array) -> tuple[dict[str, Any], bytes]:
    whole = np.where(np.isfinite(codes), codes, 0).astype(np.uint32)
    width = 1 if whole.max(initial=0) < 2**8 else 2 if whole.max() < 2**16 else 4
    return how | {"width": width}, _planes(whole, width)


def _pack_levels(series: Any, kind: str) -> tuple[dict[str, Any], bytes]:
    """Codes of the levels, the most frequent first, and behind them the levels themselves."""
    import pandas as pd

    try:
        codes, uniques = pd.factorize(series)
    except TypeError:  # lists and the like, as JSON has them
        codes, uniques = pd.factorize(series.map(str, na_action="ignore"))
    texts = [cell(value, kind if kind == BOOLEAN or not isinstance(value, float) else NUMBER) for value in uniques]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(texts) + 1, dtype=np.int64)
    place[order] = np.arange(1, len(texts) + 1)
    place[-1] = 0  # factorize writes -1 for a missing value
    how, raw = _with_codes({"scale": "levels", "levels": len(texts), "exact": True}, place[codes].astype(float))
    listed = json.dumps([texts[i] for i in order], ensure_ascii=False, separators=(",", ":"))
    return how, raw + listed.encode()


def _floats(series: Any) -> Array:
    import pandas as pd

    return np.asarray(pd.to_numeric(series, errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def _seconds(series: Any) -> Array:
    """Seconds since 1970 on the clock of the table's own time zone; NaN where missing."""
    import pandas as pd

    moments = pd.to_datetime(series, errors="coerce")
    if getattr(moments.dt, "tz", None) is not None:
        moments = moments.dt.tz_localize(None)
    seconds = moments.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(float)
    seconds[moments.isna().to_numpy()] = np.nan
    return seconds


def _planes(codes: Array, width: int) -> bytes:
    """Unsigned integers as columns of bytes: equal high bytes side by side compress well."""
    return np.asarray(codes).astype(f"<u{width}").view(np.uint8).reshape(-1, width).T.tobytes()


def _block(raw: bytes) -> str:
    return b64encode(zlib.compress(raw, _LEVEL)).decode("ascii")
