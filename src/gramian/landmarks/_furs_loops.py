"""The selection of FURS as one loop over nodes and edges, compiled by numba when it is first used.

:mod:`gramian.landmarks.furs` calls it, and does the same with arrays where numba is not installed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramian.typing import Array


@njit(nogil=True, cache=True)
def select(indptr: Array, indices: Array, order: Array, state: Array, n_select: int) -> Array:
    """Nodes in the order in which they are selected, at most ``n_select``.

    ``order`` are the candidates, best first; ``state`` (n,) is 1 for them and 0 for all others, and is written.
    A node passed over in a round has a neighbour that was selected in it, so all rounds together look at each edge
    a bounded number of times.
    """
    selected = np.empty(min(n_select, len(order)), np.int64)
    count = 0
    waiting = order.copy()
    length = len(waiting)
    while length > 0:
        left = 0
        for position in range(length):
            i = waiting[position]
            if state[i] == 2:  # a neighbour was selected in this round
                waiting[left] = i
                left += 1
                continue
            selected[count] = i
            count += 1
            if count == len(selected):
                return selected
            state[i] = 0
            for entry in range(indptr[i], indptr[i + 1]):
                j = indices[entry]
                if state[j] == 1:
                    state[j] = 2
        length = left
        for position in range(length):
            state[waiting[position]] = 1
    return selected[:count]
