"""Write what an exploration found: the whole folder or nothing, and the answers for new rows.

The command line and the web server call this module; file names of the folder stand here.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import uuid
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gramian.exploration import Cluster, Exploration, TableModel
from gramian.persistence import model_bytes, prepare_saving, save
from gramian.report.page import write_report
from gramian.report.pictures import drawn_pictures, prepare_pictures
from gramian.second_process import start
from gramian.tables import BOOLEAN, DATE, Table, Unseen, as_written, unseen_values

REPORT, ROWS, NODES, STEPS = "report.html", "rows.csv", "nodes.csv", "forecast.csv"
ROW_PARTS = "rows"  # a folder, with one Parquet file for each file of the input
SUMMARY, MODEL = "summary.json", "model.gramian"
_SENT_ROWS = 20_000  # to the second process: copying more would take longer than drawing them
_WRITTEN = {REPORT, ROWS, ROW_PARTS, NODES, STEPS, SUMMARY, MODEL, "map.png", "groups.png", "missing.png"}


class OutputExists(FileExistsError):
    """There is something where the folder should go."""


def check_free(folder: Path, *, force: bool = False) -> None:
    """Refuse a place that is taken or cannot be written, before any work is done.

    With ``force`` a folder is replaced, but only if it holds nothing but what an exploration writes.
    """
    if not folder.exists():
        above = next(parent for parent in folder.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(f"{folder} cannot be written in {above}; name another with --out")
        return
    if not folder.is_dir():
        raise OutputExists(f"{folder} exists and is not a folder; name another with --out")
    if folder.resolve() == Path.cwd():
        raise OutputExists(f"{folder} is the folder you are in; name another with --out")
    names = {path.name for path in folder.iterdir()}
    if foreign := sorted(names - _WRITTEN):
        raise OutputExists(f"{folder} exists and holds other files ({foreign[0]}); name another with --out")
    if names and not force:
        raise OutputExists(f"{folder} exists; add --force to replace it, or name another with --out")


def write_folder(exploration: Exploration, model: TableModel, folder: Path, *, force: bool = False) -> None:
    """Write the report, the rows, the summary, the model and the pictures."""
    with whole_folder(folder, force=force) as draft:
        write_rows(exploration, draft / ROWS)
        write_findings(exploration, model, draft)


def write_findings(exploration: Exploration, model: TableModel, draft: Path) -> None:
    """Write all but the rows into a folder that is being made."""
    few = len(exploration.labels) <= _SENT_ROWS
    saved = start(model_bytes, model) if few else None
    drawn = start(drawn_pictures, without_answers(exploration)) if few else None
    write_report(exploration, draft / REPORT)
    (draft / SUMMARY).write_text(json.dumps(summary(exploration), indent=1, ensure_ascii=False) + "\n", "utf-8")
    if saved is not None and drawn is not None:
        (draft / MODEL).write_bytes(saved())
        pictures = drawn()
    else:
        save(model, draft / MODEL)
        pictures = drawn_pictures(exploration)
    for name, content in pictures.items():
        (draft / name).write_bytes(content)


def without_answers(exploration: Exploration) -> Exploration:
    """What the pictures need of an exploration, which is sent to another process: no cells and no models."""
    other = exploration.alternative
    return replace(
        exploration,
        frame=None,
        cells={},
        levels=[replace(level, answer=None) for level in exploration.levels],
        alternative=None if other is None else replace(other, answer=None),
    )


def prepare_to_write() -> None:
    """Have the second process load what :func:`write_folder` needs there, while there is nothing to write yet."""
    start(_load)


def _load() -> None:

    prepare_saving()
    prepare_pictures()


@contextmanager
def whole_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder beside the named one, which takes its place at the end; nothing is left behind if the work stops.

    Drafts of processes that were killed are cleared away.
    """
    check_free(folder, force=force)
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    for stale in folder.parent.glob(f".{glob.escape(folder.name)}.*.part"):
        if not _alive(stale.name.split(".")[-3]):
            shutil.rmtree(stale, ignore_errors=True)
    draft, old = (folder.with_name(f".{folder.name}.{os.getpid()}.{uuid.uuid4().hex}.part") for _ in range(2))
    try:
        draft.mkdir()
        yield draft
        check_free(folder, force=force)  # another run may have ended in the meantime
        if force and folder.exists():
            folder.rename(old)
        # A reader sees the old folder, for a moment none, then the new one. Over a folder with files this fails.
        draft.rename(folder)
    finally:
        if old.exists() and not folder.exists():  # broken off between the two
            old.rename(folder)
        for left in (draft, old):
            shutil.rmtree(left, ignore_errors=True)


def _alive(process: str) -> bool:
    """Whether a process of that number runs; it may be another one by now, then its draft stays."""
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write_rows(exploration: Exploration, path: Path) -> None:
    """Every row of the table, its values as they came, with its group (from 1), membership, rank and oddness."""
    write_csv(beside(exploration.frame, exploration.cells, exploration.row_columns()), path)


def write_csv(rows: Any, path: Path) -> None:
    """An Arrow table as CSV."""
    from pyarrow import csv

    # Arrow would put every text in quotes, and the cells of numbers are texts.
    style = "needed" if _has_separators(rows) else "none"
    csv.write_csv(rows, path, csv.WriteOptions(quoting_style=style))


