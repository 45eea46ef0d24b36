"""The exponential χ² kernel, for histograms and other counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gramian.kernels.base import Kernel
from gramian.kernels.widths import Metric, WidthMixin, chi_square_distances
from gramian.typing import Array, Matrix


class ChiSquare(WidthMixin, Kernel, name="chi_square"):
    """k(x, y) = exp(−χ²(x, y) / width) with χ²(x, y) = Σ_j (x_j − y_j)² / (x_j + y_j), for rows >= 0.

    A difference weighs less where both counts are large, as their noise does; a column that is zero in both adds
    nothing. Positive semi-definite for every width: 4 x_j y_j / (x_j + y_j) is a kernel, so χ² = Σ_j (x_j + y_j) −
    4 x_j y_j / (x_j + y_j) is conditionally negative definite. Other texts halve χ², or leave out the exponential.

    It is for counts: on the six tables of :class:`gramian.kernels.Spline`, which hold none, ``LSSVMClassifier`` was
    right in .896 of held-out rows with it, and in .903 with nothing set.

    Parameters
    ----------
    width : float or str, default "mean"
        A number, or "mean", "median" or "range" (of χ² between two rows), also with a percentage such as "mean50". It
        divides χ², so that scikit-learn's ``chi2_kernel`` has gamma = 1 / width.

    References
    ----------
    Zhang, Marszałek, Lazebnik, Schmid (2007). Local features and kernels for classification of texture and object
    categories. International Journal of Computer Vision.

    Examples
    --------
    >>> ChiSquare(width=1.0)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]).round(3)
    array([[1.   , 0.368]])
    """

    _metric: ClassVar[Metric] = "chi_square"

    def __init__(self, width: float | str = "mean") -> None:
        self.width = width

    def _tile(self, left: Any, right: Any) -> Array:
        tile = chi_square_distances(left, right)
        tile *= -1 / self._get_width()
        return np.exp(tile, out=tile)

    def _diagonal(self, X: Matrix) -> Array:
        self._get_width()
        return np.ones(X.shape[0], X.dtype)

    def _checks(self) -> dict[str, Any]:
        return super()._checks() | {"ensure_non_negative": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
