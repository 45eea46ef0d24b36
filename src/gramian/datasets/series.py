"""Generators of the series on which networks with memory are compared: chaotic, driven by noise, quasi-periodic.

Each returns float64 numbers in the order of time. Where a published series differs from its printed equation, the
docstring says so. Only NumPy and SciPy are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gramian.checks import one_of, real, whole
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["make_lorenz", "make_mackey_glass", "make_moore_spiegel", "make_mso", "make_narma"]

_MSO = (0.2, 0.311, 0.42, 0.51, 0.63, 0.74)
_DIVERGED = 1e3

Flow = Callable[[tuple[float, float, float]], tuple[float, float, float]]


def make_mackey_glass(
    n_samples: int = 5000,
    *,
    variant: str = "standard",
    delay: float = 17.0,
    every: int = 10,
    history: float = 1.2,
    burn_in: int = 200,
) -> Array:
    """The Mackey–Glass equation of blood cell production, chaotic for delays above about 16.8.

    dx/dt = 0.2 x(t−τ) / (1 + x(t−τ)¹⁰) − 0.1 x(t), in steps of h = 0.1 by a Runge–Kutta scheme of order 4 that holds
    the delayed term over the step: x[n+1] = c x[n] + 2 (1 − c) g(x[n−D]) with g(u) = u / (1 + u¹⁰), D = τ / h and
    c = Σ_{k≤4} (−0.1 h)^k / k!.

    Parameters
    ----------
    n_samples : int, default 5000
    variant : {"standard", "published"}, default "standard"
        "published" is the series in the code of Løkse et al.: the same scheme with h = 2 and D = 7, every step kept.
        Its delay is 14, so that it is quasi-periodic and not chaotic, unlike what the paper says of it.
    delay : float, default 17.0
        τ of the standard series, a multiple of 0.1.
    every : int, default 10
        Of how many steps of the standard series one is kept; with 10 the samples are one unit of time apart.
    history : float, default 1.2
        x before the first step.
    burn_in : int, default 200
        Samples left out at the start.

    Returns
    -------
    x : array of shape (n_samples,)

    References
    ----------
    M. C. Mackey, L. Glass, "Oscillation and chaos in physiological control systems", Science 197 (1977).

    S. Løkse, F. M. Bianchi, R. Jenssen, "Training echo state networks with regularization through dimensionality
    reduction", Cognitive Computation 9 (2017).

    Examples
    --------
    >>> from gramian.datasets import make_mackey_glass
    >>> x = make_mackey_glass(2000)
    >>> bool(0.4 < x.min() < 0.5), bool(1.2 < x.max() < 1.35)
    (True, True)
    """
    from scipy.signal import lfilter  # slow to import, and nobody else in the library needs it

    one_of(variant, "variant", ("standard", "published"))
    wanted = whole(n_samples, "n_samples") + whole(burn_in, "burn_in", least=0)
    start = real(history, "history", least=0)
    step, lag, kept = 0.1, round(real(delay, "delay", least=0.1) / 0.1), whole(every, "every")
    if variant == "published":
        step, lag, kept = 2.0, 7, 1
    decay = sum((-0.1 * step) ** k / float(np.prod(range(1, k + 1))) for k in range(5))
    n_steps = wanted * kept
    x = np.full(lag + 1 + n_steps, start)
    # The next D + 1 values depend on each other linearly, and otherwise on values that are known already.
    for n in range(lag + 1, len(x), lag + 1):
        delayed = x[n - lag - 1 : n][: len(x) - n]
        drive = 2 * (1 - decay) * delayed / (1 + delayed**10)
        x[n : n + len(drive)] = lfilter([1.0], [1.0, -decay], drive, zi=[decay * x[n - 1]])[0]
    return x[lag + kept :: kept][burn_in:wanted].copy()


def make_narma(
    n_samples: int = 10_000,
    *,
    order: int = 10,
    coefficient: float = 0.005,
    input_high: float = 1.0,
    burn_in: int = 0,
    max_tries: int = 20,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Nonlinear autoregressive moving average: a series driven by uniform noise that remembers ``order`` steps.

    y[t+1] = 0.3 y[t] + coefficient y[t] Σ_{i<order} y[t−i] + 1.5 u[t−order+1] u[t] + 0.1 with u uniform on
    [0, input_high). The task is to give y[t] after u[t].

    Parameters
    ----------
    n_samples : int, default 10000
    order : int, default 10
    coefficient : float, default 0.005
        That of the series published with Løkse et al. Their paper prints order 20 and 0.05, with which y runs off to
        infinity. Stable with order 20: 0.005, or 0.01 with ``input_high=0.5``. Common elsewhere: order 10 and 0.05
        with ``input_high=0.5``, which diverges for one seed in twenty.
    input_high : float, default 1.0
    burn_in : int, default 0
        Samples left out at the start, where y begins at zero.
    max_tries : int, default 20
        How often new noise is drawn if y exceeds 1000.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    U : array of shape (n_samples, 1)
    y : array of shape (n_samples,)

    References
    ----------
    A. F. Atiya, A. G. Parlos, "New results on recurrent network training", IEEE Transactions on Neural Networks 11
    (2000).

    Examples
    --------
    >>> from gramian.datasets import make_narma
    >>> U, y = make_narma(2000, random_state=0)
    >>> U.shape, bool(0.6 < y[100:].mean() < 0.85)
    ((2000, 1), True)
    >>> make_narma(2000, order=20, coefficient=0.05, random_state=0)
    Traceback (most recent call last):
    ...
    ValueError: order=20 with coefficient=0.05 and input_high=1.0 diverged in 20 draws; pass a smaller coefficient ...
    """
    rows = whole(n_samples, "n_samples") + whole(burn_in, "burn_in", least=0)
    r, tries = whole(order, "order"), whole(max_tries, "max_tries")
    factor, high = real(coefficient, "coefficient", least=0), real(input_high, "input_high", above=0)
    rng = generator(random_state)
    for _ in range(tries):
        u = rng.uniform(0, high, rows)
        y = _narma(u, r, factor)
        if y is not None:
            return u[burn_in:, None], y[burn_in:]
    raise ValueError(
        f"order={r} with coefficient={factor:g} and input_high={high} diverged in {tries} draws; pass a smaller "
        "coefficient or input_high"
    )


