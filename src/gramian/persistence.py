"""Save fitted models to a file and load them again, without pickle.

A model file is a skops archive (arrays in NumPy's own format, everything else as JSON) with one more member,
``gramian.json``, that says what is inside. Loading builds only objects of types that :mod:`gramian.archive` trusts:
estimators, kernels and their parts, what skops trusts by default (scikit-learn's estimators, NumPy arrays, containers)
and a few sparse matrices. A file that names anything else is refused before any of it is built or imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import sklearn
from sklearn.base import BaseEstimator

import gramian
from gramian.partitions import is_distributed

__all__ = ["ModelFileError", "ModelInfo", "info", "load", "load_whole", "save"]

_LABEL = "gramian.json"


class _Whole(Protocol):
    def check(self) -> None: ...


Checked = TypeVar("Checked", bound=_Whole)


class ModelFileError(ValueError):
    """The file is not a model file of gramian, is damaged, too new, or holds a type that is not trusted."""


@dataclass(frozen=True)
class ModelInfo:
    """What a model file holds: the class of the model, and by which versions and when it was written.

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
    content = model_bytes(model)
    # A link keeps pointing at the file it names.
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        draft.write_bytes(content)
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
    from gramian import archive

    skops = _skops()

    path = Path(path)
    # Opened once, so that a missing or unreadable file raises the operating system's own error, and so that what is
    # built is what was checked.
    with path.open("rb") as file:
        label, schema = _described(file, path.name)
        installed = gramian.__version__
        if _major(label.gramian) > _major(installed):
            raise ModelFileError(
                f"{path.name} was saved by gramian {label.gramian}, newer than the installed {installed}; "
                "run pip install --upgrade gramian"
            )
        with _errors_of(path.name, "is damaged or was not written by gramian.save ({why})", "save the model again"):
            archive.check_libraries(schema)
            with zipfile.ZipFile(file) as parts:
                archive.check_memory(parts, schema)
            doubtful = skops.get_untrusted_types(file=file)
            archive.check_types(doubtful, schema)
            model = skops.load(file, trusted=doubtful)
            if not isinstance(model, BaseEstimator):
                raise archive.Refused(
                    f"holds {_type_name(model)}, not an estimator or kernel; save one with gramian.save"
                )
            model.get_params(deep=True)  # a model that lacks a parameter is noticed here
            return model


def load_whole(path: str | os.PathLike[str], kind: type[Checked], *, writer: str, again: str) -> Checked:
    """Read a model of one class, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
    kind : type
        A class with a method ``check``, which raises an error if a part is missing or does not fit the others.
    writer : str
        The command that writes such models, for messages.
    again : str
        What to do with a model that is not whole, for messages.

    Returns
    -------
    model : object of class ``kind``

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    name, model = Path(path).name, load(path)
    if not isinstance(model, kind):
        held = type(model).__name__
        if held == "TargetModel":
            raise ModelFileError(f"{name} predicts the column {getattr(model, 'target', '')!r}; use gramian predict")
        assigning = dict.fromkeys(("AlbumModel", "CommunityModel", "TableModel"), "assign")
        uses = assigning | {"SeriesModel": "forecast"}
        mend = f"use gramian {uses[held]}" if held in uses else "load it with gramian.load"
        raise ModelFileError(f"{name} holds a {held}, not what {writer} writes; {mend}")
    try:
        model.check()
    except Exception as error:  # whatever is missing shows in its own way
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(f"{name} lacks what this version of gramian keeps ({why}); {again}") from error
    return model


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
    with path.open("rb") as file:
        return _described(file, path.name)[0]


@contextmanager
def _errors_of(name: str, what: str, remedy: str) -> Iterator[None]:
    """Whatever goes wrong while the file ``name`` is read, as one line: what it is, and the remedy."""
    from gramian.archive import Refused

    try:
        yield
    except Refused as error:
        raise ModelFileError(f"{name} {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{name} needs more memory than there is; {remedy}") from error
    except Exception as error:
        # Any byte may be wrong, and zipfile, json, NumPy, SciPy and skops raise errors of many kinds then.
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(f"{name} {what.format(why=why)}; {remedy}") from error


def _described(file: IO[bytes], name: str) -> tuple[ModelInfo, dict[str, Any]]:
    """The label of an open model file, compared with its content, and the description of the content."""
    from gramian import archive

    with _errors_of(name, "is not a gramian model", "pass a file written by gramian.save"):
        with zipfile.ZipFile(file) as parts:
            archive.check_parts(parts)
            fields = json.loads(parts.read(_LABEL))
            described = parts.read(archive.SCHEMA)
        seal = fields.pop("seal")
        label = ModelInfo(**{**fields, "saved": datetime.fromisoformat(fields["saved"])})
        _major(label.gramian)
        schema = json.loads(described)
        inside = archive.name_of(schema)
        versions = archive.sklearn_versions(schema)
        if label.model != inside or versions - {label.sklearn} or seal != _seal(fields, described):
            raise archive.Refused(
                f"has the label of a {label.model[:100]} of gramian {label.gramian[:40]} and scikit-learn "
                f"{label.sklearn[:40]}, but another content ({inside[:100]}); save the model again"
            )
    return label, schema


def _seal(fields: dict[str, Any], described: bytes) -> str:
    """A digest that ties a label to the content it was written for; it does not say who wrote the file."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode() + b"\n" + described).hexdigest()


