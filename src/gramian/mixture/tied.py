"""Many small mixtures of components of one shape, fitted to one table as a batch.

Choosing a number of latent classes takes hundreds of mixtures of the same few hundred rows: several starts, parts of
the rows (rows of weight 0), many sizes. One by one, the calls would cost more than the arithmetic. Component k has the
covariance s_k Σ: one shape for all, and a size of its own. With G_p, the inverse of Σ over the columns that pattern p
observes (o_p of them), the whole of EM is products of a few matrices:

    −2 log f(x_i | k) = (x_i − μ_k)ᵀ G_p (x_i − μ_k) / s_k + o_p log s_k + log|2π Σ_p|,
    completed x_ik − μ_k = Σ G_p (x_i − μ_k),        Cov(x_i | observed, k) = s_k (Σ − Σ G_p Σ),

so nothing of size rows × components × columns is made. In a table without holes there is one pattern, and rows enter
by two products with [x_i, levels]; such a step is several times cheaper. With all sizes 1, results are those of
``em.py`` with ``covariance_type="tied"``. Used by the latent classes of clustering.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gramian.grams.tiles import slices
from gramian.mixture.conditionals import inverses as inverses_of
from gramian.mixture.em import Parameters, memberships
from gramian.mixture.levels import Levels, level_probabilities
from gramian.typing import Array

_BATCH_ENTRIES = 2**18  # numbers in the largest array of one step: it stays in the cache
_LEAST_WEIGHT = 1e-12
_UNSEEN = 1e-9  # rows: a component with less stays where it is
_SIZES = (1 / 3, 3.0)  # of components: a few far rows are no class of their own
_LOG_2PI = float(np.log(2 * np.pi))


class Mixtures(NamedTuple):
    """S mixtures of K components in d columns of numbers and categorical columns of L levels in all."""

    weights: Array  # (S, K)
    means: Array  # (S, K, d)
    covariances: Array  # (S, d, d)
    levels: Array  # (S, K, L)
    scales: Array  # (S, K), s_k

    @classmethod
    def of(cls, parameters: Sequence[Parameters]) -> Mixtures:
        """Side by side, from tied covariances; all of as many components."""
        weights, means = np.stack([one.weights for one in parameters]), np.stack([one.means for one in parameters])
        covariances = np.stack([one.covariances for one in parameters])
        levels = np.stack([one.levels for one in parameters if one.levels is not None])
        return cls(weights, means, covariances, levels, np.ones_like(weights))

    def take(self, which: Array | slice) -> Mixtures:
        """Some of them."""
        return Mixtures(*(part[which] for part in self))

    def single(self, s: int) -> Parameters:
        """One of them, as ``em.py`` has it, with a covariance (K, d, d) for each component."""
        covariances = self.scales[s][:, None, None] * self.covariances[s]
        return Parameters(self.weights[s], self.means[s], covariances, self.levels[s])


class TiedTable:
    """A table with holes, prepared for batches of mixtures.

    Parameters
    ----------
    numbers : ndarray (n, d)
        Standardised, NaN where missing; d may be 0.
    hot : ndarray (L, n) of bool
        The levels of the rows; see :mod:`gramian.mixture.levels`.
    levels : Levels
    """

    def __init__(self, numbers: Array, hot: Array, levels: Levels) -> None:
        missing = np.isnan(numbers)
        masks, pattern = np.unique(missing, axis=0, return_inverse=True)
        pattern = pattern.ravel()
        # Complete rows come first, so that they take one product.
        counts = np.bincount(pattern, minlength=len(masks))
        by_holes = np.argsort(masks.sum(axis=1), kind="stable")
        masks, counts, place = masks[by_holes], counts[by_holes], np.argsort(by_holes)
        self.order = np.argsort(place[pattern], kind="stable")
        self.pattern = place[pattern][self.order]
        self.starts = np.cumsum(counts) - counts
        self.n_complete = int(counts[0]) if len(masks) and not masks[0].any() else 0
        self.values = np.where(missing, 0.0, numbers)[self.order]
        self.hot = np.ascontiguousarray(hot[:, self.order].T, np.float64)
        self.design = np.hstack([self.values, self.hot])
        self.levels = levels
        self.observed = numbers.shape[1] - masks.sum(axis=1)
        holes = masks.sum(axis=1)
        self.stacks = [
            (np.flatnonzero(holes == q), np.nonzero(masks[holes == q])[1].reshape(-1, q))
            for q in np.unique(holes[holes > 0]).tolist()
        ]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_complete(self) -> bool:
        """Whether no number is missing."""
        return self.n_complete == len(self)

    @property
    def widest(self) -> int:
        """Numbers for each row in the largest array of a step, but for components."""
        return max(1, self.hot.shape[1], self.values.shape[1] ** 2 if len(self.starts) > 1 else self.values.shape[1])


class _Shared(NamedTuple):
    """What a step needs of the covariances."""

    inverses: Array  # (S, P, d, d), G_p
    log_volumes: Array  # (S, P), log|2π Σ_p|


def run_tied(
    table: TiedTable,
    start: Mixtures,
    *,
    steps: int,
    tol: float,
    ridge: float,
    rows: Array | None = None,
    scaled: bool = True,
) -> tuple[Mixtures, Array]:
    """Improve mixtures by EM, each until its bound per row changes by less than ``tol``.

    Parameters
    ----------
    table : TiedTable
    start : Mixtures
        S of them.
    steps : int
        Most iterations.
    tol : float
    ridge : float
        Added to every variance in each step; more than 0.
    rows : ndarray (S, n), optional
        Weight of each row for each mixture, in the order of the table given; 1 by default.
    scaled : bool, default True
        Let components have sizes s_k from a third to three times the usual; otherwise all are 1.

    Returns
    -------
    mixtures : Mixtures
    bounds : ndarray (S,)
        Mean log-likelihood per row before the last step, plus the log-density of the prior of the levels over n.
    """
    S, K = start.weights.shape
    length = max(1, _BATCH_ENTRIES // (len(table) * max(K, table.widest)))
    done = []
    for part in slices(S, length):
        weights = None if rows is None else rows[part][:, table.order]
        done.append(_run(table, start.take(part), steps, tol, ridge, weights, scaled))
    parts = [mixtures for mixtures, _ in done]
    joined = Mixtures(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return joined, np.concatenate([bounds for _, bounds in done])


def _run(
    table: TiedTable, mixtures: Mixtures, steps: int, tol: float, ridge: float, weights: Array | None, scaled: bool
) -> tuple[Mixtures, Array]:
    S = len(mixtures.weights)
    totals = np.full(S, float(len(table))) if weights is None else weights.sum(axis=1)
    bounds, active = np.full(S, -np.inf), np.arange(S)
    result = Mixtures(*(part.copy() for part in mixtures))
    for _ in range(steps):
        current = None if weights is None else weights[active]
        mixtures, bound = _step(table, mixtures, ridge, current, totals[active], scaled)
        settled = np.abs(bound - bounds[active]) < tol
        bounds[active] = bound
        for into, part in zip(result, mixtures, strict=True):
            into[active] = part
        if settled.any():
            active, mixtures = active[~settled], mixtures.take(~settled)
            if not len(active):
                break
    return result, bounds


def posteriors(table: TiedTable, mixtures: Mixtures) -> tuple[Array, Array]:
    """Memberships (S, n, K) of all rows, in the order of the table given, and their log-likelihoods (S, n)."""
    back = np.argsort(table.order)
    if table.is_complete:
        gamma, likelihoods = memberships(_complete_log_joint(table, mixtures)[0], axis=1)
        return gamma[:, :, back].transpose(0, 2, 1), likelihoods[:, back]
    joint, _, _ = _log_joint(table, mixtures, _shared(table, mixtures.covariances))
    gamma, likelihoods = memberships(joint, axis=2)
    return gamma[:, back], likelihoods[:, back]


def _step(
    table: TiedTable, old: Mixtures, ridge: float, weights: Array | None, totals: Array, scaled: bool
) -> tuple[Mixtures, Array]:
    """One iteration: the next mixtures, and the bounds of the given ones."""
    if table.is_complete:
        return _complete_step(table, old, ridge, weights, totals, scaled)
    shared = _shared(table, old.covariances)
    joint, images, distances = _log_joint(table, old, shared)
    gamma, likelihoods = memberships(joint, axis=2)
    if weights is not None:
        gamma *= weights[:, :, None]
        likelihoods = likelihoods * weights
    moments = old.means, old.covariances, old.scales
    if old.means.shape[2]:
        moments = _moments(table, old, shared, gamma, images, distances, scaled)
    level_counts = gamma.transpose(0, 2, 1) @ table.hot
    new = _next(table, gamma.sum(axis=1), level_counts, moments, ridge, totals)
    return new, _bounds(table, old, likelihoods, totals)


def _next(
    table: TiedTable,
    counts: Array,
    level_counts: Array,
    moments: tuple[Array, Array, Array],
    ridge: float,
    totals: Array,
) -> Mixtures:
    """The next mixtures, of moments (means, covariances, scales) and of sums over rows."""
    weights = np.maximum(counts / totals[:, None], _LEAST_WEIGHT)
    weights /= weights.sum(axis=1, keepdims=True)
    means, covariances, scales = moments
    covariances = covariances + ridge * np.eye(means.shape[2])
    return Mixtures(weights, means, covariances, level_probabilities(level_counts, table.levels), scales)


def _bounds(table: TiedTable, old: Mixtures, likelihoods: Array, totals: Array) -> Array:
    levels = table.levels
    prior = levels.smoothing * (np.log(old.levels) @ levels.shares).sum(axis=1)
    bounds: Array = (likelihoods.sum(axis=1) + prior) / totals
    return bounds


# Tables without holes in their numbers ------------------------------------------------------------------------------


def _complete_log_joint(table: TiedTable, mixtures: Mixtures) -> tuple[Array, Array, Array]:
    """log(w_k f(row i | k)), (S, K, n), the precisions Λ, (S, d, d), and x_iᵀ Λ x_i, (S, n).

    Rows enter by one product: of [x_i, levels] with [Λ μ_k / s_k, log-probabilities].
    """
    weights, means, covariances, levels, scales = mixtures
    S, K, d = means.shape
    precisions = np.linalg.inv(covariances) if d else covariances
    moved = means @ precisions / scales[:, :, None]
    factors = np.concatenate([moved, np.log(levels)], axis=2)
    joint = (factors.reshape(S * K, -1) @ table.design.T).reshape(S, K, -1)
    X = table.values
    squares = np.einsum("snd,nd->sn", X @ precisions, X) if d else np.zeros((S, len(table)))
    volumes = d * (_LOG_2PI + np.log(scales)) + (np.linalg.slogdet(covariances)[1] if d else np.zeros(S))[:, None]
    joint += (np.log(weights) - 0.5 * ((moved * means).sum(axis=2) + volumes))[:, :, None]
    if d:
        joint -= (0.5 / scales)[:, :, None] * squares[:, None]
    return joint, precisions, squares


def _complete_step(
    table: TiedTable, old: Mixtures, ridge: float, weights: Array | None, totals: Array, scaled: bool
) -> tuple[Mixtures, Array]:
    """One iteration on a table without holes: memberships stand component by component, all sums are products."""
    joint, precisions, squares = _complete_log_joint(table, old)
    gamma, likelihoods = memberships(joint, axis=1)  # (S, K, n)
    if weights is not None:
        gamma *= weights[:, None]
        likelihoods = likelihoods * weights
    S, K, d = old.means.shape
    counts = gamma.sum(axis=2)
    sums = (gamma.reshape(S * K, -1) @ table.design).reshape(S, K, -1)
    means, covariances, scales = old.means, old.covariances, old.scales
    if d:
        mass = np.maximum(counts, _UNSEEN)
        centers = sums[:, :, :d] / mass[:, :, None]
        means = np.where(counts[:, :, None] > _UNSEEN, centers, means)
        if scaled and K > 1:
            distances = (gamma @ squares[:, :, None])[:, :, 0] - mass * ((centers @ precisions) * centers).sum(axis=2)
            scales = _sizes_of(np.maximum(distances, 0.0), counts, d)
        X = table.values
        spread = ((1 / scales)[:, None] @ gamma)[:, 0]  # (S, n), Σ_k γ_ik / s_k
        scatter = (spread[:, :, None] * X).transpose(0, 2, 1) @ X
        scatter -= centers.transpose(0, 2, 1) @ (centers * (mass / scales)[:, :, None])
        covariances = scatter / counts.sum(axis=1)[:, None, None]
        covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
    new = _next(table, counts, sums[:, :, d:], (means, covariances, scales), ridge, totals)
    return new, _bounds(table, old, likelihoods, totals)


def _sizes_of(distances: Array, counts: Array, d: int) -> Array:
    """Sizes s_k (S, K) from sums of squared distances in d columns; one row of the usual size is added."""
    found = (distances + d) / (d * (counts + 1))
    usual = np.exp((counts * np.log(found)).sum(axis=1) / counts.sum(axis=1))
    return np.clip(found / usual[:, None], *_SIZES)


# Tables with holes --------------------------------------------------------------------------------------------------


def _shared(table: TiedTable, covariances: Array) -> _Shared:
    S, d = covariances.shape[:2]
    P = len(table.starts)
    if not d:
        return _Shared(np.zeros((S, P, 0, 0)), np.zeros((S, P)))
    precisions, volumes = inverses_of(np.array(covariances.transpose(1, 2, 0)[None], order="C"))  # a copy: in place
    precision = np.ascontiguousarray(precisions[0].transpose(2, 0, 1))
    inverses = np.repeat(precision[:, None], P, axis=1)
    log_volumes = volumes[0][:, None] + table.observed * _LOG_2PI
    for patterns, m in table.stacks:
        # G_p = Λ − Λ_·m (Λ_mm)⁻¹ Λ_m·, and log|Σ_oo| = log|Σ| + log|Λ_mm|.
        among = precision[:, m[:, :, None], m[:, None, :]]
        inverted, determinants = inverses_of(np.array(among.transpose(0, 2, 3, 1), order="C"))
        across = precision[:, m]  # (S, patterns, q, d)
        inverses[:, patterns] -= across.transpose(0, 1, 3, 2) @ (inverted.transpose(0, 3, 1, 2) @ across)
        log_volumes[:, patterns] += determinants
    return _Shared(inverses, log_volumes)


def _images(table: TiedTable, shared: _Shared, vectors: Array) -> Array:
    """G_p v_i for a vector of each row: (S, n, d) from (S or 1, n, d)."""
    whole = table.n_complete
    out = np.empty((len(shared.inverses), *vectors.shape[1:]))
    if whole:
        out[:, :whole] = vectors[:, :whole] @ shared.inverses[:, 0]
    if whole < len(table):
        G = shared.inverses[:, table.pattern[whole:]]
        out[:, whole:] = np.matmul(G, vectors[:, whole:, :, None])[..., 0]
    return out


def _log_joint(table: TiedTable, mixtures: Mixtures, shared: _Shared) -> tuple[Array, Array, Array]:
    """log(w_k f(observed part of row i | k)), (S, n, K), G_p x_i, (S, n, d), and (x_i − μ_k)ᵀ G_p (x_i − μ_k)."""
    log_levels = np.log(mixtures.levels)
    S, K, L = log_levels.shape
    joint = (table.hot @ log_levels.reshape(S * K, L).T).reshape(len(table), S, K).transpose(1, 0, 2)
    joint = joint + np.log(mixtures.weights)[:, None]
    images, distances = np.empty((S, len(table), 0)), np.zeros((S, 1, 1))
    if mixtures.means.shape[2]:
        images = _images(table, shared, table.values[None])
        means = mixtures.means
        moved = np.matmul(shared.inverses, means.transpose(0, 2, 1)[:, None])  # (S, P, d, K), G_p μ_k
        squares = np.einsum("spdk,skd->spk", moved, means)
        distances = images @ (-2 * means.transpose(0, 2, 1))
        distances += np.einsum("snd,nd->sn", images, table.values)[:, :, None]
        distances += squares[:, table.pattern]
        np.maximum(distances, 0.0, out=distances)
        volumes = shared.log_volumes[:, :, None] + table.observed[:, None] * np.log(mixtures.scales)[:, None]
        joint -= 0.5 * (distances / mixtures.scales[:, None] + volumes[:, table.pattern])
    return joint, images, distances


def _moments(
    table: TiedTable, old: Mixtures, shared: _Shared, gamma: Array, images: Array, distances: Array, scaled: bool
) -> tuple[Array, Array, Array]:
    """The next means, covariances and scales: each raises the bound, given those before it."""
    G, sigma, means = shared.inverses, old.covariances, old.means
    S, K, d = means.shape
    shares = np.add.reduceat(gamma, table.starts, axis=1)  # (S, P, K), of a pattern in a component
    counts = shares.sum(axis=1)
    mass = np.maximum(counts, _UNSEEN)
    # Σ_i γ_ik G_p (x_i − μ_k); Σ on the left gives the completed deviations.
    moved = np.matmul(G, means.transpose(0, 2, 1)[:, None]).transpose(0, 1, 3, 2)  # (S, P, K, d)
    sums = gamma.transpose(0, 2, 1) @ images - np.einsum("spk,spkd->skd", shares, moved)
    sums = np.where(counts[:, :, None] > _UNSEEN, sums, 0.0)
    steps = sums @ sigma  # Σ_i γ_ik (completed x_i − μ_k)
    scales = old.scales
    if scaled and K > 1:
        lost = (steps * sums).sum(axis=2) / mass  # of the distances, as the means move
        holes = ((d - table.observed)[:, None] * shares).sum(axis=1) * old.scales
        scales = _sizes_of(np.maximum((gamma * distances).sum(axis=1) - lost, 0.0) + holes, counts, d)
    ratios = old.scales / scales
    gamma, shares, spread = gamma / scales[:, None], shares / scales[:, None], shares * ratios[:, None]
    expected = _images(table, shared, gamma @ means)
    crossed = images.transpose(0, 2, 1) @ expected
    scatter = (
        (images * gamma.sum(axis=2)[:, :, None]).transpose(0, 2, 1) @ images - crossed - crossed.transpose(0, 2, 1)
    )
    flat = moved.reshape(S, -1, d)
    scatter += (flat * shares.reshape(S, -1, 1)).transpose(0, 2, 1) @ flat
    of_pattern = spread.sum(axis=2)
    scatter -= np.einsum("sp,spij->sij", of_pattern, G)
    around = sigma @ scatter @ sigma - steps.transpose(0, 2, 1) @ (steps / (mass * scales)[:, :, None])
    total = counts.sum(axis=1)[:, None, None]
    new = sigma * (of_pattern.sum(axis=1)[:, None, None] / total) + around / total
    return means + steps / mass[:, :, None], (new + new.transpose(0, 2, 1)) / 2, scales
