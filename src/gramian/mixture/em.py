"""Expectation-maximisation for a mixture on a table with missing values: pure functions on arrays.

Components are normal in columns of numbers and multinomial in categorical columns, if there are any (``levels.py``).

One iteration is one pass over chunks of rows: the holes of a chunk are filled in by every component, the memberships
follow, and the sums that the M-step needs are added up, so nothing of the size rows × components is kept. Full and
tied covariances go through ``conditionals.py``; diagonal and spherical ones are one product per chunk. Used by
:class:`gramian.IncompleteGaussianMixture`, :class:`gramian.IncompleteMixture` and ensembles of mixtures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from gramian.grams.tiles import run_threaded, slices
from gramian.mixture.conditionals import Completed, Gaussians, completed, factorized, gaussians
from gramian.mixture.levels import Levels, level_probabilities, log_prior
from gramian.mixture.patterns import CHUNK_BYTES, IncompleteTable
from gramian.typing import Array

CovarianceType = Literal["full", "tied", "diag", "spherical"]
MStep = Literal["imputed", "observed"]

_SHARES = 4  # of the chunks, dealt out beforehand: sums do not depend on the number of threads
_LEAST_WEIGHT = 1e-12
_LEAST_VARIANCE = 1e-12  # of a standardised column
_UNSEEN = 1e-8  # a column observed less than this by a component tells it nothing
_LOG_2PI = float(np.log(2 * np.pi))


class Parameters(NamedTuple):
    """A mixture of K components in d columns of numbers, and in categorical columns with L levels in all."""

    weights: Array  # (K,)
    means: Array  # (K, d)
    covariances: Array  # full (K, d, d), tied (d, d), diag (K, d), spherical (K,)
    levels: Array | None = None  # (K, L), probabilities that sum to 1 in each categorical column


class Prior(NamedTuple):
    """Conjugate prior on standardised data, whose columns have mean 0 and variance 1.

    Each mean is drawn from N(0, Σ_k / ``mean_precision``); each covariance from an inverse Wishart with scale I (full
    and tied) or each variance from an inverse gamma of mean-like 1 (diag and spherical), both with
    ``degrees_of_freedom``; the weights from a symmetric Dirichlet with ``weight_concentration``.
    """

    mean_precision: float
    degrees_of_freedom: float
    weight_concentration: float


class Fit(NamedTuple):
    """Where EM ended."""

    parameters: Parameters
    bounds: Array  # (iterations,), mean log-likelihood (plus log-prior / n) before each M-step
    converged: bool


def run_em(
    table: IncompleteTable,
    start: Parameters,
    *,
    covariance_type: CovarianceType = "full",
    max_iter: int = 100,
    tol: float = 1e-3,
    m_step: MStep = "imputed",
    ridge: float | Array = 0.0,
    prior: Prior | None = None,
    levels: Levels | None = None,
    advance: Callable[[], None] | None = None,
) -> Fit:
    """Improve a mixture step by step.

    Parameters
    ----------
    table : IncompleteTable
        Standardised columns: the safeguards against variances of zero, and the prior, are in those units.
    start : Parameters
        Where to begin; covariances in the shape that ``covariance_type`` has.
    covariance_type : {"full", "tied", "diag", "spherical"}
    max_iter : int
        Most iterations.
    tol : float
        Stop when the bound changes by less; 0 makes ``max_iter`` iterations.
    m_step : {"imputed", "observed"}
        Whether holes count as latent values, at the component's mean and with its variance, or not at all. The second
        exists for "diag" and "spherical" only and has the same fixed points.
    ridge : float or ndarray (d,)
        Added to every variance, or that of each column, after each M-step.
    prior : Prior, optional
        Maximise the posterior density instead of the likelihood.
    levels : Levels, optional
        The levels that the indicators of ``table`` stand for, and their prior; needed if it has any.
    advance : callable, optional
        Called after every iteration.

    Returns
    -------
    fit : Fit
        The parameters after the last M-step.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.1], [-0.9, np.nan], [1.0, 0.9], [np.nan, 1.1]])
    >>> start = Parameters(np.full(2, 0.5), np.array([[-1.0, -1.0], [1.0, 1.0]]), np.ones((2, 2)))
    >>> fit = run_em(IncompleteTable(X), start, covariance_type="diag", ridge=1e-3)
    >>> fit.parameters.means.round(2)
    array([[-0.95, -1.1 ],
           [ 1.  ,  1.  ]])
    """
    n = table.shape[0]
    parameters, bounds, converged = start, [], False
    for _ in range(max_iter):
        if covariance_type in ("full", "tied"):
            bound, new, counts = _dense_step(table, parameters, covariance_type, ridge, prior)
        else:
            bound, new, counts = _diagonal_step(table, parameters, covariance_type, m_step, ridge, prior)
        if levels is not None:
            assert parameters.levels is not None
            bound += log_prior(parameters.levels, levels)
            new = new._replace(levels=level_probabilities(counts, levels))
        parameters = new
        bounds.append(bound / n)
        if not np.isfinite(bounds[-1]):
            raise ValueError(
                "the likelihood of the mixture is not finite; pass a larger reg_covar or fewer n_components"
            )
        if advance is not None:
            advance()
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol:
            converged = True
            break
    return Fit(parameters, np.array(bounds), converged)


def log_joint(table: IncompleteTable, parameters: Parameters, covariance_type: CovarianceType) -> Array:
    """log(w_k f(observed part of row i | component k)), shape (n, K), rows in the order of the original table."""
    log_weights = np.log(parameters.weights)[:, None]
    joint = np.empty((len(log_weights), table.shape[0]), table.values.dtype)
    if covariance_type in ("full", "tied"):
        for part in complete_rows(table, parameters):
            joint[:, part.chunk.rows] = part.log_densities + log_weights
        if parameters.levels is not None:
            joint += np.log(parameters.levels) @ table.indicators.astype(joint.dtype)
    else:
        coefficients = _coefficients(parameters)
        for rows, features in _features(table, len(log_weights)):
            joint[:, rows] = coefficients @ features + log_weights
    return table.unsorted(joint)


def complete_rows(table: IncompleteTable, parameters: Parameters, centers: Array | None = None) -> Iterator[Completed]:
    """Rows completed by every component, chunk by chunk; see :func:`gramian.mixture.conditionals.completed`."""
    _, components = _prepared(parameters)
    return completed(table, table.chunks(len(parameters.weights)), components, centers)


def memberships(joint: Array, axis: int) -> tuple[Array, Array]:
    """Shares of the components in each row, and the rows' log-likelihoods, from the joint log-densities."""
    top = joint.max(axis=axis, keepdims=True)
    gamma = np.exp(joint - top)
    total = gamma.sum(axis=axis, keepdims=True)
    gamma /= total
    return gamma, np.squeeze(top + np.log(total), axis)


