"""Clusters of one snapshot found again in the next: matched labels, births, deaths, merges and splits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gramian.clustering.core.tracking import Event, Views, follow


def views(old_by_old, old_by_new, new_by_old, new_by_new, n_old, n_new):
    return Views(*map(np.array, (old_by_old, old_by_new, new_by_old, new_by_new)), n_old, n_new)


def test_the_same_clusters_under_other_numbers_keep_their_labels_without_event():
    same = views([0, 0, 1, 1, 2], [2, 2, 0, 0, 1], [2, 0, 0, 1], [1, 2, 2, 0], 3, 3)
    labels, events = follow(same, np.array([5, 3, 7]), 8, snapshot=4, share=0.2)
    assert labels.tolist() == [3, 7, 5]
    assert events == []


def test_a_merge_keeps_the_label_of_the_larger_part():
    merged = views([0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1], 3, 2)
    labels, events = follow(merged, np.array([0, 1, 2]), 3, snapshot=1, share=0.2)
    assert labels.tolist() == [0, 2]
    assert events == [Event(1, "merge", (0, 1), (0,))]


def test_a_split_keeps_the_label_in_the_larger_part_and_gives_the_other_a_fresh_one():
    split = views([0, 0, 0, 0, 1], [0, 1, 1, 1, 2], [0, 0, 0, 0, 1], [0, 1, 1, 1, 2], 2, 3)
    labels, events = follow(split, np.array([4, 2]), 9, snapshot=3, share=0.2)
    assert labels.tolist() == [9, 4, 2]
    assert events == [Event(3, "split", (4,), (4, 9))]


def test_a_birth_beside_a_cluster_is_no_split_though_the_earlier_model_knows_no_better():
    born = views([0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2], 2, 3)
    labels, events = follow(born, np.array([0, 1]), 2, snapshot=1, share=0.2)
    assert labels.tolist() == [0, 1, 2]
    assert events == [Event(1, "birth", (), (2,))]


def test_a_death_beside_a_cluster_is_no_merge_though_the_later_model_knows_no_better():
    dead = views([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], 3, 2)
    labels, events = follow(dead, np.array([0, 1, 2]), 3, snapshot=1, share=0.2)
    assert labels.tolist() == [0, 1]
    assert events == [Event(1, "death", (2,), ())]


def test_rows_like_nothing_relate_no_clusters():
    apart = views([0, 0, 0], [-1, -1, -1], [-1, -1], [0, 0], 1, 1)
    labels, events = follow(apart, np.array([0]), 1, snapshot=1, share=0.2)
    assert labels.tolist() == [1]
    assert [event.kind for event in events] == ["death", "birth"]


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 10**6), st.floats(0.05, 0.9))
def test_labels_are_distinct_and_every_cluster_is_continued_or_reported(n_old, n_new, seed, share):
    rng = np.random.default_rng(seed)
    old_by_old, old_by_new = rng.integers(0, 4, n_old), rng.integers(-1, 5, n_old)
    new_by_old, new_by_new = rng.integers(-1, 4, n_new), rng.integers(0, 5, n_new)
    before = np.array([3, 0, 8, 5])
    both = Views(old_by_old, old_by_new, new_by_old, new_by_new, 4, 5)
    labels, events = follow(both, before, 9, snapshot=1, share=share)
    assert len(set(labels.tolist())) == 5
    assert set(labels.tolist()) <= {*before.tolist(), *range(9, 14)}
    gone = {label for event in events if event.kind != "split" for label in event.before}
    assert set(before.tolist()) <= gone | set(labels.tolist()) | {e.before[0] for e in events if e.kind == "split"}
    fresh = {label for event in events for label in event.after}
    assert {label for label in labels.tolist() if label >= 9} <= fresh
