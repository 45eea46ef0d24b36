"""The registry finds every public estimator, and hides no broken import."""

import importlib
import sys
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

import gramian
from gramian import EchoStateForecaster, discovery
from gramian.discovery import all_estimators, modules


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An extra subpackage ``gramian.extra`` whose files a test writes itself."""
    monkeypatch.setattr(gramian, "__path__", [*gramian.__path__, str(tmp_path)])
    folder = tmp_path / "extra"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    modules.cache_clear()
    yield folder
    for name in [name for name in sys.modules if name.startswith("gramian.extra")]:
        del sys.modules[name]
    vars(gramian).pop("extra", None)
    modules.cache_clear()


def test_every_listed_class_is_a_public_concrete_estimator():
    """Each entry is a concrete estimator of gramian, named as listed, in alphabetical order."""
    entries = all_estimators()
    assert [name for name, _ in entries] == sorted(name for name, _ in entries)
    for name, cls in entries:
        assert issubclass(cls, BaseEstimator)
        assert cls.__name__ == name
        assert not name.startswith("_")
        assert cls.__module__.startswith("gramian.")


def test_kinds_are_subsets_of_everything():
    """Asking for a kind only narrows the list."""
    everything = set(all_estimators())
    for kind in ("classifier", "cluster", "density", "outlier", "regressor", "transformer"):
        assert set(all_estimators(kind)) <= everything


def test_a_new_estimator_is_found_by_itself(package):
    """An exported class is listed wherever it is written; abstract, foreign and unexported ones are not."""
    (package / "models.py").write_text(
        "from abc import abstractmethod\n"
        "from sklearn.base import BaseEstimator, TransformerMixin\n"
        "from sklearn.cluster import KMeans\n"
        "class Found(TransformerMixin, BaseEstimator): pass\n"
        "class Abstract(BaseEstimator):\n"
        "    @abstractmethod\n"
        "    def fit(self, X): ...\n"
        "class NotExported(BaseEstimator): pass\n"
        "__all__ = ['Abstract', 'Found', 'KMeans']\n"
    )
    names = {name for name, cls in all_estimators() if cls.__module__.startswith("gramian.extra")}
    assert names == {"Found"}
    assert "Found" in dict(all_estimators("transformer"))
    assert "Found" not in dict(all_estimators("cluster"))


def test_no_estimator_is_forgotten():
    """A class of the package is exported, private, the base of others or a forecaster; none escapes unseen."""
    listed = {cls for _, cls in all_estimators()} | {EchoStateForecaster}  # takes a series, not rows
    for module in modules():
        for name, cls in vars(module).items():
            own = isinstance(cls, type) and issubclass(cls, BaseEstimator) and cls.__module__ == module.__name__
            if own and not name.startswith("_"):
                assert cls in listed or cls.__subclasses__(), f"export {name} in the __all__ of its subpackage"


def test_private_modules_are_not_imported(package):
    """A module whose name starts with an underscore may do anything at import; it is not touched."""
    (package / "_script.py").write_text("raise SystemExit")
    assert "gramian.extra._script" not in {module.__name__ for module in modules()}


def test_a_broken_import_is_not_hidden(package):
    """An import error in the package is the developer's to see."""
    (package / "broken.py").write_text("import a_library_nobody_has\n")
    with pytest.raises(ModuleNotFoundError, match="a_library_nobody_has"):
        all_estimators()


def test_an_optional_subpackage_is_skipped_when_its_library_is_missing(package, monkeypatch):
    """Only the absence of the library a subpackage is known to need excuses it."""
    (package / "network.py").write_text("import torch_for_this_test\nclass Net: pass\n")
    monkeypatch.setitem(discovery._OPTIONAL, "gramian.extra", "torch_for_this_test")
    assert "gramian.extra.network" not in {module.__name__ for module in modules()}

    modules.cache_clear()
    monkeypatch.setitem(sys.modules, "torch_for_this_test", ModuleType("torch_for_this_test"))
    assert "gramian.extra.network" in {module.__name__ for module in modules()}


def test_an_optional_subpackage_with_another_missing_library_raises(package, monkeypatch):
    """A subpackage that may lack torch may still not lack anything else."""
    (package / "network.py").write_text("import a_library_nobody_has\n")
    monkeypatch.setitem(discovery._OPTIONAL, "gramian.extra", "torch_for_this_test")
    with pytest.raises(ModuleNotFoundError, match="a_library_nobody_has"):
        modules()


def test_unknown_kind_names_the_known_ones():
    """The message for a misspelt kind lists what may be asked for."""
    with pytest.raises(ValueError, match=r"kind='clusterer' is unknown; pass None or one of .*'cluster'"):
        all_estimators("clusterer")


def test_modules_are_importable_by_their_names():
    """Every module of the walk is the module its name imports."""
    assert all(importlib.import_module(module.__name__) is module for module in modules())
