"""The user's units and the standardised ones in which mixtures are fitted, and the way between them.

Columns with large offsets or very different units would cost digits in every sum; a mixture fitted to standardised
columns is the same mixture in other units. Used by :class:`gramian.mixture.IncompleteGaussianMixture`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.mixture.em import CovarianceType, Parameters
from gramian.typing import Array

_FARTHEST = 1e100  # deviations


@dataclass(frozen=True)
class Scaling:
    """Standardised column = (column − center) / scale, for the known columns; the others are left out.

    Attributes
    ----------
    known : ndarray of bool (d,)
    center, scale : ndarray (number of known columns,)
        For spherical covariances all scales are equal.
    covariance_type : str
    """

    known: Array
    center: Array
    scale: Array
    covariance_type: CovarianceType

    @classmethod
    def of_mixture(cls, parameters: Parameters, known: Array, covariance_type: CovarianceType) -> Scaling:
        """By mean and standard deviation of the columns under a mixture."""
        weights, means, covariances = (np.asarray(value, np.float64) for value in parameters[:3])
        if covariance_type == "full":
            deviations = np.sqrt(np.einsum("kii->ki", covariances))
        elif covariance_type == "tied":
            deviations = np.sqrt(np.diag(covariances))
        else:
            deviations = np.sqrt(covariances if covariance_type == "diag" else covariances[:, None])
        deviations = np.broadcast_to(deviations, means.shape)[:, known]
        means = means[:, known]
        # As a step from one of the means, so that a column that is the same everywhere has no rounding in it.
        center = means[0] + weights @ (means - means[0]) / weights.sum()
        # Squares of the user's numbers may overflow; in units of the largest they do not.
        parts = np.concatenate([deviations, means - center])
        unit = np.abs(parts).max(axis=0)
        unit = np.full_like(unit, unit.max()) if covariance_type == "spherical" else unit
        variances = np.concatenate([weights, weights]) @ (parts / unit) ** 2
        variances = np.full_like(variances, variances.mean()) if covariance_type == "spherical" else variances
        return cls(known, center, unit * np.sqrt(variances), covariance_type)

    def rows(self, X: Array) -> Array:
        """The user's rows, standardised; a row so far away that squares overflow is put where they do not."""
        with np.errstate(over="ignore"):
            Z = (X[:, self.known].astype(np.float64) - self.center) / self.scale
        return np.clip(Z, -_FARTHEST, _FARTHEST, out=Z)

    def filled(self, X: Array, Z: Array) -> Array:
        """A copy of the user's rows X with standardised values Z in the holes of the known columns."""
        values = X[:, self.known]
        out = X.copy()
        out[:, self.known] = np.where(np.isnan(values), Z * self.scale + self.center, values)
        return out

    def log_volume(self, observed: Array) -> Array:
        """By how much the log-density of each standardised row (n, known) exceeds that in the user's units."""
        return observed @ np.log(self.scale)

    def from_user(self, parameters: Parameters, unknown: Array | None = None) -> Parameters:
        """Standardised parameters; columns marked ``unknown`` (d,) get mean 0, variance 1 and no correlation."""
        weights, means, covariances = (np.asarray(value, np.float64) for value in parameters[:3])
        means = (means[:, self.known] - self.center) / self.scale
        if self.covariance_type in ("full", "tied"):
            covariances = covariances[..., self.known, :][..., self.known]
            covariances = covariances / self.scale / self.scale[:, None]
        else:
            covariances = covariances[:, self.known] if self.covariance_type == "diag" else covariances
            factor = self.scale if self.covariance_type == "diag" else self.scale[0]
            covariances = covariances / factor / factor
        if unknown is not None and (new := np.flatnonzero(unknown[self.known])).size:
            means[:, new] = 0
            if self.covariance_type in ("full", "tied"):
                covariances[..., new, :] = covariances[..., :, new] = 0
                covariances[..., new, new] = 1
            elif self.covariance_type == "diag":
                covariances[:, new] = 1
        return Parameters(weights / weights.sum(), means, covariances)

    def to_user(self, parameters: Parameters, dtype: Any) -> Parameters:
        """Parameters in the user's units; unknown columns get mean 0, variance 1 and no correlation."""
        K, d = len(parameters.weights), len(self.known)
        means = np.zeros((K, d))
        means[:, self.known] = parameters.means * self.scale + self.center
        inner = np.flatnonzero(self.known)
        with np.errstate(over="ignore", under="ignore"):
            if self.covariance_type in ("full", "tied"):
                covariances = np.zeros(shape_of(self.covariance_type, K, d))
                covariances[..., np.arange(d), np.arange(d)] = 1
                scaled = parameters.covariances * self.scale * self.scale[:, None]
                covariances[..., inner[:, None], inner] = scaled
                variances = np.diagonal(covariances, axis1=-2, axis2=-1)
            elif self.covariance_type == "diag":
                covariances = np.ones((K, d))
                covariances[:, self.known] = parameters.covariances * self.scale * self.scale
                variances = covariances
            else:
                covariances = variances = parameters.covariances * self.scale[0] * self.scale[0]
            found = Parameters(parameters.weights.astype(dtype), means.astype(dtype), covariances.astype(dtype))
            small = variances.astype(dtype)
        if not np.all(np.isfinite(found.covariances)) or small.min(initial=np.inf) < np.finfo(dtype).tiny:
            raise ValueError(
                f"the variances of X, from {variances.min():.3g} to {variances.max():.3g}, cannot be held as "
                f"{np.dtype(dtype)}; rescale X" + (" or pass it as float64" if dtype == np.float32 else "")
            )
        return found


