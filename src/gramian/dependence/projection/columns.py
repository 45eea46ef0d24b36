"""Columns centred and scaled before a projection is sought, and the constant ones left out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.typing import Array

_ROUNDING = 10  # a deviation of so many units in the last place of the largest entry is that of a constant column


class ColumnScaling:
    """What is taken from the columns of X and divided out of them.

    A constant column says nothing, but as a direction of eigenvalue zero it would be preferred to one of negative
    eigenvalue; so the solver does not see it. Nor one that is constant up to rounding, as 0.3 and 0.1 + 0.2 are: scaled
    to unit variance it would be noise.

    Parameters
    ----------
    X : ndarray (n, d)
    standardize : bool
        Divide by the standard deviations; otherwise the columns are only centred.

    Attributes
    ----------
    mean, scale : ndarray (d,), float64
    varying : ndarray (d,) of bool
    """

    def __init__(self, X: Array, *, standardize: bool) -> None:
        # In units of the largest entry, whose square is always in range.
        size = np.abs(X).max(axis=0).astype(np.float64)
        size[size == 0] = 1
        deviation = (X / size).std(axis=0)
        self.varying = deviation > _ROUNDING * np.finfo(X.dtype).eps
        if not self.varying.any():
            raise ValueError("all columns of X are constant, so there is nothing to project; check X")
        self.mean = size * (X / size).mean(axis=0)
        self.scale = np.where(self.varying, size * deviation, 1.0) if standardize else np.ones(X.shape[1])

    def informative(self, X: Array) -> Array:
        """The varying columns of X, scaled, as float64."""
        return np.asarray((X[:, self.varying] - self.mean[self.varying]) / self.scale[self.varying])

    def spread(self, components: Array) -> Array:
        """Components of the varying columns as components of all, zero for the constant ones."""
        out = np.zeros((len(components), len(self.varying)))
        out[:, self.varying] = components
        return out


def check_n_components(n_components: Any, d: int) -> int | None:
    """``n_components`` as an int below the number of columns that vary, or None."""
    whole = isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool)
    if n_components is not None and not (whole and n_components >= 1):
        raise ValueError(f"n_components={n_components!r} must be a whole number >= 1 or None")
    if d == 1:
        raise ValueError("X has n_features=1 that is not constant; a projection needs two or more, so cluster X itself")
    if n_components is not None and n_components >= d:
        raise ValueError(
            f"n_components={n_components} leaves nothing to choose: X has n_features={d} that are not constant; "
            f"pass n_components < {d}"
        )
    return None if n_components is None else int(n_components)
