"""Simulators of missing values, to test methods that must live with holes.

Each mechanism is a pure function from a table to ``(X_missing, mask)``; :func:`ampute` is the one door over them.
The input is never changed, holes that were there stay and count towards the rate, and no row or column that
held a value is left without one unless ``allow_empty=True``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit

from gramian.datasets.cell_draws import draw_count, draw_independently, newly_empty
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["ampute", "block", "mar_columns", "mar_logistic", "mcar", "nmar_saturation", "quadrant"]

Mechanism = Literal["mcar", "mar", "mar_logistic", "nmar", "quadrant", "block"]


def ampute(
    X: ArrayLike,
    mechanism: Mechanism = "mcar",
    rate: float = 0.1,
    *,
    columns: Sequence[int] | None = None,
    driver: int | None = None,
    slope: float | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    shape: tuple[int, int] | None = None,
    exact: bool | None = None,
    allow_empty: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Make values of a table go missing by a named mechanism.

    ============== ========================== =====================================================
    mechanism      function                   options beside ``allow_empty``
    ============== ========================== =====================================================
    mcar           :func:`mcar`               ``exact``, ``random_state``
    mar            :func:`mar_columns`        ``columns`` (default 0, 3, 6), ``random_state``
    mar_logistic   :func:`mar_logistic`       ``driver``, ``slope``, ``columns``, ``random_state``
    nmar           :func:`nmar_saturation`    none
    quadrant       :func:`quadrant`           ``shape``, ``random_state``
    block          :func:`block`              ``groups``, ``exact``, ``random_state``
    ============== ========================== =====================================================

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, h, w) for "quadrant"
        Numbers; NaN is a hole that is already there.
    mechanism : str, default "mcar"
    rate : float, default 0.1
        Share of missing values of the result; what exactly is counted stands with each function.
    columns, driver, slope, groups, shape, exact
        Options of the mechanism; one that it does not take is an error.
    allow_empty : bool, default False
        Whether rows and columns may lose their last value.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X_missing : array of the shape of X
        A copy with NaN in the holes; float32 and float64 are kept, other numbers become float64.
    mask : bool array of the shape of X
        True where a value is missing, old holes included.

    References
    ----------
    D. B. Rubin, "Inference and missing data", Biometrika 63 (1976). The settings of the mechanisms follow the
    experiments of the probabilistic cluster kernel for incomplete data (PCKID).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import ampute
    >>> X, mask = ampute(np.arange(20.0).reshape(5, 4), rate=0.25, random_state=0)
    >>> int(mask.sum()), bool(np.isnan(X[mask]).all())
    (5, True)
    """
    if mechanism not in _MECHANISMS:
        raise ValueError(f"mechanism={mechanism!r} is not known; pass one of {', '.join(_MECHANISMS)}")
    simulate, taken = _MECHANISMS[mechanism]
    given = {"columns": columns, "driver": driver, "slope": slope, "groups": groups, "shape": shape, "exact": exact}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in taken:
            raise ValueError(f"{name} is not an option of mechanism={mechanism!r}; leave it out")
    if "random_state" in taken:
        options["random_state"] = random_state
    return simulate(X, rate, allow_empty=allow_empty, **options)


