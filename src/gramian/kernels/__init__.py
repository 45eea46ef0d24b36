"""How alike are two rows? Kernels, their widths, their sums and products."""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from gramian.kernels.algebra import Columns, Product, Scaled, Sum
from gramian.kernels.base import Kernel
from gramian.kernels.cluster import ClusterKernel
from gramian.kernels.distance import (
    RBF,
    Cauchy,
    GaussianDifference,
    InverseMultiquadric,
    Multiquadric,
    RationalQuadratic,
    SquaredDistance,
)
from gramian.kernels.expansion import Expansion
from gramian.kernels.given import FunctionKernel, Precomputed, ProfileKernel
from gramian.kernels.graph import NeighborGraph
from gramian.kernels.inner import Cosine, ExponentialProduct, Linear, Polynomial, Tanh
from gramian.kernels.manhattan import TL1, Laplacian
from gramian.kernels.matern import Matern
from gramian.kernels.profile import Profile
from gramian.kernels.relative import RelativeRBF
from gramian.kernels.widths import resolve_width

__all__ = [
    "RBF",
    "TL1",
    "Cauchy",
    "ClusterKernel",
    "Columns",
    "Cosine",
    "Expansion",
    "ExponentialProduct",
    "FunctionKernel",
    "GaussianDifference",
    "InverseMultiquadric",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Multiquadric",
    "NeighborGraph",
    "Polynomial",
    "Precomputed",
    "Product",
    "Profile",
    "ProfileKernel",
    "RationalQuadratic",
    "RelativeRBF",
    "Scaled",
    "SquaredDistance",
    "Sum",
    "Tanh",
    "as_kernel",
    "kernel_names",
    "resolve_width",
]

_REGISTERED: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "cauchy": Cauchy,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "relative_rbf": RelativeRBF,
    "exponential_product": ExponentialProduct,
    "multiquadric": Multiquadric,
    "inverse_multiquadric": InverseMultiquadric,
    "squared_distance": SquaredDistance,
    "tanh": Tanh,
    "tl1": TL1,
    "gaussian_difference": GaussianDifference,
    "cosine": Cosine,
    "cluster": ClusterKernel,
    "neighbors": NeighborGraph,
    "precomputed": Precomputed,
}


def kernel_names() -> list[str]:
    """The names that every ``kernel=`` parameter takes."""
    return sorted(_REGISTERED)


def as_kernel(kernel: Kernel | str | Callable[[Any, Any], Any]) -> Kernel:
    """A fresh, unfitted kernel from whatever a ``kernel=`` parameter was given.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel (cloned), a registered name, or a function of two arrays.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF()
    """
    if isinstance(kernel, type):
        raise ValueError(f"kernel={kernel.__name__} is a class; pass an object, {kernel.__name__}()")
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, str) and kernel in _REGISTERED:
        return _REGISTERED[kernel]()
    if callable(kernel):
        return FunctionKernel(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not a kernel; pass one of {', '.join(map(repr, kernel_names()))}, "
        "a gramian.kernels object, or a function of two arrays"
    )
