"""Names that come when they are asked for are those that are promised."""

import importlib
import sys
from types import ModuleType

import pytest

from gramian.deferred import deferred

PACKAGES = ["gramian", "gramian.clustering", "gramian.clustering.automatic", "gramian.embedding", "gramian.datasets"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_promised_name_comes_and_is_listed(name):
    package = importlib.import_module(name)
    for promised in package.__all__:
        assert getattr(package, promised) is not None
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_other_name_comes(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        _ = importlib.import_module(name).nonsense


def test_a_name_is_looked_up_once(monkeypatch):
    package = ModuleType("a_package")
    monkeypatch.setitem(sys.modules, "a_package", package)
    get, names = deferred("a_package", {"gramian.metrics": ["nrmse"]})
    found = get("nrmse")
    assert package.nrmse is found is importlib.import_module("gramian.metrics").nrmse
    assert "nrmse" in names()