def _weights(counts: Array, n: int, prior: Prior | None) -> Array:
    pseudo = 0.0 if prior is None else prior.weight_concentration - 1
    weights = np.maximum((counts + pseudo) / (n + len(counts) * pseudo), _LEAST_WEIGHT)
    return weights / weights.sum()


# Full and tied covariances ------------------------------------------------------------------------------------


class _Sums(NamedTuple):
    """Over all rows, for each component: Σγ, Σγ(Y − μ), Σγ[(Y − μ)(Y − μ)ᵀ + C], of levels; the log-likelihood."""

    counts: Array  # (K,)
    shifts: Array  # (K, d)
    scatters: Array  # (K or 1, d, d)
    levels: Array  # (K, L), Σγ of the rows with each level
    likelihood: Array  # ()


def _prepared(parameters: Parameters) -> tuple[Array, Gaussians]:
    """Covariances (K or 1, d, d) that can be factorised, and the components."""
    d = parameters.means.shape[1]
    covariances, factors = factorized(parameters.covariances.reshape(-1, d, d))
    return covariances, gaussians(parameters.means, factors)


def _dense_step(
    table: IncompleteTable,
    parameters: Parameters,
    covariance_type: CovarianceType,
    ridge: float | Array,
    prior: Prior | None,
) -> tuple[float, Parameters, Array]:
    """One iteration: the bound at ``parameters``, the next ones, and the sums of the levels (K, L)."""
    n, d = table.shape
    covariances, components = _prepared(parameters)
    sums = _dense_sums(table, components, parameters)
    bound = float(sums.likelihood)
    means = parameters.means
    kappa = 0.0
    if prior is not None:
        bound += _dense_log_prior(parameters.weights, components, prior)
        kappa = prior.mean_precision
    alive = sums.counts + kappa > 10 * np.finfo(means.dtype).eps * n
    mass = np.where(alive, sums.counts, 1.0)[:, None]
    # μ' = (Σγ Y + κ·0) / (n_k + κ), as a step from μ; a component without rows stays where it is.
    steps = np.where(alive[:, None], (sums.shifts - kappa * means) / (mass + kappa), 0.0)
    new_means = means + steps
    # Around the new mean: Σγ(Y−μ')(Y−μ')ᵀ = S − s δᵀ − δ sᵀ + n δ δᵀ. γ enters once; the paper's second γ lets the
    # likelihood fall.
    crossed = sums.shifts[:, :, None] * steps[:, None, :]
    around = sums.counts[:, None, None] * steps[:, :, None] * steps[:, None, :]
    moved = around - crossed - crossed.transpose(0, 2, 1) + kappa * new_means[:, :, None] * new_means[:, None, :]
    if covariance_type == "tied":
        moved = moved.sum(axis=0, keepdims=True)
        divisor = np.full((1, 1, 1), float(n))
        frozen = np.zeros(1, bool)
        kinds = len(means)
    else:
        divisor = mass[:, :, None]
        frozen = ~alive
        kinds = 1
    scatters = sums.scatters + moved
    if prior is not None:
        scatters = scatters + np.eye(d)
        divisor = divisor + prior.degrees_of_freedom + d + 1 + kinds
    new = scatters / divisor
    new = (new + new.transpose(0, 2, 1)) / 2
    new[:, np.arange(d), np.arange(d)] += ridge
    new[frozen] = covariances[frozen]
    new = factorized(new)[0]
    weights = _weights(sums.counts, n, prior)
    return bound, Parameters(weights, new_means, new.reshape(parameters.covariances.shape)), sums.levels