def make_mso(n_samples: int = 5000, *, frequencies: Sequence[float] = _MSO) -> Array:
    """Multiple superimposed oscillators: y[t] = Σ_k sin(f_k t) for t = 1, 2, ..., a sum that hardly ever repeats.

    Parameters
    ----------
    n_samples : int, default 5000
    frequencies : sequence of float, default (0.2, 0.311, 0.42, 0.51, 0.63, 0.74)
        Per step. The published task looks 20 steps ahead.

    Returns
    -------
    y : array of shape (n_samples,)

    Examples
    --------
    >>> from gramian.datasets import make_mso
    >>> make_mso(3, frequencies=(0.2,)).round(6)
    array([0.198669, 0.389418, 0.564642])
    """
    chosen = np.asarray(frequencies, np.float64)
    if chosen.ndim != 1 or not chosen.size or not np.isfinite(chosen).all():
        raise ValueError(f"frequencies={frequencies!r} must be one or more finite numbers")
    return np.sin(np.arange(1, whole(n_samples, "n_samples") + 1)[:, None] * chosen).sum(axis=1)


def make_lorenz(
    n_samples: int = 5000,
    *,
    step: float = 0.02,
    method: str = "rk4",
    start: tuple[float, float, float] = (0.1, 0.1, 0.1),
    burn_in: int = 1000,
) -> Array:
    """The Lorenz attractor: ẋ = 10 (y − x), ẏ = x (28 − z) − y, ż = x y − 8/3 z.

    Parameters
    ----------
    n_samples : int, default 5000
    step : float, default 0.02
        Time between samples.
    method : {"rk4", "euler"}, default "rk4"
        Runge–Kutta of order 4, or the explicit Euler steps of the series published with Løkse et al. (with
        ``step=0.01`` and ``burn_in=0``).
    start : (float, float, float), default (0.1, 0.1, 0.1)
    burn_in : int, default 1000
        Samples left out at the start.

    Returns
    -------
    X : array of shape (n_samples, 3)

    References
    ----------
    E. N. Lorenz, "Deterministic nonperiodic flow", Journal of the Atmospheric Sciences 20 (1963).

    Examples
    --------
    >>> from gramian.datasets import make_lorenz
    >>> make_lorenz(3, step=0.01, method="euler", burn_in=0)[:, 0].round(6)
    array([0.1    , 0.1    , 0.10269])
    """

    def flow(p: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = p
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    return _integrated(flow, n_samples, step, 1, method, start, burn_in)


def make_moore_spiegel(
    n_samples: int = 5000,
    *,
    tension: float = 36.0,
    rayleigh: float = 100.0,
    step: float = 0.05,
    start: tuple[float, float, float] = (0.1, 0.1, 0.1),
    burn_in: int = 1000,
) -> Array:
    """The Moore–Spiegel oscillator: ẋ = y, ẏ = z, ż = −z − (T − R + R x²) y − T x.

    Parameters
    ----------
    n_samples : int, default 5000
    tension, rayleigh : float, default 36 and 100
        T and R; chaotic by default, periodic for T = 10.
    step : float, default 0.05
        Time between samples; ten steps of Runge–Kutta of order 4.
    start : (float, float, float), default (0.1, 0.1, 0.1)
    burn_in : int, default 1000
        Samples left out at the start.

    Returns
    -------
    X : array of shape (n_samples, 3)

    References
    ----------
    D. W. Moore, E. A. Spiegel, "A thermally excited non-linear oscillator", Astrophysical Journal 143 (1966).

    N. J. Balmforth, R. V. Craster, "Synchronizing Moore and Spiegel", Chaos 7 (1997).

    Examples
    --------
    >>> from gramian.datasets import make_moore_spiegel
    >>> bool(abs(make_moore_spiegel(2000)[:, 0]).max() < 3)
    True
    """
    T, R = real(tension, "tension"), real(rayleigh, "rayleigh")

    def flow(p: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = p
        return y, z, -z - (T - R + R * x * x) * y - T * x

    return _integrated(flow, n_samples, step, 10, "rk4", start, burn_in)


def _narma(u: Array, order: int, coefficient: float) -> Array | None:
    """y for given noise; None where it runs off."""
    noise, y, window = u.tolist(), [0.0] * len(u), 0.0  # window: the sum of the last ``order`` values of y
    for t in range(len(noise) - 1):
        window += y[t] - (y[t - order] if t >= order else 0.0)
        old = noise[t - order + 1] if t >= order - 1 else 0.0
        y[t + 1] = 0.3 * y[t] + coefficient * y[t] * window + 1.5 * old * noise[t] + 0.1
        if not y[t + 1] <= _DIVERGED:
            return None
    return np.array(y)


def _integrated(
    flow: Flow, n_samples: int, step: float, inner: int, method: str, start: tuple[float, float, float], burn_in: int
) -> Array:
    """Samples of a flow, ``step`` apart, each after ``inner`` steps of the method; the first is the start itself."""
    one_of(method, "method", ("rk4", "euler"))
    wanted = whole(n_samples, "n_samples") + whole(burn_in, "burn_in", least=0)
    h = real(step, "step", above=0) / inner
    if len(start) != 3 or not np.isfinite(start).all():
        raise ValueError(f"start={start!r} must be three finite numbers")
    point = (float(start[0]), float(start[1]), float(start[2]))
    out = np.empty((wanted, 3))
    for n in range(wanted):
        out[n] = point
        for _ in range(inner):
            point = _stepped(flow, point, h, method)
    if not np.isfinite(out).all():
        raise ValueError(f"step={step} is too long: the solution ran off to infinity; pass a smaller step")
    return out[burn_in:]


def _stepped(flow: Flow, p: tuple[float, float, float], h: float, method: str) -> tuple[float, float, float]:
    a = flow(p)
    if method == "euler":
        return _moved(p, a, h)
    b = flow(_moved(p, a, h / 2))
    c = flow(_moved(p, b, h / 2))
    d = flow(_moved(p, c, h))
    x, y, z = (k + 2 * l + 2 * m + n for k, l, m, n in zip(a, b, c, d, strict=True))
    return _moved(p, (x, y, z), h / 6)


def _moved(p: tuple[float, float, float], by: tuple[float, float, float], h: float) -> tuple[float, float, float]:
    return p[0] + h * by[0], p[1] + h * by[1], p[2] + h * by[2]
