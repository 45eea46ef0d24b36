"""HSIC, a measure of dependence between two samples, and its normalised form, the centred kernel alignment."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.checks import whole
from gramian.dependence.measures._blocks import block_values
from gramian.dependence.measures._grams import KernelChoice, moderate_grams, restored
from gramian.dependence.measures._pair_sums import PairSums, Side, unbiased_product
from gramian.dependence.measures._partitions import refuse_pairs_of_partitions, sums_of_pairs
from gramian.randomness import generator, spawn
from gramian.typing import RandomState

_ESTIMATORS = ("biased", "unbiased", "block", "linear")
_QUADRUPLE = 4  # the fewest samples with an unbiased estimate


class UndefinedAlignmentError(ValueError):
    """Raised when a normalised HSIC is 0 / 0, because HSIC(X, X) or HSIC(Y, Y) is zero.

    The biased HSIC(X, X) is zero if all samples of X are equally alike. The unbiased one is zero also if
    K_ij = a_i + a_j for all pairs i ≠ j, as for a column of two values of which one occurs once. HSIC itself is 0
    then, so a caller that looks for dependence may catch this error and go on with 0.

    Examples
    --------
    >>> one_odd = [0.0, 0.0, 0.0, 0.0, 1.0]
    >>> try:
    ...     value = center_alignment(one_odd, [1.0, 2.0, 3.0, 4.0, 5.0], estimator="unbiased")
    ... except UndefinedAlignmentError:
    ...     value = 0.0
    """


def hsic(
    X: Any,
    Y: Any,
    *,
    kernel_x: KernelChoice = "rbf",
    kernel_y: KernelChoice = "rbf",
    estimator: str = "biased",
    normalized: bool = False,
    approximation: str | None = None,
    n_features: int = 300,
    block_size: int | None = None,
    random_state: RandomState = None,
) -> float:
    """Measure the dependence between X and Y, linear or not: the Hilbert–Schmidt independence criterion (HSIC).

    With the kernel matrices K of X and L of Y and the centring matrix H = I − 11ᵀ/n,

        HSIC(X, Y) = tr(K H L H) / (n − 1)²,

    the squared norm of the covariance between the kernels' features. For kernels such as the RBF it tends to zero
    if, and only if, X and Y are independent. The factor is that of Gretton et al. (2005); texts that divide by n²
    have ((n − 1)/n)² times this, and tr(K H L H) itself is the value times (n − 1)². Values depend on the widths of
    the kernels, so compare them for the same kernels only, or use ``normalized=True``; :func:`hsic_test` says
    whether a value is more than chance.

    Nothing of size n×n is stored. Where both kernels have fewer features than there are samples (linear, cosine,
    labels, landmarks), the cost is O(n m r) for m and r features; otherwise every pair of samples is looked at
    once, in O(n²) time, on all threads. More than 500,000 samples are refused then, not approximated unasked.

    Parameters
    ----------
    X, Y : array-like, data frame or sparse (n, d), or vector (n,)
        Paired samples. For ``"precomputed"`` a symmetric n×n matrix of similarities or a Gram; for ``"labels"`` a
        vector of categories. Missing values only where the kernel takes them
        (:class:`gramian.kernels.ClusterKernel`).
        Dask arrays, data frames and vectors are summed over where they lie, with kernels of finite features or
        ``approximation``, whose widths and landmarks come from 50,000 rows drawn by number; "block" and "linear"
        refuse them.
    kernel_x, kernel_y : Kernel, str or callable, default "rbf"
        Of each side. A width rule is resolved on that side's data, "median" for "rbf". ``"labels"`` is 1 for
        samples of the same category and 0 for others.
    estimator : {"biased", "unbiased", "block", "linear"}, default "biased"
        - "biased": the formula above; at least 0 for positive semi-definite kernels, and above it by O(1/n) for
          independent samples.
        - "unbiased": the U-statistic of Song et al. (2012), zero on average for independent samples, so at times
          negative. Needs n >= 4.
        - "block": the mean of unbiased estimates of n / B random blocks of B = ``block_size`` samples; O(n B)
          time. It varies more: for independent samples its variance is about 2 tr(C_x²) tr(C_y²) / (n (B − 3)), C
          the covariance operators, which is n / B times that of "unbiased". ``hsic_test(..., method="block")``
          estimates it from the blocks.
        - "linear": blocks of four, the smallest there are; O(n) time and the largest variance.
    normalized : bool, default False
        Divide by √(HSIC(X, X) HSIC(Y, Y)), which gives :func:`center_alignment`. Not for "block" and "linear".
    approximation : {None, "nystroem", "fourier"}, default None
        "nystroem" is short for ``kernel_x=Nystroem(n_features, kernel=kernel_x)``, and the same for Y, where a
        kernel has no finite features of its own (:class:`gramian.Nystroem`); "fourier" for
        :class:`gramian.FourierFeatures`. O(n · n_features²) time. None is exact. Landmarks miss part of
        the kernel, so the value comes out lower: for 100,000 dependent samples of 20 columns by 0.7 % with the median
        width and by 3 % with a width of two thirds of it (``benchmarks/dependence.py``), by more where only chance is
        left to measure. Waves are right on average, but off by 1 % to 30 % in one draw. For one value
        ``estimator="block"`` is faster and closer; features serve tests and many calls.
    n_features : int, default 300
        Number of landmarks or waves.
    block_size : int, optional
        B, at least 4; by default √n. Only for "block".
    random_state : int, Generator, RandomState or None, default None
        For landmarks, waves, blocks, and kernels that draw random numbers.

    Returns
    -------
    float
        Exactly 0 if all rows of X, or of Y, are equal.

    Raises
    ------
    UndefinedAlignmentError
        With ``normalized=True``, if HSIC(X, X) or HSIC(Y, Y) is zero.

    References
    ----------
    Gretton, Bousquet, Smola, Schölkopf (2005). Measuring statistical dependence with Hilbert-Schmidt norms. ALT.

    Song, Smola, Gretton, Bedo, Borgwardt (2012). Feature selection via dependence maximization. JMLR.

    Zhang, Filippi, Gretton, Sejdinovic (2018). Large-scale kernel methods for independence testing. Statistics and
    Computing.

    Examples
    --------
    A parabola has no correlation, but it is no noise:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=400)
    >>> round(hsic(x, x**2), 3), round(hsic(x, rng.permutation(x) ** 2), 3)
    (0.034, 0.0)

    Labels are compared as such:

    >>> round(hsic(x, x > 0, kernel_y="labels"), 3)
    0.124

    Samples must come in pairs:

    >>> hsic(x, x[:-1])
    Traceback (most recent call last):
    ...
    ValueError: X has 400 samples but Y has 399; pass pairs, one row of each for every sample
    """
    if estimator not in _ESTIMATORS:
        raise ValueError(f"estimator={estimator!r} is not known; pass one of {', '.join(map(repr, _ESTIMATORS))}")
    if not isinstance(normalized, (bool, np.bool_)):
        raise ValueError(f"normalized={normalized!r} must be True or False")
    blockwise = estimator in ("block", "linear")
    if blockwise and normalized:
        raise ValueError(f"normalized=True is not for estimator={estimator!r}; use 'biased' or 'unbiased'")
    if block_size is not None and estimator != "block":
        raise ValueError(f"block_size={block_size} is only for estimator='block' but estimator={estimator!r}")
    if blockwise:
        refuse_pairs_of_partitions(X, Y, "estimator", estimator, "'biased' or 'unbiased'")
    kernel_seed, block_seed = (None, None) if random_state is None else spawn(random_state, 2)
    least = 2 if estimator == "biased" else _QUADRUPLE
    drawn = {"approximation": approximation, "n_features": n_features, "random_state": kernel_seed}
    x, y, units = moderate_grams(X, Y, kernel_x, kernel_y, least=least, **drawn)
    if blockwise:
        size = _QUADRUPLE if estimator == "linear" else check_block_size(block_size, x.shape[0])
        return restored(float(block_values(x, y, size, generator(block_seed)).mean()), *units)
    sums = sums_of_pairs(x, y, squares=bool(normalized))
    if normalized:
        return _alignment(sums, estimator)
    n = sums.n
    if estimator == "biased":
        return restored(sums.centred() / (n - 1) ** 2, *units)
    return restored(unbiased_product(sums.xy, sums.x, sums.y) / (n * (n - 3)), *units)


def center_alignment(
    X: Any,
    Y: Any,
    *,
    kernel_x: KernelChoice = "linear",
    kernel_y: KernelChoice = "linear",
    estimator: str = "biased",
    approximation: str | None = None,
    n_features: int = 300,
    random_state: RandomState = None,
) -> float:
    """Compare two representations of the same samples by centred kernel alignment (CKA), a cosine between kernels.

        CKA(X, Y) = HSIC(X, Y) / √(HSIC(X, X) HSIC(Y, Y)),

    1 if the centred kernels are proportional. With linear kernels it does not change when either side is rotated,
    moved or scaled as a whole, and the numbers of columns may differ, so that layers of two networks, or two
    embeddings, can be compared. The same as :func:`hsic` with ``normalized=True``, but linear by default.

    Parameters
    ----------
    X, Y, kernel_x, kernel_y, approximation, n_features, random_state
        As in :func:`hsic`.
    estimator : {"biased", "unbiased"}, default "biased"
        "biased" lies in [0, 1] for positive semi-definite kernels, but tends to 1 for any two tables that have many
        more columns than rows. "unbiased" (debiased CKA) does not: near 0 for unrelated tables, in [−1, 1].

    Returns
    -------
    float

    Raises
    ------
    UndefinedAlignmentError
        If HSIC(X, X) or HSIC(Y, Y) is zero: all samples of a side equally alike, or, for "unbiased", a column of two
        values of which one occurs once.

    References
    ----------
    Cortes, Mohri, Rostamizadeh (2012). Algorithms for learning kernels based on centered alignment. JMLR.

    Kornblith, Norouzi, Lee, Hinton (2019). Similarity of neural network representations revisited. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(50, 5)), rng.normal(size=(50, 500))
    >>> rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    >>> round(center_alignment(X, 3 * X @ rotation + 7), 12)
    1.0

    Unrelated columns look alike when there are many, unless the bias is removed:

    >>> round(center_alignment(X, noise), 2), round(center_alignment(X, noise, estimator="unbiased"), 2)
    (0.3, 0.02)
    """
    if estimator not in ("biased", "unbiased"):
        raise ValueError(f"estimator={estimator!r} is not known; pass 'biased' or 'unbiased'")
    return hsic(
        X,
        Y,
        kernel_x=kernel_x,
        kernel_y=kernel_y,
        estimator=estimator,
        normalized=True,
        approximation=approximation,
        n_features=n_features,
        random_state=random_state,
    )


def check_block_size(block_size: int | None, n: int) -> int:
    """The number of samples in a block: as given, or √n."""
    if block_size is None:
        return max(_QUADRUPLE, int(np.sqrt(n)))
    return whole(block_size, "block_size", least=_QUADRUPLE, most=n)


def _alignment(sums: PairSums, estimator: str) -> float:
    trace_x, trace_y = sums.squares()
    for name, side, trace in (("X", sums.x, trace_x), ("Y", sums.y, trace_y)):
        if side.is_rounding(np.sqrt(max(trace, 0.0))):
            raise UndefinedAlignmentError(
                f"all samples of {name} are equally similar, so the alignment is 0 / 0; check {name}, or use hsic with "
                "normalized=False, which is then 0"
            )
    if estimator == "biased":
        return float(sums.centred() / np.sqrt(trace_x * trace_y))
    assert sums.xx is not None
    assert sums.yy is not None
    xx, yy = _unbiased_square("X", sums.xx, sums.x), _unbiased_square("Y", sums.yy, sums.y)
    return float(unbiased_product(sums.xy, sums.x, sums.y) / np.sqrt(xx * yy))


def _unbiased_square(name: str, squares: float, side: Side) -> float:
    """Σ_{i≠j} K̃_ij² of the U-centred matrix; an error if that is rounding."""
    square = unbiased_product(squares, side, side)
    if side.is_rounding(np.sqrt(max(square, 0.0))) or square <= 100 * side.eps * squares:
        raise UndefinedAlignmentError(
            f"the unbiased estimate of HSIC({name}, {name}) is zero, so the alignment is 0 / 0; that happens where all "
            f"samples of {name} but one are equal: use estimator='biased', or drop that sample"
        )
    return square
