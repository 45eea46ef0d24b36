"""Readers for files on disk: tables (CSV, TSV), arrays (NPZ) and graphs (edge lists), plain or gzip-compressed.

They need NumPy, SciPy and the standard library alone. A file that cannot be read as it should raises a one-line
``ValueError`` that names the place and the remedy.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gramian.datasets.table import Table, code_column, parse_numbers
from gramian.typing import Array, Matrix

__all__ = ["MISSING", "Graph", "read_csv", "read_edgelist", "read_npz"]

MISSING = frozenset({"", "?", "NA", "N/A", "na", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value unless the caller says otherwise."""

PathLike = str | os.PathLike[str]


class Graph(NamedTuple):
    """A graph as :func:`read_edgelist` returns it; unpacks as ``adjacency, nodes``."""

    adjacency: Matrix
    """CSR array of shape (n, n); entry (i, j) is the weight of the edge from node i to node j."""

    nodes: Array
    """The file's own name of each node, sorted: ints if all are, otherwise text."""


def read_csv(
    path: PathLike,
    target: str | int | None = None,
    *,
    delimiter: str | None = None,
    header: bool = True,
    categorical: Sequence[str] = (),
    missing: Collection[str] = MISSING,
) -> Table:
    """Read a table from a CSV or TSV file in UTF-8.

    Parameters
    ----------
    path : str or path
        Compressed by gzip or not.
    target : str or int, optional
        Name or position (negative counts from the end) of the target column. A target of text is coded with -1
        for missing; a target of numbers stays as it is unless ``categorical`` names it.
    delimiter : str, optional
        A tab for files named ``.tsv`` or ``.tab`` (``.gz`` or not), otherwise a comma.
    header : bool, default True
        Whether the first line names the columns; without it they are called x0, x1, ...
    categorical : sequence of str
        Columns that hold categories even if they look like numbers.
    missing : collection of str
        Texts that stand for a missing value.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gramian.datasets import read_csv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("weight,coat,kind\\n4.1,long,cat\\n,short,cat\\n30,short,dog\\n")
    >>> pets = read_csv(path, target="kind")
    >>> pets.X
    array([[ 4.1,  0. ],
           [ nan,  1. ],
           [30. ,  1. ]])
    >>> pets.y, pets.target_names, pets.categories
    (array([0, 0, 1]), ('cat', 'dog'), {'coat': ('long', 'short')})
    """
    file = Path(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    separator = delimiter or ("\t" if {".tsv", ".tab"} & set(suffixes) else ",")
    rows = _rows(file, separator)
    names = [name.strip() for name in rows[0][1]] if header else [f"x{j}" for j in range(len(rows[0][1]))]
    body = rows[1:] if header else rows
    _check_header(file, names, body, header)
    for line, cells in body:
        if len(cells) != len(names):
            raise ValueError(
                f"{file.name}, row {line}: {len(cells)} cells but {len(names)} columns; "
                "correct the row, quote cells that contain the delimiter, or pass delimiter="
            )
    chosen = _target_name(file, names, target)
    for name in categorical:
        if name not in names:
            raise ValueError(f"categorical={name!r} is not a column of {file.name}; it has {', '.join(names)}")
    lines = [line for line, _ in body]
    features: list[Array] = []
    categories: dict[str, tuple[str, ...]] = {}
    y: Array | None = None
    target_names: tuple[str, ...] = ()
    columns = zip(*(cells for _, cells in body), strict=True)
    for name, column in zip(names, columns, strict=True):
        try:
            values, texts = code_column(column, name, missing=missing, categorical=name in categorical, rows=lines)
        except ValueError as error:
            raise ValueError(f"{file.name}, {error}") from error
        if name == chosen:
            y, target_names = _target(values, texts)
            continue
        features.append(values)
        if texts:
            categories[name] = texts
    if not features:
        raise ValueError(f"{file.name} has no column beside the target {chosen!r}; add feature columns")
    return Table(
        X=np.column_stack(features),
        y=y,
        feature_names=tuple(name for name in names if name != chosen),
        target_names=target_names,
        categories=categories,
        target=chosen,
        name=file.name.split(".")[0],
        description=f"Read from {file.name}.",
    )


def read_npz(path: PathLike, *, X: str = "X", y: str | None = "y") -> Table:
    """Read samples and labels from an NPZ archive of plain arrays; nothing in it is ever unpickled.

    Parameters
    ----------
    path : str or path
    X : str, default "X"
        Name of the array of samples, of shape (n, ...); images and other tensors become rows. float32 and
        float64 stay; other numbers become the smallest of the two that holds them exactly.
    y : str or None, default "y"
        Name of the array of labels, of shape (n,); None, or a name the archive does not hold, gives no labels.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from gramian.datasets import read_npz
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "images.npz"
    >>> np.savez(path, X=np.zeros((3, 2, 2)), y=np.array(["a", "b", "a"]))
    >>> images = read_npz(path)
    >>> images.X.shape, images.y, images.target_names
    ((3, 4), array([0, 1, 0]), ('a', 'b'))
    """
    file = Path(path)
    try:
        # Opened here, for numpy leaves the file open when it turns out to be damaged.
        with file.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError(f"{file.name} holds one bare array; save it with numpy.savez(path, X=...)")
            if X not in archive.files:
                raise ValueError(f"{file.name} has no array {X!r}; pass X= one of {', '.join(archive.files)}")
            samples = archive[X]
            labels = archive[y] if y is not None and y in archive.files else None
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{file.name} is damaged ({error}); fetch or save it again") from error
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise ValueError(
            f"{file.name} is no NPZ archive of plain arrays; save numbers or text with numpy.savez, not objects"
        ) from error
    if samples.dtype.kind not in "biuf" or samples.ndim < 2 or len(samples) == 0:
        raise ValueError(
            f"{file.name}, array {X!r} has dtype {samples.dtype} and shape {samples.shape}; save numbers, (n, d)"
        )
    # float32 holds bytes and 16-bit images exactly, at half the memory.
    flat = samples.reshape(len(samples), -1).astype(np.result_type(samples.dtype, np.float32))
    codes: Array | None = None
    names: tuple[str, ...] = ()
    if labels is not None:
        if labels.shape != (len(flat),):
            raise ValueError(
                f"{file.name}, array {y!r} has shape {labels.shape}; save one label for each of {len(flat)} samples"
            )
        codes = labels
        if labels.dtype.kind in "US":
            found, codes = np.unique(labels.astype(str), return_inverse=True)
            names = tuple(found.tolist())
    return Table(
        X=flat,
        y=codes,
        feature_names=tuple(f"x{j}" for j in range(flat.shape[1])),
        target_names=names,
        target=y if codes is not None else None,
        name=file.name.split(".")[0],
        description=f"Read from {file.name}.",
    )


def read_edgelist(
    path: PathLike, *, directed: bool = False, delimiter: str | None = None, comments: str = "#%"
) -> Graph:
    """Read a graph from a file of lines ``u v`` or ``u v weight``.

    Nodes may have any names; they are numbered in sorted order. An edge listed again in the same direction adds
    its weight; without weights it stays 1. In an undirected graph an edge listed in both directions is one edge
    with the mean of the two weights. Loops are kept.

    Parameters
    ----------
    path : str or path
        Compressed by gzip or not, UTF-8.
    directed : bool, default False
        Whether ``u v`` is an edge from u to v only.
    delimiter : str, optional
        What separates the fields; runs of blanks and tabs if not given.
    comments : str, default "#%"
        A line that begins with one of these characters is skipped, and so is an empty line.

    Returns
    -------
    Graph
        ``adjacency`` (CSR of shape (n, n)) and ``nodes`` (the n names).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gramian.datasets import read_edgelist
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "triangle.edgelist"
    >>> _ = path.write_text("# three nodes\\n10 20 0.5\\n20 30 2\\n")
    >>> adjacency, nodes = read_edgelist(path)
    >>> nodes
    array([10, 20, 30])
    >>> adjacency.toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 2. ],
           [0. , 2. , 0. ]])
    """
    file = Path(path)
    edges: list[list[str]] = []
    lines: list[int] = []
    for number, text in enumerate(_text(file).splitlines(), start=1):
        line = text.strip()
        if not line or line[0] in comments:
            continue
        fields = line.split(delimiter)
        if len(fields) not in (2, 3) or (edges and len(fields) != len(edges[0])):
            wanted = f"{len(edges[0])} fields as in the lines before" if edges else "'u v' or 'u v weight'"
            raise ValueError(f"{file.name}, row {number}: {len(fields)} fields; write {wanted}, or pass delimiter=")
        edges.append(fields)
        lines.append(number)
    if not edges:
        raise ValueError(f"{file.name} holds no edges; write one 'u v' or 'u v weight' per line")
    columns = [np.char.strip(np.array(column)) for column in zip(*edges, strict=True)]
    nodes, ends = np.unique(_node_names(np.stack(columns[:2])), return_inverse=True)
    source, sink = ends.reshape(2, -1)
    weights = _weights(file, columns[2], lines) if len(columns) == 3 else np.ones(len(edges))
    adjacency = sp.coo_array((weights, (source, sink)), shape=(len(nodes), len(nodes))).tocsr()
    if len(columns) == 2:
        adjacency.data[:] = 1.0
    if not directed:
        adjacency = _mean_of_directions(adjacency)
    adjacency.sort_indices()
    return Graph(adjacency, nodes)


def _text(file: Path) -> str:
    """The text of a file, unpacked if it is gzip, without a byte-order mark."""
    data = file.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{file.name} is damaged gzip ({error}); fetch or save it again") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        raise ValueError(f"{file.name}, row {row}: not UTF-8 text; save the file as UTF-8") from error


def _rows(file: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """Line number and cells of each row that is not empty."""
    reader = csv.reader(io.StringIO(_text(file), newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if cells:
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise ValueError(f"{file.name}, row {reader.line_num}: {error}; correct the quotes in this row") from error
    if not rows:
        raise ValueError(f"{file.name} is empty; write a line of column names and one line per sample")
    return rows


def _check_header(file: Path, names: list[str], body: list[tuple[int, list[str]]], header: bool) -> None:
    if not body:
        raise ValueError(f"{file.name} has column names but no rows; add rows, or pass header=False")
    if not header:
        return
    for j, name in enumerate(names):
        if not name or name in names[:j]:
            fault = f"{name!r} is there twice" if name else "has no name"
            raise ValueError(f"{file.name}, row 1, column {j + 1}: {fault}; give each column its own name")
    if all(name.replace(".", "", 1).lstrip("+-").isdigit() for name in names):
        raise ValueError(f"{file.name}, row 1: numbers where column names should be; add them or pass header=False")


def _target_name(file: Path, names: list[str], target: str | int | None) -> str | None:
    if isinstance(target, int) and -len(names) <= target < len(names):
        return names[target]
    if target is not None and target not in names:
        raise ValueError(f"target={target!r} is not a column of {file.name}; it has {', '.join(names)}")
    return target if isinstance(target, str) else None


def _target(values: Array, names: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """The target as codes (-1 for missing), whole numbers or numbers."""
    if names:
        return np.where(np.isnan(values), -1, values).astype(np.int64), names
    whole = np.isfinite(values).all() and (values == np.round(values)).all() and (np.abs(values) < 2**53).all()
    return (values.astype(np.int64) if whole else values), ()


def _node_names(texts: Array) -> Array:
    try:
        return texts.astype(np.int64)
    except (ValueError, OverflowError):
        return texts


def _weights(file: Path, texts: Array, lines: list[int]) -> Array:
    weights, wrong = parse_numbers(texts)
    if len(wrong):
        row, text = lines[wrong[0]], str(texts[wrong[0]])
        raise ValueError(f"{file.name}, row {row}, column 3: weight {text!r} is not a finite number; correct it")
    return weights


def _mean_of_directions(adjacency: Matrix) -> Matrix:
    """A symmetric graph in which an edge listed in both directions has the mean of the two weights."""
    listed = adjacency.copy()
    listed.data[:] = 1.0
    times = (listed + listed.T).tocsr()
    times.data = 1.0 / times.data
    return (adjacency + adjacency.T).multiply(times).tocsr()
