"""Rankings of samples with each cluster as the seeds of a walk, and the memberships that follow from them.

Used by :class:`~gramian.ranking.ranked_clustering.RankedClustering`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.ranking.kernel_walk.walk import Walk, exact_scores
from gramian.typing import Array

_UNREACHED = 1e-10  # of a mean score: below, a score is what rounding left of zero


@dataclass
class ClusterRankings:
    """Scores π(c) of all samples for restarts in each cluster c.

    Attributes
    ----------
    scores : ndarray (n, k)
        Columns sum to one.
    joint : ndarray (n, k)
        (n_c / n) π_i(c), how likely a walk that restarts anywhere is at i, having last restarted in c; never below 0.
    memberships : ndarray (n, k)
        Its rows divided by their sums.
    cohesion : ndarray (k,)
        Part of a cluster's scores that its own members hold.
    exemplars : ndarray (k,)
        The member of each cluster with the highest score.
    """

    scores: Array
    joint: Array
    memberships: Array
    cohesion: Array
    exemplars: Array

    @classmethod
    def of(cls, walk: Walk, labels: Array, k: int, restart: float) -> ClusterRankings:
        """Rank by the clusters 0 to k − 1 of ``labels``; a sample labelled −1 is in none, and ranked all the same."""
        members = labels[:, None] == np.arange(k)
        sizes = members.sum(axis=0)
        scores = exact_scores(walk, members / sizes, restart)
        # Clipped, because exact scores that underflow may round below zero.
        joint = np.maximum(scores, 0) * (sizes / sizes.sum())
        # A member of a cluster has a restart of its own; only a sample of no cluster can be out of reach of all.
        shares = memberships(joint, least=_UNREACHED / len(labels))
        cohesion = np.where(members, scores, 0).sum(axis=0)
        return cls(scores, joint, shares, cohesion, np.argmax(np.where(members, scores, -np.inf), axis=0))

    def steps(self, walk: Walk) -> Array:
        """Coefficients of k(x, x_j) that give a new x its ``joint``, up to a factor, and its degree, (n, k + 1).

        π(x) of a new sample is one more step of the walk: (1 − α) Σ_j k(x, x_j) π_j / d_j.
        """
        columns = [self.joint / walk.degrees[:, None], np.ones((len(self.joint), 1))]
        return np.hstack(columns).astype(walk.gram.dtype)


def memberships(joint: Array, least: float = 0.0) -> Array:
    """Rows divided by their sums; a row whose sum is at most ``least`` belongs to all clusters alike."""
    totals = joint.sum(axis=1, keepdims=True)
    return np.divide(joint, totals, out=np.full_like(joint, 1 / joint.shape[1]), where=totals > least)
