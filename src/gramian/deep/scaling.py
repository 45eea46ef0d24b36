"""How rows are scaled before a network sees them, and its answers scaled back."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from gramian.typing import Array


@dataclass(frozen=True)
class Scaling:
    """The columns x become (x − center) / scale.

    Attributes
    ----------
    center, scale : ndarray of float64 (d,)
    """

    center: Array
    scale: Array

    def apply(self, X: Array) -> Array:
        """Scaled rows, in double precision."""
        return (np.asarray(X, np.float64) - self.center) / self.scale

    def undo(self, X: Array) -> Array:
        """Rows on their own scale, in double precision."""
        return np.asarray(X, np.float64) * self.scale + self.center

    @property
    def arrays(self) -> dict[str, Array]:
        """Both, for an attribute that is saved: ``Scaling(**arrays)`` is this scaling."""
        return asdict(self)

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return not self.center.any() and bool((self.scale == 1).all())


def no_scaling(n_features: int) -> Scaling:
    """Columns as they are."""
    return Scaling(np.zeros(n_features), np.ones(n_features))


def in_unit_interval(X: Array) -> bool:
    """Whether all values, holes aside, are in [0, 1]."""
    return bool(np.nanmin(X) >= 0 and np.nanmax(X) <= 1)


def unit_scaling(X: Array) -> Scaling:
    """All columns by one rule to [0, 1], for images: nothing changes where they are there already."""
    if in_unit_interval(X):
        return no_scaling(X.shape[1])
    least, most = float(np.nanmin(X)), float(np.nanmax(X))
    if least >= 0 and most > 1:  # pixels from 0 to 255: black stays zero
        least = 0.0
    return Scaling(np.full(X.shape[1], least), np.full(X.shape[1], _width(np.array(most), np.array(least)) or 1.0))


def standard_scaling(X: Array) -> Scaling:
    """Each column to mean 0 and standard deviation 1 over its observed values; a constant column becomes 0.

    A column with no value, or only one, keeps its scale.
    """
    X = np.asarray(X, np.float64)
    observed = ~np.isnan(X)
    largest = np.where(observed, np.abs(X), 0.0).max(axis=0)
    # Relative to the largest magnitude no square overflows or vanishes.
    unit = np.where(largest > 0, largest, 1.0)
    relative = np.where(observed, X, 0.0) / unit
    count = np.maximum(observed.sum(axis=0), 1)
    center = relative.sum(axis=0) / count
    spread = np.sqrt((np.where(observed, relative - center, 0.0) ** 2).sum(axis=0) / count)
    scale = np.where(spread > 1e-12, spread, 1.0) * unit
    return Scaling(center * unit, scale)


def _width(most: Array, least: Array) -> float:
    with np.errstate(over="ignore"):
        width = float(most - least)
    return width if np.isfinite(width) else float(np.finfo(np.float64).max)
