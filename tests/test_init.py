"""The public names of the package, which are imported when they are first asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import gramian


def test_every_public_name_is_found_where_it_lives() -> None:
    """What the package offers is the object of the subpackage that defines it, and dir() shows it."""
    home_of = {name: home for home, names in gramian._HOMES.items() for name in names}
    for name in gramian.__all__:
        found, home = getattr(gramian, name), home_of.get(name)
        assert found is (
            import_module(f"gramian.{name}") if home is None else getattr(import_module(home, "gramian"), name)
        )
        assert name in dir(gramian)
    # The applications need the extra "app", so that a star does not ask for them.
    assert set(home_of) - set(gramian.__all__) <= {"cluster_images", "explore", "forecast", "learn", "network"}


def test_unknown_names_are_refused() -> None:
    """A name that does not exist raises what Python raises for any module."""
    with pytest.raises(AttributeError, match="module 'gramian' has no attribute 'KernelPCB'"):
        _ = gramian.KernelPCB


@pytest.mark.parametrize("first", ["AutoClustering", "hsic", "KernelPCA", "LSSVMRegressor", "KernelPageRank", "save"])
def test_any_name_can_be_the_first(first: str) -> None:
    """No subpackage relies on another having been imported before, and none is imported with the package alone."""
    code = (
        "import sys, gramian; assert 'sklearn' not in sys.modules; "
        f"from gramian import {first}; assert gramian.kernels.RBF and gramian.clustering.KPOD"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_deep_is_found_with_the_package_alone_but_not_listed() -> None:
    """It needs torch: tools that look at all listed names must not fail without it, and its error names the extra."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import gramian\n"
        "assert 'deep' not in dir(gramian)\n"
        "try: gramian.deep\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "gramian[deep]" in printed
