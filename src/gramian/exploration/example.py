"""The table that is explored when none is named."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

ANSWER = "label"
"""The column that says what became of the horse: groups are to be found without it."""


def example_path() -> Path:
    """Horses with colic, 368 × 23, a quarter of the cells missing (UCI; M. McLeish, M. Cecile; CC BY 4.0)."""
    return Path(str(files("gramian.datasets") / "data" / "horse_colic.csv.gz"))
