"""What a model file may hold: the sizes, arrays and classes in it, checked before any of it is built.

:mod:`gramian.persistence` reads and writes model files and asks here first. A file is refused by its table of
contents, its array headers and its JSON alone, so a file that would unpack to gigabytes takes no memory.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.configuration import memory_budget
from gramian.discovery import missing_library, model_classes, needs_optional, part_classes

SCHEMA = "schema.json"

# Types outside gramian that its models hold and skops does not trust by itself. None of them runs code when
# it is rebuilt from a file.
_TRUSTED = frozenset(
    {
        "numpy.dtype",
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
    }
)

_CODE_LOADERS = frozenset({"FunctionNode", "MethodNode", "OperatorFuncNode", "PartialNode", "TypeNode"})
_OBJECT = "ObjectNode"  # builds an object without calling its constructor
_EXPANSION = 20  # bytes of Python objects that a byte of JSON may become


class Refused(ValueError):
    """The archive holds what a model file may not hold; the message follows the name of the file."""


def check_parts(archive: zipfile.ZipFile) -> None:
    """Refuse parts that were packed: they may unpack to anything, and :func:`gramian.save` packs none."""
    parts = archive.infolist()
    for part in parts:
        if part.compress_type != zipfile.ZIP_STORED or part.compress_size != part.file_size:
            raise Refused(
                f"holds a compressed part, {part.filename[:40]!r}, which gramian.save does not write; "
                "save the model again, and do not use a file from a source you do not know"
            )
    if len({part.filename for part in parts}) < len(parts):
        raise ValueError("two parts have the same name")


def check_memory(archive: zipfile.ZipFile, schema: dict[str, Any]) -> None:
    """Refuse arrays whose headers do not fit their parts, and contents beyond the memory budget."""
    total = _EXPANSION * archive.getinfo(SCHEMA).file_size
    seen: set[Any] = set()
    for node in nodes(schema):
        # skops builds one object for all nodes of the same number.
        if "file" not in node or (node.get("__id__") and node["__id__"] in seen):
            continue
        seen.add(node.get("__id__"))
        part = archive.getinfo(node["file"])
        with archive.open(part) as stream:
            if node["__loader__"] == "SparseMatrixNode":
                total += _sparse_bytes(stream)
            else:
                _check_array(stream, part.file_size)
                total += part.file_size
    budget = memory_budget()
    if total > budget:
        raise Refused(
            f"needs {total / 1e9:.3g} GB of memory, above the memory budget of {budget / 1e9:.3g} GB; "
            "raise the budget with gramian.config(memory_budget=...) if you know the file"
        )


def _sparse_bytes(stream: Any) -> int:
    """Bytes of the arrays of a sparse matrix, which is an archive in the archive."""
    total = 0
    with zipfile.ZipFile(stream) as inner:
        for part in inner.infolist():
            # The packers with other names unpack a block of any size at once.
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{part.filename!r} is packed in an unknown way")
            with inner.open(part) as array:
                _check_array(array, part.file_size)
            total += part.file_size
    return total


def _check_array(stream: Any, size: int) -> None:
    """Compare the header of an array in NumPy's format with the bytes that follow."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("an array holds Python objects")
    entries, follow = math.prod(shape), size - stream.tell()
    if entries * dtype.itemsize != follow or (entries and not dtype.itemsize):
        raise ValueError(f"an array of shape {shape} and {dtype.itemsize} bytes per entry has {follow} bytes")


def check_types(doubtful: list[str], schema: dict[str, Any]) -> None:
    """Refuse an archive with types that a model may not hold, or that is no estimator or kernel itself."""
    check_libraries(schema)
    refused = refused_types(doubtful, schema)
    model = name_of(schema)
    own = model.startswith("sklearn.") or model in model_classes(_holds_optional(schema))
    if not own or schema["__loader__"] != _OBJECT:
        refused = refused or [model]
    if refused:
        raise Refused(
            f"holds {', '.join(refused)}, which gramian does not trust; do not use a file from a source you do not "
            "know; if it is yours, rebuild the model from gramian and scikit-learn objects"
        )


def check_libraries(schema: dict[str, Any]) -> None:
    """Refuse, before any of it is built, an archive whose classes need a library that is not installed."""
    for node in nodes(schema):
        if (missing := missing_library(name_of(node))) is not None:
            library, install = missing
            raise Refused(f'holds a {node["__class__"]}, which needs {library}; pip install "{install}"')


def refused_types(doubtful: list[str], schema: dict[str, Any]) -> list[str]:
    """The types in an archive that no model may hold.

    Parameters
    ----------
    doubtful : list of str
        Types that skops does not trust by itself.
    schema : dict
        The description of the archive.
    """
    optional = _holds_optional(schema)
    ours = model_classes(optional) | part_classes(optional) | _TRUSTED
    own_nodes = (node for node in nodes(schema) if name_of(node).startswith("gramian."))
    misused = {name_of(node) for node in own_nodes if node["__loader__"] != _OBJECT}
    return sorted({name for name in doubtful if name not in ours} | misused)


def _holds_optional(schema: dict[str, Any]) -> bool:
    """Whether a class of an optional subpackage is in an archive; only then is the subpackage imported."""
    return any(needs_optional(name_of(node)) for node in nodes(schema))


def sklearn_versions(schema: dict[str, Any]) -> set[str]:
    """The versions of scikit-learn that the estimators in an archive name."""
    states = (node["content"] for node in nodes(schema) if name_of(node).startswith("sklearn.") and "content" in node)
    named = (state.get("content", {}).get("_sklearn_version") for state in states if isinstance(state, dict))
    return {json.loads(version["content"]) for version in named if version is not None}


def holds_code(schema: dict[str, Any], name: str) -> bool:
    """Tell whether ``name`` stands in an archive for a function or a class, not for an object of that class."""
    return any(name_of(node) == name and node["__loader__"] in _CODE_LOADERS for node in nodes(schema))


def nodes(state: Any) -> Iterator[dict[str, Any]]:
    """Walk the description of every object in an archive."""
    if isinstance(state, dict):
        if "__loader__" in state:
            yield state
        for child in state.values():
            yield from nodes(child)
    elif isinstance(state, list):
        for child in state:
            yield from nodes(child)


def name_of(node: dict[str, Any]) -> str:
    """Module and class of the object that a node describes."""
    return f"{node['__module__']}.{node['__class__']}"
