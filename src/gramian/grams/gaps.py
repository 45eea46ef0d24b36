"""Where the leading eigenvalues of a random walk fall off, which tells how many clusters it sees."""

from __future__ import annotations

import numpy as np

from gramian.typing import Array


def relative_gap(values: Array, *, graph: bool) -> int:
    """The k >= 2 of largest (λ_k − λ_{k+1}) / (1 − λ_{k+1})^p among falling eigenvalues of D^-½ K D^-½.

    The plain gap would take the fine structure of a long cluster for clusters; p = 0.9 on a graph, which has much of
    it, and 0.5 under a kernel.

    Parameters
    ----------
    values : ndarray (m,)
        At least three; k is at most m − 1.
    graph : bool
        Whether K has a zero diagonal.
    """
    if values[-1] > 1 - 1e-8:  # at least as many separate components as clusters considered
        return len(values) - 1
    below = np.maximum(1 - values[2:].astype(np.float64), 1e-9)
    return 2 + int(np.argmax((values[1:-1] - values[2:]) / below ** (0.9 if graph else 0.5)))
