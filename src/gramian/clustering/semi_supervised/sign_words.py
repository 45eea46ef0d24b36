"""Clusters as words of signs: the words of clusters without a label, scores of words, and probabilities.

Pure functions on arrays; :class:`gramian.SemiSupervisedKSC` uses them.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax

from gramian.typing import Array


def hidden_words(scores: Array, book: Array, count: int) -> Array:
    """The most frequent words of signs that no class has, at most ``count``.

    Parameters
    ----------
    scores : ndarray (n, q)
        Of all rows; a sign is +1 above zero.
    book : ndarray (k, q)
        The words of the classes.
    count : int

    Returns
    -------
    words : ndarray (<= count, q)
        The most frequent first; of equally frequent ones in the order of their signs.
    """
    words, counts = np.unique(np.where(scores > 0, 1.0, -1.0), axis=0, return_counts=True)
    known = (words[:, None] == book[None]).all(axis=2).any(axis=1)
    order = np.argsort(-counts[~known], kind="stable")
    return words[~known][order[:count]]


def word_scores(scores: Array, book: Array) -> Array:
    """How well scores (n, q) fit every word of a book (k, q); the largest is nearest.

    Minus the number of wrong signs; of words with as many, the one at the smaller distance.
    """
    book = book.astype(scores.dtype)
    wrong = (book.shape[1] - np.where(scores > 0, 1, -1).astype(scores.dtype) @ book.T) / 2
    distance = ((scores[:, None] - book[None]) ** 2).sum(axis=2)
    return np.asarray(-(wrong + 0.49 * distance / (1 + distance.max(axis=1, keepdims=True))))


def temperature(scores: Array, codes: Array) -> float:
    """The factor of the scores whose soft decisions are most likely, for labels that the scores had not seen.

    Parameters
    ----------
    scores : ndarray (l,) or (l, k)
        Of two classes, or one for every class; (l, q) with codes of the same shape for several labels.
    codes : ndarray of int (l,) or (l, q)

    Returns
    -------
    factor : float
        Within 1e-2 and 1e2 over the typical size of a score; one row more that is wrong keeps it finite.
    """
    size = float(np.sqrt(np.mean(scores**2)))
    if not size > 0:
        return 1.0
    scores = scores / size

    def loss(power: float) -> float:
        # As many rows are counted as right by chance as a single one in all, so that separated classes stay finite.
        z = np.exp(power) * scores
        if z.shape == codes.shape:
            right = np.where(codes == 1, 1.0, -1.0) * 2 * z
            return float(np.logaddexp(0, -right).sum() + np.logaddexp(0, right).mean())
        total = logsumexp(z, axis=1)
        right = z[np.arange(len(z)), codes]
        others = np.log(np.maximum(-np.expm1(np.minimum(right - total, -1e-12)), 1e-300))
        return float((total - right).sum() - others.mean())

    found = minimize_scalar(loss, bounds=(np.log(1e-2), np.log(1e2)), method="bounded")
    return float(np.exp(found.x)) / size


def word_probabilities(scores: Array, factor: float, *, several: bool) -> Array:
    """Shares of the classes, (n, k): they add up to one, but for several labels, each of which stands alone."""
    z = factor * scores.astype(np.float64)
    if z.ndim == 1:
        return np.column_stack([expit(-2 * z), expit(2 * z)])
    return np.asarray(expit(2 * z) if several else softmax(z, axis=1))