def _dense_sums(table: IncompleteTable, components: Gaussians, parameters: Parameters) -> _Sums:
    """One pass over the rows, on several threads."""
    K, d = components.means.shape
    log_weights, log_levels = np.log(parameters.weights)[:, None], _log_levels(parameters)
    L = log_levels.shape[1]
    G = len(components.precisions)
    dtype = table.values.dtype
    chunks = table.chunks(K)
    shares = [chunks[i::_SHARES] for i in range(min(_SHARES, len(chunks)))]
    shapes: list[tuple[int, ...]] = [(K,), (K, d), (G, d, d), (K, L), ()]
    totals = [_Sums(*(np.zeros(shape, dtype) for shape in shapes)) for _ in shares]

    def add_up(share: int) -> None:
        total = totals[share]
        for part in completed(table, shares[share], components):
            part.log_densities[...] += log_weights
            if L:
                hot = table.indicators[:, part.chunk.rows].astype(dtype)
                part.log_densities[...] += log_levels @ hot
            gamma, likelihood = memberships(part.log_densities, axis=0)
            _add(part, gamma, total)
            if L:
                total.levels[...] += gamma @ hot.T
            total.likelihood[...] += likelihood.sum()

    run_threaded(add_up, range(len(shares)), entries=float(table.values.size) * K)
    for other in totals[1:]:
        for into, term in zip(totals[0], other, strict=True):
            into += term
    return totals[0]


