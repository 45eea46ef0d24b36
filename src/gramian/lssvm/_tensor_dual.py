"""The dual problem of tensor-kernel regression: its two kernel terms, its losses, and its solver.

    min_u  (1/m) Σ_k z_k^m + (1/n) Σ_i [γ L*(u_i/γ) − u_i y_i],   z = Φᵀu / n,   Σ_i u_i = 0 .

The first term is all that knows the kernel. :class:`Features` has it for finite features, :class:`Products` from values
of the kernel alone. The multiplier of the constraint is the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from gramian.grams import tiles
from gramian.kernels import ExponentialProduct
from gramian.typing import Array

_OUTER = 30  # rounds for the multiplier of the constraint
_FACTORIALS = np.array([float(factorial(k)) for k in range(171)])  # all that float64 holds


class Term(Protocol):
    """(1/m) Σ_k z_k^m as a function of u."""

    n: int
    order: int

    def value_and_slope(self, u: Array) -> tuple[float, Array]:
        """The value, and its gradient f₀(x_i) / n with f₀ the prediction without intercept."""


class Features:
    """The term of finite features, scaled monomials.

    Parameters
    ----------
    X : ndarray (n, d)
    powers : ndarray (D, d)
        Exponents of the monomials.
    scales : ndarray (D,)
    order : int
        m.
    """

    def __init__(self, X: Array, powers: Array, scales: Array, order: int) -> None:
        self.powers, self.scales, self.order, self.n = powers, scales, order, len(X)
        self.Phi = monomials(X, powers, scales)

    def coefficients(self, u: Array) -> Array:
        """w (D,)."""
        return np.asarray((self.Phi.T @ u / self.n) ** (self.order - 1))

    def value_and_slope(self, u: Array) -> tuple[float, Array]:
        """The term and its gradient at u (n,)."""
        z = self.Phi.T @ u / self.n
        w = z ** (self.order - 1)
        return float(w @ z) / self.order, self.Phi @ w / self.n


class Products:
    """The term of the exponential kernel, from its values at products of rows.

    Σ_k z_k^m = n^−m Σ_pq c_p c_q κ(P_p · P_q), where p goes over the multisets of m/2 rows, P_p is the product of their
    rows entry by entry, and c_p the product of their u times the number of orders they have.

    Parameters
    ----------
    X : ndarray (n, d)
    order : int
        m.
    """

    def __init__(self, X: Array, order: int) -> None:
        self.order, self.n = order, len(X)
        self.members, self.orders = multisets(self.n, order // 2)
        self.gram = ExponentialProduct(width=1.0).gram(X[self.members].prod(axis=1))

    def value_and_slope(self, u: Array) -> tuple[float, Array]:
        """The term and its gradient at u (n,)."""
        chosen = u[self.members]
        c = self.orders * chosen.prod(axis=1)
        image = self.gram @ c
        slope = np.zeros(self.n)
        for place in range(chosen.shape[1]):
            others = np.delete(chosen, place, axis=1).prod(axis=1)
            np.add.at(slope, self.members[:, place], self.orders * others * image)
        share = float(self.n) ** -self.order
        return share * float(c @ image) / self.order, 2 * share / self.order * slope


def exponential_at(X: Array, rows: Array, u: Array, order: int) -> Array:
    """f₀(x) of new rows X under the exponential kernel, for the fitted ``rows`` and their u.

    f₀(x) = n^−(m−1) Σ_pq c_p c_q κ(P_p · (Q_q x)), where q goes over the multisets of m/2 − 1 rows.
    """
    n, d = rows.shape
    members, orders = multisets(n, order // 2)
    points, c = rows[members].prod(axis=1), orders * u[members].prod(axis=1)
    members, orders = multisets(n, order // 2 - 1)
    parts, weights = rows[members].prod(axis=1), orders * u[members].prod(axis=1)
    kernel = ExponentialProduct(width=1.0)
    out = np.empty(len(X))
    for some in tiles.slices(len(X), max(1, 2**20 // max(1, len(parts) * d))):
        products = (X[some][:, None] * parts).reshape(-1, d)
        out[some] = kernel.product(products, points, c).reshape(-1, len(parts)) @ weights
    return out * float(n) ** (1 - order)


def n_multisets(n: int, size: int) -> int:
    """In how many ways ``size`` of n things can be chosen, if things may come again."""
    return comb(n + size - 1, size)


def multisets(n: int, size: int) -> tuple[Array, Array]:
    """All choices of ``size`` of n things, things may come again: (count, size), and in how many orders each."""
    members = np.array(list(combinations_with_replacement(range(n), size)), np.intp)
    members = members.reshape(n_multisets(n, size), size)
    orders = np.full(len(members), float(factorial(size)))
    run = np.ones(len(members))  # length of the run of equal members that ends here
    for place in range(1, size):
        run = np.where(members[:, place] == members[:, place - 1], run + 1, 1)
        orders /= run
    return members, orders


def monomial_scales(powers: Array, degree: int, offset: float, order: int) -> Array:
    """Coefficients of the features of (offset + Σ_j x_1j ⋯ x_mj)^degree: the m-th roots of the multinomial ones."""
    total = powers.sum(axis=1)
    shared = np.prod(_FACTORIALS[powers], axis=1) * _FACTORIALS[degree - total]
    return np.asarray((_FACTORIALS[degree] / shared * offset ** (degree - total)) ** (1 / order))


def monomials(X: Array, powers: Array, scales: Array) -> Array:
    """Scaled monomials (n, D) of rows (n, d)."""
    out = np.ones((len(X), len(powers)))
    for j in range(X.shape[1]):  # columns, of which there are few
        out *= X[:, [j]] ** powers[:, j]
    return np.asarray(out * scales)


@dataclass(frozen=True)
class Loss:
    """A loss L times γ, and what the dual needs of its conjugate: (curvature/2) u² + slack |u| for |u| <= most.

    Parameters
    ----------
    kind : {"squared", "epsilon_insensitive", "huber"}
    gamma : float
    epsilon : float
    """

    kind: str
    gamma: float
    epsilon: float

    @property
    def curvature(self) -> float:
        return 0.0 if self.kind == "epsilon_insensitive" else 1 / self.gamma

    @property
    def slack(self) -> float:
        return self.epsilon if self.kind == "epsilon_insensitive" else 0.0

    @property
    def most(self) -> float | None:
        return {"squared": None, "epsilon_insensitive": self.gamma, "huber": self.gamma * self.epsilon}[self.kind]

    def __call__(self, errors: Array) -> Array:
        """γ L(e) of each error."""
        size = np.abs(errors)
        if self.kind == "epsilon_insensitive":
            return self.gamma * np.maximum(size - self.epsilon, 0)
        if self.kind == "squared":
            return self.gamma * errors**2 / 2
        straight = self.epsilon * size - self.epsilon**2 / 2
        return np.asarray(self.gamma * np.where(size <= self.epsilon, errors**2 / 2, straight))


def solve_dual(term: Term, y: Array, loss: Loss, max_iter: int) -> tuple[Array, float, float, int]:
    """u (n,), the intercept, the duality gap and the number of steps.

    The squared loss has no bounds, so that the constraint is kept by centring; the others go through augmented
    Lagrangians of bounded problems.
    """
    smooth = loss.most is None
    u, b, n_iter = _centred(term, y, loss, max_iter) if smooth else _bounded(term, y, loss, max_iter)
    value, slope = term.value_and_slope(u)
    fitted = slope * term.n
    if smooth:
        b = float(np.mean(y - fitted - u / loss.gamma))
    dual = value + float(np.mean(loss.curvature * u**2 / 2 + loss.slack * np.abs(u) - u * y))
    # (1/r) Σ |w|^r with |w_k|^r = z_k^m, and 1/r = (m − 1)/m.
    primal = (term.order - 1) * value + float(np.mean(loss(y - fitted - b)))
    return u, b, primal + dual, n_iter


def _centred(term: Term, y: Array, loss: Loss, max_iter: int) -> tuple[Array, float, int]:
    def objective(v: Array) -> tuple[float, Array]:
        u = v - v.mean()
        value, slope = term.value_and_slope(u)
        slope = slope + (loss.curvature * u - y) / term.n
        return value + float(np.mean(loss.curvature * u**2 / 2 - u * y)), slope - slope.mean()

    found = minimize(objective, np.zeros(term.n), jac=True, method="L-BFGS-B", options=_options(max_iter))
    return found.x - found.x.mean(), 0.0, int(found.nit)


def _bounded(term: Term, y: Array, loss: Loss, max_iter: int) -> tuple[Array, float, int]:
    """u = p − q with 0 <= p, q <= most; multiplier b and weight of Σ u / n, updated until the sum vanishes."""
    n, b, weight, steps = term.n, 0.0, 1.0, 0
    parts = np.zeros(2 * n)

    def objective(parts: Array) -> tuple[float, Array]:
        p, q = parts[:n], parts[n:]
        u = p - q
        value, slope = term.value_and_slope(u)
        off = float(u.mean())
        value += float(np.mean(loss.curvature * (p**2 + q**2) / 2 + loss.slack * (p + q) - u * y))
        value += b * off + weight * off**2 / 2
        slope = slope + (b + weight * off - y) / n
        beside = loss.slack / n
        return value, np.r_[slope + loss.curvature * p / n + beside, -slope + loss.curvature * q / n + beside]

    for _ in range(_OUTER):
        found = minimize(
            objective, parts, jac=True, method="L-BFGS-B", bounds=[(0, loss.most)] * (2 * n),
            options=_options(max_iter - steps),
        )  # fmt: skip
        before, parts = abs(float(np.mean(parts[:n] - parts[n:]))), found.x
        steps += int(found.nit)
        off = float(np.mean(parts[:n] - parts[n:]))
        b += weight * off
        if abs(off) < 1e-10 * max(1.0, float(np.abs(parts).max(initial=0.0))) or steps >= max_iter:
            break
        if abs(off) > before / 4:
            weight *= 4
    return parts[:n] - parts[n:], b, steps


def _options(max_iter: int) -> dict[str, Any]:
    steps = max(1, max_iter)
    return {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-12, "maxls": 50}
