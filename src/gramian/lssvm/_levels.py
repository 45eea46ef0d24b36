"""Kernel PCA in several levels: the hidden features of one level are the samples of the next.

max Σ_l (1/η_l) tr(H_lᵀ K_l H_l) with H_lᵀ H_l = I, where K_1 is the centred Gram of the data and K_l that of the rows
of H_(l−1). It starts from one kernel PCA after the other and climbs on the Stiefel manifold; the last level is solved
exactly after every step. All that is asked of a Gram is products and eigenpairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.grams import Gram
from gramian.kernels import Kernel, ProfileKernel
from gramian.typing import Array

_LEAST_STEP = 1e-12
_ARMIJO = 1e-4  # of the promised rise is enough


@dataclass(frozen=True)
class Level:
    """One kernel PCA.

    Attributes
    ----------
    kernel : Kernel
        Fitted on the samples of the level.
    eta : float
    gram : Gram
        The centred Gram of its samples.
    hidden : ndarray (n, s)
        H, orthonormal columns.
    """

    kernel: Kernel
    eta: float
    gram: Gram
    hidden: Array

    @property
    def energy(self) -> float:
        """(1/η) tr(Hᵀ K H)."""
        return float((self.hidden * (self.gram @ self.hidden)).sum()) / self.eta


def greedy(X: Any, kernels: Sequence[Kernel], etas: Sequence[float], sizes: Sequence[int]) -> list[Level]:
    """One kernel PCA after the other, each on the hidden features of the one before."""
    levels: list[Level] = []
    rows = X
    for kernel, eta, size in zip(kernels, etas, sizes, strict=True):
        kernel._fitted(rows)
        if levels:
            _check_upper(kernel)
        levels.append(_solved(kernel, eta, rows, size))
        rows = levels[-1].hidden
    return levels


def ascend(levels: list[Level], max_iter: int, tol: float) -> tuple[list[Level], Array]:
    """Climb from the greedy solution.

    Parameters
    ----------
    levels : list of Level
    max_iter : int
        Rounds over all levels but the last.
    tol : float
        The norm of the gradients at which it stops.

    Returns
    -------
    levels : list of Level
    path : ndarray
        The objective before the first and after every round; never falling.
    """
    levels = list(levels)
    path = [sum(level.energy for level in levels)]
    steps = [1.0] * (len(levels) - 1)
    for _ in range(max_iter if len(levels) > 1 else 0):
        still = True
        for place in range(len(levels) - 1):
            slope = riemannian_slope(levels[place], levels[place + 1])
            if np.linalg.norm(slope) >= tol:
                moved, steps[place] = _climbed(levels, place, slope, 2 * steps[place])
                still = still and not moved
        path.append(sum(level.energy for level in levels))
        if still:
            break
    return levels, np.array(path)


def riemannian_slope(level: Level, above: Level) -> Array:
    """The gradient of the two energies that depend on H, projected on the tangent space of HᵀH = I.

    With f the next kernel's function of squared distances, B = C H_above (C centres) and A = B Bᵀ, the next level adds
    (4/η)(diag(rowsum(A ∘ f′)) − A ∘ f′) H; A ∘ f′ is applied a column of B at a time, by products with f′.
    """
    H = level.hidden
    G = 2 / level.eta * (level.gram @ H)
    profile = above.kernel.profile()
    assert profile is not None  # checked by _check_upper
    change = ProfileKernel(profile.derivative, profile.second_derivative, nonnegative=False).gram(H)
    B = above.hidden - above.hidden.mean(axis=0)
    ones = np.ones((len(H), 1), H.dtype)
    beside = np.hstack([ones, H])
    image = change @ np.hstack([b[:, None] * beside for b in B.T])
    mixed = np.einsum("nb,nbk->nk", B, image.reshape(len(H), B.shape[1], -1))
    G += 4 / above.eta * (mixed[:, :1] * H - mixed[:, 1:])
    across = H.T @ G
    return np.asarray(G - H @ (across + across.T) / 2)


def _check_upper(kernel: Kernel) -> None:
    """Refuse a kernel that a level above the first cannot have."""
    profile = kernel.profile()
    if profile is None or profile.kind != "distance":
        raise ValueError(
            f"kernel={kernel!r} is not a function of the distance, which levels above the first need (a linear one "
            "would be degenerate); use 'rbf' there"
        )


def _climbed(levels: list[Level], place: int, slope: Array, step: float) -> tuple[bool, float]:
    """Replace a level, and what it changes above, by a better one along the slope: whether there was one, the step."""
    level, above = levels[place], levels[place + 1]
    before, promised = level.energy + above.energy, float((slope**2).sum())
    while step > _LEAST_STEP:
        moved = replace(level, hidden=retracted(level.hidden + step * slope))
        if place + 2 == len(levels):
            next_one = _solved(above.kernel, above.eta, moved.hidden, above.hidden.shape[1])
        else:
            next_one = replace(above, gram=above.kernel._unchecked("gram")(moved.hidden).centered())
        if moved.energy + next_one.energy >= before + _ARMIJO * step * promised:
            levels[place : place + 2] = [moved, next_one]
            return True, step
        step /= 2
    return False, 1.0


def _solved(kernel: Kernel, eta: float, rows: Any, size: int) -> Level:
    whole = kernel._unchecked("gram")(rows)
    gram = whole.centered()
    values, hidden = gram.eigenpairs(size)
    if values.max() <= 10 * float(np.finfo(gram.dtype).eps) * abs(whole.trace()):  # centring leaves that much rounding
        raise ValueError("all samples are alike under the kernel, so there are no hidden features; check X")
    return Level(kernel, eta, gram, hidden)


def retracted(H: Array) -> Array:
    """Orthonormal columns with the span of H, by QR with a positive diagonal."""
    Q, R = np.linalg.qr(H)
    return np.asarray(Q * np.where(np.diagonal(R) < 0, -1, 1).astype(H.dtype))
