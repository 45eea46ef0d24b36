"""Tables without groups that look like a given one in its columns and pairs of columns.

A normal copula: rows are drawn from one normal distribution, and a category is the level with the largest score of its
coordinates. Shares and pairwise dependence are those of the table. A number is its coordinate, so that a column of two
modes has one; but a column with heavier tails than the normal keeps its own distribution, so that far values, which are
no group, are in the reference too. Two things may be otherwise, since either alone would be taken for groups. Rows may
be uniform along the principal axes, as on an even slope. And the levels of a category may be ordered, parts of one
coordinate, as those of a number that was cut: they then follow other columns more closely than scores can. Used by the
latent classes of clustering.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import kurtosis

from gramian.typing import Array

_ROUNDS = 8
_FITTED_ROWS = 5000  # that the shares and covariances are matched on
_STEP = 0.7  # of each round towards the wanted shares
_HEAVY = 1.0  # excess of the fourth moment over the normal's


Kind = Literal["normal", "uniform", "ordered normal", "ordered uniform"]
KINDS: tuple[Kind, ...] = ("normal", "uniform", "ordered normal", "ordered uniform")


class Copula(NamedTuple):
    """What rows are drawn from."""

    kind: Kind
    factor: Array  # (q, q), square root of the covariance of the coordinates
    values: list[Array]  # the sorted observed values of each column of numbers
    heavy: list[bool]  # which of these columns keep their distribution
    points: list[Array]  # of each categorical column (levels, levels − 1)
    offsets: list[Array]  # of each categorical column (levels,)
    orders: list[Array]  # of each categorical column its levels in order, the last of ``values`` being their scores


def fit_copula(
    numbers: Array, codes: Array, sizes: Array, rng: np.random.Generator, *, kind: Kind = "normal"
) -> Copula:
    """The copula of a table.

    Parameters
    ----------
    numbers : ndarray (n, d)
        NaN where missing; every column has two different values.
    codes : ndarray (n, c) of int
        Levels from 0, −1 where missing; every column has two levels.
    sizes : ndarray (c,) of int
        Number of levels; each occurs.
    rng : Generator
    kind : {"normal", "uniform", "ordered normal", "ordered uniform"}
    """
    orders: list[Array] = []
    if kind.startswith("ordered"):
        scored = [_ordered(j, numbers, codes, sizes) for j in range(len(sizes))]
        orders = [order for order, _ in scored]
        parts = [
            np.where(column < 0, np.nan, scores[column]) for column, (_, scores) in zip(codes.T, scored, strict=True)
        ]
        numbers = np.column_stack([numbers, *parts])
        codes, sizes = codes[:, :0], sizes[:0]
    values = [np.sort(column[~np.isnan(column)]) for column in numbers.T]
    heavy = [bool(kurtosis(known) > _HEAVY) for known in values]
    heavy[len(values) - len(orders) :] = [True] * len(orders)
    shares = [np.bincount(column[column >= 0], minlength=m) for column, m in zip(codes.T, sizes, strict=True)]
    shares = [counts / counts.sum() for counts in shares]
    points = [whitened_levels(share) for share in shares]
    wanted = _covariance(_coordinates(numbers, codes, values, points))
    offsets = [np.log(np.maximum(share, 1e-12)) for share in shares]
    noise = _noise(kind, (_FITTED_ROWS, len(wanted)), rng)
    latent = wanted.copy()
    copula = Copula(kind, _root(latent), values, heavy, points, offsets, orders)
    for _ in range(_ROUNDS):
        drawn, levels = _coordinate_rows(noise @ copula.factor.T, copula)
        found = _covariance(_coordinates(drawn, levels, values, points))
        latent = latent + wanted - found
        for share, offset, column in zip(shares, offsets, levels.T, strict=True):
            here = np.bincount(column, minlength=len(share)) / len(column)
            offset += _STEP * np.log((share + 1e-3) / (here + 1e-3))
        copula = copula._replace(factor=_root(latent))
    return copula


def draw_tables(copula: Copula, n: int, n_tables: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Numbers (n, d) and codes (n, c) of tables without groups, complete."""
    for _ in range(n_tables):
        yield _rows(_noise(copula.kind, (n, len(copula.factor)), rng) @ copula.factor.T, copula)


