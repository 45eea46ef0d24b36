"""Lyapunov exponents: how fast neighbouring trajectories part, from data or from equations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramian.checks import whole
from gramian.randomness import generator
from gramian.reservoir.dynamics.delay import SAME_PLACE, check_points, nearest_outside
from gramian.reservoir.dynamics.dimension import line
from gramian.typing import Array, RandomState

# The straight part of a divergence curve, as shares of the height at which it levels off.
_ALIGNED, _LEVEL = 0.2, 0.7


@dataclass(frozen=True)
class LyapunovExponent:
    """A largest Lyapunov exponent, and the curve whose slope it is.

    Attributes
    ----------
    exponent : float
        In nats per unit of time.
    standard_error : float
        Of the slope as that of a least-squares line; the points of the curve are not independent, so the true error is
        larger.
    times : ndarray (t,)
    curve : ndarray (t,)
        The mean logarithm of how much the distance of neighbours has grown.
    fitted : tuple (first, last)
        The times between which the line was fitted.
    """

    exponent: float
    standard_error: float
    times: Array
    curve: Array
    fitted: tuple[float, float]


def lyapunov_from_data(
    points: Array,
    *,
    step: float = 1.0,
    theiler: int = 0,
    horizon: int | None = None,
    fit: str | tuple[float, float] = "auto",
) -> LyapunovExponent:
    """The largest Lyapunov exponent of a trajectory, by how fast nearest neighbours part.

    p(t) = ⟨ln(‖s_{k+t} − s_{j+t}‖ / ‖s_k − s_j‖)⟩ over all points k, with j the nearest neighbour of k outside the
    Theiler window; λ is the slope of p against time where it is straight. Neighbours first turn into the direction of
    fastest growth, and in the end are as far apart as the attractor is wide. So both ends of the curve are bent: look
    at it.

    Parameters
    ----------
    points : array-like (n, d) or (n,)
        A trajectory, or a :func:`delay_embedding` of one of its coordinates; evenly spaced in time. Take more delays
        than twice the dimension of the attractor, six for Lorenz: the few neighbours that are near by projection alone
        part at once, and raise the exponent.
    step : float, default 1.0
        Time between two points.
    theiler : int, default 0
        Points at most so many steps apart in time are not taken for neighbours.
    horizon : int, optional
        Steps that the neighbours are followed; by default 500, or a fifth of a shorter trajectory.
    fit : "auto" or (first, last), default "auto"
        The times to fit the line between. "auto" takes the rise from 20 % to 70 % of the height at which the curve
        levels off.

    Returns
    -------
    found : LyapunovExponent

    References
    ----------
    Rosenstein, Collins, De Luca (1993). A practical method for calculating largest Lyapunov exponents from small data
    sets. Physica D 65.

    Examples
    --------
    The logistic map parts neighbours by ln 2 = 0.69 a step.

    >>> import numpy as np
    >>> x = np.empty(3500)
    >>> x[0] = 0.3
    >>> for i in range(1, len(x)):
    ...     x[i] = 4 * x[i - 1] * (1 - x[i - 1])
    >>> round(lyapunov_from_data(x, fit=(0, 5)).exponent, 1)
    0.7
    """
    points, theiler, n = check_points(points), whole(theiler, "theiler", least=0), len(points)
    if not np.isfinite(step) or step <= 0:
        raise ValueError(f"step={step!r} must be a positive number, the time between two points")
    horizon = min(500, n // 5) if horizon is None else whole(horizon, "horizon")
    if not 1 <= horizon < n - 1:
        raise ValueError(f"horizon={horizon} does not fit into {n} points; pass more points or a smaller horizon")
    # Neighbours are sought among the points that can be followed to the end, so that all times average the same pairs.
    near, first = nearest_outside(points[: n - horizon], theiler)
    # What comes back to the same place parts by rounding alone, and that looks like chaos.
    spread = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    known = np.flatnonzero((near >= 0) & (first > SAME_PLACE * spread))
    if not len(known):
        raise ValueError(
            f"no point has a neighbour outside theiler={theiler} steps that is not at the same place; a series that "
            "repeats itself exactly is periodic and not chaotic; otherwise pass a longer series, a smaller theiler or "
            "a smaller horizon"
        )
    start, curve = np.log(first[known]), np.empty(horizon + 1)
    for t in range(horizon + 1):
        apart = np.linalg.norm(points[known + t] - points[near[known] + t], axis=1)
        kept = apart > 0  # two that meet exactly have no logarithm
        curve[t] = np.mean(np.log(apart[kept]) - start[kept]) if kept.any() else -np.inf
    times = step * np.arange(horizon + 1)
    straight = _rise(curve, points.shape[1]) if fit == "auto" else _between(times, fit)
    slope, error = line(times[straight], curve[straight])
    inside = times[straight]
    return LyapunovExponent(slope, error, times, curve, (float(inside[0]), float(inside[-1])))


def _rise(curve: Array, n_coordinates: int) -> slice:
    """From where the curve first reaches 20 % of its level to where it first reaches 70 % of it."""
    level = float(np.median(curve[len(curve) // 2 :]))
    if not level > 0:  # neighbours do not part
        return slice(0, len(curve))
    first = int(np.argmax(curve >= _ALIGNED * level))
    last = int(np.argmax(curve >= _LEVEL * level))
    # Noise seen by m delays shares coordinates for m steps. Below a level of one, neighbours hardly part at all.
    if last <= min(n_coordinates, 5) and level > 1:
        warnings.warn(
            f"neighbours are nearly as far apart as they ever get after {max(last, 1)} steps, as in noise, so that the "
            "exponent is uncertain; look at curve, and try a shorter time between points",
            UserWarning,
            stacklevel=3,
        )
    # A map levels off after a few steps: then the line needs the first points too.
    return slice(first, last + 1) if last - first >= 5 else slice(0, max(last, 1) + 1)


def _between(times: Array, fit: str | tuple[float, float]) -> slice:
    if isinstance(fit, str) or len(fit) != 2:
        raise ValueError(f"fit={fit!r} must be 'auto' or two times, (first, last)")
    inside = np.flatnonzero((times >= fit[0]) & (times <= fit[1]))
    if len(inside) < 2:
        raise ValueError(f"fit={fit!r} holds {len(inside)} of the times up to {times[-1]:g}, and a slope needs two")
    return slice(int(inside[0]), int(inside[-1]) + 1)


# From equations --------------------------------------------------------------------------------------------


def lyapunov_spectrum(
    flow: Callable[[Array], Array],
    state: Array,
    *,
    step: float = 0.01,
    duration: float = 60.0,
    burn_in: float = 20.0,
    n_exponents: int | None = None,
    n_trajectories: int = 50,
    random_state: RandomState = 0,
) -> Array:
    """All Lyapunov exponents of a differential equation, by the growth of tangent vectors along its trajectories.

    Trajectories and tangent vectors are integrated together by the fourth-order Runge–Kutta scheme; after every tenth
    step the tangent vectors are made orthonormal by a QR decomposition, and the exponents are the means of ln|R_ii| per
    unit of time (Benettin's method). Many trajectories run side by side, so that the time is spent in array products.

    Parameters
    ----------
    flow : callable
        Time derivative of states: (m, d) → (m, d), row by row.
    state : array-like (d,)
        Where to start.
    step : float, default 0.01
        Of the integration.
    duration : float, default 60
        Time over which the growth along each trajectory is averaged.
    burn_in : float, default 20
        Time before that, for every trajectory to reach the attractor and for the vectors to turn.
    n_exponents : int, optional
        The largest so many; by default all d.
    n_trajectories : int, default 50
        They start beside each other and are far apart after the burn-in, if the flow is chaotic.
    random_state : int, Generator or None, default 0
        Of the starts and the tangent vectors.

    Returns
    -------
    exponents : ndarray (n_exponents,)
        Falling, in nats per unit of time. Their sum over all is the mean divergence of the flow.

    References
    ----------
    Benettin, Galgani, Giorgilli, Strelcyn (1980). Lyapunov characteristic exponents for smooth dynamical systems.
    Meccanica 15.

    Examples
    --------
    >>> import numpy as np
    >>> def pendulum(s):  # damped: both exponents are negative, their sum is the damping
    ...     return np.stack([s[:, 1], -np.sin(s[:, 0]) - 0.2 * s[:, 1]], axis=1)
    >>> round(float(lyapunov_spectrum(pendulum, [0.1, 0.0], duration=5, burn_in=5).sum()), 2)
    -0.2
    """
    state = np.atleast_1d(np.asarray(state, np.float64))
    if state.ndim != 1 or not np.isfinite(state).all():
        raise ValueError(f"state must be d finite numbers; got shape {state.shape}")
    d, m = len(state), whole(n_trajectories, "n_trajectories")
    k = d if n_exponents is None else whole(n_exponents, "n_exponents")
    if k > d:
        raise ValueError(f"n_exponents={k} is more than the {d} coordinates of state; pass n_exponents <= {d}")
    for name, value in (("step", step), ("duration", duration), ("burn_in", burn_in)):
        if not np.isfinite(value) or value <= 0:
            raise ValueError(f"{name}={value!r} must be a positive number")
    rng = generator(random_state)
    s = state + 1e-3 * (1 + np.abs(state)) * rng.normal(size=(m, d))
    if np.shape(flow(s)) != s.shape:
        raise ValueError(f"flow returned shape {np.shape(flow(s))} for {m} states of shape {s.shape}; they must agree")
    Q = np.linalg.qr(rng.normal(size=(m, d, k)))[0]
    growth = np.zeros(k)
    rounds = max(1, round(duration / (10 * step)))
    for turn in range(-round(burn_in / (10 * step)), rounds):
        for _ in range(10):
            s, Q = _runge_kutta(flow, s, Q, step)
        if not np.isfinite(s).all():
            raise ValueError(f"the trajectory leaves for infinity; start at another state, or lower step={step:g}")
        Q, R = np.linalg.qr(Q)
        if turn >= 0:
            growth += np.log(np.abs(np.diagonal(R, axis1=1, axis2=2))).mean(axis=0)
    return np.sort(growth / (rounds * 10 * step))[::-1]


def _runge_kutta(flow: Callable[[Array], Array], s: Array, Q: Array, step: float) -> tuple[Array, Array]:
    """One step of states (m, d) and tangent vectors (m, d, k)."""
    a, A = _with_tangents(flow, s, Q)
    b, B = _with_tangents(flow, s + step / 2 * a, Q + step / 2 * A)
    c, C = _with_tangents(flow, s + step / 2 * b, Q + step / 2 * B)
    e, E = _with_tangents(flow, s + step * c, Q + step * C)
    return s + step / 6 * (a + 2 * b + 2 * c + e), Q + step / 6 * (A + 2 * B + 2 * C + E)


def _with_tangents(flow: Callable[[Array], Array], s: Array, Q: Array) -> tuple[Array, Array]:
    """f(s) and the derivative of f along each tangent vector, by central differences in one call of f."""
    m, d, k = Q.shape
    width = 1e-6 * (1 + np.abs(s).max(axis=1, initial=0.0))[:, None, None]
    steps = width * Q.transpose(0, 2, 1)  # (m, k, d)
    around = np.concatenate([s[:, None], s[:, None] + steps, s[:, None] - steps], axis=1)
    values = np.asarray(flow(around.reshape(-1, d))).reshape(m, 2 * k + 1, d)
    slopes = (values[:, 1 : k + 1] - values[:, k + 1 :]) / (2 * width)
    return values[:, 0], slopes.transpose(0, 2, 1)