def _add(part: Completed, gamma: Array, total: _Sums) -> None:
    """Add a chunk's rows to the sums; ``gamma`` is (K, rows)."""
    G, d = total.scatters.shape[:2]
    total.counts[...] += gamma.sum(axis=1)
    total.shifts[...] += (part.deviations @ gamma[:, :, None])[:, :, 0]
    weighted = np.multiply(part.deviations, gamma[:, None], out=part.scratch)
    scatters = weighted @ part.deviations.transpose(0, 2, 1)
    total.scatters[...] += scatters if G > 1 else scatters.sum(axis=0)
    flat = total.scatters.reshape(-1)
    for stack, spread in zip(part.chunk.stacks, part.spreads, strict=True):
        if not spread.size:
            continue
        # C is the same for all rows of a pattern, so it counts with the pattern's share in the component.
        share = np.concatenate(
            [gamma[:, block.rows].reshape(len(gamma), -1, block.each).sum(axis=2) for block in stack.blocks], axis=1
        )
        if G == 1:
            share = share.sum(axis=0, keepdims=True)
        m = stack.missing.T
        places = np.arange(G)[:, None, None, None] * d * d + m[:, None] * d + m
        np.add.at(flat, places.ravel(), (share[:, None, None] * spread).ravel())


def _dense_log_prior(weights: Array, components: Gaussians, prior: Prior) -> float:
    """Log-density of the prior, up to a constant."""
    K, d = components.means.shape
    G = len(components.precisions)
    # |Σ| appears once in the inverse Wishart and once for every mean drawn with Σ.
    powers = prior.degrees_of_freedom + d + 1 + K / G
    distances = np.square(components.whiteners @ components.means[:, :, None]).sum()
    traces = np.square(components.whiteners).sum()
    exponent = powers * components.log_determinants.sum() + traces + prior.mean_precision * distances
    return float((prior.weight_concentration - 1) * np.log(weights).sum() - exponent / 2)


# Diagonal and spherical covariances -----------------------------------------------------------------------------


