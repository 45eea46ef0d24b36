"""Save fitted models to a file and load them again, without pickle.

A model file is a skops archive (arrays in NumPy's own format, everything else as JSON) with one more member,
``gramian.json``, that says what is inside. Loading builds only objects of types this module trusts: classes
defined in gramian, what skops trusts by default (scikit-learn's estimators, NumPy arrays, containers) and the
few names in ``_TRUSTED``. A file that names anything else is refused before any of it is built or imported.
"""

from __future__ import annotations

import json
import os
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

import gramian

__all__ = ["ModelFileError", "ModelInfo", "info", "load", "save"]

_LABEL = "gramian.json"

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

# What zipfile, json, NumPy and skops raise when they read an archive that was cut short or tampered with.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


class ModelFileError(ValueError):
    """The file is no model file of gramian, is damaged, too new, or holds a type that is not trusted."""


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself.

    Attributes
    ----------
    model : str
        The class of the saved object, such as ``"gramian.embedding.kernel_pca.KernelPCA"``.
    gramian : str
        The version of gramian that wrote the file.
    sklearn : str
        The version of scikit-learn at that time.
    saved : datetime
        When the file was written, in UTC.
    """

    model: str
    gramian: str
    sklearn: str
    saved: datetime


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that :func:`load` reads back.

    The file appears complete or not at all: it is written beside its place and moved there at the end, so an
    interrupted save leaves an older file as it was.

    Parameters
    ----------
    model : estimator
        A kernel or estimator of gramian, fitted or not, or a scikit-learn estimator, such as a ``Pipeline``,
        that holds some.
    path : str or path-like
        Where to write; ``.gramian`` is the usual ending. An existing file is replaced.

    Raises
    ------
    TypeError
        If ``model`` is no estimator or holds something that a file cannot carry, such as a function.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.cluster import KMeans
    >>> from gramian.persistence import info, load, save
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(KMeans(n_clusters=3), folder / "model.gramian")
    >>> load(folder / "model.gramian")
    KMeans(n_clusters=3)
    >>> info(folder / "model.gramian").model
    'sklearn.cluster._kmeans.KMeans'
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be an estimator or a kernel, got {_type_name(model)}; save its parts apart")
    # A link keeps pointing at the file it names.
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        _write(model, draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        As it was saved: the same parameters, and the same answers if it was fitted.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged, comes from a newer major version of gramian, or names a type
        that is not trusted. Nothing of such a file is executed.

    Examples
    --------
    >>> import tempfile, pathlib, pickle
    >>> from gramian.persistence import load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.pickle"
    >>> _ = path.write_bytes(pickle.dumps({"width": 1.0}))
    >>> load(path)
    Traceback (most recent call last):
    ...
    gramian.persistence.ModelFileError: model.pickle is not a gramian model; pass a file ...
    """
    from skops.io import get_untrusted_types
    from skops.io import load as build

    path = Path(path)
    label = info(path)
    installed = gramian.__version__
    if _major(label.gramian) > _major(installed):
        raise ModelFileError(
            f"{path.name} was saved by gramian {label.gramian}, newer than the installed {installed}; "
            "run pip install --upgrade gramian"
        )
    try:
        doubtful = get_untrusted_types(file=path)
        refused = [name for name in doubtful if not _is_trusted(name)]
        if not refused:
            return build(path, trusted=doubtful)
    except _DAMAGE as error:
        raise ModelFileError(
            f"{path.name} is damaged or was not written by gramian.save ({error}); save the model again"
        ) from error
    raise ModelFileError(
        f"{path.name} holds {', '.join(refused)}, which gramian does not trust; do not use a file from a "
        "source you do not know; if it is yours, rebuild the model from gramian and scikit-learn objects"
    )


def info(path: str | os.PathLike[str]) -> ModelInfo:
    """Read what a model file says about itself, without loading the model.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    label : ModelInfo
        The class of the model, the versions that wrote it, and when.

    Raises
    ------
    ModelFileError
        If the file is no model file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.decomposition import PCA
    >>> from gramian.persistence import info, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.gramian"
    >>> save(PCA(), path)
    >>> info(path).model
    'sklearn.decomposition._pca.PCA'
    """
    path = Path(path)
    # Opened first, so that a missing or unreadable file raises the operating system's own error.
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                fields = json.loads(archive.read(_LABEL))
            label = ModelInfo(**{**fields, "saved": datetime.fromisoformat(fields["saved"])})
            _major(label.gramian)
        except _DAMAGE as error:
            raise ModelFileError(f"{path.name} is not a gramian model; pass a file written by gramian.save") from error
    return label


def _write(model: BaseEstimator, path: Path) -> None:
    """Write the archive and its label to ``path``, and check that :func:`load` would take it."""
    from skops.io import dump, get_untrusted_types

    label = {
        "model": _type_name(model),
        "gramian": gramian.__version__,
        "sklearn": sklearn.__version__,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        dump(model, path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(_LABEL, json.dumps(label))
        refused = [name for name in get_untrusted_types(file=path) if not _is_trusted(name)]
    except (AttributeError, RecursionError, TypeError) as error:
        raise TypeError(
            f"cannot save {type(model).__name__}: {error}; it may hold only data, estimators and kernels"
        ) from error
    if refused:
        raise TypeError(f"cannot save {type(model).__name__}: it holds {_complaint(refused[0], path)}")


def _complaint(name: str, path: Path) -> str:
    """Say what is wrong with the type or function ``name`` that the archive at ``path`` mentions."""
    with zipfile.ZipFile(path) as archive:
        nodes = list(_nodes(json.loads(archive.read("schema.json"))))
    code = {_node_name(node) for node in nodes if node["__loader__"] in _CODE_LOADERS}
    if name in code:
        return f"the code of {name}, and a file carries no code; use a kernel object such as RBF() instead"
    return f"an object of type {name}, which could not be loaded; use gramian, scikit-learn or NumPy objects"


def _nodes(state: Any) -> Iterator[dict[str, Any]]:
    """Walk the description of every object in an archive."""
    if isinstance(state, dict):
        if "__loader__" in state:
            yield state
        for child in state.values():
            yield from _nodes(child)
    elif isinstance(state, list):
        for child in state:
            yield from _nodes(child)


def _node_name(node: dict[str, Any]) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def _is_trusted(name: str) -> bool:
    """Apply the rule in this module's opening to a type that skops does not trust by default."""
    return name in _TRUSTED or _is_gramian_class(name)


def _is_gramian_class(name: str) -> bool:
    module_name, _, class_name = name.rpartition(".")
    # A file may make us import a public module of this package, which does nothing but define things.
    if not module_name.startswith("gramian.") or "._" in module_name:
        return False
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "gramian":
            return False
        raise
    candidate = vars(module).get(class_name)
    return isinstance(candidate, type) and candidate.__module__ == module_name


def _type_name(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _major(version: str) -> int:
    return int(version.split(".", 1)[0])
