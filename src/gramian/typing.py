"""Names for the array types that appear in signatures throughout the package."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""A dense array of any floating dtype; the shape stands beside the argument."""

Matrix: TypeAlias = Any
"""A dense array or a SciPy CSR matrix (SciPy has no common type for the two)."""

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""What every ``random_state`` parameter takes."""
