"""Scores for partitions against all permutations, loops and scikit-learn."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.metrics import (
    adjusted_rand,
    clustering_accuracy,
    normalized_mutual_info,
    variation_of_information,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


PARTITIONS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(-1, 4), min_size=n, max_size=n) for _ in range(2)))
)


def accuracy_by_permutations(y, c):
    """Try every one-to-one naming of clusters by classes, padded with names nobody has."""
    classes, clusters = sorted(set(y)), sorted(set(c))
    names = classes + [("none", i) for i in range(len(clusters))]
    return max(
        sum(dict(zip(clusters, naming, strict=True))[b] == a for a, b in zip(y, c, strict=True)) / len(y)
        for naming in itertools.permutations(names, len(clusters))
    )


class TestPartitions:
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25))
    @settings(max_examples=60, deadline=None)
    def test_accuracy_is_the_best_over_all_permutations(self, pairs):
        """The Hungarian matching reaches the maximum over every one-to-one naming, sizes unequal or not."""
        y, c = zip(*pairs, strict=True)
        assert clustering_accuracy(y, c) == pytest.approx(accuracy_by_permutations(y, c), abs=1e-12)

    def test_accuracy_for_six_clusters(self, rng):
        """With six clusters and four classes the matching still finds the best of all namings."""
        y, c = rng.integers(0, 4, 60), rng.integers(0, 6, 60)
        expected = max(
            np.mean(np.asarray(naming)[c] == y) for naming in set(itertools.permutations([0, 1, 2, 3, -1, -1], 6))
        )
        assert clustering_accuracy(y, c) == pytest.approx(expected, abs=1e-12)

    def test_text_labels_and_the_mapping(self):
        """Names may be text; the mapping names each matched cluster and leaves out the surplus one."""
        accuracy, mapping = clustering_accuracy(
            ["cat", "cat", "dog", "dog", "dog"], ["x", "x", "y", "y", "z"], return_mapping=True
        )
        assert accuracy == 0.8
        assert mapping == {"x": "cat", "y": "dog"}

    @given(PARTITIONS, st.permutations(range(-1, 5)))
    @settings(max_examples=80, deadline=None)
    def test_renaming_clusters_changes_nothing(self, partitions, naming):
        """All three scores are invariant under relabelling and stay in range; -1 is a label like others."""
        y, c = partitions
        renamed = [f"cluster {naming[label]}" for label in c]
        for score, low in ((clustering_accuracy, 0), (normalized_mutual_info, 0), (adjusted_rand, -1)):
            assert score(y, renamed) == pytest.approx(score(y, c), abs=1e-12)
            assert low - 1e-12 <= score(y, c) <= 1 + 1e-12
            assert score(y, y) == pytest.approx(1.0, abs=1e-12)

    @pytest.mark.parametrize("average", ["arithmetic", "geometric", "min", "max"])
    def test_mutual_information_from_counts(self, rng, average):
        """NMI equals I over the chosen mean of the entropies, computed from counts."""
        y, c = rng.integers(0, 3, 50).tolist(), rng.integers(0, 4, 50).tolist()
        n, py, pc, both = len(y), Counter(y), Counter(c), Counter(zip(y, c, strict=True))
        info = sum(v / n * math.log(v * n / (py[a] * pc[b])) for (a, b), v in both.items())
        hy, hc = (-sum(v / n * math.log(v / n) for v in p.values()) for p in (py, pc))
        mean = {
            "arithmetic": (hy + hc) / 2,
            "geometric": math.sqrt(hy * hc),
            "min": min(hy, hc),
            "max": max(hy, hc),
        }
        assert normalized_mutual_info(y, c, average=average) == pytest.approx(info / mean[average], abs=1e-12)

    def test_four_clusters_against_twenty_classes(self):
        """k clusters against m equal classes reach at most √(log k / log m) in the geometric form."""
        classes = np.repeat(np.arange(20), 5)
        value = normalized_mutual_info(classes, classes // 5, average="geometric")
        assert value == pytest.approx(math.sqrt(math.log(4) / math.log(20)), abs=1e-12)

    def test_constant_partitions(self):
        """One constant partition carries no information; two constant ones are equal."""
        assert normalized_mutual_info([0, 1], [0, 0]) == 0.0
        assert normalized_mutual_info([0, 0], ["a", "a"]) == 1.0

    def test_variation_of_information_is_what_each_says_alone(self, rng):
        """H(a) + H(b) − 2 I(a, b) from the joint table; zero for a renaming; the triangle inequality."""
        a, b, c = (rng.integers(0, k, 200) for k in (3, 4, 5))
        joint = np.histogram2d(a, b, (3, 4))[0] / 200
        p, q = joint.sum(axis=1), joint.sum(axis=0)
        entropy = -(p * np.log(p)).sum() - (q * np.log(q)).sum()
        information = np.nansum(joint * np.log(np.where(joint > 0, joint, np.nan) / np.outer(p, q)))
        assert variation_of_information(a, b) == pytest.approx(entropy - 2 * information)
        assert variation_of_information(a, b) == pytest.approx(variation_of_information(b, a))
        assert variation_of_information(a, np.array(["x", "z", "y"])[a]) == pytest.approx(0, abs=1e-12)
        assert variation_of_information(a, c) <= variation_of_information(a, b) + variation_of_information(b, c)

    def test_adjusted_rand_counts_pairs(self, rng):
        """ARI equals the pair-counting formula of Hubert and Arabie."""
        y, c = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
        pairs = list(itertools.combinations(range(30), 2))
        same_y, same_c = (np.array([v[i] == v[j] for i, j in pairs]) for v in (y, c))
        both, expected = (same_y & same_c).sum(), same_y.sum() * same_c.sum() / len(pairs)
        ari = (both - expected) / ((same_y.sum() + same_c.sum()) / 2 - expected)
        assert adjusted_rand(y, c) == pytest.approx(ari, abs=1e-12)

    @pytest.mark.parametrize(
        ("y", "c", "message"),
        [
            ([0, 1], [0], "y_true has 2 labels and y_pred 1; pass labels of the same samples"),
            ([], [], r"y_true has shape \(0,\); pass one label per sample"),
            ([[0], [1]], [0, 1], r"y_true has shape \(2, 1\)"),
            ([0, 1], [0.0, np.nan], "y_pred contains NaN or infinity; drop these rows"),
            (np.array([0, "a"], dtype=object), [0, 1], "y_true mixes types"),
        ],
    )
    def test_bad_labels_are_named(self, y, c, message):
        """An unusable partition raises an error that names the argument and the way out."""
        for score in (clustering_accuracy, normalized_mutual_info, adjusted_rand):
            with pytest.raises(ValueError, match=message):
                score(y, c)

    def test_an_unknown_mean_is_refused(self):
        """A mean that does not exist is named together with those that do."""
        with pytest.raises(ValueError, match=r"average='harmonic'.*arithmetic, geometric"):
            normalized_mutual_info([0, 1], [0, 1], average="harmonic")
