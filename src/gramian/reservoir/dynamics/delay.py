"""Delay coordinates of a series: the embedding itself, and how to choose its delay and its dimension.

Pure functions on arrays. :mod:`~gramian.reservoir.dynamics.dimension` and
:mod:`~gramian.reservoir.dynamics.lyapunov` measure what is embedded here, and use the neighbours found here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve
from scipy.spatial import KDTree
from sklearn.utils.validation import check_array

from gramian.checks import whole
from gramian.typing import Array

SAME_PLACE = 1e-12  # distances below are rounding: the series comes back to the same point


def delay_embedding(x: Array, dimension: int, delay: int = 1) -> Array:
    """Rows [x(i), x(i + delay), …, x(i + (dimension − 1) delay)] of a series.

    By the theorem of Takens, ``dimension >= 2 D + 1`` is enough to see an attractor of dimension D without overlaps.

    Parameters
    ----------
    x : array-like (n,)
    dimension : int
    delay : int, default 1
        In steps; :func:`autocorrelation_zero` and :func:`mutual_information_minimum` choose one.

    Returns
    -------
    points : ndarray (n − (dimension − 1) delay, dimension)

    References
    ----------
    Takens (1981). Detecting strange attractors in turbulence. Lecture Notes in Mathematics 898.

    Examples
    --------
    >>> import numpy as np
    >>> delay_embedding(np.arange(5.0), 2, delay=3)
    array([[0., 3.],
           [1., 4.]])
    """
    x = check_series(x)
    dimension, delay = whole(dimension, "dimension"), whole(delay, "delay")
    n_points = len(x) - (dimension - 1) * delay
    if n_points < 1:
        raise ValueError(
            f"dimension={dimension} and delay={delay} need a series of at least {(dimension - 1) * delay + 1} values; "
            f"x has {len(x)}: pass a longer series or smaller numbers"
        )
    return np.stack([x[i * delay : i * delay + n_points] for i in range(dimension)], axis=1)


def autocorrelation_zero(x: Array, *, max_lag: int | None = None) -> int:
    """The first lag at which the autocorrelation of a series is no longer positive.

    Where it stays positive, the first lag at which it is below 1/e, with a warning.

    Parameters
    ----------
    x : array-like (n,)
    max_lag : int, optional
        The longest lag tried; by default half the series.

    Returns
    -------
    lag : int

    Examples
    --------
    >>> import numpy as np
    >>> autocorrelation_zero(np.sin(2 * np.pi * np.arange(4000) / 39))
    10
    """
    x = check_varying(check_series(x))
    most = _longest_lag(max_lag, len(x))
    centered = x - x.mean()
    products = fftconvolve(centered, centered[::-1])[len(x) - 1 :][: most + 1]
    crossed = np.flatnonzero(products <= 0)
    below = np.flatnonzero(products < products[0] / np.e)
    if not len(crossed) and len(below):
        warnings.warn(
            f"the autocorrelation of x stays positive up to max_lag={most}; the lag where it falls below 1/e is taken",
            UserWarning,
            stacklevel=2,
        )
        return int(below[0])
    if not len(crossed):
        raise ValueError(
            f"the autocorrelation of x stays positive up to max_lag={most}; remove the trend, or pass a larger max_lag"
        )
    return int(crossed[0])


def mutual_information_minimum(x: Array, *, max_lag: int | None = None, n_bins: int | None = None) -> int:
    """The lag of the first local minimum of the average mutual information between a series and its past.

    The information between x(i) and x(i + lag) is estimated from counts in equal bins. Unlike the autocorrelation it
    also sees dependence that is not linear.

    Parameters
    ----------
    x : array-like (n,)
    max_lag : int, optional
        The longest lag tried; by default 100, or a tenth of a shorter series.
    n_bins : int, optional
        Bins along each axis; by default √(n / 5), rounded up.

    Returns
    -------
    lag : int
        ``max_lag`` where the information falls all the way.

    References
    ----------
    Fraser, Swinney (1986). Independent coordinates for strange attractors from mutual information. Phys. Rev. A 33.

    Examples
    --------
    >>> import numpy as np
    >>> mutual_information_minimum(np.sin(2 * np.pi * np.arange(4000) / 40.7)) < 15
    True
    """
    x = check_varying(check_series(x))
    most = _longest_lag(max_lag, len(x), default=max(2, min(100, len(x) // 10)))
    bins = int(np.ceil(np.sqrt(len(x) / 5))) if n_bins is None else whole(n_bins, "n_bins", least=2)
    span = float(x.max() - x.min())
    codes = np.minimum((bins * ((x - x.min()) / span)).astype(np.intp), bins - 1)
    before = np.inf
    for lag in range(1, most + 1):
        here = _mutual_information(codes[:-lag], codes[lag:], bins)
        if here > before:
            return lag - 1
        before = here
    return most


def _mutual_information(a: Array, b: Array, bins: int) -> float:
    """Σ p(a, b) ln(p(a, b) / (p(a) p(b))) of bin numbers."""
    joint = np.bincount(a * bins + b, minlength=bins * bins).reshape(bins, bins) / len(a)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())


# How many coordinates --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FalseNeighbors:
    """The share of false neighbours, which are near only because the coordinates are too few, by their number.

    Attributes
    ----------
    dimension : int or None
        The smallest with a fraction below the threshold; None if there is none.
    fractions : ndarray (max_dimension,)
        Of false neighbours, for 1, 2, … coordinates.
    """

    dimension: int | None
    fractions: Array


def false_neighbors(
    x: Array,
    delay: int = 1,
    *,
    max_dimension: int = 10,
    theiler: int = 0,
    ratio: float = 15.0,
    size: float = 2.0,
    threshold: float = 0.01,
) -> FalseNeighbors:
    """Find how many delay coordinates leave (almost) no false neighbours.

    The nearest neighbour of a point in m coordinates, at distance R, is false if the next coordinate drives the two
    apart: by more than ``ratio`` R, or to a distance of more than ``size`` standard deviations of the series.

    Parameters
    ----------
    x : array-like (n,)
    delay : int, default 1
    max_dimension : int, default 10
    theiler : int, default 0
        Points that so few steps or fewer lie between are not taken for neighbours.
    ratio, size : float
    threshold : float, default 0.01

    Returns
    -------
    found : FalseNeighbors

    References
    ----------
    Kennel, Brown, Abarbanel (1992). Determining embedding dimension for phase-space reconstruction using a geometrical
    construction. Phys. Rev. A 45.

    Examples
    --------
    >>> import numpy as np
    >>> false_neighbors(np.sin(0.11 * np.arange(2000)), 14, theiler=14).dimension
    2
    """
    x = check_varying(check_series(x))
    delay, most = whole(delay, "delay"), whole(max_dimension, "max_dimension")
    spread = float(x.std())
    fractions = np.ones(most)
    for m in range(1, most + 1):
        points = delay_embedding(x, m + 1, delay)
        near, distances = nearest_outside(points[:, :m], theiler)
        known = np.flatnonzero((near >= 0) & (distances > SAME_PLACE * spread))
        if not len(known):
            raise ValueError(
                f"no point has a neighbour in {m} coordinates, outside theiler={theiler} steps and not at the same "
                "place; pass a longer series or a smaller theiler"
            )
        apart = np.abs(points[known, m] - points[near[known], m])
        away = np.hypot(distances[known], apart) > size * spread
        fractions[m - 1] = np.mean((apart > ratio * distances[known]) | away)
    enough = np.flatnonzero(fractions < threshold)
    return FalseNeighbors(int(enough[0]) + 1 if len(enough) else None, fractions)


def nearest_outside(points: Array, theiler: int) -> tuple[Array, Array]:
    """Each point's nearest other point that is more than ``theiler`` steps away in time, and how far it is.

    Parameters
    ----------
    points : ndarray (n, d)
        In the order of time.
    theiler : int

    Returns
    -------
    nearest : ndarray (n,) of int
        −1 where all other points are too near in time.
    distances : ndarray (n,)
        Infinite there.
    """
    n = len(points)
    theiler = whole(theiler, "theiler", least=0)
    nearest, distances = np.full(n, -1, np.intp), np.full(n, np.inf)
    tree, open_rows, k = KDTree(points), np.arange(n), 2
    while len(open_rows):
        k = min(k, n)
        far, index = tree.query(points[open_rows], k=np.arange(1, k + 1))
        allowed = np.abs(index - open_rows[:, None]) > theiler
        first = np.argmax(allowed, axis=1)
        found = allowed[np.arange(len(open_rows)), first]
        rows = open_rows[found]
        nearest[rows], distances[rows] = index[found, first[found]], far[found, first[found]]
        # At most 2 · theiler + 1 points are too near in time, the point itself among them.
        if k == n or k >= 2 * theiler + 2:
            break
        open_rows, k = open_rows[~found], 4 * k
    return nearest, distances


# Checks ----------------------------------------------------------------------------------------------------


def check_series(x: Array) -> Array:
    """A series as a float array (n,), finite; a single column will do."""
    x = np.asarray(check_array(x, ensure_2d=False, dtype=np.float64, input_name="x"))
    if x.ndim == 2 and x.shape[1] == 1:
        return x[:, 0]
    if x.ndim != 1:
        raise ValueError(f"x has shape {x.shape}; pass one series, shape (n,)")
    return x


def check_points(points: Array) -> Array:
    """Points in the order of time as a float array (n, d), finite; a series is one coordinate."""
    points = np.asarray(check_array(points, ensure_2d=False, dtype=np.float64, input_name="points"))
    return points[:, None] if points.ndim == 1 else points


def check_varying(x: Array) -> Array:
    """Refuse a series of fewer than three values, or whose values are all alike."""
    if len(x) < 3 or x.min() == x.max():
        raise ValueError(f"x has {len(x)} values, all alike or too few; pass a series that changes")
    return x


def _longest_lag(max_lag: int | None, n: int, default: int | None = None) -> int:
    if max_lag is None:
        return n // 2 if default is None else default
    max_lag = whole(max_lag, "max_lag")
    if max_lag >= n:
        raise ValueError(f"max_lag={max_lag} must be less than the {n} values of x")
    return max_lag