def mcar(
    X: ArrayLike, rate: float, *, exact: bool = True, allow_empty: bool = False, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Missing completely at random: ``round(rate n d)`` cells of the result are holes, drawn uniformly.

    With ``exact=False`` each cell goes missing independently, with ``rate`` as the expected share.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import mcar
    >>> int(mcar(np.ones((10, 5)), 0.3, random_state=0)[1].sum())
    15
    """
    table = _table(X)
    _check_rate(rate)
    observed = ~np.isnan(table)
    rng = generator(random_state)
    if exact:
        wanted = _still_to_remove(observed, round(rate * table.size), rate)
        removed = draw_count(observed, observed, wanted, rng, rate=rate, allow_empty=allow_empty)
    else:
        wanted_share = _still_to_remove(observed, rate * table.size, rate) / max(observed.sum(), 1)
        removed = draw_independently(
            observed, observed, np.full(table.shape, wanted_share), rng, allow_empty=allow_empty
        )
    return _with_holes(table, removed)


def mar_columns(
    X: ArrayLike,
    rate: float,
    *,
    columns: Sequence[int] = (0, 3, 6),
    allow_empty: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Holes in some columns only: ``round(rate n d)`` cells of the result, new ones drawn within ``columns``.

    ``rate`` is the share of the whole table, so it can reach ``len(columns) / d`` at most. The experiments with
    k-POD and PCKID call this MAR and use the 1st, 4th and 7th feature; strictly it is MCAR restricted to columns,
    since nothing depends on observed values. For that see :func:`mar_logistic`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import mar_columns
    >>> mar_columns(np.ones((10, 5)), 0.1, columns=[2], random_state=0)[1].sum(axis=0)
    array([0, 0, 5, 0, 0])
    """
    table = _table(X)
    _check_rate(rate)
    observed = ~np.isnan(table)
    candidates = observed & _column_mask(columns, table.shape[1])
    wanted = _still_to_remove(observed, round(rate * table.size), rate)
    return _with_holes(
        table, draw_count(candidates, observed, wanted, generator(random_state), rate=rate, allow_empty=allow_empty)
    )


def mar_logistic(
    X: ArrayLike,
    rate: float,
    *,
    driver: int = 0,
    slope: float = 1.0,
    columns: Sequence[int] | None = None,
    allow_empty: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Missing at random in Rubin's sense: the chance of a hole depends on an observed column.

    P(r_ij = 1) = 1 / (1 + exp(-(a z_i + b))), with z the standardised ``driver`` column, a the ``slope``, and b
    solved such that the expected share of holes in the whole table is ``rate``. The driver must be observed in
    every row and stays so. Holes are drawn independently, so their number varies around the rate.

    Parameters
    ----------
    X, rate, allow_empty, random_state
        As in :func:`ampute`.
    driver : int, default 0
    slope : float, default 1.0
        0 is MCAR on the columns; the larger, the more a large driver value costs.
    columns : sequence of int, optional
        Where holes may come; all but the driver if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import mar_logistic
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> _, mask = mar_logistic(X, 0.2, driver=0, slope=3.0, random_state=0)
    >>> bool(mask[X[:, 0] > 0].mean() > mask[X[:, 0] < 0].mean())
    True
    """
    table = _table(X)
    _check_rate(rate)
    n, d = table.shape
    _column_mask([driver], d, name="driver")
    observed = ~np.isnan(table)
    if not observed[:, driver].all():
        raise ValueError(f"driver={driver} has holes, but must be observed in every row; pass another column")
    wanted_columns = [j for j in range(d) if j != driver] if columns is None else columns
    candidates = observed & _column_mask(wanted_columns, d)
    if candidates[:, driver].any():
        raise ValueError(f"columns={columns!r} contain the driver {driver}, which must stay; leave it out")
    wanted = _still_to_remove(observed, rate * table.size, rate)
    weights = candidates.sum(axis=1)
    if wanted >= weights.sum() and wanted > 0:
        raise ValueError(f"rate={rate} needs {wanted:.0f} more holes of {weights.sum()} cells; pass a lower rate")
    z = table[:, driver].astype(np.float64) - table[:, driver].mean(dtype=np.float64)
    steepness = slope * z / (z.std() or 1.0)
    if wanted == 0:
        return _with_holes(table, np.zeros_like(observed))
    # expit is monotone in b, and beyond ±(|a z| + 50) all chances are 0 or 1 to rounding.
    reach = float(np.abs(steepness).max()) + 50.0
    offset = brentq(lambda b: float(weights @ expit(steepness + b)) - wanted, -reach, reach)
    chance = np.broadcast_to(expit(steepness + offset)[:, None], (n, d))
    return _with_holes(
        table, draw_independently(candidates, observed, chance, generator(random_state), allow_empty=allow_empty)
    )


def nmar_saturation(X: ArrayLike, rate: float, *, allow_empty: bool = False) -> tuple[Array, Array]:
    """Not missing at random: in every column the largest ``round(rate n)`` values are lost, as in a saturated sensor.

    Deterministic: equal values go in the order of the rows. A column with more holes than that loses nothing. A row
    that would lose its last value keeps the one that is least extreme in its column, and the next largest value of
    that column goes instead.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import nmar_saturation
    >>> nmar_saturation([[1.0, 9.0], [2.0, 8.0], [3.0, 7.0], [4.0, 6.0]], 0.25)[0]
    array([[ 1., nan],
           [ 2.,  8.],
           [ 3.,  7.],
           [nan,  6.]])
    """
    table = _table(X)
    _check_rate(rate)
    n = len(table)
    wanted = round(rate * n)
    if wanted >= n:
        raise ValueError(f"rate={rate} would empty every column of {n} rows; pass rate < {(n - 0.5) / n:.4g}")
    observed = ~np.isnan(table)
    counts = np.maximum(wanted - (~observed).sum(axis=0), 0)
    protected = np.zeros_like(observed)
    while True:
        # Place 0 is the largest value; holes and protected cells come last.
        order = np.argsort(np.where(observed & ~protected, -table, np.inf), axis=0, kind="stable")
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.arange(n)[:, None], axis=0)
        removed = place < counts
        if (removed & ~(observed & ~protected)).any():
            raise ValueError(f"rate={rate} would leave rows without a value; pass a lower rate or allow_empty=True")
        emptied = observed.any(axis=1) & ~(observed & ~removed).any(axis=1)
        if allow_empty or not emptied.any():
            return _with_holes(table, removed)
        rows = np.flatnonzero(emptied)
        protected[rows, np.where(observed[rows], place[rows], -1).argmax(axis=1)] = True


def quadrant(
    X: ArrayLike,
    rate: float,
    *,
    shape: tuple[int, int] | None = None,
    allow_empty: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Images that lose a quarter: one of the four quadrants, drawn uniformly, in ``round(rate n)`` images.

    Parameters
    ----------
    X : array-like of shape (n, h, w), or (n, h w) with ``shape=(h, w)``
        An odd height or width is split after its smaller half.
    rate : float
        Share of images that lose a quadrant; holes that are there do not count.
    shape, allow_empty, random_state
        As in :func:`ampute`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import quadrant
    >>> int(quadrant(np.ones((6, 2, 4)), 0.5, random_state=0)[1].sum())
    6
    """
    images = _table(X, dimensions=(3,) if shape is None else (2,))
    _check_rate(rate)
    n = len(images)
    height, width = images.shape[1:] if shape is None else shape
    if images[0].size != height * width:
        raise ValueError(f"shape={shape} has {height * width} pixels but X has {images[0].size}; correct shape")
    place = 2 * (np.arange(height) >= height // 2)[:, None] + (np.arange(width) >= width // 2)
    inside = place.ravel() == np.arange(4)[:, None]  # (4, h w)
    table = images.reshape(n, -1)
    observed = ~np.isnan(table)
    left = observed.sum(axis=1, keepdims=True) - observed.astype(np.int64) @ inside.T  # (n, 4) values left
    choices = np.ones((n, 4), dtype=bool) if allow_empty else left > 0
    usable, wanted = np.flatnonzero(choices.any(axis=1)), round(rate * n)
    if wanted > len(usable):
        raise ValueError(f"rate={rate} asks for {wanted} images, {len(usable)} can lose a quadrant; lower rate")
    rng = generator(random_state)
    for _ in range(_ATTEMPTS):
        rows = rng.choice(usable, wanted, replace=False)
        removed = np.zeros_like(observed)
        removed[rows] = inside[np.where(choices[rows], rng.random((wanted, 4)), -1.0).argmax(axis=1)]
        if allow_empty or not newly_empty(observed, removed, axis=0):
            missing, mask = _with_holes(table, removed)
            return missing.reshape(images.shape), mask.reshape(images.shape)
    raise ValueError(f"rate={rate} keeps emptying pixels of {n} images; pass a lower rate or allow_empty=True")


def block(
    X: ArrayLike,
    rate: float,
    *,
    groups: Sequence[Sequence[int]] | None = None,
    exact: bool = True,
    allow_empty: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Whole groups of features missing together in a row, as when clouds cover one of several acquisition dates.

    ``round(rate n g)`` of the n g pairs of row and group are missing in the result, drawn uniformly; pairs that
    are missing altogether already count. With ``exact=False`` each pair goes missing independently, with
    ``rate`` as the expected share.

    Parameters
    ----------
    X, rate, exact, allow_empty, random_state
        As in :func:`mcar`.
    groups : sequence of sequences of int
        Columns of each group; no column in two groups. Columns in no group keep their values.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.mixture import block
    >>> _, mask = block(np.ones((4, 5)), 0.25, groups=[[0, 1], [2, 3]], random_state=0)
    >>> mask[:, [0, 2, 4]].sum(axis=0), bool((mask[:, 0] == mask[:, 1]).all())
    (array([1, 1, 0]), True)
    """
    table = _table(X)
    _check_rate(rate)
    if not groups:
        raise ValueError(f"groups={groups!r} name no columns; pass a list of lists of column indices")
    members = np.stack([_column_mask(group, table.shape[1], name="groups") for group in groups])  # (g, d)
    if (members.sum(axis=0) > 1).any():
        raise ValueError(f"groups={groups!r} share a column; put each column into one group")
    observed = ~np.isnan(table)
    units = observed.astype(np.int64) @ members.T > 0  # (n, g): a group that has a value in the row
    # One extra unit stands for the columns in no group: it is never drawn, but keeps a row from being empty.
    rest = (observed & ~members.any(axis=0)).any(axis=1, keepdims=True)
    candidates, held = np.hstack([units, np.zeros_like(rest)]), np.hstack([units, rest])
    rng = generator(random_state)
    goal = rate * units.size
    wanted = _still_to_remove(units, round(goal) if exact else goal, rate)
    share = np.full(held.shape, wanted / max(units.sum(), 1))
    for _ in range(_ATTEMPTS):
        drawn = (
            draw_count(candidates, held, wanted, rng, rate=rate, allow_empty=allow_empty)
            if exact
            else draw_independently(candidates, held, share, rng, allow_empty=allow_empty)
        )
        removed = (drawn[:, :-1].astype(np.int64) @ members > 0) & observed
        # A group that is kept in a row may have old holes there, so columns are checked cell by cell.
        if allow_empty or not newly_empty(observed, removed, axis=0):
            return _with_holes(table, removed)
    raise ValueError(f"rate={rate} keeps emptying columns; pass a lower rate or allow_empty=True")


_ATTEMPTS = 100
"""Redraws before a mechanism that cannot protect columns one by one gives up."""

_MECHANISMS: dict[str, tuple[Any, frozenset[str]]] = {
    "mcar": (mcar, frozenset({"exact", "random_state"})),
    "mar": (mar_columns, frozenset({"columns", "random_state"})),
    "mar_logistic": (mar_logistic, frozenset({"driver", "slope", "columns", "random_state"})),
    "nmar": (nmar_saturation, frozenset()),
    "quadrant": (quadrant, frozenset({"shape", "random_state"})),
    "block": (block, frozenset({"groups", "exact", "random_state"})),
}


def _table(X: ArrayLike, dimensions: tuple[int, ...] = (2,)) -> Array:
    table = np.asarray(X)
    if table.dtype not in (np.float32, np.float64):
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("X holds text or objects; code categories as numbers first") from error
    if table.ndim not in dimensions or table.size == 0:
        form = "(n, h, w), or (n, h w) with shape=(h, w)" if dimensions != (2,) else "(n, d)"
        raise ValueError(f"X has shape {table.shape}; pass an array of shape {form} that is not empty")
    if np.isinf(table).any():
        raise ValueError("X has infinite values; replace them by numbers, or by NaN if they mean missing")
    return table


def _check_rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate} is not a share; pass a number from 0 to 1")


def _column_mask(columns: Sequence[int], d: int, name: str = "columns") -> Array:
    index = np.asarray(columns)
    if index.ndim != 1 or index.dtype.kind not in "iu" or index.size == 0 or (index < 0).any() or (index >= d).any():
        raise ValueError(f"{name}={columns!r} must be column indices from 0 to {d - 1}, at least one")
    mask = np.zeros(d, dtype=bool)
    mask[index] = True
    return mask


def _still_to_remove(observed: Array, goal: Any, rate: float) -> Any:
    """How many more holes reach the goal, given those that are there."""
    holes = observed.size - int(observed.sum())
    if holes > goal:
        raise ValueError(f"rate={rate} is below the {holes / observed.size:.4g} that X misses already; raise rate")
    return goal - holes


def _with_holes(table: Array, removed: Array) -> tuple[Array, Array]:
    missing = table.copy()
    missing[removed] = np.nan
    return missing, np.isnan(missing)
