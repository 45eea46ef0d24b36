"""From scores to clusters: the code book of signs with Hamming decoding, and directions with cosine decoding.

Both are found on the scores of the fitted samples and then label any scores. Rows without information get no label
here; the estimators say which these are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from gramian.checks import one_of
from gramian.clustering.angular import angular_kmeans, nearest_direction
from gramian.clustering.core.embedding import labels_by_first_row
from gramian.score_criteria import mean_scores, memberships
from gramian.typing import Array

DECODINGS = ("auto", "hamming", "cosine")
_MANY = 20_000  # rows of scores that are enough to find the clusters among


@dataclass(frozen=True)
class Decoder(ABC):
    """Labels of scores. A kind of decoder writes ``labels``.

    Attributes
    ----------
    prototypes : ndarray (k, q)
        Mean scores of the clusters on the fitted samples.
    """

    prototypes: Array

    @abstractmethod
    def labels(self, scores: Array) -> Array:
        """The cluster of each row of scores, (n,)."""

    def memberships(self, scores: Array) -> Array:
        """Soft memberships (n, k), see :func:`gramian.score_criteria.memberships`."""
        return memberships(scores, self.prototypes.astype(scores.dtype, copy=False))

    @property
    def n_clusters(self) -> int:
        return len(self.prototypes)

    @property
    def code_book(self) -> Array:
        """The sign word of each cluster, (k, q) of ±1."""
        return signs(self.prototypes)

    def renumbered(self, order: Array) -> Decoder:
        """The same clusters in another order; those that ``order`` does not name are dropped."""
        return replace(self, prototypes=self.prototypes[order])


@dataclass(frozen=True)
class Directions(Decoder):
    """Cosine decoding: a row has the cluster whose prototype is at the smallest angle.

    In the ideal case the scores of a cluster lie on a ray, and different clusters on different ones. The prototypes are
    found by :func:`gramian.angular_kmeans`, started with rows at the largest angles to each other.
    """

    def labels(self, scores: Array) -> Array:
        return nearest_direction(scores, self.prototypes.astype(scores.dtype, copy=False))

    @classmethod
    def of(cls, scores: Array, k: int) -> Directions:
        """From the scores (n, q) of fitted samples."""
        return cls(angular_kmeans(scores, k, start="farthest", max_iter=100)[1])


@dataclass(frozen=True)
class SignWords(Decoder):
    """Hamming decoding: a row has the cluster whose sign word differs from its own in the fewest places.

    The words are the most frequent ones among the fitted samples. Of words at the same distance the one whose cluster's
    prototype is at the smallest angle is taken. From four clusters on, frequent words miss clusters.

    Attributes
    ----------
    words : ndarray (k, q) of int8
    """

    words: Array

    def labels(self, scores: Array) -> Array:
        # 2·Hamming = q − sign·word, and a cosine of at most 1 decides between equal ones.
        agreement = signs(scores).astype(np.float64) @ self.words.T.astype(np.float64)
        unit = scores / np.maximum(np.linalg.norm(scores, axis=1, keepdims=True), np.finfo(scores.dtype).tiny)
        lengths = np.maximum(np.linalg.norm(self.prototypes, axis=1), np.finfo(self.prototypes.dtype).tiny)
        labels: Array = np.argmax(agreement + 0.5 * (unit @ (self.prototypes / lengths[:, None]).T), axis=1)
        return labels

    @property
    def code_book(self) -> Array:
        return self.words

    def renumbered(self, order: Array) -> SignWords:
        return replace(self, prototypes=self.prototypes[order], words=self.words[order])

    @classmethod
    def of(cls, scores: Array, k: int) -> SignWords:
        """From the scores (n, q) of fitted samples; fewer than k clusters where there are fewer words."""
        found, number, counts = np.unique(signs(scores), axis=0, return_inverse=True, return_counts=True)
        best = np.argsort(-counts, kind="stable")[:k]  # of equally frequent words the first in lexicographic order
        words = found[best]
        place = np.full(len(found), -1)
        place[best] = np.arange(len(best))
        first = cls(mean_scores(scores, place[number.ravel()], len(best)), words)
        return replace(first, prototypes=mean_scores(scores, first.labels(scores), len(best)))


def signs(scores: Array) -> Array:
    """Sign words: 1 where a score is positive, −1 elsewhere."""
    return np.where(scores > 0, 1, -1).astype(np.int8)


def decoder_of(scores: Array, k: int, decoding: str = "auto") -> Decoder:
    """The decoder of k clusters from the scores of fitted samples.

    Parameters
    ----------
    scores : ndarray (n, q)
        Of more than 20,000 rows some, evenly spaced, stand for all.
    k : int
    decoding : {"auto", "hamming", "cosine"}
        "auto" is "cosine"; of two clusters both are the sign of the score.

    Returns
    -------
    decoder : Decoder
        Its clusters are numbered by their first row, and none is empty.
    """
    one_of(decoding, "decoding", DECODINGS)
    if k == 1:
        return Directions(scores.mean(axis=0, keepdims=True))
    kind = SignWords if decoding == "hamming" else Directions
    decoder = kind.of(np.ascontiguousarray(scores[:: -(-len(scores) // _MANY)]), k)
    return decoder.renumbered(labels_by_first_row(decoder.labels(scores))[1])
