"""Is a stationary point of the dependence solver a local maximum? The second-order conditions, exact and sufficient.

Moving from W along a direction Z orthogonal to it, −J curves by the reduced Hessian. It is never formed: its product
with Z is one pass over the pairs, and its smallest eigenvalue comes from a Krylov space. The published sufficient
condition, an eigengap larger than a sum over pairs, is reported beside it; it hardly ever holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.validation import check_array

from gramian.checks import check_positive
from gramian.configuration import threads
from gramian.dependence.projection._eigenspace import MatrixSpace
from gramian.dependence.projection._pairs import KernelTiles, PairSum, profiles_of
from gramian.dependence.projection.ism import ISMResult, _check_sizes
from gramian.dependence.projection.weights import PairWeights
from gramian.grams.eigen import block_krylov
from gramian.grams.tiles import run_threaded, slices
from gramian.kernels import Kernel
from gramian.kernels.profile import WeightedProfiles
from gramian.typing import Array, RandomState

__all__ = ["SecondOrder", "second_order"]

_EDGE = 384
_STATIONARY = 1e-3  # a residual that the solver, stopped by rounding, still calls an end


@dataclass(frozen=True)
class SecondOrder:
    """The second-order conditions at a stationary point.

    Attributes
    ----------
    residual : float
        ‖Φ W − W (WᵀΦW)‖ / ‖Φ W‖; where it is not small, the point is not stationary, and no maximum of any kind.
    smallest_eigenvalue : float
        Of the reduced Hessian of −J: the least curvature over all unit directions that leave the subspace.
    is_local_maximum : bool
        Whether it is not negative, up to rounding, at a point whose residual is below 1e-3.
    eigengap : float
        2 (λ_q − λ_{q+1}) of Φ, which the two bounds are compared with.
    bound, tight_bound : float
        Σ_ij abs(Γ_ij f″(β_ij)) times ‖A_ij‖², with A_ij whole, or only its part between the subspace and
        its complement.
    bound_holds, tight_bound_holds : bool
        Whether the eigengap is at least that, at such a point; either suffices for a local maximum, neither is
        necessary.
    """

    residual: float
    smallest_eigenvalue: float
    is_local_maximum: bool
    eigengap: float
    bound: float
    tight_bound: float
    bound_holds: bool
    tight_bound_holds: bool


def second_order(
    X: Any,
    weights: PairWeights,
    kernel: Kernel,
    result: ISMResult,
    *,
    zero_diagonal: bool = False,
    tol: float = 1e-6,
    random_state: RandomState = 0,
) -> SecondOrder:
    """Check whether the end of :func:`gramian.dependence.projection.ism.ism` is a local maximum.

    Parameters
    ----------
    X : array-like (n, d)
    weights : PairWeights
    kernel : Kernel
    result : ISMResult
        Of the same X, weights and kernel.
    zero_diagonal : bool, default False
        As it was for the result.
    tol : float, default 1e-6
        Accuracy of the smallest eigenvalue, relative to the largest.
    random_state : int, Generator, RandomState or None, default 0
        For the start of the Krylov space.

    Returns
    -------
    conditions : SecondOrder

    References
    ----------
    Wu, Ioannidis, Sznaier, Li, Kaeli, Dy (2018). Iterative spectral method for alternative clustering. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.dependence.projection.ism import ism
    >>> from gramian.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> weights, kernel = PairWeights.of_labels(X[:, 1] > 0), RBF(width=2.0)
    >>> second_order(X, weights, kernel, ism(X, weights, kernel, n_components=1)).is_local_maximum
    True
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    _check_sizes(X, weights, profiles := profiles_of(kernel))
    check_positive(SimpleNamespace(tol=tol), "tol")
    if not isinstance(result, ISMResult):
        raise ValueError(f"result must be what ism returns but is of type {type(result).__name__}")
    W = np.ascontiguousarray(result.components.T)
    if W.shape[0] != X.shape[1]:
        raise ValueError(f"result has components of {W.shape[0]} columns but X has {X.shape[1]}; pass the X it is of")
    if len(W) == W.shape[1]:  # no direction is left in which the subspace could move
        return SecondOrder(0.0, 0.0, True, np.inf, 0.0, 0.0, True, True)
    evaluation = PairSum(X, weights, profiles, zero_diagonal=zero_diagonal).evaluate(W)
    curvature = Curvature(X, weights, profiles, W, evaluation.product, zero_diagonal=zero_diagonal)
    smallest, scale = curvature.smallest_eigenvalue(tol, random_state)
    bound, tight = curvature.bounds()
    phi = evaluation.matrix
    assert phi is not None
    space = MatrixSpace(phi, W)
    values = space.spectrum()
    q = W.shape[1]
    gap = 2 * float(values[q - 1] - values[q])
    stationary = space.residual < _STATIONARY
    return SecondOrder(
        residual=space.residual,
        smallest_eigenvalue=smallest,
        is_local_maximum=stationary and smallest >= -10 * tol * scale,
        eigengap=gap,
        bound=bound,
        tight_bound=tight,
        bound_holds=stationary and gap >= bound,
        tight_bound_holds=stationary and gap >= tight,
    )


