"""Tests of independence by HSIC: permutation test, gamma approximation, blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaincc, stdtr

from gramian.checks import whole
from gramian.dependence.measures._blocks import block_values
from gramian.dependence.measures._grams import KernelChoice, moderate_grams, restored
from gramian.dependence.measures._pair_sums import PairSums, Side
from gramian.dependence.measures._partitions import refuse_pairs_of_partitions, sums_of_pairs
from gramian.dependence.measures._permutations import permuted_traces
from gramian.dependence.measures.hsic import check_block_size
from gramian.grams import Gram
from gramian.randomness import generator, spawn
from gramian.typing import RandomState

_METHODS = ("permutation", "gamma", "block")


@dataclass(frozen=True)
class IndependenceTest:
    """The outcome of :func:`hsic_test`.

    Attributes
    ----------
    statistic : float
        HSIC: the biased estimate, for "block" that of the blocks.
    pvalue : float
        Probability of a statistic at least as large if the two sides are independent.
    method : str
    n_samples : int
    null_mean, null_variance : float
        Of the statistic if the two sides are independent.
    n_permutations : int or None
        None where no permutations were drawn.
    """

    statistic: float
    pvalue: float
    method: str
    n_samples: int
    null_mean: float
    null_variance: float
    n_permutations: int | None = None


def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel_x: KernelChoice = "rbf",
    kernel_y: KernelChoice = "rbf",
    method: str = "permutation",
    n_permutations: int = 999,
    approximation: str | None = None,
    n_features: int = 300,
    block_size: int | None = None,
    random_state: RandomState = None,
) -> IndependenceTest:
    """Test whether two sets of columns are independent, by their HSIC.

    Parameters
    ----------
    X, Y, kernel_x, kernel_y, approximation, n_features
        As in :func:`hsic`; Dask inputs with ``method="gamma"``, because the others bring rows of all partitions
        together.
    method : {"permutation", "gamma", "block"}, default "permutation"
        - "permutation": compare with ``n_permutations`` random pairings of the same samples. With b of them at
          least as large, p = (1 + b) / (1 + n_permutations): never more often below a level than that level, for
          any n and kernel. Kernels are evaluated once; memory is O(n²) unless both kernels have few features.
        - "gamma": a gamma distribution with the mean and variance of the statistic over all n! pairings, which have
          closed forms, so that nothing is drawn and nothing of size n×n stored. Accurate to about 0.01 in the
          middle; do not read small p-values to more than their order of magnitude. For positive semi-definite
          kernels and n >= 6.
        - "block": mean over its standard error of unbiased estimates from n / block_size blocks, by Student's t;
          O(n · block_size) time, with less power. Conservative: at a level of 5 % it rejects about 3 % of
          independent samples, up to n = 400 at least.
    n_permutations : int, default 999
        Only for "permutation".
    block_size : int, optional
        At least 4 and so that there are 2 blocks; by default √n. Only for "block".
    random_state : int, Generator, RandomState or None, default None
        For the pairings, blocks, landmarks and waves. The result does not depend on the number of threads.

    Returns
    -------
    IndependenceTest
        With ``statistic``, ``pvalue``, ``null_mean``, ``null_variance``. If all samples of a side are equal, the
        statistic is 0 and the p-value 1.

    Notes
    -----
    Gretton et al. (2007) fit the gamma distribution to estimates of mean and variance that hold for large n; their
    variance needs the squares of all products of centred values, and so the kernels a second time. Over all pairings
    both moments are known exactly (Kazi-Aoual et al. 1995): with A = HKH, B = HLH and S = tr A², D = Σ A_ii²,

        mean of tr(A B) = tr A tr B / (n − 1),
        variance = 2 [P_A P_B + (n − 1) Q_A Q_B / (2n(n − 3))] / ((n + 1)(n − 1)²(n − 2)),
        P = (n − 1) S − (tr A)²,   Q = n(n + 1) D − (n − 1)((tr A)² + 2S),

    sums that the pass for HSIC gives as well. For large n the two agree.

    References
    ----------
    Gretton, Fukumizu, Teo, Song, Schölkopf, Smola (2007). A kernel statistical test of independence. NIPS.

    Kazi-Aoual, Hitier, Sabatier, Lebreton (1995). Refined approximations to permutation tests for multivariate
    inference. Computational Statistics and Data Analysis.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.uniform(-1, 1, size=(2, 200))
    >>> hsic_test(x, x**2, random_state=0).pvalue
    0.001
    >>> hsic_test(x, noise, method="gamma").pvalue > 0.05
    True
    """
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is not known; pass one of {', '.join(map(repr, _METHODS))}")
    n_permutations = whole(n_permutations, "n_permutations")
    if block_size is not None and method != "block":
        raise ValueError(f"block_size={block_size} is only for method='block' but method={method!r}")
    if method != "gamma":
        refuse_pairs_of_partitions(X, Y, "method", method, "'gamma'")
    kernel_seed, seed = (None, None) if random_state is None else spawn(random_state, 2)
    least = {"permutation": 2, "gamma": 6, "block": 8}[method]
    drawn = {"approximation": approximation, "n_features": n_features, "random_state": kernel_seed}
    x, y, units = moderate_grams(X, Y, kernel_x, kernel_y, least=least, **drawn)
    rng = generator(seed)
    if method == "gamma":
        test = _by_gamma(sums_of_pairs(x, y, squares=True))
    elif method == "block":
        test = _by_blocks(x, y, block_size, rng)
    else:
        test = _by_permutations(x, y, n_permutations, rng)
    return replace(
        test,
        statistic=restored(test.statistic, *units),
        null_mean=restored(test.null_mean, *units),
        null_variance=restored(test.null_variance, *units, *units),
    )


def permutation_moments(sums: PairSums) -> tuple[float, float]:
    """Mean and variance of tr(KHLH) over all n! pairings of the samples.

    Parameters
    ----------
    sums : PairSums
        With squares; n >= 4.
    """
    n = sums.n
    traces, first, second = [], [], []
    for side, squares in zip((sums.x, sums.y), sums.squares(), strict=True):
        trace, diagonal_squares = side.centred_trace()
        traces.append(trace)
        first.append((n - 1) * squares - trace**2)
        second.append(n * (n + 1) * diagonal_squares - (n - 1) * (trace**2 + 2 * squares))
    variance = first[0] * first[1] + (n - 1) / (2 * n * (n - 3)) * second[0] * second[1]
    variance *= 2 / ((n + 1) * (n - 1) ** 2 * (n - 2))
    return float(traces[0] * traces[1] / (n - 1)), float(variance)


def _by_gamma(sums: PairSums) -> IndependenceTest:
    n = sums.n
    scale = 1 / (n - 1) ** 2
    statistic = sums.centred() * scale
    mean, variance = permutation_moments(sums)
    mean, variance = mean * scale, variance * scale**2
    level = [_is_level(side, squares) for side, squares in zip((sums.x, sums.y), sums.squares(), strict=True)]
    if any(level) or variance <= 0:  # every pairing gives the same: nothing to tell from chance
        pvalue = 1.0
    elif mean < 0:
        raise ValueError("method='gamma' needs positive semi-definite kernels; use method='permutation'")
    else:
        pvalue = float(gammaincc(mean**2 / variance, max(statistic, 0.0) * mean / variance))
    return IndependenceTest(statistic, pvalue, "gamma", n, mean, variance)


def _is_level(side: Side, squares: float) -> bool:
    """Whether HKH is a multiple of H up to rounding: all samples equally alike, or equally unlike."""
    n, trace = side.n, abs(side.centred_trace()[0])
    return side.is_rounding(trace) or (n - 1) * squares - trace**2 <= 10 * side.eps * (n - 1) * squares


def _by_permutations(x: Gram, y: Gram, n_permutations: int, rng: np.random.Generator) -> IndependenceTest:
    n = x.shape[0]
    observed, permuted = permuted_traces(x, y, n_permutations, rng)
    # Labels give many pairings the same value, up to rounding; those count as large.
    digits = 1e-10 if x.dtype == y.dtype == np.float64 else 1e-5
    slack = digits * max(abs(observed), float(np.abs(permuted).max()))
    n_larger = int(np.count_nonzero(permuted >= observed - slack))
    scale = 1 / (n - 1) ** 2
    return IndependenceTest(
        observed * scale,
        (1 + n_larger) / (1 + n_permutations),
        "permutation",
        n,
        float(permuted.mean()) * scale,
        float(permuted.var()) * scale**2,
        n_permutations,
    )


def _by_blocks(x: Gram, y: Gram, block_size: int | None, rng: np.random.Generator) -> IndependenceTest:
    n = x.shape[0]
    size = check_block_size(block_size, n)
    if n // size < 2:
        raise ValueError(f"block_size={size} leaves one block of the n_samples={n}; pass block_size <= {n // 2}")
    values = block_values(x, y, size, rng)
    mean, variance = float(values.mean()), float(values.var(ddof=1)) / len(values)
    pvalue = 1.0 if variance == 0 else float(stdtr(len(values) - 1, -mean / np.sqrt(variance)))
    return IndependenceTest(mean, pvalue, "block", n, 0.0, variance)
