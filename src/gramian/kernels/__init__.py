"""Kernels: similarities of rows, rules for their widths, and their sums and products."""

from gramian.kernels.algebra import Columns, Product, Scaled, Sum
from gramian.kernels.base import Kernel, as_kernel, kernel_names
from gramian.kernels.chi_square import ChiSquare
from gramian.kernels.cluster import ClusterKernel
from gramian.kernels.column_products import Spline, Wavelet
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
from gramian.kernels.feature_space import Normalized, feature_distance
from gramian.kernels.given import FunctionKernel, Precomputed, ProfileKernel
from gramian.kernels.graph import NeighborGraph
from gramian.kernels.inner import Cosine, ExponentialProduct, Linear, Polynomial, Tanh
from gramian.kernels.manhattan import TL1, Laplacian
from gramian.kernels.matern import Matern
from gramian.kernels.profile import Profile
from gramian.kernels.relative import RelativeRBF
from gramian.kernels.transformed import Transformed
from gramian.kernels.widths import resolve_width

__all__ = [
    "RBF",
    "TL1",
    "Cauchy",
    "ChiSquare",
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
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Profile",
    "ProfileKernel",
    "RationalQuadratic",
    "RelativeRBF",
    "Scaled",
    "Spline",
    "SquaredDistance",
    "Sum",
    "Tanh",
    "Transformed",
    "Wavelet",
    "as_kernel",
    "feature_distance",
    "kernel_names",
    "resolve_width",
]