class Curvature:
    """The Hessian of −J at W on directions Z (d, q) with WᵀZ = 0, as products.

    With β̇ the change of β along Z and Φ̇ the matrix Φ of slopes Γ∘f″(β)∘β̇ instead of Γ∘f′(β),

        Hess J [Z] = 2 (I − WWᵀ)(Φ̇ W + Φ Z − Z WᵀΦW).

    Parameters
    ----------
    X : ndarray (n, d)
    weights : PairWeights
    profiles : tuple of (float, Profile)
    W : ndarray (d, q)
    phi : callable
        V ↦ Φ(W) V.
    zero_diagonal : bool
    """

    def __init__(
        self,
        X: Array,
        weights: PairWeights,
        profiles: WeightedProfiles,
        W: Array,
        phi: Any,
        *,
        zero_diagonal: bool = False,
    ) -> None:
        self.X, self.weights, self.profiles, self.W = X, weights, profiles, W
        self.phi = phi
        self.zero_diagonal = zero_diagonal
        self.P = X @ W
        self.rayleigh = W.T @ phi(W)
        self._tiles = KernelTiles(self.P, self.P, profiles)
        self._strips = list(slices(len(X), _EDGE))

    def product(self, Z: Array) -> Array:
        """−Hess J [Z] for directions Z of shape (d, q, b)."""
        d, q, b = Z.shape
        Z = Z - np.einsum("dk,kqb->dqb", self.W, np.einsum("dk,dqb->kqb", self.W, Z))
        R = np.einsum("nd,dqb->bnq", self.X, Z, optimize=True)
        totals = [np.zeros((b, len(self.X), q)) for _ in range(threads())]

        def add(share: int) -> None:
            for rows in self._strips[share :: len(totals)]:
                for columns in self._strips:
                    for kind, second in self._second(rows, columns).items():
                        for k in range(b):
                            totals[share][k, rows] += self._changed(kind, second, R[k], rows, columns)

        run_threaded(add, range(len(totals)), entries=float(len(self.X)) ** 2)
        image = np.einsum("nd,bnq->dqb", self.X, sum(totals[1:], totals[0]), optimize=True)
        image += self.phi(Z.reshape(d, -1)).reshape(d, q, b) - np.einsum("dkb,kq->dqb", Z, self.rayleigh)
        image -= np.einsum("dk,kqb->dqb", self.W, np.einsum("dk,dqb->kqb", self.W, image))
        return -2 * image

    def _second(self, rows: slice, columns: slice) -> dict[str, Array]:
        """Γ∘f″(β) on a tile, by the kind of β."""
        gamma = self.weights.block(rows, columns)
        if self.zero_diagonal and rows == columns:
            np.fill_diagonal(gamma, 0)
        out: dict[str, Array] = {}
        for weight, profile in self.profiles:
            beta = self._tiles.beta(profile.kind, rows, columns, same=rows == columns)
            if profile.row_scales is None:
                second = profile.second_derivative(beta)
            else:
                scales = profile.row_scales[rows, None] * profile.row_scales[columns]
                second = profile.second_derivative(beta * scales) * scales**2
            second *= weight
            second *= gamma
            out[profile.kind] = out[profile.kind] + second if profile.kind in out else second
        return out

    def _changed(self, kind: str, second: Array, R: Array, rows: slice, columns: slice) -> Array:
        """The rows of what Φ̇ W is Xᵀ of, from one tile."""
        left, right = self.P[rows], self.P[columns]
        cross = left @ R[columns].T + R[rows] @ right.T
        if kind == "inner":
            return (second * cross) @ right
        lengths = [np.einsum("ij,ij->i", self.P[part], R[part]) for part in (rows, columns)]
        change = second * (2 * (lengths[0][:, None] + lengths[1]) - 2 * cross)
        return 2 * (change.sum(axis=1)[:, None] * left - change @ right)

    def smallest_eigenvalue(self, tol: float, random_state: RandomState) -> tuple[float, float]:
        """The smallest eigenvalue over directions orthogonal to W, and the size of the largest."""
        d, q = self.W.shape

        def tangent(Z: Array) -> Array:
            return Z - np.einsum("dk,kqb->dqb", self.W, np.einsum("dk,dqb->kqb", self.W, Z))

        def reduced(V: Array) -> Array:
            return self.product(V.reshape(d, q, -1)).reshape(d * q, -1)

        rng = np.random.default_rng(0)
        start = tangent(rng.standard_normal((d, q, 1)))
        start /= np.linalg.norm(start)
        image = reduced(start.reshape(-1, 1))
        # Directions inside the subspace change nothing. A curvature above the smallest, which that of any other
        # direction is, keeps them out of the way.
        aside = float(np.vdot(start, image)) + float(np.linalg.norm(image))

        def product(V: Array) -> Array:
            V = V.reshape(d * q, -1)
            Z = V.reshape(d, q, -1)
            return reduced(V) + aside * (Z - tangent(Z)).reshape(d * q, -1)

        operator = LinearOperator((d * q, d * q), matvec=product, matmat=product, dtype=np.float64)
        values, _ = block_krylov(operator, 1, "smallest", tol=tol, random_state=random_state)
        return float(values[0]), max(float(np.linalg.norm(image)), abs(float(values[0])))

    def bounds(self) -> tuple[float, float]:
        """Σ_ij abs(Γ_ij f″) ‖A_ij‖²_F, and the same with only the part of A_ij between W and its complement."""
        whole = KernelTiles(self.X, self.X, self.profiles)
        # Of inner products the norms of both sides are needed beside β.
        long, short = np.einsum("ij,ij->i", self.X, self.X), np.einsum("ij,ij->i", self.P, self.P)
        outside = long - short
        totals = np.zeros(2)
        for rows in self._strips:
            for columns in self._strips:
                same = rows == columns
                for kind, second in self._second(rows, columns).items():
                    np.abs(second, out=second)
                    full = whole.beta(kind, rows, columns, same=same)  # type: ignore[arg-type]
                    inside = self._tiles.beta(kind, rows, columns, same=same)  # type: ignore[arg-type]
                    if kind == "distance":
                        totals[0] += 4 * np.vdot(second, full**2)
                        totals[1] += 4 * np.vdot(second, np.maximum(full - inside, 0) * inside)
                    else:
                        totals[0] += 2 * np.vdot(second, np.outer(long[rows], long[columns]) + full**2)
                        mixed = np.outer(outside[rows], short[columns]) + np.outer(short[rows], outside[columns])
                        totals[1] += np.vdot(second, mixed + 2 * (full - inside) * inside)
        return float(totals[0]), float(totals[1])