def _skops() -> Any:
    """The module ``skops.io``, imported without torch, which it would take in by way of scikit-learn.

    To list scikit-learn's estimators skops imports all of its packages, among them one that adapts torch; that takes
    seconds where torch is installed, and is passed over where it is not.
    """
    unwanted = _Absent("torch")
    sys.meta_path.insert(0, unwanted)
    try:
        return import_module("skops.io")
    finally:
        sys.meta_path.remove(unwanted)


class _Absent:
    """A finder that lets one library seem absent to imports of the thread that made it."""

    def __init__(self, library: str) -> None:
        self.library, self.thread = library, threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self.library and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def prepare_saving() -> None:
    """Load what writes model files, and list what these may hold."""
    from gramian.discovery import model_classes, part_classes

    _skops()
    model_classes(optional=False)
    part_classes(optional=False)


def model_bytes(model: Any) -> bytes:
    """What :func:`save` writes: the archive and its label, which :func:`load` would take."""
    from gramian import archive

    skops = _skops()
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be an estimator or a kernel, got {_type_name(model)}; save its parts one by one")
    _refuse_foreign(model)
    label = {
        "model": _type_name(model),
        "gramian": gramian.__version__,
        "sklearn": sklearn.__version__,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        content = BytesIO(skops.dumps(model))
        with zipfile.ZipFile(content, "a") as parts:
            described = parts.read(archive.SCHEMA)
            parts.writestr(_LABEL, json.dumps(label | {"seal": _seal(label, described)}))
        schema = json.loads(described)
        doubtful = skops.get_untrusted_types(data=content.getvalue())
        refused = archive.refused_types(doubtful, schema)
    except (AttributeError, RecursionError, TypeError) as error:
        raise TypeError(
            f"cannot save {type(model).__name__}: {error}; it may hold only data, estimators and kernels"
        ) from error
    if refused:
        raise TypeError(f"cannot save {type(model).__name__}: it holds {_complaint(refused[0], schema)}")
    try:
        archive.check_types(doubtful, schema)
    except archive.Refused as error:
        raise TypeError(f"cannot save {type(model).__name__}: it is not a public estimator or kernel") from error
    return content.getvalue()


def _refuse_foreign(model: BaseEstimator) -> None:
    """Refuse objects of torch and Dask in a model: skops fails on them without saying what they are."""
    waiting: list[tuple[str, Any]] = list(vars(model).items())
    seen: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if _is_of_torch(value):
            raise TypeError(
                f"cannot save {type(model).__name__}: its {name} is a torch {type(value).__name__}, and a model file "
                "carries no torch objects; describe the network by sizes, keep tensors as NumPy arrays, or save a "
                "module's state_dict() with torch.save"
            )
        if is_distributed(value):
            raise TypeError(
                f"cannot save {type(model).__name__}: its {name} is a Dask array of rows on workers; bring it here "
                f"with model.{name} = model.{name}.compute(), or leave it out of the file with del model.{name}"
            )
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, BaseEstimator):
            waiting += [(f"{name}.{inner}", part) for inner, part in vars(value).items()]
        elif isinstance(value, dict):
            waiting += [(name, part) for part in value.values()]
        elif isinstance(value, list | tuple | set):
            waiting += [(name, part) for part in value]


def _is_of_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(
        value, torch.nn.Module | torch.Tensor | torch.Generator | torch.device | torch.dtype
    )


def _complaint(name: str, schema: dict[str, Any]) -> str:
    """Say what is wrong with the type or function ``name`` in a model."""
    from gramian.archive import holds_code

    if holds_code(schema, name):
        return f"the code of {name}, and a file carries no code; use a kernel object such as RBF() instead"
    return f"an object of type {name}, which could not be loaded; use gramian, scikit-learn or NumPy objects"


def _type_name(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _major(version: str) -> int:
    return int(version.split(".", 1)[0])
