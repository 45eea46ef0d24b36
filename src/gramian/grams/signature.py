"""How indefinite is a Gram? The numbers of its positive, negative and zero eigenvalues, and their weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gramian.checks import whole
from gramian.grams.eigen import spectrum
from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.grams.base import Gram

_ENDS = 20  # eigenvalues looked at from either end where the whole spectrum costs too much
_ENDS_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Signature:
    """Numbers of positive, negative and zero eigenvalues of a Gram.

    Attributes
    ----------
    n_positive, n_negative : int
        Eigenvalues above and below zero. Where the whole spectrum was not computed, at least so many; of the negative
        ones ``negative_exact`` says whether these are all.
    n_zero : int or None
        Eigenvalues that rounding cannot tell from zero; None where it is not known how many.
    largest, smallest : float
        The two ends of the spectrum.
    negative : ndarray (n_negative,)
        The negative eigenvalues, the most negative first.
    negative_share : float
        Σ |λ| over the negative eigenvalues as a share of Σ |λ| over all; at least so much unless ``negative_exact``.
    negative_exact : bool
        Whether all negative eigenvalues were found.
    exact : bool
        Whether all three counts are exact.
    """

    n_positive: int
    n_negative: int
    n_zero: int | None
    largest: float
    smallest: float
    negative: Array
    negative_share: float
    negative_exact: bool
    exact: bool

    @property
    def definite(self) -> bool:
        """Whether the Gram is known to be positive semi-definite."""
        return self.negative_exact and self.n_negative == 0


def signature(gram: Gram, k: int | None = None) -> Signature:
    """The numbers of positive, negative and zero eigenvalues of a Gram.

    Parameters
    ----------
    gram : Gram
    k : int, optional
        Eigenvalues to compute from either end of the spectrum. By default all are computed where that is cheap (up to
        4,000 samples, or features), and 20 from either end otherwise.

    Returns
    -------
    signature : Signature
        Of the whole spectrum, counts are exact; an eigenvalue within 1e-10 (float32: 1e-5) of the largest magnitude
        is zero. Of its ends, the negative eigenvalues are all found if fewer than k are negative; one within 1e-6
        (float32: 1e-4) of the largest magnitude is then zero. Their share is exact in the same case, for the trace
        tells the sum of the positive ones.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.grams import DenseGram
    >>> found = DenseGram(np.diag([4.0, 1.0, 0.0, -5.0])).signature()
    >>> found.n_positive, found.n_negative, found.n_zero, found.smallest, found.negative_share
    (2, 1, 1, -5.0, 0.5)
    """
    n = gram.shape[0]
    if k is not None:
        whole(k, "k", most=n)
    values = spectrum(gram) if k is None else None
    single = gram.dtype == np.float32
    if values is not None:
        return _whole(values.astype(np.float64), 1e-5 if single else 1e-10)
    k = min(n, _ENDS if k is None else k)
    tolerance = 1e-4 if single else _ENDS_TOLERANCE
    high, low = (gram.eigenpairs(k, which, tol=tolerance)[0].astype(np.float64) for which in ("largest", "smallest"))
    return _ends(high, low, n, gram.trace(), tolerance)


def _whole(values: Array, tolerance: float) -> Signature:
    limit = tolerance * float(np.abs(values).max(initial=0.0))
    negative = np.sort(values[values < -limit])
    n_positive = int((values > limit).sum())
    total = float(np.abs(values).sum())
    return Signature(
        n_positive=n_positive,
        n_negative=len(negative),
        n_zero=len(values) - n_positive - len(negative),
        largest=float(values.max()),
        smallest=float(values.min()),
        negative=negative,
        negative_share=float(-negative.sum() / total) if total else 0.0,
        negative_exact=True,
        exact=True,
    )


def _ends(high: Array, low: Array, n: int, trace: float, tolerance: float) -> Signature:
    """From the k largest eigenvalues, decreasing, and the k smallest, increasing."""
    limit = tolerance * max(float(np.abs(high).max()), float(np.abs(low).max()))
    negative = low[low < -limit]
    n_positive = int((high > limit).sum())
    negative_exact = len(negative) < len(low) or len(low) == n
    exact = negative_exact and (n_positive < len(high) or len(high) == n)
    mass = -float(negative.sum())
    total = trace + 2 * mass  # Σ|λ| = Σλ + 2 Σ_{λ<0} |λ|
    return Signature(
        n_positive=n_positive,
        n_negative=len(negative),
        n_zero=n - n_positive - len(negative) if exact else None,
        largest=float(high[0]),
        smallest=float(low[0]),
        negative=negative,
        negative_share=mass / total if total > 0 else 0.0,
        negative_exact=negative_exact,
        exact=exact,
    )
