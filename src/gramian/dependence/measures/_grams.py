"""The Grams of the two samples whose dependence is measured.

A sample is a table, a vector, labels, a matrix of similarities or a Gram. Where its kernel has fewer features than
there are samples the Gram has a factor; otherwise, unless a matrix was given, its entries are computed when they are
asked for, because HSIC looks at every pair once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from gramian.checks import whole
from gramian.dependence.measures._partitions import (
    in_partitions,
    lengths_of,
    partition_gram,
    partition_labels,
    refuse_without_features,
)
from gramian.estimator import _seeded
from gramian.grams import FeatureGram, Gram, LazyGram
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import symmetric
from gramian.landmarks import FourierFeatures, Nystroem
from gramian.partitions import DistributedRows, is_distributed
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
    n_features: int = 300,
    random_state: RandomState = None,
    least: int = 2,
) -> tuple[Gram, Gram]:
    """The Grams of two samples that were observed together; an error if their numbers of samples differ.

    Parameters
    ----------
    X, Y, kernel_x, kernel_y, approximation, n_features, random_state
        As in :func:`gramian.dependence.hsic`.
    least : int
        Fewest samples that the caller can work with.
    """
    if approximation not in (None, "nystroem", "fourier"):
        raise ValueError(f"approximation={approximation!r} is not known; pass None, 'nystroem' or 'fourier'")
    whole(n_features, "n_features")
    seeds = (None, None) if random_state is None else spawn(random_state, 2)
    given = [(X, "X", kernel_x, seeds[0]), (Y, "Y", kernel_y, seeds[1])]
    sides: list[Gram] = []
    if is_distributed(X) or is_distributed(Y):
        sides = _partition_grams(given, approximation, int(n_features))
    else:
        for data, name, choice, seed in given:
            kernel = _kernel(data, name, choice, approximation, int(n_features))
            sides.append(_label_gram(data, name) if kernel is None else _gram(data, name, kernel, seed))
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
    return gram.scaled(1 / unit), unit


def moderate_grams(X: Any, Y: Any, *kernels: KernelChoice, **options: Any) -> tuple[Gram, Gram, tuple[float, float]]:
    """:func:`paired_grams`, both moderate, and the powers of two that they were divided by."""
    x, y = paired_grams(X, Y, *kernels, **options)
    (x, unit_x), (y, unit_y) = moderate(x, "X"), moderate(y, "Y")
    return x, y, (unit_x, unit_y)


def restored(value: float, *units: float) -> float:
    """A product of moderate Grams in the units of the kernels; an error if it is too large for a number."""
    for unit in units:  # one after another: zero stays zero whatever the product of the units is
        value *= unit
    if not np.isfinite(value):
        raise ValueError(_OVERFLOW.format("X and Y"))
    return value


def _kernel(data: Any, name: str, choice: KernelChoice, approximation: str | None, n_features: int) -> Kernel | None:
    """The unfitted kernel of one side: as chosen, or its approximation; None for labels."""
    if isinstance(data, Gram):
        if not (isinstance(choice, str) and choice == "precomputed"):
            raise ValueError(f"{name} is a Gram, which holds similarities; pass kernel_{name.lower()}='precomputed'")
        return as_kernel(choice)
    if isinstance(choice, str) and choice == "labels":
        return None
    try:
        kernel = as_kernel(choice)
    except ValueError as error:
        raise ValueError(f"kernel_{name.lower()}: {error}, or 'labels'") from error
    if data is None:
        raise ValueError(f"{name} is None; pass an array of samples")
    if approximation is None or kernel.has_features or kernel.pairwise or kernel.sparse_blocks:
        return kernel
    approximate = Nystroem if approximation == "nystroem" else FourierFeatures
    return approximate(min(n_features, np.shape(data)[0]), kernel=kernel)


def _gram(data: Any, name: str, kernel: Kernel, seed: RandomState) -> Gram:
    """The Gram of one side, with the kernel fitted on it."""
    if isinstance(data, Gram):
        return data
    if not kernel.pairwise:
        data = _as_table(data, name)
    kernel = _seeded(kernel, seed)
    data = check_array(data, input_name=name, estimator=kernel, **kernel._checks())
    if not kernel.pairwise and _rows_are_equal(data):
        # Whatever the kernel, all similarities are equal; width rules and mixtures would refuse such data.
        return FeatureGram(np.ones((data.shape[0], 1), data.dtype))
    try:
        if kernel.pairwise:
            data = symmetric(data)  # once, so that what is wrong with it is said once
        kernel._fitted(data)
        if kernel.has_features or kernel.pairwise or kernel.sparse_blocks:
            gram: Gram = kernel._unchecked("gram")(data)
            return gram
        kernel._check_overflow(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return LazyGram(kernel, data)


def _partition_grams(sides: list[tuple[Any, ...]], approximation: str | None, n_features: int) -> list[Gram]:
    """The Grams of two sides of which one or both lie in partitions; rows are read when both are known to have one."""
    lengths = lengths_of(sides[0][0], sides[1][0])
    n = sum(lengths)
    found: list[Callable[[], Gram]] = []
    for data, name, choice, seed in sides:
        if isinstance(choice, str) and choice == "labels":
            found.append(partial(_partition_labels, in_partitions(data, name, lengths), name))
            continue
        # Of the rows it must know nothing but how many there are.
        kernel = _kernel(np.broadcast_to(0.0, (n, 1)), name, choice, approximation, n_features)
        if isinstance(data, Gram) or kernel is None or kernel.pairwise:
            raise TypeError(f"{name} holds similarities of all pairs, which do not lie in partitions; pass rows")
        refuse_without_features(kernel, name, choice)
        rows = DistributedRows(in_partitions(data, name, lengths), name=name, **kernel._checks())
        found.append(partial(partition_gram, rows, name, _seeded(kernel, seed)))
    return [gram() for gram in found]


def _partition_labels(labels: Any, name: str) -> Gram:
    gram = partition_labels(labels, name, check_labels)
    _refuse_all_different(gram.factor.shape[1], gram.shape[0], name)
    return gram


def _label_gram(labels: Any, name: str) -> Gram:
    """The Gram of the kernel 1[y = y'], by its sparse features: one column per category."""
    if issparse(labels):
        raise ValueError(f"{name} is a sparse matrix; labels are a vector with one category per sample")
    categories = np.asarray(labels)
    if categories.ndim == 2 and categories.shape[1] == 1:
        categories = categories[:, 0]
    if categories.ndim != 1 or len(categories) == 0:
        raise ValueError(f"{name} has shape {categories.shape}; labels are a vector with one category per sample")
    names, codes = np.unique(check_labels(categories, name), return_inverse=True)
    n = len(codes)
    _refuse_all_different(len(names), n, name)
    return FeatureGram(csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, len(names))))


def _refuse_all_different(count: int, n: int, name: str) -> None:
    if count == n and n > 1:
        raise ValueError(
            f"{name} has {n} different labels for {n} samples, so no two samples are alike; for numbers use "
            f"kernel_{name.lower()}='rbf'"
        )


def check_labels(labels: Array, name: str) -> Array:
    """Labels (n,) that can be sorted and compared; an error if some are missing.

    Parameters
    ----------
    labels : ndarray (n,)
    name : str
        For the message of an error.
    """
    if labels.dtype.kind == "O":
        values = labels.tolist()
        missing = any(value is None or type(value).__name__ == "NAType" or value != value for value in values)
        kinds = {type(value) for value in values}
        if not missing and len(kinds) > 1:  # text and numbers have no order among each other
            shown = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"{name} mixes labels of types {shown}; convert them to one")
    elif labels.dtype.kind in "mM":
        missing = bool(np.isnat(labels).any())
    else:
        missing = labels.dtype.kind in "fc" and not np.isfinite(labels).all()
    if missing:
        raise ValueError(
            f"{name} has missing labels (None, NaN, NaT or infinite); drop those rows or give them a category of their "
            "own"
        )
    return labels


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
