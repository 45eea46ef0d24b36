"""Find every public estimator of the package by walking its modules.

Documentation, persistence and the compliance tests ask here instead of keeping lists of their own, so an
estimator is covered by all of them from the day it is written.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    DensityMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)

__all__ = ["all_estimators", "missing_library", "model_classes", "modules", "needs_optional", "part_classes"]

# What a subpackage needs beyond the core dependencies; it is skipped only when exactly this is missing.
_OPTIONAL = {"gramian.deep": "torch"}
_EXTRAS = {"torch": "gramian[deep]"}

# The layers for people: they work on tables and files, not on arrays, and need the extra "app".
_FOR_PEOPLE = frozenset(
    {"gramian.albums", "gramian.cli", "gramian.communities", "gramian.exploration", "gramian.learning"}
    | {"gramian.outlook", "gramian.report", "gramian.tables", "gramian.web"}
)

# What is saved of the layers for people: named here, because finding it would import them.
_TABLE_MODELS = frozenset(
    {
        "gramian.albums.model.AlbumModel",
        "gramian.communities.model.CommunityModel",
        "gramian.exploration.model.TableModel",
        "gramian.learning.model.TargetModel",
        "gramian.outlook.model.SeriesModel",
        "gramian.tables.prepare.Preparation",
    }
)
_TABLE_MODEL_PARTS = frozenset({"gramian.exploration.oddness.Oddness"})

# Forecasters take a series and a number of steps instead of rows; scikit-learn's checks of rows do not apply to them.
_FORECASTERS = frozenset({"gramian.reservoir.forecasting.forecaster.EchoStateForecaster"})

# Modules that serve the others; nothing of them is part of a fitted model.
_SERVICES = frozenset(
    {
        "gramian",
        "gramian.archive",
        "gramian.checks",
        "gramian.configuration",
        "gramian.discovery",
        "gramian.persistence",
        "gramian.progress",
        "gramian.randomness",
        "gramian.typing",
    }
)

# Methods that Python calls while an object is built from a file, or when it goes; a part of a model has none.
_HOOKS = frozenset({"__new__", "__setstate__", "__del__", "__reduce__", "__reduce_ex__"})

# Exported base classes without an abstract mark: users derive from them, but do not construct them.
_BASES = frozenset({"gramian.kernels.base.Kernel"})

_MIXINS: dict[str, type] = {
    "classifier": ClassifierMixin,
    "cluster": ClusterMixin,
    "density": DensityMixin,
    "outlier": OutlierMixin,
    "regressor": RegressorMixin,
    "transformer": TransformerMixin,
}


def all_estimators(kind: str | None = None) -> list[tuple[str, type[Any]]]:
    """List the public estimators and kernels of gramian.

    An estimator is a concrete subclass of scikit-learn's ``BaseEstimator`` that is defined in gramian and
    exported: its name stands in the ``__all__`` of a public module.

    Parameters
    ----------
    kind : str, default=None
        Only estimators of this kind: ``"kernel"``, ``"cluster"``, ``"transformer"``, ``"classifier"``,
        ``"regressor"``, ``"density"`` or ``"outlier"``. None lists all, also those of no kind.

    Returns
    -------
    estimators : list of (name, class)
        Sorted by name.

    Examples
    --------
    >>> from gramian.discovery import all_estimators
    >>> kernels = dict(all_estimators("kernel"))
    >>> set(kernels) <= {name for name, _ in all_estimators()}
    True

    An unknown kind is refused:

    >>> all_estimators("kernels")
    Traceback (most recent call last):
    ...
    ValueError: kind='kernels' is unknown; pass None or one of 'classifier', ...
    """
    base = None if kind is None else _base_class(kind)
    found = {cls for cls in _exported(modules()) if base is None or issubclass(cls, base)}
    return sorted(((cls.__name__, cls) for cls in found), key=lambda pair: (pair[0], pair[1].__module__))


@cache
def modules(optional: bool = True) -> tuple[ModuleType, ...]:
    """Import and return every public module of the library, without the applications (``explore``, …).

    Modules of an optional subpackage are left out when the library it needs is not installed; any other import error
    is raised.

    Parameters
    ----------
    optional : bool
        Whether to import the optional subpackages too; torch alone takes seconds.

    Returns
    -------
    modules : tuple of modules
        The package itself first, then its modules in alphabetical order, depth first.

    Examples
    --------
    >>> from gramian.discovery import modules
    >>> modules()[0].__name__
    'gramian'
    """
    package = import_module("gramian")
    return (package, *_walk(package, optional))


@cache
def model_classes(optional: bool = True) -> frozenset[str]:
    """Names of the classes that a model file may hold as its model: public estimators, kernels, and what explore saves.

    Parameters
    ----------
    optional : bool
        Whether to list those of the optional subpackages too, which imports them.

    Returns
    -------
    names : frozenset of str
        Such as ``"gramian.embedding.kernel_pca.KernelPCA"``.

    Examples
    --------
    >>> from gramian.discovery import model_classes
    >>> "gramian.embedding.kernel_pca.KernelPCA" in model_classes()
    True
    >>> "gramian.configuration.config" in model_classes()
    False
    """
    return frozenset(_full_name(cls) for cls in _exported(modules(optional))) | _TABLE_MODELS | _FORECASTERS


@cache
def part_classes(optional: bool = True) -> frozenset[str]:
    """Names of the classes whose objects may be parts of a model in a file.

    These are the classes of the tasks, kernels and Grams without a method that Python calls while an object is built.

    Parameters
    ----------
    optional : bool
        Whether to list those of the optional subpackages too, which imports them.

    Returns
    -------
    names : frozenset of str
    """
    found = (cls for module in modules(optional) if module.__name__ not in _SERVICES for cls in vars(module).values())
    return frozenset(_full_name(cls) for cls in found if _is_part(cls)) | _TABLE_MODEL_PARTS


def needs_optional(name: str) -> bool:
    """Whether the class ``name`` is one of an optional subpackage."""
    return any(name.startswith(package + ".") for package in _OPTIONAL)


def missing_library(name: str) -> tuple[str, str] | None:
    """The optional library that the class ``name`` needs and what pip installs it with, if it is not installed."""
    for package, library in _OPTIONAL.items():
        if name.startswith(package + ".") and find_spec(library) is None:
            return library, _EXTRAS.get(library, library)
    return None


def _is_part(candidate: object) -> bool:
    if not isinstance(candidate, type) or not candidate.__module__.startswith("gramian."):
        return False
    if candidate.__module__ in _SERVICES:  # a task may import one
        return False
    own = [base for base in candidate.__mro__ if base.__module__.startswith("gramian.")]
    return not issubclass(candidate, BaseException) and not any(_HOOKS & set(vars(base)) for base in own)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _exported(found: tuple[ModuleType, ...]) -> Iterator[type[Any]]:
    """The estimators that modules list in their ``__all__``."""
    for module in found:
        for name in getattr(module, "__all__", ()):
            if _is_estimator(cls := getattr(module, name)):
                yield cls


def _walk(package: ModuleType, optional: bool) -> Iterator[ModuleType]:
    for entry in sorted(pkgutil.iter_modules(package.__path__), key=lambda entry: entry.name):
        if entry.name.startswith("_"):
            continue
        name = f"{package.__name__}.{entry.name}"
        if name in _FOR_PEOPLE or (name in _OPTIONAL and not optional):
            continue
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if not _is_excused(name, error.name):
                raise
            continue
        yield module
        if entry.ispkg:
            yield from _walk(module, optional)


def _is_excused(module: str, missing: str | None) -> bool:
    """Tell whether ``module`` belongs to an optional subpackage that may lack the library ``missing``."""
    return any(
        (module == package or module.startswith(package + ".")) and missing == library
        for package, library in _OPTIONAL.items()
    )


def _is_estimator(candidate: object) -> bool:
    return (
        isinstance(candidate, type)
        and issubclass(candidate, BaseEstimator)
        and candidate.__module__.startswith("gramian.")
        and f"{candidate.__module__}.{candidate.__name__}" not in _BASES | _FORECASTERS
        and not _is_abstract(candidate)
    )


def _is_abstract(cls: type) -> bool:
    # inspect.isabstract sees only classes made by ABCMeta; a base class may mark its methods without it.
    members = (inspect.getattr_static(cls, name) for name in dir(cls))
    return any(getattr(member, "__isabstractmethod__", False) for member in members)


def _base_class(kind: str) -> type:
    if kind == "kernel":
        # Imported here: the kernels are of no use to a caller that asks for another kind.
        from gramian.kernels.base import Kernel

        return Kernel
    if kind not in _MIXINS:
        known = ", ".join(repr(name) for name in sorted([*_MIXINS, "kernel"]))
        raise ValueError(f"kind={kind!r} is unknown; pass None or one of {known}")
    return _MIXINS[kind]
