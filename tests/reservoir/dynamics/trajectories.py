"""Trajectories with known dimensions and exponents, integrated apart from what is tested."""

import numpy as np


def lorenz(s):
    x, y, z = s.T
    return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], axis=1)


def moore_spiegel(s):
    x, y, z = s.T
    return np.stack([y, z, -z - (36 - 100 + 100 * x**2) * y - 36 * x], axis=1)


def trajectory(flow, n, step, start, skip=1000):
    """Runge–Kutta, one state after the other."""
    s, out = np.array([start], float), np.empty((n, len(start)))
    for i in range(n + skip):
        a = flow(s)
        b = flow(s + step / 2 * a)
        c = flow(s + step / 2 * b)
        s = s + step / 6 * (a + 2 * b + 2 * c + flow(s + step * c))
        if i >= skip:
            out[i - skip] = s[0]
    return out


def logistic_map(n, start=0.3):
    x = np.empty(n)
    x[0] = start
    for i in range(1, n):
        x[i] = 4 * x[i - 1] * (1 - x[i - 1])
    return x
