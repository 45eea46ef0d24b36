"""The sequential part of a reservoir: h ← (1 − a) h + a tanh(W h + drive), step after step.

Everything that does not depend on the state before is added to the drives beforehand, for many steps at once. Long
runs of sparse reservoirs go through numba where it is installed; both paths give the same numbers to 1e-12.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
from scipy.sparse import csr_array, issparse

from gramian.typing import Array, Matrix

_COMPILE_WORK = 3_000_000  # unit updates from which loading numba, half a second, is made up for


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
    """

    def __init__(self, W: Matrix, leak: float, n_steps: int) -> None:
        self.leak = leak
        worth = issparse(W) and n_steps * W.shape[0] >= _COMPILE_WORK
        self._loops = compiled() if worth else None
        if self._loops is not None:
            self._weights, self._sources = _padded(W)
        else:
            self._doubled = W * 2.0

    def advance(self, states: Array, state: Array) -> None:
        """Turn the rows of ``states``, which hold the drives of successive steps, into states, in place.

        Parameters
        ----------
        states : ndarray (T, n), C-contiguous float64
        state : ndarray (n,)
            Before the first step; not changed.
        """
        if self._loops is not None:
            self._loops.advance(self._weights, self._sources, states, state, self.leak)
            return
        states *= 2.0
        kept = 1.0 - self.leak
        # exp may overflow to infinity, and then tanh is 1, as it should be.
        with np.errstate(over="ignore"):
            for row in states:
                row += self._doubled @ state
                # tanh x = 1 − 2 / (e^{2x} + 1): NumPy's exp takes half the time of its tanh.
                np.exp(row, out=row)
                row += 1.0
                np.divide(-2.0, row, out=row)
                row += 1.0
                if kept:
                    row *= self.leak
                    row += kept * state
                state = row


def _padded(W: csr_array) -> tuple[Array, Array]:
    """Weights and sources (k, n) of the connections of each unit; units with fewer have zeros to fill up."""
    n = W.shape[0]
    degrees = np.diff(W.indptr)
    k = int(degrees.max(initial=1))
    place = np.arange(W.nnz) - np.repeat(W.indptr[:-1], degrees)
    unit = np.repeat(np.arange(n), degrees)
    weights, sources = np.zeros((k, n)), np.zeros((k, n), np.uint32)
    weights[place, unit] = W.data
    sources[place, unit] = W.indices
    return weights, sources
