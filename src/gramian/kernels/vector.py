"""The base of kernels that are a function of one number per pair, and what those with a width share.

A tile of such a kernel costs one GEMM and an elementwise function in place, in the dtype of the data.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from gramian.kernels.base import Kernel
from gramian.kernels.profile import Profile, beta_diagonal, beta_sides, beta_tile
from gramian.kernels.widths import Metric, resolve_width
from gramian.typing import Array, Matrix


class VectorKernel(Kernel):
    """A kernel that is a function of one number per pair of rows. Subclasses write ``profile``."""

    accepts_sparse: bool = True

    def profile(self) -> Profile:
        raise NotImplementedError(f"{type(self).__name__} must write profile()")

    def _formula(self) -> Profile:
        """The profile that the values come from, also where a subclass changes them further and so has none itself."""
        for base in type(self).__mro__:
            written = vars(base).get("profile", Kernel.profile)
            if written is not Kernel.profile:
                found: Profile = written(self)
                return found
        raise AssertionError("VectorKernel itself has a profile")

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        return beta_sides(self._formula().kind, X, Y)

    def _tile(self, left: Any, right: Any) -> Array:
        profile = self._formula()
        beta = beta_tile(profile.kind, left, right, profile.resolution)
        return profile.value(beta, out=beta)

    def _diagonal(self, X: Matrix) -> Array:
        profile = self._formula()
        beta = beta_diagonal(profile.kind, X)
        return profile.value(beta, out=beta)


class WidthMixin:
    """A ``width`` that is a number or a rule resolved in ``fit``."""

    width: float | str
    _metric: ClassVar[Metric] = "euclidean"

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self.width_ = resolve_width(self.width, X, self._metric, sample_weight)

    def _get_width(self) -> float:
        if hasattr(self, "width_"):
            return self.width_
        if isinstance(self.width, str):
            raise NotFittedError(f"width={self.width!r} is a rule about the data; call fit(X) first or pass a number")
        return resolve_width(self.width, np.empty((0, 0)))
