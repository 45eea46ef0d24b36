"""The correlation dimension of an attractor: how the number of near pairs of points grows with the radius."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from gramian.checks import whole
from gramian.reservoir.dynamics.delay import check_points
from gramian.typing import Array

_N_RADII, _SMALLEST, _LARGEST = 25, 0.005, 0.1  # of the diagonal of the box around the points
_FEWEST, _WINDOW, _STRAIGHT = 5, 8, 0.1
_REFERENCES = (
    20_000  # points whose neighbours are counted: at 10⁵ points a fifth of the time, and C(ε) changes by 0.1 %
)


def correlation_sum(points: Array, radii: Array, *, theiler: int = 0, n_references: int | None = None) -> Array:
    """Share of pairs of points that are nearer than a radius, C(ε).

    C(ε) = 2 / ((n − w)(n − w − 1)) · #{(i, j): j < i − w, ‖s_i − s_j‖ < ε}. Pairs at most w steps apart in time are
    not counted: they are near because little time has passed.

    Parameters
    ----------
    points : array-like (n, d) or (n,)
        s, in the order of time.
    radii : array-like (r,)
        ε > 0.
    theiler : int, default 0
        w.
    n_references : int, optional
        Count only pairs with one of so many points, evenly spaced in time; by default with every point.

    Returns
    -------
    sums : ndarray (r,)

    References
    ----------
    Theiler (1986). Spurious dimension from correlation algorithms applied to limited time-series data. Phys. Rev. A 34.

    Examples
    --------
    >>> import numpy as np
    >>> correlation_sum(np.array([0.0, 1.0, 3.0]), [1.5, 2.5]).round(2)
    array([0.33, 0.67])
    """
    points = check_points(points)
    radii, theiler, n = _check_radii(radii), whole(theiler, "theiler", least=0), len(points)
    if n - theiler < 2:
        raise ValueError(f"theiler={theiler} leaves no pair of the {n} points; pass more points or a smaller theiler")
    m = n if n_references is None else min(n, whole(n_references, "n_references"))
    references = np.arange(m) * n // m
    order = np.argsort(radii)
    inside = np.nextafter(radii[order], 0)  # nearer than ε, where the tree counts up to its radius
    tree = KDTree(points)
    near = tree if m == n else KDTree(points[references])
    counts = near.count_neighbors(tree, inside) - m  # less each point and itself
    for lag in range(1, theiler + 1):
        for others in (references - lag, references + lag):
            known = (others >= 0) & (others < n)
            apart = np.linalg.norm(points[references[known]] - points[others[known]], axis=1)
            counts = counts - np.searchsorted(np.sort(apart), inside, side="right")
    far_enough = np.maximum(references - theiler, 0) + np.maximum(n - 1 - references - theiler, 0)
    if not far_enough.any():
        raise ValueError(f"n_references={m} and theiler={theiler} leave no pair of points; raise n_references")
    sums = np.empty(len(radii))
    sums[order] = counts / far_enough.sum()
    return sums


@dataclass(frozen=True)
class CorrelationDimension:
    """A correlation dimension, and the curve whose slope it is.

    Attributes
    ----------
    dimension : float
        The slope of ln C(ε) against ln ε where it is a straight line.
    standard_error : float
        Of the slope as that of a least-squares line; the points of the curve are not independent, so the true error is
        larger.
    radii, sums : ndarray (r,)
        ε and C(ε), without the radii that hold no pair.
    fitted : tuple (first, last)
        The radii between which the line was fitted.
    """

    dimension: float
    standard_error: float
    radii: Array
    sums: Array
    fitted: tuple[float, float]


def correlation_dimension(
    points: Array, *, theiler: int = 0, radii: Array | None = None, fit: str | tuple[float, float] = "auto"
) -> CorrelationDimension:
    """The correlation dimension of a trajectory, by Grassberger and Procaccia.

    D = d ln C(ε) / d ln ε, the slope of :func:`correlation_sum`, over a range of radii where it is constant. Neighbours
    are counted by a tree, without distances of all pairs; of more than 20,000 points, the neighbours of 20,000 of them.

    Parameters
    ----------
    points : array-like (n, d) or (n,)
        A trajectory, or a :func:`delay_embedding` of one of its coordinates; in the order of time.
    theiler : int, default 0
        Pairs at most so many steps apart are not counted. For flows the time after which the autocorrelation vanishes;
        with 0 the dimension of densely sampled curves comes out too small.
    radii : array-like (r,), optional
        By default 25 from 0.5 % to 10 % of the diagonal of the box around the points, evenly in the logarithm.
    fit : "auto" or (first, last), default "auto"
        The radii to fit the line between. "auto" takes the longest run of at least eight radii whose local slopes are
        within 10 % of their median.

    Returns
    -------
    found : CorrelationDimension

    References
    ----------
    Grassberger, Procaccia (1983). Measuring the strangeness of strange attractors. Physica D 9.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.random.default_rng(0).uniform(size=(3000, 2))
    >>> round(correlation_dimension(square).dimension, 1)
    2.0
    """
    points = check_points(points)
    if radii is None:
        diagonal = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        if diagonal == 0:
            raise ValueError("all points are at the same place, which has no dimension; check points")
        radii = diagonal * np.geomspace(_SMALLEST, _LARGEST, _N_RADII)
    radii = np.sort(_check_radii(radii))
    sums = correlation_sum(points, radii, theiler=theiler, n_references=_REFERENCES)
    radii, sums = radii[sums > 0], sums[sums > 0]
    if len(radii) < _FEWEST:
        raise ValueError(
            f"only {len(radii)} of the radii hold a pair of points, and a slope needs {_FEWEST}; pass more points, "
            "larger radii or a smaller theiler"
        )
    log_radii, log_sums = np.log(radii), np.log(sums)
    straight = _straight_part(np.gradient(log_sums, log_radii)) if fit == "auto" else _between(radii, fit)
    slope, error = line(log_radii[straight], log_sums[straight])
    inside = radii[straight]
    return CorrelationDimension(slope, error, radii, sums, (float(inside[0]), float(inside[-1])))


def _straight_part(slopes: Array) -> slice:
    """The longest run of at least eight slopes within 10 % of their median; the straightest eight if there is none."""
    m = len(slopes)
    if m < _WINDOW:
        return slice(0, m)
    best, least = slice(0, _WINDOW), np.inf
    for length in range(m, _WINDOW - 1, -1):
        windows = np.lib.stride_tricks.sliding_window_view(slopes, length)
        medians = np.median(windows, axis=1, keepdims=True)
        bend = np.max(np.abs(windows - medians), axis=1) / np.maximum(np.abs(medians[:, 0]), 1e-12)
        start = int(np.argmin(bend))
        least, best = float(bend[start]), slice(start, start + length)
        if least <= _STRAIGHT:
            return best
    warnings.warn(
        f"ln C is nowhere a straight line over {_WINDOW} radii (local slopes differ by {100 * least:.0f} %), so the "
        "dimension is uncertain; look at radii and sums, and pass fit=(first, last)",
        UserWarning,
        stacklevel=3,
    )
    return best


def _between(radii: Array, fit: str | tuple[float, float]) -> slice:
    if isinstance(fit, str) or len(fit) != 2:
        raise ValueError(f"fit={fit!r} must be 'auto' or two radii, (first, last)")
    inside = np.flatnonzero((radii >= fit[0]) & (radii <= fit[1]))
    if len(inside) < 2:
        raise ValueError(f"fit={fit!r} holds {len(inside)} of the radii and a slope needs two; widen it")
    return slice(int(inside[0]), int(inside[-1]) + 1)


def line(x: Array, y: Array) -> tuple[float, float]:
    """Slope of the least-squares line and its standard error (nan for two points, which leave none)."""
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    left = float(((y - slope * x) ** 2).sum())
    return slope, float(np.sqrt(left / (len(x) - 2) / (x @ x))) if len(x) > 2 else float("nan")


def _check_radii(radii: Array) -> Array:
    radii = np.atleast_1d(np.asarray(radii, np.float64))
    if radii.ndim != 1 or not radii.size or not (np.isfinite(radii) & (radii > 0)).all():
        raise ValueError("radii must be finite numbers > 0")
    return radii
