"""Names of a package that are imported when they are first asked for, so that a program pays for what it uses.

The package itself and the subpackages with many estimators list their names so; type checkers read their imports under
``TYPE_CHECKING``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def deferred(
    package: str, homes: Mapping[str, Iterable[str]], modules: Iterable[str] = (), optional: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : dict of str to names
        The modules that names come from, with a leading dot where they are of the package.
    modules : names
        Submodules that are offered too.
    optional : names
        Submodules that need a library which may be missing: offered, but not listed by ``dir``, so that tools which
        look at all names do not fail.

    Examples
    --------
    >>> from gramian.deferred import deferred
    >>> get, names = deferred("gramian", {".metrics": ["nrmse"]})
    >>> get("nrmse").__name__
    'nrmse'
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    listed = frozenset(modules)
    offered = listed.union(optional)

    def get(name: str) -> Any:
        if name in offered:
            return import_module(f".{name}", package)
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(home_of[name], package), name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of, *listed})

    return get, names
