"""What KernelNet maximises: the dependence between a random walk on embedded rows and an orthonormal target.

With K the Gaussian kernel of the embedded rows, D its degrees and H = I − 11ᵀ/n, the operator is
L = H D^-½ K D^-½ H and the objective tr(Uᵀ L U), at most the number of columns of U.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from gramian.checks import real, reals, whole
from gramian.grams import Gram
from gramian.kernels import RBF
from gramian.randomness import generator
from gramian.typing import Array, RandomState

FRACTIONS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
LEAST_DEGREE = 1e-8


class Walk(NamedTuple):
    """L as an operator, and the degrees of the rows."""

    operator: Gram
    degrees: Array

    def leading(self, size: int) -> tuple[Array, Array]:
        """The leading eigenvalues and eigenvectors of L."""
        return self.operator.eigenpairs(size)

    def value(self, U: Array) -> float:
        """tr(Uᵀ L U)."""
        return float(np.sum(U * (self.operator @ U)))

    def targets(self, U: Array) -> Array:
        """B = D^-½ H U, so that the objective is Σ_ij (B Bᵀ)_ij K_ij."""
        return (U - U.mean(axis=0)) / np.sqrt(np.maximum(self.degrees, 1e-12))[:, None]


def walk(Z: Array, width: float, *, zero_diagonal: bool = True) -> Walk:
    """The centred normalised kernel of embedded rows.

    Parameters
    ----------
    Z : ndarray (n, d)
    width : float
        Of the Gaussian kernel.
    zero_diagonal : bool
        Leave the similarity of a row with itself out, which keeps small widths from making every row its own cluster.
    """
    gram = RBF(width).gram(Z)
    if zero_diagonal:
        gram = gram.with_diagonal(0.0)
    return Walk(gram.normalized().centered(), np.asarray(gram.degrees()))


def pair_dependence(Z: Any, B: Any, width: float) -> Any:
    """Σ_{i≠j} (B Bᵀ)_ij exp(−‖z_i − z_j‖² / (2 width²)) for tensors Z (b, d) and B (b, c)."""
    inner = Z @ Z.T
    squares = inner.diagonal()
    squared = (squares[:, None] + squares[None, :] - 2 * inner).clamp_min(0)
    K = torch.exp(squared / (-2 * width**2))
    # The products of a row with itself are constant and say nothing of the embedding.
    return torch.sum((B @ B.T) * K) - torch.sum(B * B)


def sample_factor(n_rows: int, n_batch: int) -> float:
    """What makes a sum over the pairs of a random batch an unbiased estimate of the sum over all pairs."""
    return n_rows * (n_rows - 1) / (n_batch * (n_batch - 1))


def one_hot(labels: Array, n_clusters: int) -> Array:
    """Indicators of labels, one column per cluster."""
    return np.eye(n_clusters)[labels]


def select_subset_size(
    X: Any,
    n_clusters: int,
    *,
    width: float | str = "median",
    fractions: Any = FRACTIONS,
    tol: float = 0.05,
    max_samples: int = 4000,
    random_state: RandomState = None,
) -> int:
    """How many rows of a table are enough to train on, judged by their spectrum.

    The leading ``n_clusters + 5`` eigenvalues of the centred normalised kernel of a random subset, with the width of
    the whole table, are compared with those of the largest subset; the smallest fraction whose eigenvalues differ by
    at most ``tol`` is enough.

    Parameters
    ----------
    X : array-like (n, d)
    n_clusters : int
    width : float or str, default "median"
        Of the Gaussian kernel, see :func:`gramian.kernels.resolve_width`.
    fractions : sequence of float
        Tried in growing order.
    tol : float, default 0.05
        Largest difference of two eigenvalues.
    max_samples : int, default 4000
        Rows of the largest subset.
    random_state : int, Generator, RandomState or None, default None

    Returns
    -------
    size : int

    Examples
    --------
    >>> from gramian.datasets import make_spirals
    >>> from gramian.deep import select_subset_size
    >>> X, _ = make_spirals(1000, random_state=0)
    >>> select_subset_size(X, 3, width="median10", random_state=0) < 1000
    True
    """
    from sklearn.utils import check_array

    rows = check_array(X, dtype=np.float64, ensure_min_samples=2)
    size = whole(n_clusters, "n_clusters", most=len(rows)) + 5
    parts = np.sort(reals(fractions, "fractions", (len(fractions),), above=0) * np.ones(len(fractions)))
    real(tol, "tol", above=0)
    scale = RBF(width).fit(rows).width_
    order = generator(random_state).permutation(len(rows))[: whole(max_samples, "max_samples", least=2)]
    least = min(2 * size, len(order))
    wanted = _spectrum(rows[order], scale, size)
    for part in parts:
        count = min(max(round(part * len(rows)), least), len(order))
        found = _spectrum(rows[order[:count]], scale, size)
        if np.abs(found - wanted).max() <= tol:
            return count
    return len(order)


def _spectrum(rows: Array, width: float, size: int) -> Array:
    count = min(size, len(rows))
    values = np.zeros(size)
    values[:count] = walk(rows, width).leading(count)[0]
    return values
