"""Tests stand where their modules stand, so that whoever edits a file finds its tests by name."""

from pathlib import Path

import pytest

import gramian

SOURCE = Path(gramian.__file__).parent
TESTS = Path(__file__).parent.parent

# Lists of names and types: nothing in them can be wrong by itself.
WITHOUT_TESTS = {"typing.py"}


def modules():
    """Every module of the package but the lists of names in ``__init__`` and the doors ``__main__``."""
    paths = (
        path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")
    )
    return sorted(str(path) for path in paths if str(path) not in WITHOUT_TESTS)


def place_of_tests(module: str) -> Path:
    path = Path(module)
    return TESTS / path.parent / f"test_{path.name.removeprefix('_')}"


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_tests_at_the_same_place(module):
    assert place_of_tests(module).exists(), (
        f"src/gramian/{module} has no {place_of_tests(module).relative_to(TESTS.parent)}"
    )
