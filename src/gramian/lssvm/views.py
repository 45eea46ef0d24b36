"""Column groups and couplings of several views of one table, checked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.checks import reals
from gramian.grams import DenseGram
from gramian.typing import Array

_RANK = 1e-10  # of the largest eigenvalue of a coupling: below, a direction counts nothing


def view_columns(views: Sequence[Any] | None, d: int, names: Any) -> list[Array]:
    """The column numbers of every view.

    Parameters
    ----------
    views : list of column groups, or None for one view of all columns
    d : int
        Number of columns.
    names : sequence of str or None
        Those of the data frame.
    """
    if views is None:
        return [np.arange(d)]
    if not isinstance(views, (list, tuple)) or not len(views):
        raise ValueError(f"views={views!r} must be a list of column groups, such as [[0, 1], [2, 3]]")
    columns = [_numbers(view, d, names) for view in views]
    left_out = sorted(set(range(d)) - set(np.concatenate(columns).tolist()))
    if left_out:
        told = ", ".join(str(names[c] if names is not None else c) for c in left_out[:5])
        more = " and others" if len(left_out) > 5 else ""
        warnings.warn(f"views leaves out {told}{more}; add them to a view if they should count", stacklevel=3)
    return columns


def _numbers(view: Any, d: int, names: Any) -> Array:
    """The column numbers of one group."""
    if isinstance(view, slice):
        found = np.arange(d)[view]
    else:
        given = np.atleast_1d(np.asarray(view))
        if given.dtype.kind in "OU":
            if names is None:
                raise ValueError(f"views has the names {view!r} but X has none; pass column numbers or a data frame")
            places = {name: place for place, name in enumerate(names)}
            unknown = [name for name in given if name not in places]
            if unknown:
                raise ValueError(f"views names the column {str(unknown[0])!r}, which X does not have")
            given = np.array([places[name] for name in given])
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(f"views has the group {view!r}; pass a list of column numbers or names, or a slice")
        outside = given[(given < -d) | (given >= d)]
        if len(outside):
            raise ValueError(f"views asks for column {outside[0]} but X has {d}; pass numbers below {d}")
        found = given.astype(np.intp) % d
    if not len(found):
        raise ValueError(f"views has the group {view!r}, which chooses no column; pass at least one")
    if len(np.unique(found)) < len(found):
        raise ValueError(f"views has the group {view!r}, which names a column twice")
    return found


def check_coupling(regularization: Any, coupling: Any, n_views: int) -> Array:
    """G (V, V): the regularization of every view on the diagonal and the coupling beside it, never indefinite."""
    gamma = reals(regularization, "regularization", (n_views,), above=0)
    rho = reals(coupling, "coupling", (n_views, n_views))
    if rho.ndim and not np.allclose(rho, rho.T):
        raise ValueError("coupling must be symmetric: the pair (v, u) counts once; pass (coupling + coupling.T) / 2")
    G = np.broadcast_to(rho, (n_views, n_views)).copy()
    np.fill_diagonal(G, gamma)
    least = float(_eigen(G)[0].min())
    if least < -1e-12 * float(gamma.max()):
        raise ValueError(
            f"coupling with regularization on its diagonal has the eigenvalue {least:.3g}, so the errors of the views "
            "could grow without end; lower the coupling until no eigenvalue is negative (one number: at most the "
            "smallest regularization)"
        )
    return G


def rooted(G: Array) -> Array:
    """R (V, r) with R Rᵀ = G and r its rank."""
    values, vectors = _eigen(G)
    kept = values > _RANK * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def _eigen(G: Array) -> tuple[Array, Array]:
    return DenseGram(G).eigenpairs(len(G))