def _features(
    table: IncompleteTable, n_components: int, share: int = 0, n_shares: int = 1
) -> Iterator[tuple[slice, Array]]:
    """Chunks of rows as (3 d + L, rows): whether observed, the value, its square, the indicators of the levels.

    With ``n_shares``, every ``n_shares``-th chunk, from the one numbered ``share``.
    """
    d, n = table.values.shape
    height = 3 * d + len(table.indicators)
    length = max(256, CHUNK_BYTES // (table.values.itemsize * max(height, n_components)))
    buffer = np.empty((height, min(n, length)), table.values.dtype)
    for rows in list(slices(n, length))[share::n_shares]:
        features = buffer[:, : rows.stop - rows.start]
        features[:d] = table.observed[:, rows]
        features[d : 2 * d] = table.values[:, rows]
        np.square(features[d : 2 * d], out=features[2 * d : 3 * d])
        features[3 * d :] = table.indicators[:, rows]
        yield rows, features


def _variances(parameters: Parameters) -> Array:
    """Variances (K, d) of diagonal or spherical components."""
    v = parameters.covariances
    return np.broadcast_to(v[:, None] if v.ndim == 1 else v, parameters.means.shape)


def _coefficients(parameters: Parameters) -> Array:
    """What a chunk's features are multiplied by to give log-densities: (K, 3 d + L)."""
    v, means = _variances(parameters), parameters.means
    # −½ Σ_j observed (log 2π v + (x − μ)² / v), the square multiplied out
    numbers = [-0.5 * (_LOG_2PI + np.log(v) + means**2 / v), means / v, -0.5 / v]
    return np.hstack([*numbers, _log_levels(parameters)])


def _log_levels(parameters: Parameters) -> Array:
    """Log-probabilities of the levels, (K, L), with L = 0 if there are none."""
    return np.empty((len(parameters.weights), 0)) if parameters.levels is None else np.log(parameters.levels)


def _diagonal_sums(table: IncompleteTable, parameters: Parameters) -> tuple[Array, Array, float]:
    """Σγ over the features (K, 3 d + L), Σγ (K,) and the log-likelihood, on several threads."""
    log_weights, coefficients = np.log(parameters.weights)[:, None], _coefficients(parameters)
    K = len(log_weights)
    sums = np.zeros((_SHARES, *coefficients.shape), coefficients.dtype)
    counts, likelihoods = np.zeros((_SHARES, K), coefficients.dtype), np.zeros(_SHARES)

    def add_up(share: int) -> None:
        for _, features in _features(table, K, share, _SHARES):
            joint = coefficients @ features
            joint += log_weights
            gamma, likelihood = memberships(joint, axis=0)
            sums[share] += gamma @ features.T
            counts[share] += gamma.sum(axis=1)
            likelihoods[share] += likelihood.sum()

    run_threaded(add_up, range(_SHARES), entries=float(coefficients.shape[1]) * table.shape[0] / 3 * K)
    return sums.sum(axis=0), counts.sum(axis=0), float(likelihoods.sum())


def _diagonal_step(
    table: IncompleteTable,
    parameters: Parameters,
    covariance_type: CovarianceType,
    m_step: MStep,
    ridge: float | Array,
    prior: Prior | None,
) -> tuple[float, Parameters, Array]:
    """One iteration: the bound at ``parameters``, the next ones, and the sums of the levels (K, L)."""
    n, d = table.shape
    sums, counts, bound = _diagonal_sums(table, parameters)
    if prior is not None:
        bound += _diagonal_log_prior(parameters, prior)
    o, s1, s2 = sums[:, :d], sums[:, d : 2 * d], sums[:, 2 * d : 3 * d]
    means, v = parameters.means, _variances(parameters)
    kappa = 0.0 if prior is None else prior.mean_precision
    # "imputed" counts the holes too, with the old mean and variance.
    holes = np.maximum(counts[:, None] - o, 0) if m_step == "imputed" else np.zeros_like(o)
    mass = o + holes
    known = mass + kappa > (_UNSEEN if m_step == "observed" else 10 * np.finfo(means.dtype).eps * n)
    new_means = np.where(known, (s1 + holes * means) / np.where(known, mass + kappa, 1), means)
    squares = s2 - 2 * new_means * s1 + o * new_means**2 + holes * ((means - new_means) ** 2 + v)
    squares = np.maximum(squares, 0) + kappa * new_means**2
    if covariance_type == "spherical":
        squares, mass = squares.sum(axis=1), mass.sum(axis=1)
        known, v = known.any(axis=1), v[:, 0]
    if prior is not None:
        shared = d if covariance_type == "spherical" else 1
        squares, mass = squares + prior.degrees_of_freedom, mass + prior.degrees_of_freedom + shared + 2
    new = np.where(known, np.maximum(squares / np.where(known, mass, 1) + ridge, _LEAST_VARIANCE), v)
    return bound, Parameters(_weights(counts, n, prior), new_means, new), sums[:, 3 * d :]


def _diagonal_log_prior(parameters: Parameters, prior: Prior) -> float:
    """Log-density of the prior, up to a constant."""
    v, means = parameters.covariances, parameters.means
    shared = 1 if v.ndim == 2 else means.shape[1]  # columns, and so means, per variance
    distances = (means**2 / _variances(parameters)).sum()
    exponent = (prior.degrees_of_freedom + 2 + shared) * np.log(v).sum()
    exponent += prior.degrees_of_freedom * (1 / v).sum() + prior.mean_precision * distances
    return float((prior.weight_concentration - 1) * np.log(parameters.weights).sum() - exponent / 2)
