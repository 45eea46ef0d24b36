"""The layer between reservoir and readout: principal components from sums, kernel PCA, or any transformer.

PCA needs no states in memory: its directions come from the sums of the readout, into which they are folded back. The
others are fitted on states that the network hands them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag
from sklearn.base import clone

from gramian.checks import is_real, is_whole
from gramian.embedding import KernelPCA
from gramian.kernels import RBF
from gramian.landmarks import NormalEquations
from gramian.reservoir.readouts import principal_directions
from gramian.typing import Array

NAMES = (None, "pca", "kpca")
MOST_KERNEL_STATES = 5000  # states that a kernel PCA is fitted on, evenly spread over time


def check_reduction(reduction: Any, n_components: Any) -> None:
    """Refuse what is no reduction, and numbers of components that have no meaning."""
    known = reduction is None or (isinstance(reduction, str) and reduction in NAMES)
    if not known and (
        isinstance(reduction, (str, type)) or not (hasattr(reduction, "fit") and hasattr(reduction, "transform"))
    ):
        raise ValueError(f"reduction={reduction!r} is not known; pass None, 'pca', 'kpca' or a transformer")
    if n_components is None:
        return
    share = is_real(n_components) and not is_whole(n_components) and 0 < n_components <= 1
    if not share and not (is_whole(n_components) and n_components >= 1):
        raise ValueError(
            f"n_components={n_components!r} must be a whole number >= 1, a share of the units in (0, 1], or None"
        )


def count_components(reduction: str, n_components: Any, n_states: int, n_rows: int) -> int:
    """How many components to keep: a quarter of the states by default.

    Parameters
    ----------
    reduction : {"pca", "kpca"}
    n_components : int, float or None
        As :func:`check_reduction` lets it pass.
    n_states, n_rows : int
        Length of a state, and how many there are to learn from.
    """
    most = n_rows if reduction == "kpca" else min(n_rows, n_states)
    if n_components is None:
        return min(-(-n_states // 4), most)
    count = int(n_components) if is_whole(n_components) else int(np.ceil(n_components * n_states))
    if count > most:
        limit = f"the {n_rows} steps" if most == n_rows else f"the {n_states} units"
        raise ValueError(f"n_components={n_components} is more than {limit}; pass n_components <= {most}")
    return count


def new_reduction(reduction: Any, n_components: int | None) -> Any:
    """An unfitted transformer of states: kernel PCA with an RBF of median width, or a clone of the given one."""
    return KernelPCA(n_components, kernel=RBF("median")) if reduction == "kpca" else clone(reduction)


class StateProjection:
    """From sums to the matrix that projects the states, but not the inputs beside them, on principal components.

    Parameters
    ----------
    n_states : int
        Leading columns that are states.
    n_components : int
    """

    def __init__(self, n_states: int, n_components: int) -> None:
        self.n_states = n_states
        self.n_components = n_components

    def __call__(self, sums: NormalEquations) -> Array:
        n = self.n_states
        directions, _ = principal_directions(sums.feature_products[:n, :n], self.n_components)
        return block_diag(directions, np.eye(len(sums.feature_products) - n))


class PrincipalStates:
    """Principal components of the states, from sums.

    Parameters
    ----------
    sums : NormalEquations
        Whose leading columns are the states.
    n_states, n_components : int

    Attributes
    ----------
    mean : ndarray (N,)
    components : ndarray (N, d)
    explained_variance_ratio : ndarray (d,)
    """

    def __init__(self, sums: NormalEquations, n_states: int, n_components: int) -> None:
        covariance = sums.feature_products[:n_states, :n_states]
        self.mean = sums.feature_mean[:n_states].copy()
        self.components, variances = principal_directions(covariance, n_components)
        self.explained_variance_ratio = np.maximum(variances, 0) / max(float(np.trace(covariance)), 1e-300)

    def transform(self, H: Array) -> Array:
        """Scores (T, d) of states (T, N)."""
        return (H - self.mean) @ self.components