def shape_of(covariance_type: CovarianceType, n_components: int, d: int) -> tuple[int, ...]:
    """Shape of the covariances."""
    K = n_components
    return {"full": (K, d, d), "tied": (d, d), "diag": (K, d), "spherical": (K,)}[covariance_type]


def free_parameters(covariance_type: CovarianceType, n_components: int, d: int) -> int:
    """Number of free parameters of a mixture.

    Examples
    --------
    >>> [free_parameters(kind, 2, 3) for kind in ("full", "tied", "diag", "spherical")]
    [19, 13, 13, 9]
    """
    K = n_components
    covariances = {"full": K * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": K * d, "spherical": K}
    return K - 1 + K * d + covariances[covariance_type]


def check_parameters(owner: Any, name: str, shape: tuple[int, ...]) -> Array | None:
    """A parameter of the start given by the user, or None."""
    value = getattr(owner, name)
    if value is None:
        return None
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={value!r} is not an array of numbers; pass shape {shape} or None") from error
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; pass shape {shape} or None")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} holds NaN or infinity; pass finite numbers or None")
    if name == "weights_init" and (array.min() <= 0 or not np.isclose(array.sum(), 1)):
        raise ValueError(f"{name}={array.tolist()} must be positive and sum to 1; divide it by its sum")
    if name == "covariances_init":
        _check_definite(name, array, matrices=owner.covariance_type in ("full", "tied"))
    return array


def _check_definite(name: str, array: Array, *, matrices: bool) -> None:
    if not matrices:
        if array.min() <= 0:
            raise ValueError(f"{name} holds variances <= 0; pass positive ones")
        return
    if not np.allclose(array, np.swapaxes(array, -1, -2), rtol=1e-8, atol=0):
        raise ValueError(f"{name} is not symmetric; pass symmetric positive definite matrices")
    spread = np.sqrt(np.abs(np.diagonal(array, axis1=-2, axis2=-1)))
    safe = np.where(spread > 0, spread, 1)
    if np.linalg.eigvalsh(array / safe[..., None] / safe[..., None, :]).min() <= 0:
        raise ValueError(f"{name} is not positive definite; add a small number to the diagonal")


def merged(start: Parameters, given: Sequence[Array | None], scaling: Scaling) -> Parameters:
    """A standardised start with those parts replaced that the user gave."""
    if all(value is None for value in given):
        return start
    K, d = len(start.weights), len(scaling.known)
    shapes = ((K,), (K, d), shape_of(scaling.covariance_type, K, d))
    filled = [np.ones(shape) if value is None else value for value, shape in zip(given, shapes, strict=True)]
    user = scaling.from_user(Parameters(*filled))
    return Parameters(
        *(mine if value is None else yours for mine, yours, value in zip(start[:3], user[:3], given, strict=True))
    )
