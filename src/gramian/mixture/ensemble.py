"""Many small mixtures with diagonal covariance, fitted together to a table with missing values.

The log-densities of all components of all mixtures of one restart are one matrix product of their natural
parameters with the squares and values of the rows, and the sums that EM needs are a second one, so hundreds of
mixtures cost a few large GEMMs, one exponential per row and component, and no loop over models. Levels of categorical
columns are further columns of zeros and ones in the same products (``levels.py``). The cluster kernel is built on this;
a single mixture with any covariance is :class:`gramian.IncompleteMixture`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from gramian.grams import tiles
from gramian.mixture.levels import Levels, level_probabilities, matching_features
from gramian.typing import Array

# Log-densities of so many rows under the components of one restart stay in the last cache from product to sums. Fewer
# would stay nearer, but then the threads wait for each other at Python's lock, between the many short steps.
_TILE_ROWS = 2048
_LOG_2PI = float(np.log(2 * np.pi))
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class Mixtures:
    """Several mixtures, their components stacked.

    Parameters
    ----------
    sizes : ndarray (n_models,)
        Components of each mixture.
    weights : ndarray (n_components,)
        w, summing to 1 within each mixture.
    means, variances : ndarray (n_components, d)
        μ and v.
    levels : ndarray (n_components, L)
        Probabilities of the levels of categorical columns; L = 0 if there are none.
    """

    sizes: Array
    weights: Array
    means: Array
    variances: Array
    levels: Array

    def astype(self, dtype: np.dtype) -> Mixtures:
        """The same mixtures in another precision."""
        names = ("weights", "means", "variances", "levels")
        return Mixtures(self.sizes, *(getattr(self, name).astype(dtype, copy=False) for name in names))

    def split(self, length: int) -> Iterator[Mixtures]:
        """Stacks of ``length`` consecutive mixtures."""
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        for models in tiles.slices(len(self.sizes), length):
            here = slice(int(ends[models.start]), int(ends[models.stop]))
            parts = (part[here] for part in (self.weights, self.means, self.variances, self.levels))
            yield Mixtures(self.sizes[models], *parts)


def stack(parts: list[Mixtures]) -> Mixtures:
    """All mixtures of several stacks in one."""
    return Mixtures(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Mixtures)))


def fit_mixtures(
    X: Array,
    sizes: Array,
    rng: np.random.Generator,
    *,
    max_iter: int,
    floor: Array,
    spherical: bool = False,
    observed_step: bool = False,
    hot: Array | None = None,
    levels: Levels | None = None,
) -> Mixtures:
    """Mixtures of the given sizes, each from its own random start, after ``max_iter`` steps of EM on the rows of X.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing, columns centred.
    sizes : ndarray (n_models,)
        Components of each mixture, at most n.
    rng : Generator
    max_iter : int
        Steps, taken without a test of convergence.
    floor : ndarray (d,)
        Least variance of a component in each column.
    spherical : bool
        One variance per component for all columns.
    observed_step : bool
        Means and variances of the observed values alone instead of the expected completed rows; the same fixed
        points, reached in longer steps.
    hot : ndarray (n, L), optional
        Zeros and ones: the levels of the rows in categorical columns.
    levels : Levels, optional
        What these levels are, and their prior.
    """
    if spherical and floor.size:
        floor = np.full_like(floor, floor.mean())
    mixtures = initial_mixtures(X, sizes, rng, floor, spherical=spherical, hot=hot, levels=levels)
    D = design(X, complete=bool(np.isfinite(X).all()), hot=hot)
    for _ in range(max_iter):
        sums = _sums(mixtures, D)
        mixtures = _maximized(
            mixtures, sums, len(X), floor, spherical=spherical, observed_step=observed_step, levels=levels
        )
    return mixtures


def posteriors(theta: Array, sizes: Array, D: Array) -> Array:
    """γ of shape (n_components, rows): the probability of each component given the row, within each mixture.

    Parameters
    ----------
    theta : ndarray (n_components, p)
        :func:`natural` parameters.
    sizes : ndarray (n_models,)
    D : ndarray (rows, p)
        The :func:`design` of the rows.
    """
    out = theta @ D.T
    blocks = _blocks(out, sizes)  # a few dozen slices are faster than NumPy's reduceat
    for block in blocks:
        block -= np.maximum.reduce(block, axis=0)
    np.exp(out, out=out)
    for block in blocks:
        block *= 1 / np.add.reduce(block, axis=0)
    return out


def _blocks(stacked: Array, sizes: Array) -> list[Array]:
    """Views of the rows of each mixture."""
    ends = np.cumsum(sizes).tolist()
    return [stacked[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def natural(mixtures: Mixtures, *, complete: bool) -> Array:
    """θ with log(w f(x)) = θ · design(x), over the observed part of x; shape (n_components, p)."""
    inverse = 1 / mixtures.variances
    scaled = mixtures.means * inverse
    constant = -0.5 * (np.log(mixtures.variances) + mixtures.means * scaled + mixtures.means.dtype.type(_LOG_2PI))
    log_weights = np.log(mixtures.weights)[:, None]
    log_levels = np.log(mixtures.levels)
    if complete:
        return np.hstack([log_weights + constant.sum(axis=1, keepdims=True), -0.5 * inverse, scaled, log_levels])
    return np.hstack([log_weights, -0.5 * inverse, scaled, constant, log_levels])


def design(X: Array, *, complete: bool, hot: Array | None = None) -> Array:
    """Rows (1, x², x) for complete X; with holes (1, x², x, r), zero where x is missing and r = 1 where it is not.

    The levels of categorical columns, ``hot`` (n, L), come last.
    """
    one = np.ones((len(X), 1), X.dtype)
    levels = [] if hot is None else [hot.astype(X.dtype, copy=False)]
    if complete:
        return np.hstack([one, X * X, X, *levels])
    observed = np.isfinite(X)
    filled = np.where(observed, X, X.dtype.type(0))
    return np.hstack([one, filled * filled, filled, observed.astype(X.dtype), *levels])


def keep_largest(scores: Array, sizes: Array) -> None:
    """In place, 1 for the largest score of each column within each mixture (the first of several), 0 for others."""
    for block in _blocks(scores, sizes):
        np.equal(np.arange(len(block))[:, None], block.argmax(axis=0), out=block, casting="unsafe")


# One step of EM --------------------------------------------------------------------------------------------


def _sums(mixtures: Mixtures, D: Array) -> Array:
    """Σ_i γ_ik design(x_i) for every component k, shape (n_components, p)."""
    theta = natural(mixtures, complete=_complete(D, mixtures))
    total = np.zeros_like(theta)
    for rows in tiles.slices(len(D), _TILE_ROWS):
        total += posteriors(theta, mixtures.sizes, D[rows]) @ D[rows]
    return total


def _complete(columns: Array, mixtures: Mixtures) -> bool:
    """Whether a design, or sums of one, has no column for holes."""
    return columns.shape[1] == 1 + 2 * mixtures.means.shape[1] + mixtures.levels.shape[1]


def _maximized(
    old: Mixtures,
    sums: Array,
    n: int,
    floor: Array,
    *,
    spherical: bool = False,
    observed_step: bool = False,
    levels: Levels | None = None,
) -> Mixtures:
    """The M-step from n_k, Σγx², Σγx and, with holes, Σγr; and from Σγ of each level.

    Completed rows carry the old mean and variance where x is missing ("imputed"), which vanish from the formula if
    only observed values count ("observed"). γ enters once, and the variance is about the new mean.
    """
    d = old.means.shape[1]
    mass, squares, values = sums[:, :1], sums[:, 1 : 1 + d], sums[:, 1 + d : 1 + 2 * d]
    mass = np.broadcast_to(mass, squares.shape)
    seen = mass if _complete(sums, old) else sums[:, 1 + 2 * d : 1 + 3 * d]
    unseen = 0.0 if observed_step else np.maximum(mass - seen, 0)
    count = seen if observed_step else mass
    alive = count > 10 * np.finfo(sums.dtype).eps * n  # a component that lost its rows stays where it is
    count = np.where(alive, count, 1)
    means = np.where(alive, (values + unseen * old.means) / count, old.means)
    spread = squares - 2 * means * values + seen * means**2 + unseen * ((old.means - means) ** 2 + old.variances)
    if spherical:
        total = np.where(alive, count, 0).sum(axis=1, keepdims=True)
        one = np.where(alive, spread, 0).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1)
        variances = np.where(total > 0, np.broadcast_to(one, spread.shape), old.variances)
    else:
        variances = np.where(alive, spread / count, old.variances)
    weights = np.maximum(sums[:, 0] / n, _LEAST_WEIGHT)
    shares = old.levels
    if levels is not None:
        shares = level_probabilities(sums[:, sums.shape[1] - shares.shape[1] :], levels).astype(sums.dtype, copy=False)
    return Mixtures(old.sizes, _normalized(weights, old.sizes), means, np.maximum(variances, floor), shares)


def _normalized(weights: Array, sizes: Array) -> Array:
    """Weights that sum to 1 within each mixture."""
    totals = np.add.reduceat(weights, np.cumsum(sizes) - sizes)
    return weights / np.repeat(totals, sizes)


# The start ----------------------------------------------------------------------------------------------------


def initial_mixtures(
    X: Array,
    sizes: Array,
    rng: np.random.Generator,
    floor: Array,
    *,
    spherical: bool = False,
    hot: Array | None = None,
    levels: Levels | None = None,
) -> Mixtures:
    """k-means++ centres among the mean-imputed rows, one assignment, and the moments of the clusters."""
    observed = np.isfinite(X)
    # A column with no value among these rows is imputed with zero, its mean in the whole table.
    means = np.where(observed, X, 0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    filled = np.where(observed, X, means.astype(X.dtype))
    places = filled if hot is None or levels is None else matching_features(filled, hot.T, levels)
    centres = places[_far_apart(places, sizes, rng)]
    shift = -0.5 * (centres * centres).sum(axis=1, keepdims=True)
    D = design(filled, complete=True, hot=hot)
    total = np.zeros((len(centres), D.shape[1]), X.dtype)
    for rows in tiles.slices(len(D), _TILE_ROWS):
        nearness = centres @ places[rows].T
        nearness += shift
        for block in _blocks(nearness, sizes):
            np.equal(block, np.maximum.reduce(block, axis=0), out=block, casting="unsafe")
            block /= np.add.reduce(block, axis=0)  # a row halfway between centres, or centres that coincide
        total += nearness @ D[rows]
    # An empty cluster keeps its centre and has the spread of the column.
    centres = centres[:, : X.shape[1]]
    spread = np.broadcast_to(filled.var(axis=0), centres.shape)
    blank = np.ones((len(centres), 0 if hot is None else hot.shape[1]), X.dtype)
    start = Mixtures(sizes, np.ones(len(centres), X.dtype), centres, np.maximum(spread, floor), blank)
    fitted = _maximized(start, total, len(X), floor, spherical=spherical, levels=levels)
    weights = np.maximum(total[:, 0], 1) / len(X)
    return Mixtures(sizes, _normalized(weights, sizes), fitted.means, fitted.variances, fitted.levels)


def _far_apart(X: Array, sizes: Array, rng: np.random.Generator) -> Array:
    """Rows of X as starting centres of every mixture by k-means++, drawn for all mixtures in step.

    The next centre is a row drawn with probability proportional to its squared distance from the nearest centre.
    """
    n, n_models = len(X), len(sizes)
    order = np.argsort(-sizes, kind="stable")  # largest first: those that still draw are a slice
    drawing = np.searchsorted(-sizes[order], -np.arange(1, int(sizes.max())), side="left").tolist()
    squares = (X * X).sum(axis=1)
    chosen = np.zeros((n_models, int(sizes.max())), np.intp)
    chosen[:, 0] = rng.integers(n, size=n_models)
    nearest = np.full((n_models, n), np.inf, X.dtype)
    for step, count in enumerate(drawing, start=1):
        last = chosen[:count, step - 1]
        distances = X[last] @ X.T
        distances *= -2
        distances += squares
        distances += squares[last, None]
        distances[np.arange(count), last] = 0
        np.minimum(nearest[:count], distances, out=nearest[:count])
        np.maximum(nearest[:count], 0, out=nearest[:count])  # rounding
        cumulated = np.cumsum(nearest[:count], axis=1, dtype=np.float64)
        draws, anywhere = rng.random(n_models), rng.integers(n, size=n_models)
        for m, (row, draw) in enumerate(zip(cumulated, draws[:count], strict=True)):
            # Where every row coincides with a centre, all distances are zero and any row will do.
            drawn = np.searchsorted(row, draw * row[-1], side="right") if row[-1] > 0 else anywhere[m]
            chosen[m, step] = min(int(drawn), n - 1)
    in_order = np.empty_like(chosen)
    in_order[order] = chosen
    return np.concatenate([row[:size] for row, size in zip(in_order, sizes, strict=True)])
