"""Scores for ranked lists against textbook sums and scikit-learn."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from gramian.metrics import (
    expected_random_ndcg,
    ndcg_at_k,
    precision_at_k,
    rank_correlation,
    score_cosine,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


class TestRankings:
    @pytest.mark.parametrize("k", [1, 5, 10, 40, 100])
    def test_ndcg_agrees_with_scikit_learn(self, rng, k):
        """Without ties the value equals scikit-learn's ndcg_score, query by query."""
        relevance, scores = rng.integers(0, 4, (40, 6)).astype(float), rng.random((40, 6))
        value = ndcg_at_k(relevance, scores, k)
        for q in range(6):
            expected = ndcg_score(relevance[None, :, q], scores[None, :, q], k=k, ignore_ties=True)
            assert value[q] == pytest.approx(expected, abs=1e-14)
            assert ndcg_at_k(relevance[:, q], scores[:, q], k) == pytest.approx(expected, abs=1e-14)

    def test_ties_go_to_the_lower_index(self):
        """Equal scores keep the order of the items, so the outcome repeats."""
        assert ndcg_at_k([1, 0, 0], [5, 5, 5], 1) == 1.0
        assert ndcg_at_k([0, 0, 1], [5, 5, 5], 1) == 0.0

    def test_excluding_equals_deleting(self, rng):
        """Removing items by exclude and ignore is the same as deleting them from both lists."""
        relevance, scores = rng.random(20), rng.random(20)
        expected = ndcg_at_k(np.delete(relevance, [3, 7]), np.delete(scores, [3, 7]), 5)
        ignore = np.zeros(20, dtype=bool)
        ignore[7] = True
        assert ndcg_at_k(relevance, scores, 5, exclude=[3, 7]) == expected
        assert ndcg_at_k(relevance, scores, 5, exclude=3, ignore=ignore) == expected
        scores[3] = -np.inf
        assert ndcg_at_k(relevance, scores, 5, exclude=[3, 7]) == expected

    def test_one_excluded_item_per_query(self, rng):
        """With q queries, exclude names one item per column or one for all."""
        relevance, scores = rng.random((20, 3)), rng.random((20, 3))
        each = [ndcg_at_k(relevance[:, q], scores[:, q], 4, exclude=[5, 0, 9][q]) for q in range(3)]
        np.testing.assert_allclose(ndcg_at_k(relevance, scores, 4, exclude=[5, 0, 9]), each, atol=1e-15)
        same = [ndcg_at_k(relevance[:, q], scores[:, q], 4, exclude=2) for q in range(3)]
        np.testing.assert_allclose(ndcg_at_k(relevance, scores, 4, exclude=2), same, atol=1e-15)

    def test_nothing_relevant_is_nan(self):
        """With an ideal gain of zero the measure is undefined, in that column only."""
        value = ndcg_at_k([[0, 1], [0, 0]], [[1, 1], [2, 2]])
        assert np.isnan(value[0])
        assert value[1] == pytest.approx(1 / math.log2(3))
        assert math.isnan(ndcg_at_k([1, 0], [1, 2], exclude=0))

    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), min_size=1, max_size=20),
        st.integers(1, 25),
    )
    @settings(max_examples=60, deadline=None)
    def test_ndcg_against_the_definition(self, items, k):
        """On any list with ties the value equals the sum written out, and lies in [0, 1]."""
        relevance, scores = zip(*items, strict=True)
        order = sorted(range(len(items)), key=lambda i: -scores[i])
        dcg = sum(relevance[i] / math.log2(r + 2) for r, i in enumerate(order[:k]))
        ideal = sum(v / math.log2(r + 2) for r, v in enumerate(sorted(relevance, reverse=True)[:k]))
        value = ndcg_at_k(relevance, scores, k)
        assert math.isnan(value) if ideal == 0 else value == pytest.approx(dcg / ideal, abs=1e-12)
        assert not value > 1 + 1e-12

    @pytest.mark.parametrize("exclude_query", [False, True])
    def test_random_orders_reach_the_expected_value(self, exclude_query):
        """The mean over every order of a small set equals the closed form, whatever k the classes allow."""
        classes = np.array([0, 0, 0, 1, 1, 1, 1])
        counts = [3, 4]
        orders = np.array(list(itertools.permutations(range(7)))).T
        expected = expected_random_ndcg(counts, exclude_query=exclude_query)
        for k in (1, 2):
            per_query = [
                np.mean(
                    ndcg_at_k(
                        np.repeat((classes == classes[q])[:, None], orders.shape[1], axis=1),
                        orders,
                        k,
                        exclude=q if exclude_query else None,
                    )
                )
                for q in (0, 3)
            ]
            assert np.dot([3 / 7, 4 / 7], per_query) == pytest.approx(expected, abs=1e-12)

    def test_precision_counts_hits(self, rng):
        """Precision at k is the share of hits among the first k, removed items not counted."""
        relevance, scores = rng.random(30) < 0.3, rng.random(30)
        order = [i for i in np.argsort(-scores) if i != 4]
        assert precision_at_k(relevance, scores, 8, exclude=4) == np.mean([relevance[i] for i in order[:8]])
        columns = precision_at_k(np.c_[relevance, relevance], np.c_[scores, -scores], 8)
        assert columns.tolist() == [precision_at_k(relevance, s, 8) for s in (scores, -scores)]

    def test_cosine_of_columns(self, rng):
        """Each column's cosine is the inner product over both lengths; a zero column has none."""
        a, b = rng.random((9, 3)), rng.random((9, 3))
        a[:, 2] = 0
        value = score_cosine(a, b)
        for q in range(2):
            expected = sum(a[:, q] * b[:, q]) / math.sqrt(sum(a[:, q] ** 2) * sum(b[:, q] ** 2))
            assert value[q] == pytest.approx(expected, abs=1e-14)
            assert score_cosine(a[:, q], b[:, q]) == pytest.approx(expected, abs=1e-14)
        assert np.isnan(value[2])

    def test_cosine_of_tiny_scores(self):
        """Scores whose squares underflow still have their angle."""
        assert score_cosine([1e-200, 0], [1e-200, 1e-200]) == pytest.approx(math.sqrt(0.5))

    def test_rank_correlations_from_pairs(self, rng):
        """Kendall's τ counts concordant pairs; Spearman's ρ is the correlation of the ranks."""
        a, b = rng.permutation(12), rng.permutation(12)
        signs = [np.sign((a[i] - a[j]) * (b[i] - b[j])) for i, j in itertools.combinations(range(12), 2)]
        assert rank_correlation(a, b, method="kendall") == pytest.approx(np.mean(signs), abs=1e-12)
        assert rank_correlation(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-12)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: ndcg_at_k([1, 2], [1, 2, 3]), r"relevance has shape \(2,\) and scores \(3,\)"),
            (lambda: ndcg_at_k([1, -2], [1, 2]), "relevance has values from -2.0 to 1.0"),
            (lambda: ndcg_at_k([1, 2], [1, np.nan]), "scores contains NaN"),
            (lambda: ndcg_at_k([1, 2], [1, 2], 0), "k=0 must be a whole number >= 1"),
            (lambda: ndcg_at_k([1, 2], [1, 2], 1.5), "k=1.5"),
            (lambda: ndcg_at_k([1, 2], [1, 2], exclude=2), "exclude=2 .* in 0..1"),
            (lambda: ndcg_at_k([1, 2], [1, 2], exclude=-1), "exclude=-1"),
            (lambda: ndcg_at_k([[1], [2]], [[1], [2]], exclude=[0, 1]), "an index or 1 indices"),
            (lambda: ndcg_at_k([1, 2], [1, 2], ignore=[0, 1]), "ignore has dtype int64"),
            (lambda: expected_random_ndcg([3, 0]), "class_counts=.* >= 1"),
            (lambda: expected_random_ndcg([3, 1], exclude_query=True), "class_counts=.* >= 2"),
            (lambda: score_cosine([1], [1, 2]), "scores has shape"),
            (lambda: rank_correlation([1, 1], [1, 2]), "not constant"),
            (lambda: rank_correlation([1, 2], [1, 2], method="pearson"), "method='pearson'"),
        ],
    )
    def test_bad_rankings_are_named(self, call, message):
        """Each unusable argument is named with its value and what would do."""
        with pytest.raises(ValueError, match=message):
            call()
