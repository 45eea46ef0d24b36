"""From what a user passes for one side of a dependence measure to its Gram.

Rows, a vector, labels, a matrix of similarities or a Gram go in. Where the kernel has fewer features than there are
samples the Gram has a factor; otherwise, unless a matrix was given, it is lazy, because HSIC looks at every pair once.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from gramian.dependence.projection.weights import check_labels
from gramian.estimator import _seeded
from gramian.grams import DenseGram, FeatureGram, Gram, LazyGram, SandwichGram
from gramian.kernels import Kernel, Scaled, as_kernel
from gramian.kernels.given import symmetric
from gramian.landmarks import FourierFeatures, Nystroem
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState

KernelChoice = Kernel | str | Callable[[Any, Any], Any]

_MODERATE = 2.0**20  # similarities up to this, and from its inverse on, are taken as they are
_OVERFLOW = "sums over {} overflow; scale the columns, for instance with StandardScaler"


def paired_grams(
    X: Any,
    Y: Any,
    kernel_x: KernelChoice,
    kernel_y: KernelChoice,
    *,
    approximation: str | None = None,
    n_components: int = 300,
    random_state: RandomState = None,
    least: int = 2,
) -> tuple[Gram, Gram]:
    """The Grams of two samples that were observed together; an error if their numbers of samples differ.

    Parameters
    ----------
    X, Y, kernel_x, kernel_y, approximation, n_components, random_state
        As in :func:`gramian.dependence.measures.hsic`.
    least : int
        Fewest samples that the caller can work with.
    """
    if approximation not in (None, "nystroem", "fourier"):
        raise ValueError(f"approximation={approximation!r} is not known; pass None, 'nystroem' or 'fourier'")
    if not isinstance(n_components, Integral) or isinstance(n_components, bool) or n_components < 1:
        raise ValueError(f"n_components={n_components!r} must be a whole number >= 1")
    sides = []
    seeds = (None, None) if random_state is None else spawn(random_state, 2)
    for data, name, kernel, seed in ((X, "X", kernel_x, seeds[0]), (Y, "Y", kernel_y, seeds[1])):
        sides.append(_gram(data, name, kernel, approximation, int(n_components), seed))
    (n, m) = (side.shape[0] for side in sides)
    if n != m:
        raise ValueError(f"X has {n} samples but Y has {m}; pass pairs, one row of each for every sample")
    if n < least:
        raise ValueError(f"n_samples={n} is too few; this needs at least {least}")
    return sides[0], sides[1]


def moderate(gram: Gram, name: str) -> tuple[Gram, float]:
    """A Gram whose squared sums neither overflow nor vanish, and the power of two that it was divided by.

    Parameters
    ----------
    gram : Gram (n, n)
    name : str
        For the message of an error.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.abs(gram.diagonal()).max())
        if size == 0:  # not so for definite kernels; a few rows tell
            size = float(np.abs(gram.rows(np.linspace(0, gram.shape[0] - 1, 8).astype(np.intp))).max())
    if not np.isfinite(size):
        raise ValueError(_OVERFLOW.format(name))
    if size == 0 or 1 / _MODERATE <= size <= _MODERATE:
        return gram, 1.0
    # An even power, so that features are divided by one too: no digit changes.
    unit = 4.0 ** int(np.frexp(size)[1] // 2)
    if isinstance(gram, LazyGram):
        return LazyGram(Scaled(1 / unit, gram.kernel), gram.X), unit
    if isinstance(gram, DenseGram):
        return DenseGram(gram.matrix / gram.dtype.type(unit)), unit
    return SandwichGram(gram, np.full(gram.shape[0], unit**-0.5, gram.dtype)), unit


def restored(value: float, *units: float) -> float:
    """A product of moderate Grams in the units of the kernels; an error if it is too large for a number."""
    for unit in units:  # one after another: zero stays zero whatever the product of the units is
        value *= unit
    if not np.isfinite(value):
        raise ValueError(_OVERFLOW.format("X and Y"))
    return value


def _gram(
    data: Any, name: str, choice: KernelChoice, approximation: str | None, n_components: int, seed: RandomState
) -> Gram:
    if isinstance(data, Gram):
        if not (isinstance(choice, str) and choice == "precomputed"):
            raise ValueError(f"{name} is a Gram, which holds similarities; pass kernel_{name.lower()}='precomputed'")
        return data
    if isinstance(choice, str) and choice == "labels":
        return FeatureGram(indicators(data, name))
    try:
        kernel = as_kernel(choice)
    except ValueError as error:
        raise ValueError(f"kernel_{name.lower()}: {error}, or 'labels'") from error
    if data is None:
        raise ValueError(f"{name} is None; pass an array of samples")
    if not kernel.pairwise:
        data = _as_table(data, name)
    exact = kernel.has_features or kernel.pairwise or kernel.sparse_blocks
    if approximation is not None and not exact:
        kind = Nystroem if approximation == "nystroem" else FourierFeatures
        kernel = kind(min(n_components, data.shape[0]), kernel=kernel)
    kernel = _seeded(kernel, seed)
    data = check_array(data, input_name=name, estimator=kernel, **kernel._checks())
    if not kernel.pairwise and _rows_are_equal(data):
        # Whatever the kernel, all similarities are equal; width rules and mixtures would refuse such data.
        return FeatureGram(np.ones((data.shape[0], 1), data.dtype))
    try:
        if kernel.pairwise:
            data = symmetric(data)  # once, so that what is wrong with it is said once
        kernel.fit(data)
        if kernel.has_features or kernel.pairwise or kernel.sparse_blocks:
            return kernel.gram(data)
        kernel._check_overflow(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return LazyGram(kernel, data)


def indicators(labels: Any, name: str = "Y") -> csr_array:
    """One column per category, 1 where the sample has it: a factor of the kernel 1[y = y'].

    Parameters
    ----------
    labels : array-like (n,)
        Categories: whole numbers, text or booleans.
    name : str
        For the message of an error.

    Examples
    --------
    >>> indicators(["b", "a", "b"]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    if issparse(labels):
        raise ValueError(f"{name} is a sparse matrix; labels are a vector with one category per sample")
    categories = np.asarray(labels)
    if categories.ndim == 2 and categories.shape[1] == 1:
        categories = categories[:, 0]
    if categories.ndim != 1 or len(categories) == 0:
        raise ValueError(f"{name} has shape {categories.shape}; labels are a vector with one category per sample")
    names, codes = np.unique(check_labels(categories, name), return_inverse=True)
    n = len(codes)
    if len(names) == n and n > 1:
        raise ValueError(
            f"{name} has {n} different labels for {n} samples, so no two samples are alike; for numbers use "
            f"kernel_{name.lower()}='rbf'"
        )
    return csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, len(names)))


def _as_table(data: Any, name: str) -> Any:
    """A vector as a table of one column; an error for text."""
    if len(np.shape(data)) == 1:
        data = np.asarray(data).reshape(-1, 1)
    dtype = getattr(data, "dtype", None)
    text = isinstance(dtype, np.dtype) and (
        dtype.kind in "US" or (dtype.kind == "O" and any(isinstance(value, str) for value in data.ravel()))
    )
    if text:
        raise ValueError(f"{name} holds text; pass kernel_{name.lower()}='labels' if these are categories")
    return data


def _rows_are_equal(X: Matrix) -> bool:
    low, high = (_as_row(part) for part in (X.min(axis=0), X.max(axis=0)))
    return bool(np.array_equal(low, high))


def _as_row(part: Any) -> Array:
    return np.asarray(part.toarray() if issparse(part) else part)
