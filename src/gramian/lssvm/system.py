"""The linear system of every least-squares machine, with its intercept eliminated.

Uses the Gram's own factorization and nothing else, so a kernel with features is solved in their number, a matrix that
fits by Cholesky or LDL, and everything else by conjugate gradients. Regression, classification, robust weights and
intervals all solve this one system.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgWarning

from gramian.grams.base import Gram
from gramian.typing import Array, RandomState

_MANY = 2000  # rows from which half the time of an inverse is worth having
_ENOUGH = 1e-6  # relative error of the diagonal of their inverse
NEAR_SINGULAR = {8: 1e-12, 4: 1e-6}  # reciprocal condition by the bytes of a number, below which few digits are left


class BorderedSystem:
    """[0 1ᵀ; 1 H] [b; α] = [0; Y] with H = K + diag(1 / (γ v)).

    With η = H⁻¹ 1 and s = 1ᵀ η the solution is b = ηᵀ Y / s, α = H⁻¹ Y − η b; no (n+1)×(n+1) matrix is formed.

    Parameters
    ----------
    gram : Gram
        K, definite or not.
    regularization : float
        γ, how much errors count against the size of the function.
    weights : ndarray (n,), optional
        v > 0; None is 1 everywhere.
    method : str
        Of :meth:`Gram.factorization`.
    consume : bool
        Let the factor take the place of the Gram's matrix.
    inverse : bool
        Whether :attr:`inverse_diagonal` will be asked for; where it will not, the factor may be a cheaper one.
    """

    def __init__(
        self,
        gram: Gram,
        regularization: float,
        weights: Array | None = None,
        *,
        method: str = "auto",
        consume: bool = False,
        random_state: RandomState = 0,
        inverse: bool = True,
    ) -> None:
        self.regularization = regularization
        n = gram.shape[0]
        self.noise = np.full(n, 1 / regularization) if weights is None else 1 / (regularization * weights)
        with _own_words():
            self.factorization = gram.factorization(
                self.noise, method, random_state=random_state, consume=consume, inverse=inverse
            )
        self.dtype = gram.dtype

    def solve(self, Y: Array, sums: float = 0.0) -> tuple[Array, Array]:
        """Coefficients α (n, q) and intercepts b (q,) for targets Y (n, q); the coefficients add up to ``sums``."""
        n = len(Y)
        targets = np.column_stack([np.ones(n, self.dtype), Y.astype(self.dtype, copy=False)])
        with _own_words():
            solved = self.factorization.solve(targets)
        self.eta = solved[:, 0]
        intercept = (self.eta @ Y - sums) / self.total
        return solved[:, 1:] - self.eta[:, None] * intercept, intercept

    @cached_property
    def eta(self) -> Array:
        """H⁻¹ 1."""
        return self.factorization.solve(np.ones(self.factorization.gram.shape[0], self.dtype))

    @property
    def total(self) -> Array:
        """s = 1ᵀ H⁻¹ 1."""
        return self.eta.sum(dtype=np.float64).astype(self.dtype)

    @cached_property
    def inverse_diagonal(self) -> Array:
        """(A⁻¹)_ii of the bordered matrix A at the rows of the samples: (H⁻¹)_ii − η_i² / s.

        Of many rows with relative errors of up to a millionth. Where rows have weights, their noise 1/(γ v) is taken
        from 1 / (A⁻¹)_ii, and of the noisiest rows too few digits would be left for the others.
        """
        many = len(self.noise) >= _MANY and self.noise.min() == self.noise.max()
        return self.factorization.inverse_diagonal(_ENOUGH if many else 0.0) - self.eta**2 / self.total

    def remaining_variance(self, block: Array, diagonal: Array) -> Array:
        """What is still unknown of f at new rows, in units of the kernel: the posterior variance with a flat intercept.

        Parameters
        ----------
        block : ndarray (n, b)
            k(x_i, x) between the fitted rows and b new ones.
        diagonal : ndarray (b,)
            k(x, x).
        """
        missed = 1 - self.eta @ block
        return diagonal - self.factorization.quadratic(block) + missed**2 / self.total

    def near_singular(self, definite: bool) -> bool:
        """Whether so few digits are left that the coefficients mean little.

        With a definite kernel only a very large γ does this, and the fit then still follows the targets.
        """
        limit = float(np.finfo(self.dtype).eps) if definite else NEAR_SINGULAR[np.dtype(self.dtype).itemsize]
        eta = self.eta.astype(np.float64)
        cancelled = abs(float(eta.sum())) < limit * float(np.abs(eta).sum())
        return cancelled or (self.factorization.method != "cg" and self.factorization.worse_than(limit))


@contextmanager
def _own_words() -> Iterator[None]:
    """Without the warning of a singular matrix, which :meth:`BorderedSystem.near_singular` says in the machine's words.

    A solution may be what asks for a factor, where one in single precision does not do.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        yield


def left_out(
    coefficients: Array,
    inverse_diagonal: Array,
    noise: Array,
    counts: Array | None,
) -> Array:
    """Residuals y_i − f^(−i)(x_i) of every row when it is left out, without a refit.

    Leaving the whole row out gives r_i = α_i / (A⁻¹)_ii. A row that stands for c copies loses one of them: the other
    c − 1 pull f^(−i)(x_i) towards y_i by the share that a row of that weight has, r_i d / (d + p) with p =
    1 / (A⁻¹)_ii − noise_i the variance that the other rows leave and d = noise_i c / (c − 1) the noise of c − 1 copies.

    Parameters
    ----------
    coefficients : ndarray (n, q) or (n, g, q)
        α.
    inverse_diagonal : ndarray (n,) or (n, g)
        (A⁻¹)_ii.
    noise : ndarray (n,) or (n, g)
        1 / (γ v_i).
    counts : ndarray (n,), optional
        How many rows each stands for; None is one.

    Returns
    -------
    residuals : ndarray, shape of coefficients
        NaN where there is no other row.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # of a single row nothing is left
        residuals = coefficients / inverse_diagonal[..., None]
        if counts is None:
            return residuals
        others = _others(counts, noise)
        return residuals / (1 + (1 / inverse_diagonal - noise) * others / noise)[..., None]


def left_out_variance(inverse_diagonal: Array, noise: Array, counts: Array | None) -> Array:
    """What is unknown of f at every row when it, or one copy of it, is left out, in units of the kernel.

    The whole row out leaves p = 1 / (A⁻¹)_ii − noise_i, and the other copies p d / (d + p) of that, as in
    :func:`left_out`. With an indefinite kernel it may be negative, and is 0 then.
    """
    with np.errstate(divide="ignore"):  # a single row leaves everything unknown
        remaining = 1 / inverse_diagonal - noise
        if counts is not None:
            remaining = 1 / (1 / remaining + _others(counts, noise) / noise)
    return np.maximum(remaining, 0)


def _others(counts: Array, noise: Array) -> Array:
    """(c − 1) / c, in the shape of the noise."""
    share: Array = np.maximum(counts - 1, 0) / counts
    return share.reshape(len(counts), *([1] * (noise.ndim - 1)))
