"""The profiles of the kernels that the dependence solver can project, or an error that says which those are."""

from __future__ import annotations

import numpy as np

from gramian.kernels import Kernel
from gramian.kernels.profile import Kind, Profile, WeightedProfiles
from gramian.typing import Array

__all__ = ["Kind", "Profile", "WeightedProfiles", "check_slopes", "profiles_of"]


def check_slopes(profiles: WeightedProfiles, X: Array) -> None:
    """An error if the derivative that a user wrote is not that of the value, on a few pairs of rows of X."""
    with np.errstate(over="ignore", invalid="ignore"):  # a kernel that overflows is refused when it is summed
        for _, profile in profiles:
            profile.check_derivative(X)


def profiles_of(kernel: Kernel) -> WeightedProfiles:
    """The functions f of a kernel and their weights, k = Σ weight · f; the kernel is fitted if it has a rule.

    Examples
    --------
    >>> from gramian.kernels import RBF, Linear
    >>> [(weight, profile.kind) for weight, profile in profiles_of(RBF(width=1.0) + 0.5 * Linear())]
    [(1.0, 'distance'), (0.5, 'inner')]
    """
    profiles = kernel.profiles()
    if profiles is None:
        raise ValueError(
            f"kernel={kernel!r} is not a smooth function of an inner product or squared distance; use Linear, "
            "Polynomial, RBF, Cauchy, SquaredDistance, Multiquadric, InverseMultiquadric, RationalQuadratic, "
            "ExponentialProduct, RelativeRBF, sums of multiples of them, or write your own as "
            "ProfileKernel(value, derivative)"
        )
    return profiles
