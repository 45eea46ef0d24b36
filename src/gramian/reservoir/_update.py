"""The sequential part of a reservoir: h ← (1 − a) h + a tanh(W h + drive), step after step.

Everything that does not depend on the state before is added to the drives beforehand, for many steps at once. NumPy
and SciPy take the steps of most runs; very long runs of sparse reservoirs go through numba where it is installed. Both
paths give the same numbers to 1e-12 where the reservoir forgets; where it does not, rounding grows with the steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
from scipy.sparse import issparse

from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix

try:
    from scipy.sparse._sparsetools import csr_matvec
except ImportError:  # SciPy has moved it
    csr_matvec = None

_COMPILE_WORK = 200_000_000  # unit updates from which loading numba, half a second and 100 MB, is made up for
_COMPILED_WORK = 3_000_000  # the same where numba is loaded already
_STRIP = 64  # steps that stay in the cache from their drives to their states


@cache
def compiled() -> ModuleType | None:
    """The compiled loop, or None where numba is not installed."""
    try:
        from gramian.reservoir import _compiled
    except ImportError:
        return None
    return _compiled


class Recurrence:
    """The step from one state to the next.

    Parameters
    ----------
    W : CSR array or ndarray (n, n)
        Recurrent weights.
    leak : float
        a in (0, 1].
    n_steps : int
        How many steps are expected; decides whether they are worth compiling for.

    Notes
    -----
    The compiled loop takes three fifths of the time of the other one and holds no lock, so that networks in several
    threads run at the same time. Import numba before, and runs of three million unit updates go through it.
    """

    def __init__(self, W: Matrix, leak: float, n_steps: int) -> None:
        self.leak = leak
        least = _COMPILED_WORK if "numba" in sys.modules else _COMPILE_WORK
        worth = issparse(W) and n_steps * W.shape[0] >= least
        self._loops = compiled() if worth else None
        if self._loops is not None:
            self._connections = W.data, W.indices.astype(np.uint32), W.indptr[1:].astype(np.uint32)
        else:
            self._add_product = _adder(W * -4.0)
            self._shift = 2.0 * (W @ np.ones(W.shape[0]))

    def advance(self, states: Array, state: Array) -> None:
        """Turn the rows of ``states``, which hold the drives of successive steps, into states, in place.

        Parameters
        ----------
        states : ndarray (T, n), C-contiguous float64
        state : ndarray (n,)
            Before the first step; not changed.
        """
        if self._loops is not None:
            self._loops.advance(*self._connections, states, state, self.leak)
            return
        if not state.any():  # at rest the state is exactly zero, and rounding would wake a reservoir that is not stable
            moving = states.any(axis=1)
            states = states[int(moving.argmax()) if moving.any() else len(states) :]
        # With h = 1 − 2z, tanh(W h + drive) is 1 − 2 / (1 + exp(2 drive + 2 W 1 − 4 W z)): a step has three passes.
        z = (1.0 - state) / 2
        for part in slices(len(states), _STRIP):
            rows = states[part]
            rows *= 2.0
            rows += self._shift
            z = self._steps(rows, z).copy()
            rows *= -2.0
            rows += 1.0

    def _steps(self, rows: Array, z: Array) -> Array:
        """The steps in terms of z = (1 − h) / 2, in place; the last z."""
        add_product, kept = self._add_product, 1.0 - self.leak
        # exp may overflow to infinity, and then tanh is 1, as it should be.
        with np.errstate(over="ignore"):
            for row in rows:
                add_product(z, row)
                np.exp(row, row)
                np.add(row, 1.0, row)
                np.reciprocal(row, row)
                if kept:
                    row *= self.leak
                    row += kept * z
                z = row
        return z


def _adder(W: Matrix) -> Callable[[Array, Array], None]:
    """A function (z, row) that adds W z to the row, in place."""

    def add_product(z: Array, row: Array) -> None:
        row += W @ z

    if not issparse(W) or csr_matvec is None:
        return add_product
    n, (indptr, indices, weights) = W.shape[0], (W.indptr, W.indices, W.data)

    def add_sparse_product(z: Array, row: Array) -> None:
        csr_matvec(n, n, indptr, indices, weights, z, row)  # what @ calls, after checks that take as long

    return add_sparse_product
