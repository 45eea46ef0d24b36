"""Groups by thresholds, against loops that follow the definitions."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from gramian.clustering.networks.levels import averaged, grouped, hierarchy, linkage_of, nearest_mean


def distances_of(rng, n):
    U = rng.normal(size=(n, 3))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return 1 - U @ U.T


def by_loop(S, threshold, most):
    left, groups, number = list(range(len(S))), np.empty(len(S), int), 0
    while left:
        takes = {i: [j for j in left if j == i or S[i, j] < threshold] for i in left}
        seed = max(left, key=lambda i: (len(takes[i]), -i)) if most else left[0]
        groups[takes[seed]] = number
        left = [j for j in left if j not in takes[seed]]
        number += 1
    return groups


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 1.5), st.booleans())
def test_groups_are_those_of_the_definition(seed, threshold, most):
    """The same partition as a loop over seeds, numbered by first items."""
    S = distances_of(np.random.default_rng(seed), 25)
    found, expected = grouped(S, threshold, most=most), by_loop(S, threshold, most)
    assert len(set(zip(found, expected, strict=True))) == found.max() + 1 == expected.max() + 1
    firsts = [int(np.argmax(found == g)) for g in range(found.max() + 1)]
    assert firsts == sorted(firsts)


def test_averages(rng):
    """Mean over the members of both groups; mean distance to the nearest other."""
    S, groups = distances_of(rng, 12), rng.permutation(np.arange(12) % 4)
    expected = [[S[np.ix_(groups == a, groups == b)].mean() for b in range(4)] for a in range(4)]
    np.testing.assert_allclose(averaged(S, groups), expected)
    nearest = [min(S[i, j] for j in range(12) if j != i) for i in range(12)]
    np.testing.assert_allclose(nearest_mean(S), np.mean(nearest))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1.0))
def test_levels_get_coarser_and_the_linkage_joins_them(seed, threshold):
    """The number of groups falls on every level, thresholds are positive, and cutting the linkage gives the levels."""
    S = distances_of(np.random.default_rng(seed), 30)
    (finest, *parents), thresholds = hierarchy(S, threshold, 10)
    counts = [int(groups.max()) + 1 for groups in (finest, *parents)]
    assert all(a > b for a, b in pairwise(counts))
    assert all(limit > 0 for limit in thresholds)
    assert len(thresholds) == len(counts)
    linkage = linkage_of(parents, counts[0])
    assert linkage.shape == (counts[0] - 1, 4)
    if counts[0] > 1:
        assert is_valid_linkage(linkage)
        at = np.arange(counts[0])
        for height, groups in enumerate(parents, start=1):
            at = groups[at]
            cut = fcluster(linkage, height, "distance")
            assert len(set(zip(cut, at, strict=True))) == len(set(cut)) == len(set(at))


def test_two_groups_stop():
    """Two groups are at the distance that is their threshold, so nothing is joined and the levels end."""
    S = np.array([[0, 0.01, 1], [0.01, 0, 1], [1, 1, 0.0]])
    levels, _ = hierarchy(S, 0.15, 10)
    assert len(levels) == 1
    np.testing.assert_array_equal(levels[0], [0, 0, 1])