def rows_with_groups(exploration: Exploration, frame: Any = None) -> Any:
    """One row per row of the table, with its group, as a DataFrame.

    The values are those of ``frame``, the table as somebody has it; by default numbers, dates and truth values as such.
    """
    frame = exploration.frame if frame is None else frame
    return frame.assign(**{free_name(name, frame): column for name, column in exploration.row_columns().items()})


def _has_separators(rows: Any) -> bool:
    """Whether some text of an Arrow table cannot stand in CSV without quotes."""
    import pyarrow as pa
    from pyarrow import compute

    texts = [
        column for column in rows.columns if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    return any(compute.any(compute.match_substring_regex(column, '[",\\r\\n]')).as_py() for column in texts)


def assigned_rows(model: TableModel, table: Table, *, unseen: Unseen | None = None, as_read: bool = False) -> Any:
    """New rows with their group (from 1), membership, oddness and a note on values that were not seen, as a DataFrame.

    Rows like no other and rows without any value have no group, which is written as 0. With ``as_read`` the values of
    the table are those of the file, otherwise numbers, dates and truth values. ``unseen`` is what
    :func:`gramian.tables.unseen_values` says of the rows, if that is known already.
    """
    labels, memberships, _, oddness = model.answer(model.preparation.transform(table))
    own = memberships[np.arange(len(labels)), np.maximum(labels, 0)]
    found = {
        "group": labels + 1,
        "membership": np.round(np.where(labels >= 0, own, 0.0), 4),
        "oddness": np.round(oddness, 4),
        "note": (unseen or unseen_values(model.preparation, table)).notes(),
    }
    if as_read:
        return beside(table.frame, table.cells, found).to_pandas()
    return typed_beside(table, model.preparation.kinds_, found)


def typed_beside(table: Table, known: Container[str], found: dict[str, Any]) -> Any:
    """New rows with what was found beside them, as a DataFrame with numbers, dates and truth values."""
    # What a column is that the model does not know may be told wrongly from few rows: "NO" is a country.
    texts = {
        column.name: table.cells[column.name].to_pandas().to_numpy()
        for column in table.columns
        if column.kind in (BOOLEAN, DATE) and column.name in table.cells and column.name not in known
    }
    named = {free_name(name, table.frame): column for name, column in found.items()}
    return table.frame.assign(**texts, **named)


def beside(frame: Any, cells: dict[str, Any], found: dict[str, Any]) -> Any:
    """The table as it was read with what was found beside it, as an Arrow table."""
    import pyarrow as pa

    arrays = {name: as_written(cells[name] if name in cells else frame[name]) for name in frame.columns}
    for name, column in found.items():
        arrays[free_name(name, arrays)] = pa.array(column)
    return pa.table(arrays)


def free_name(name: str, taken: Container[str]) -> str:
    """The name of a column of the output, of which the table may have one already."""
    while name in taken:
        name = f"gramian_{name}"
    return name


def json_lines(rows: Any) -> str:
    """A DataFrame as JSON, one object per line, numbers in full; missing values are null."""
    cells = {name: rows[name].astype(object).where(rows[name].notna(), None) for name in rows}
    records = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    return "".join(json.dumps(record, ensure_ascii=False, default=_json_text) + "\n" for record in records)


def _json_text(value: Any) -> Any:
    """What JSON does not know: numbers of NumPy as numbers, dates as text."""
    return value.item() if isinstance(value, np.generic) else value.isoformat()


def write_file(path: Path, text: str) -> None:
    """A text file that appears complete or not at all."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        draft.write_text(text, "utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def summary(exploration: Exploration) -> dict[str, Any]:
    """The findings without the single rows, ready for JSON."""
    alternative = exploration.alternative
    hints = {glance.column: glance.hints for glance in exploration.glances}
    pairs = exploration.associations.strongest() if exploration.associations else []
    found: dict[str, Any] = {
        "source": exploration.source,
        "rows": exploration.n_rows,
        "columns": [asdict(column) | {"hints": hints.get(column.name, [])} for column in exploration.columns],
        "pairs": [{"columns": pair[:2], "strength": pair[2]} for pair in pairs],
        "verdict": exploration.verdict,
        "stability": exploration.stability,
        "overview": exploration.sentences,
        "groups": _counted(exploration, exploration.clusters),
        "features": [asdict(item) for item in exploration.importances],
        "odd_rows": [asdict(item) | {"row": exploration.number(item.row) + 1} for item in exploration.oddities],
        "number_of_odd_rows": exploration.n_odd,
        "missing": asdict(exploration.missingness),
        "alternative": None,
        "views": [asdict(view) for view in exploration.views],
        "numbers_of_groups": [{"groups": k, "stability": value} for k, value in exploration.evidence],
        "levels": [
            {
                "stability": level.stability,
                "sentence": level.sentence,
                "groups": _counted(exploration, level.clusters),
            }
            for level in exploration.levels
        ],
        "made": exploration.made,
    }
    if alternative is not None:
        found["alternative"] = {
            "overlap": alternative.overlap,
            "stability": alternative.stability,
            "sentence": alternative.sentence,
            "groups": _counted(exploration, alternative.clusters),
        }
    told: dict[str, Any] = plain(found)
    return told


def _counted(exploration: Exploration, clusters: list[Cluster]) -> list[dict[str, Any]]:
    """Groups and rows from 1, as people count and rows.csv does."""
    return [
        asdict(cluster)
        | {"label": cluster.label + 1, "typical": [exploration.number(row) + 1 for row in cluster.typical]}
        for cluster in clusters
    ]


def plain(value: Any) -> Any:
    """Numbers of NumPy as numbers; no NaN, which JSON does not know."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