def _noise(kind: Kind, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Of mean 0 and variance 1."""
    return rng.uniform(-(3**0.5), 3**0.5, shape) if kind.endswith("uniform") else rng.standard_normal(shape)


def _ordered(j: int, numbers: Array, codes: Array, sizes: Array) -> tuple[Array, Array]:
    """The levels of a category in the order in which they follow the other columns, and a score of each.

    The order is that of the first canonical direction; a score is the mean of a normal variable in the level's part.
    """
    shares = [np.bincount(column[column >= 0], minlength=m) for column, m in zip(codes.T, sizes, strict=True)]
    shares = [counts / counts.sum() for counts in shares]
    points = [whitened_levels(share) for share in shares]
    values = [np.sort(column[~np.isnan(column)]) for column in numbers.T]
    covariance = _covariance(_coordinates(numbers, codes, values, points))
    begin = numbers.shape[1] + int((sizes[:j] - 1).sum())
    own = np.arange(begin, begin + sizes[j] - 1)
    across = np.delete(covariance[own], own, axis=1)
    direction = np.linalg.svd(across)[0][:, 0] if across.shape[1] else np.eye(len(own))[0]
    order = np.argsort(points[j] @ direction, kind="stable")
    ends = ndtri(np.concatenate([[0.0], np.minimum(np.cumsum(shares[j][order])[:-1], 1 - 1e-12), [1.0]]))
    density = np.exp(-(ends**2) / 2) / np.sqrt(2 * np.pi)
    scores = np.empty(len(order))
    scores[order] = (density[:-1] - density[1:]) / np.maximum(shares[j][order], 1e-12)
    return order, scores


def whitened_levels(shares: Array) -> Array:
    """A point for each of m levels in m − 1 dimensions, with mean 0 and covariance I under the shares.

    Examples
    --------
    >>> import numpy as np
    >>> points = whitened_levels(np.array([0.5, 0.3, 0.2]))
    >>> bool(np.allclose(points.T @ (np.array([[0.5], [0.3], [0.2]]) * points), np.eye(2)))
    True
    """
    roots = np.sqrt(shares)
    # Orthonormal directions beside √shares, which is the one that all levels share.
    basis = np.linalg.svd(np.eye(len(shares)) - np.outer(roots, roots))[0][:, : len(shares) - 1]
    return basis / roots[:, None]


def _coordinates(numbers: Array, codes: Array, values: list[Array], points: list[Array]) -> Array:
    """Columns of mean 0 and variance 1 for numbers and levels, NaN where missing."""
    centred = [(column - known.mean()) / known.std() for column, known in zip(numbers.T, values, strict=True)]
    parts = [np.column_stack([np.empty((len(numbers), 0)), *centred])]
    for column, places in zip(codes.T, points, strict=True):
        part = places[column]
        part[column < 0] = np.nan
        parts.append(part)
    return np.hstack(parts)


def _covariance(coordinates: Array) -> Array:
    """Over the rows in which both coordinates are observed."""
    observed = ~np.isnan(coordinates)
    filled = np.where(observed, coordinates, 0.0)
    together = observed.T.astype(float) @ observed.astype(float)
    return filled.T @ filled / np.maximum(together, 1)


def _root(covariance: Array) -> Array:
    """A square root of the nearest matrix without negative eigenvalues, scaled to variances of 1."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 1e-6))
    return root / np.sqrt((root**2).sum(axis=1, keepdims=True))


def _rows(latent: Array, copula: Copula) -> tuple[Array, Array]:
    """Numbers and codes for coordinates that were drawn."""
    numbers, codes = _coordinate_rows(latent, copula)
    if not copula.orders:
        return numbers, codes
    d = len(copula.values) - len(copula.orders)
    places = [np.searchsorted(np.unique(copula.values[d + j]), numbers[:, d + j]) for j in range(len(copula.orders))]
    ordered = [order[place] for order, place in zip(copula.orders, places, strict=True)]
    return numbers[:, :d], np.column_stack(ordered)


def _coordinate_rows(latent: Array, copula: Copula) -> tuple[Array, Array]:
    """Columns of numbers, scores of ordered categories among them, and codes of the others."""
    d = len(copula.values)
    numbers = np.empty((len(latent), d))
    for j, (known, heavy) in enumerate(zip(copula.values, copula.heavy, strict=True)):
        if heavy:
            place = latent[:, j].argsort().argsort() * len(known) // len(latent)  # by rank, whatever the kind
            numbers[:, j] = known[place]
        else:
            numbers[:, j] = known.mean() + known.std() * latent[:, j]
    codes = np.empty((len(latent), len(copula.points)), np.intp)
    begin = d
    for j, (places, offset) in enumerate(zip(copula.points, copula.offsets, strict=True)):
        end = begin + places.shape[1]
        codes[:, j] = (latent[:, begin:end] @ places.T + offset).argmax(axis=1)
        begin = end
    return numbers, codes
