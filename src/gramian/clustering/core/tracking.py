"""Clusters of one snapshot found again in the next: matched numbers, births, deaths, merges and splits.

Each snapshot has a model that labels the rows of the other. Pure functions on label arrays, for
:class:`~gramian.EvolvingKSC`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.clustering.core.nested import overlaps
from gramian.typing import Array


@dataclass(frozen=True)
class Event:
    """What happened to clusters between two snapshots.

    Attributes
    ----------
    snapshot : int
        The number of the later snapshot, from 0.
    kind : {"birth", "death", "merge", "split"}
    before : tuple of int
        Labels of the clusters it happened to.
    after : tuple of int
        Labels of the clusters that came of them.
    """

    snapshot: int
    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Views:
    """Two snapshots, each labelled by the model of either.

    Attributes
    ----------
    old_by_old, old_by_new : ndarray of int (n_old,)
        Clusters of the earlier rows, numbered from 0, -1 for none.
    new_by_old, new_by_new : ndarray of int (n_new,)
        Clusters of the later rows.
    n_old, n_new : int
        Clusters of the two models.
    """

    old_by_old: Array
    old_by_new: Array
    new_by_old: Array
    new_by_new: Array
    n_old: int
    n_new: int

    def shares(self) -> tuple[Array, Array]:
        """How much of each earlier cluster goes to each later one, and of each later one comes from each earlier.

        Returns
        -------
        onward, back : ndarray (n_old, n_new)
        """
        shape = self.n_old, self.n_new
        onward = overlaps(self.old_by_old, self.old_by_new, shape) / _sizes(self.old_by_old, self.n_old)[:, None]
        back = overlaps(self.new_by_old, self.new_by_new, shape) / _sizes(self.new_by_new, self.n_new)
        return onward, back


def follow(views: Views, labels: Array, fresh: int, *, snapshot: int, share: float) -> tuple[Array, list[Event]]:
    """Give the clusters of a snapshot the labels of those they continue, and say what else happened.

    An earlier cluster p and a later cluster c are related if the new model gives at least ``share`` of the rows of p
    to c, and the earlier model gives at least ``share`` of the rows of c to p. Both are needed: rows of a cluster that
    died go to whichever is nearest, and so do, under the earlier model, those of a cluster that was born.

    A later cluster without relation is born, an earlier one without relation died; several related to one are merged,
    one related to several is split. Each later cluster takes the label of at most one related cluster, such that the
    shares add up to the most, and otherwise a fresh one.

    Parameters
    ----------
    views : Views
    labels : ndarray of int (n_old,)
        Of the earlier clusters.
    fresh : int
        The first label that no cluster has had.
    snapshot : int
        For the events.
    share : float
        From 0 to 1.

    Returns
    -------
    labels : ndarray of int (n_new,)
    events : list of Event
        Deaths, merges, splits and births, in this order.
    """
    onward, back = views.shares()
    related = np.minimum(onward, back) >= share
    found = np.full(views.n_new, -1)
    for old, new in zip(*linear_sum_assignment(np.where(related, onward + back, 0.0), maximize=True), strict=True):
        if related[old, new]:
            found[new] = labels[old]
    unmatched = np.flatnonzero(found < 0)
    found[unmatched] = fresh + np.arange(len(unmatched))
    before = [_named(labels[sources]) for sources in related.T]
    after = [_named(found[goals]) for goals in related]
    events = [Event(snapshot, "death", (int(label),), ()) for label, to in zip(labels, after, strict=True) if not to]
    for label, source in zip(found, before, strict=True):
        if len(source) > 1:
            events.append(Event(snapshot, "merge", source, (int(label),)))
    for label, to in zip(labels, after, strict=True):
        if len(to) > 1:
            events.append(Event(snapshot, "split", (int(label),), to))
    births = [
        Event(snapshot, "birth", (), (int(label),)) for label, source in zip(found, before, strict=True) if not source
    ]
    return found, events + births


def _named(labels: Array) -> tuple[int, ...]:
    return tuple(sorted(int(label) for label in labels))


def _sizes(labels: Array, n: int) -> Array:
    return np.maximum(np.bincount(labels[labels >= 0], minlength=n), 1)
