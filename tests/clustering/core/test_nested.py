"""Several clusterings as one tree: parents, strict nesting, SciPy's linkage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from gramian.clustering.core.nested import ancestry_of, linkage, overlaps, parents, refined, strays


def two_clusterings(n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 4, n), rng.integers(-1, 6, n)


pairs = st.builds(two_clusterings, st.integers(1, 40), st.integers(0, 10**6))


@given(pairs)
def test_a_parent_holds_most_rows_of_its_child(pair):
    coarse, fine = pair
    up = parents(coarse, fine)
    assert len(up) == fine.max() + 1
    for child, parent in enumerate(up):
        held = coarse[(fine == child) & (coarse >= 0)]
        if not len(held):
            assert parent == -1
            continue
        counts = np.bincount(held)
        assert counts[parent] == counts.max()
        assert parent == min(np.flatnonzero(counts == counts.max()))


@given(pairs)
def test_overlaps_count_the_rows_of_both(pair):
    coarse, fine = pair
    counts = overlaps(coarse, fine)
    for p, q in np.ndindex(counts.shape):
        assert counts[p, q] == np.sum((coarse == p) & (fine == q))


@given(pairs, st.integers(0, 100), st.booleans())
def test_refined_labels_are_a_refinement_and_move_only_strays(pair, seed, soft):
    coarse, fine = pair
    up = parents(coarse, fine)
    memberships = np.random.default_rng(seed).random((len(fine), len(up))) if soft else None
    labels = refined(coarse, fine, up, memberships)
    for cluster in np.unique(labels[labels >= 0]):
        assert len(np.unique(coarse[labels == cluster])) == 1
        assert coarse[labels == cluster][0] == up[cluster]
    kept = ~strays(coarse, fine, up) & (coarse >= 0)
    assert np.array_equal(labels[kept], fine[kept])
    assert not strays(coarse, labels, up).any()


def test_a_stray_row_joins_the_likeliest_child_of_its_cluster():
    coarse, fine = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 2, 2])
    memberships = np.array([[0.1, 0.2, 0.7]] * 7)
    assert refined(coarse, fine, parents(coarse, fine), memberships).tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert refined(coarse, fine, parents(coarse, fine)).tolist() == [0, 0, 1, 0, 2, 2, 2]


def test_a_row_of_a_cluster_without_children_has_no_finer_cluster():
    coarse, fine = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0])
    assert refined(coarse, fine, parents(coarse, fine)).tolist() == [0, 0, 0, -1]


@given(st.integers(1, 3), st.integers(0, 1000))
def test_cutting_the_linkage_gives_every_level_again(n_levels, seed):
    rng = np.random.default_rng(seed)
    ancestry, k = [], 1
    for _ in range(n_levels):
        up = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, rng.integers(0, 4))]))
        ancestry.append(rng.permutation(up))
        k = len(up)
    heights = np.sort(rng.random(n_levels))[::-1] + np.arange(n_levels, 0, -1)
    Z = linkage(ancestry, heights)
    assert Z.shape == (k - 1, 4)
    if k == 1:
        return
    assert is_valid_linkage(Z)
    label = np.arange(k)  # of each leaf, level by level upwards
    for level in range(n_levels - 1, -1, -1):
        cut = fcluster(Z, heights[level] - 0.1, "distance")
        assert np.array_equal(cut[:, None] == cut, label[:, None] == label)
        label = ancestry[level][label]


def test_ancestry_is_that_of_each_pair_of_levels():
    levels = [np.array([0, 0, 0, 1, 1]), np.array([2, 0, 0, 1, 1])]
    ancestry = ancestry_of(levels)
    assert [up.tolist() for up in ancestry] == [[0, 0], [0, 1, 0]]
    assert ancestry_of([]) == []
    assert linkage([]).shape == (0, 4)


@pytest.mark.parametrize("labels", [[0.5, 1], [[0, 1]], [-2, 0], ["a", "b"]])
def test_labels_that_are_none_are_refused(labels):
    with pytest.raises(ValueError, match="coarse must hold one whole number"):
        parents(np.array(labels), np.array([0, 1]))


def test_levels_of_other_rows_and_rising_heights_are_refused():
    with pytest.raises(ValueError, match="coarse has 2 labels and fine has 3"):
        parents(np.array([0, 1]), np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="that never rise"):
        linkage([[0, 0], [0, 1]], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"ancestry\[1\]=\[0, -1\] must name each of the 2 clusters above it"):
        linkage([[0, 0], [0, -1]])
    with pytest.raises(ValueError, match=r"ancestry\[1\]=\[0, 0\] must name"):
        linkage([[0, 0], [0, 0]])
