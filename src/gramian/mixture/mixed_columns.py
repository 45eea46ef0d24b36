"""Which columns of a table are categorical, and their entries as numbers of levels.

Tables are NumPy arrays, pandas or polars data frames; frames are asked by what their columns can do, so that neither
library is needed. Used by :class:`gramian.mixture.IncompleteMixture` and the cluster kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_array

from gramian.typing import Array, Matrix

_NUMBERS = "iuf"


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: a table whose columns have names and types of their own."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape")


def categorical_columns(X: Matrix, categorical_features: Any) -> Array:
    """Mask of the categorical columns of a table.

    Parameters
    ----------
    X : ndarray or data frame (n, d)
    categorical_features : None, "from_dtype", or array-like
        None: no column. "from_dtype": in a data frame, columns of categories, text, booleans or objects; in an array,
        none. Otherwise indices, a mask, or names of columns.

    Returns
    -------
    mask : ndarray (d,) of bool

    Examples
    --------
    >>> import numpy as np
    >>> categorical_columns(np.zeros((2, 3)), [0, -1])
    array([ True, False,  True])
    """
    d = X.shape[1]
    if categorical_features is None:
        return np.zeros(d, bool)
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"categorical_features={categorical_features!r} is not known; pass None, 'from_dtype', or a list of "
                "indices, names or booleans"
            )
        return np.array([not _is_number(dtype) for dtype in X.dtypes], bool) if is_frame(X) else np.zeros(d, bool)
    given = np.asarray(categorical_features)
    if given.ndim != 1:
        raise ValueError(f"categorical_features={categorical_features!r} has {given.ndim} dimensions; pass a flat list")
    if given.dtype.kind == "b":
        if len(given) != d:
            raise ValueError(f"categorical_features is a mask of {len(given)} columns but X has {d}; pass {d} booleans")
        return given.copy()
    mask = np.zeros(d, bool)
    if given.dtype.kind in "OUS":
        names = list(X.columns) if is_frame(X) else []
        unknown = [name for name in given.tolist() if name not in names]
        if unknown:
            raise ValueError(
                f"categorical_features names {unknown[0]!r}, which is not a column of X; pass names of columns of a "
                "data frame, or indices"
            )
        mask[[names.index(name) for name in given.tolist()]] = True
        return mask
    if given.size and (given.dtype.kind not in "iu" or given.min() < -d or given.max() >= d):
        raise ValueError(
            f"categorical_features={categorical_features!r} must be indices from 0 to {d - 1} of the {d} columns of X"
        )
    mask[given.astype(np.intp)] = True
    return mask


def numbers_of(X: Matrix, columns: Array, owner: Any) -> Array:
    """The columns of numbers as floats, NaN where missing, (n, number of them)."""
    part = X if columns.all() else _safe_indexing(X, np.flatnonzero(columns), axis=1)
    if not columns.any():
        return np.empty((X.shape[0], 0))
    return check_array(
        part, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X", estimator=owner
    )


def learn_levels(X: Matrix, columns: Array) -> list[Array]:
    """The different observed values of each categorical column, sorted."""
    found = []
    for j in np.flatnonzero(columns):
        values, observed = _entries(X, int(j))
        found.append(_distinct(values[observed], int(j)))
    return found


def codes_of(X: Matrix, columns: Array, levels: list[Array]) -> Array:
    """Entries of the categorical columns as numbers of their levels, (n, c); −1 if missing or not among them."""
    codes = np.full((X.shape[0], len(levels)), -1, np.intp)
    for i, (j, known) in enumerate(zip(np.flatnonzero(columns), levels, strict=True)):
        values, observed = _entries(X, int(j))
        if not len(known) or not observed.any():
            continue
        distinct, places = _unique(values[observed], int(j))
        if (distinct.dtype.kind == "U") != (known.dtype.kind == "U"):
            continue  # text where there were numbers has no level, nor the other way round
        near = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
        codes[observed, i] = np.where(known[near] == distinct, near, -1)[places]
    return codes


def written(X: Matrix, columns: Array, numbers: Array, levels: list[Array], codes: Array) -> Array:
    """A table with numbers in its columns of numbers, and in the others levels where X has nothing.

    Parameters
    ----------
    X : ndarray or data frame (n, d), or None
        Entries of its categorical columns are kept where there are any. None: all are levels.
    columns : ndarray (d,) of bool
        The categorical columns.
    numbers : ndarray (n, number of other columns)
    levels : list of ndarray
    codes : ndarray (n, c) of int
        Which level to write; −1 leaves the entry missing.

    Returns
    -------
    table : ndarray (n, d)
        Of numbers if all levels are numbers, otherwise of objects, with None where an entry stays missing.
    """
    plain = all(known.dtype.kind in _NUMBERS for known in levels)
    table = np.full((len(numbers), len(columns)), np.nan if plain else None, numbers.dtype if plain else object)
    table[:, ~columns] = numbers
    for i, (j, known) in enumerate(zip(np.flatnonzero(columns), levels, strict=True)):
        here = codes[:, i] >= 0
        table[here, j] = known[codes[here, i]]
        if X is not None:
            values, observed = _entries(X, int(j))
            table[observed, j] = values[observed]
    return table


def _is_number(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    return getattr(dtype, "kind", "O") in _NUMBERS


def _entries(X: Matrix, j: int) -> tuple[Array, Array]:
    """The entries of a column, and which are observed."""
    if not is_frame(X):
        values = X[:, j]
    else:
        column = _safe_indexing(X, j, axis=1)
        missing = column.is_null() if hasattr(column, "is_null") else column.isna()
        missing = np.asarray(missing, bool)
        dtype = getattr(column.dtype, "kind", "O")
        values = np.asarray(column) if dtype in _NUMBERS + "b" else np.asarray(column, dtype=object)
        if values.dtype.kind != "O":
            return values, ~missing & (values == values)
        known = np.empty(len(values), object)
        known[~missing] = values[~missing]  # missing ones become None, of whatever kind they are
        values = known
    if values.dtype.kind == "O":
        return values, np.asarray((values != np.array(None)) & (values == values), bool)
    return values, values == values


def _distinct(values: Array, j: int) -> Array:
    return _unique(values, j)[0]


def _unique(values: Array, j: int) -> tuple[Array, Array]:
    """Sorted different values, with a type of their own where they are alike, and the place of each value."""
    try:
        distinct, places = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            f"column {j} of X mixes values of different types, which have no order; convert it to text"
        ) from error
    if distinct.dtype.kind == "O" and len(distinct):
        if all(isinstance(value, str) for value in distinct):
            distinct = distinct.astype(str)
        elif all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in distinct):
            distinct = distinct.astype(np.float64)
        else:
            raise TypeError(
                f"column {j} of X has values such as {distinct[0]!r}, which are neither text nor numbers; convert it "
                "to text"
            )
    return distinct, places.ravel()
