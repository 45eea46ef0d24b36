"""The reservoir without a reservoir: recent inputs and their products, the baseline of every echo state network."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.checks import whole
from gramian.configuration import require_memory
from gramian.reservoir.reservoir import Course, StateTransformer
from gramian.typing import Array


class NextGenerationReservoir(StateTransformer):
    """Lagged inputs and their products as features, in place of a random reservoir (NG-RC).

    The state of step t is made of l = (u[t], u[t − s], ..., u[t − (k − 1) s]) and the distinct products of 2, ...,
    ``degree`` of its entries. Nothing is random; what came before the first step counts as zero.

    Parameters
    ----------
    lags : int, default 10
        k: how many steps are seen, the present one among them.
    stride : int, default 1
        s: steps from one seen step to the one before.
    degree : int, default 2
        Of the products; 1 gives the lags alone, a linear autoregression.
    washout : int, optional
        Steps at the start of a sequence that networks do not learn from; (k − 1) s by default, or all but one.

    Attributes
    ----------
    n_states_ : int
        Length of a state.

    Notes
    -----
    Bring columns to mean 0 and deviation 1 first, as :class:`gramian.EchoStateNetwork` does, or products differ by
    orders of magnitude. On the laser series of the Santa Fe competition, 20 lags and products of degree 2 had errors
    of .113, .271 and .385 of a deviation 1, 5 and 10 steps ahead, against .047, .250 and .337 of 500 random units.

    References
    ----------
    D. J. Gauthier, E. Bollt, A. Griffith, W. A. S. Barbosa, "Next generation reservoir computing", Nature
    Communications 12, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.reservoir import EchoStateNetwork, NextGenerationReservoir
    >>> NextGenerationReservoir(2).fit_transform([[1.0], [2.0], [3.0]])
    array([[1., 0., 1., 0., 0.],
           [2., 1., 4., 2., 1.],
           [3., 2., 9., 6., 4.]])

    With the readout of an echo state network it learns the Hénon map from its own past:

    >>> x = np.zeros(500)
    >>> for t in range(2, 500):
    ...     x[t] = 1 - 1.4 * x[t - 1] ** 2 + 0.3 * x[t - 2]
    >>> network = EchoStateNetwork(reservoir=NextGenerationReservoir(2)).fit(x[:400, None], x[1:401])
    >>> bool(network.score(x[400:-1, None], x[401:]) > 0.999999)
    True
    """

    def __init__(self, lags: int = 10, *, stride: int = 1, degree: int = 2, washout: int | None = None) -> None:
        self.lags = lags
        self.stride = stride
        self.degree = degree
        self.washout = washout

    def washout_of(self, length: int) -> int:
        """Steps at the start of a sequence of this length that see less than all lags."""
        if self.washout is None:
            return max(min((self.lags - 1) * self.stride, length - 1), 0)
        return super().washout_of(length)

    def start(self, state: Array | None = None, *, n_steps: int = 1, rng: np.random.Generator | None = None) -> Course:
        """Begin a run; ``state`` are the (k − 1) s inputs before it. The others are for reservoirs that compute."""
        check_is_fitted(self)
        return _LagCourse(self, state)

    def _prepare(self, n_inputs: int, n_outputs: int) -> dict[str, Any]:
        lags, _, degree = (whole(getattr(self, name), name) for name in ("lags", "stride", "degree"))
        if self.washout is not None:
            super().washout_of(0)
        m, count = lags * n_inputs, 1.0
        for power in range(1, degree + 1):
            count *= (m + power) / power
            require_memory(
                8.0 * 1024 * count, f"a block of states with {count:.3g} entries", "pass fewer lags or a smaller degree"
            )
        products = [np.array(list(combinations_with_replacement(range(m), p)), np.intp).T for p in range(1, degree + 1)]
        return {"n_states_": sum(p.shape[1] for p in products), "_products": products, "_n_inputs": n_inputs}


class _LagCourse:
    """A run through lagged inputs; see :class:`gramian.reservoir.reservoir.Course`."""

    def __init__(self, reservoir: NextGenerationReservoir, state: Array | None) -> None:
        self._lags, self._stride, self._products = reservoir.lags, reservoir.stride, reservoir._products
        shape = ((self._lags - 1) * self._stride, reservoir._n_inputs)
        self.state = np.zeros(shape) if state is None else np.array(state, np.float64)

    def advance(self, U: Array, feedback: Array | None = None) -> Array:
        memory = len(self.state)
        known = np.vstack([self.state, U])
        lagged = np.hstack([known[memory - j * self._stride :][: len(U)] for j in range(self._lags)])
        self.state = known[len(known) - memory :].copy()
        states = lagged
        with np.errstate(over="ignore", invalid="ignore"):
            for columns in self._products[1:]:
                product = lagged[:, columns[0]]
                for factor in columns[1:]:
                    product = product * lagged[:, factor]
                states = np.hstack([states, product])
        if not np.isfinite(states).all():
            raise ValueError("products of lagged rows of X overflow; scale the columns of X, or pass degree=1")
        return states
