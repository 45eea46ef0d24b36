"""What the observed part of a row says about the rest, under each of several Gaussians.

For a pattern of missing columns m and the precision Λ = Σ⁻¹, the missing values given the observed ones have the
covariance C = (Λ_mm)⁻¹ and the mean μ_m − C Λ_mo (x_o − μ_o), and log|Σ_oo| = log|Σ| + log|Λ_mm|. Only matrices of
the size of the holes are inverted, all of one size in one batch; the rest are products over whole chunks of rows.
Used by ``em.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from gramian.mixture.patterns import Chunk, IncompleteTable, Stack
from gramian.typing import Array

_LOG_2PI = float(np.log(2 * np.pi))
_SWEPT = 16  # larger matrices are inverted by LAPACK; below, its calls cost more than its arithmetic
_JITTER = 1e-6
_TRIALS = 6


class Gaussians(NamedTuple):
    """Components ready for use; with one covariance for all, its arrays have length 1."""

    means: Array  # (K, d)
    whiteners: Array  # (K or 1, d, d), inverses of the lower Cholesky factors
    precisions: Array  # (K or 1, d, d)
    log_determinants: Array  # (K or 1,), of the covariances


class Completed(NamedTuple):
    """A chunk of rows, its holes filled in by every component."""

    chunk: Chunk
    deviations: Array  # (K, d, rows), completed rows minus their component's mean
    log_densities: Array  # (K, rows), of the observed values
    spreads: list[Array]  # per stack (K or 1, q, q, patterns), the conditional covariances C
    scratch: Array  # (K, d, rows), free to use


def factorized(covariances: Array) -> tuple[Array, Array]:
    """Covariances that have Cholesky factors, and those factors.

    Parameters
    ----------
    covariances : ndarray (m, d, d)

    Returns
    -------
    covariances : ndarray (m, d, d)
        The input, or where it is singular, the input with 10⁻⁶ of its mean variance on the diagonal, ten times more
        as often as needed.
    factors : ndarray (m, d, d)
        Lower triangular.
    """
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        factors = np.zeros_like(covariances)
    d = covariances.shape[1]
    # A pivot at the level of rounding is a zero that was computed inexactly.
    enough = 10 * d * np.finfo(covariances.dtype).eps * np.einsum("kii->ki", covariances)
    weak = np.flatnonzero(~np.all(np.einsum("kii->ki", factors) ** 2 > enough, axis=1))
    if len(weak):
        covariances = covariances.copy()
        for k in weak:
            covariances[k], factors[k] = _jittered(covariances[k], enough[k])
    return covariances, factors


def _jittered(covariance: Array, enough: Array) -> tuple[Array, Array]:
    d = len(covariance)
    size = float(np.trace(covariance)) / d
    size = size if size > 0 else 1.0
    for jitter in [0.0, *(_JITTER * size * 10.0**trial for trial in range(_TRIALS))]:
        raised = covariance + jitter * np.eye(d)
        try:
            factor = np.linalg.cholesky(raised)
        except np.linalg.LinAlgError:
            continue
        if np.all(np.diag(factor) ** 2 > enough):
            return raised, factor
    raise ValueError(
        "a covariance is not positive definite, even with a tenth of its mean variance added; "
        "pass a larger reg_covar, fewer n_components, or covariance_type='diag'"
    )


def gaussians(means: Array, factors: Array) -> Gaussians:
    """Components from their means (K, d) and the Cholesky factors (K or 1, d, d) of their covariances."""
    eye = np.eye(means.shape[1], dtype=means.dtype)
    whiteners = np.stack([solve_triangular(factor, eye, lower=True, check_finite=False) for factor in factors])
    log_determinants = 2 * np.log(np.einsum("kii->ki", factors)).sum(axis=1)
    return Gaussians(means, whiteners, whiteners.transpose(0, 2, 1) @ whiteners, log_determinants)


def completed(
    table: IncompleteTable, chunks: list[Chunk], components: Gaussians, centers: Array | None = None
) -> Iterator[Completed]:
    """Go through the chunks and let every component fill in the holes.

    Parameters
    ----------
    table : IncompleteTable
    chunks : list of Chunk
        Those of ``table`` to visit.
    components : Gaussians
    centers : ndarray (d, n), optional
        What deviations are measured from, row by row, instead of from the means; then a hole deviates by the
        regression of its column on the observed deviations from ``centers``.

    Yields
    ------
    part : Completed
        Its arrays are overwritten by the next one.
    """
    K, d = components.means.shape
    longest = max((chunk.rows.stop - chunk.rows.start for chunk in chunks), default=0)
    deviations = np.empty((K, d, longest), table.values.dtype)
    products = np.empty_like(deviations)
    for chunk in chunks:
        length = chunk.rows.stop - chunk.rows.start
        D, work = deviations[:, :, :length], products[:, :, :length]
        origin = components.means[:, :, None] if centers is None else centers[:, chunk.rows]
        np.subtract(table.values[:, chunk.rows], origin, out=D)
        log_norm = np.empty((len(components.precisions), length), D.dtype)
        spreads = []
        for stack in chunk.stacks:
            q = stack.missing.shape[1]
            log_norm[:, stack.rows] = components.log_determinants[:, None] + (d - q) * _LOG_2PI
            spreads.append(_fill(stack, D, work, log_norm, components.precisions))
        np.matmul(components.whiteners, D, out=work)
        # The completed row is the one nearest to the mean, so its distance is that of the observed part alone.
        log_densities = np.einsum("kdr,kdr->kr", work, work)
        log_densities += log_norm
        log_densities *= -0.5
        yield Completed(chunk, D, log_densities, spreads, work)


def _fill(stack: Stack, D: Array, work: Array, log_norm: Array, precisions: Array) -> Array:
    """Put conditional deviations in the holes of a stack of rows of D, in place; returns the spreads C."""
    m = stack.missing.T
    if not len(m):
        return np.empty((len(precisions), 0, 0, len(stack.missing)), D.dtype)
    spread, log_determinants = inverses(precisions[:, m[:, None], m[None]])
    np.matmul(precisions, D[:, :, stack.rows], out=work[:, :, stack.rows])
    K, d = D.shape[:2]
    for block in stack.blocks:
        C = spread[..., block.patterns]
        n_patterns = C.shape[-1]
        log_norm[:, block.rows].reshape(-1, n_patterns, block.each)[:] += log_determinants[:, block.patterns, None]
        # Holes hold −center, not 0, and with it Λ D differs by what makes the new value come out as a decrement.
        if n_patterns == 1:
            columns = m[:, block.patterns.start]
            D[:, columns, block.rows] -= C[..., 0] @ work[:, columns, block.rows]
            continue
        at = (slice(None), m[:, block.patterns], np.arange(n_patterns))
        image = work[:, :, block.rows].reshape(K, d, n_patterns, block.each)[at]
        if block.each == 1:
            change = (C * image[:, None, :, :, 0]).sum(axis=2)[..., None]
        else:
            stacked = np.ascontiguousarray(C.transpose(0, 3, 1, 2))
            change = (stacked @ image.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        D[:, :, block.rows].reshape(K, d, n_patterns, block.each)[at] -= change
    return spread


def inverses(A: Array) -> tuple[Array, Array]:
    """Inverses, in place, and log-determinants of positive definite matrices (G, q, q, P), along the last axis."""
    q = A.shape[1]
    if q > _SWEPT:
        matrices = np.ascontiguousarray(A.transpose(0, 3, 1, 2))
        inverse = np.linalg.inv(matrices).transpose(0, 2, 3, 1)
        return inverse, np.linalg.slogdet(matrices)[1]
    # Gauss-Jordan without pivoting, which a positive definite matrix does not need, on all matrices at once.
    log_determinant = np.zeros((A.shape[0], A.shape[3]), A.dtype)
    tiny = np.finfo(A.dtype).tiny
    for j in range(q):
        column = A[:, :, j].copy()
        pivot = np.maximum(column[:, j], tiny)
        log_determinant += np.log(pivot)
        row = A[:, j] / pivot[:, None]
        row[:, j] = 1 / pivot
        A[:, :, j] = 0
        A -= column[:, :, None] * row[:, None]
        A[:, j] = row
    return A, log_determinant
