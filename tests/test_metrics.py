"""The scores against textbook computations: all permutations, double loops, scikit-learn where it agrees."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from gramian.grams import FeatureGram
from gramian.kernels import RBF
from gramian.metrics import (
    adjusted_rand,
    cauchy_schwarz_divergence,
    clustering_accuracy,
    conductance,
    expected_random_ndcg,
    interval_coverage,
    mase,
    modularity,
    ndcg_at_k,
    normalized_cut,
    normalized_mutual_info,
    nrmse,
    precision_at_k,
    rank_correlation,
    score_cosine,
    variation_of_information,
)

PARTITIONS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(-1, 4), min_size=n, max_size=n) for _ in range(2)))
)
CUTS = {"normalized_cut": normalized_cut, "modularity": modularity, "conductance": conductance}


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def accuracy_by_permutations(y, c):
    """Try every one-to-one naming of clusters by classes, padded with names nobody has."""
    classes, clusters = sorted(set(y)), sorted(set(c))
    names = classes + [("none", i) for i in range(len(clusters))]
    return max(
        sum(dict(zip(clusters, naming, strict=True))[b] == a for a, b in zip(y, c, strict=True)) / len(y)
        for naming in itertools.permutations(names, len(clusters))
    )


def random_graph(rng, n=12, loops=True):
    """A weighted undirected graph with an isolated node."""
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    W = W + W.T
    W[-1] = W[:, -1] = 0
    if not loops:
        np.fill_diagonal(W, 0)
    return W


def cut_and_volume(W, labels, group):
    """Textbook double loop over all pairs of nodes."""
    cut = volume = 0.0
    for i, j in itertools.product(range(len(W)), repeat=2):
        if labels[i] == group:
            volume += W[i, j]
            cut += W[i, j] * (labels[j] != group)
    return cut, volume


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


class TestCuts:
    @pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
    def test_cuts_against_double_loops(self, rng, hold):
        """Dense or sparse, with loops, an isolated node and a group past half, all equal the textbook sums."""
        W, labels = random_graph(rng), np.array([0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0])
        total = W.sum()
        cuts, volumes = np.transpose([cut_and_volume(W, labels, g) for g in np.unique(labels)])
        assert normalized_cut(hold(W), labels) == pytest.approx(sum(cuts / volumes), abs=1e-12)
        expected = sum((v - c) / total - (v / total) ** 2 for c, v in zip(cuts, volumes, strict=True))
        assert modularity(hold(W), labels) == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(
            conductance(hold(W), labels), cuts / np.minimum(volumes, total - volumes), atol=1e-12
        )

    def test_modularity_of_pairs(self, rng):
        """On a graph without loops Q is Newman's sum over pairs, (A_ij - d_i d_j / 2m) / 2m inside groups."""
        W, labels = random_graph(rng, loops=False), rng.integers(0, 3, 12)
        d, twice_m = W.sum(axis=1), W.sum()
        pairs = itertools.product(range(12), repeat=2)
        Q = sum((W[i, j] - d[i] * d[j] / twice_m) / twice_m for i, j in pairs if labels[i] == labels[j])
        assert modularity(W, labels) == pytest.approx(Q, abs=1e-12)

    def test_two_way_cut_is_the_rayleigh_quotient(self, rng):
        """With y = 1/vol on one side, -1/vol on the other, yᵀLy / yᵀDy is the normalised cut, no factor ½."""
        W, labels = random_graph(rng), np.arange(12) % 2
        d = W.sum(axis=1)
        y = np.where(labels == 0, 1 / d[labels == 0].sum(), -1 / d[labels == 1].sum())
        assert normalized_cut(W, labels) == pytest.approx(y @ (np.diag(d) - W) @ y / (y @ (d * y)), abs=1e-12)

    @pytest.mark.parametrize("k", [2, 5])
    def test_disconnected_cliques(self, k):
        """The right partition of k equal cliques cuts nothing and has modularity 1 - 1/k."""
        W, labels = np.kron(np.eye(k), 1 - np.eye(4)), np.repeat(np.arange(k), 4)
        assert conductance(W, labels).tolist() == [0.0] * k
        assert normalized_cut(W, labels) == 0.0
        assert modularity(W, labels) == pytest.approx(1 - 1 / k)

    @given(st.integers(2, 9), st.integers(0, 2**31), st.permutations(range(4)))
    @settings(max_examples=40, deadline=None)
    def test_renaming_and_range(self, n, seed, naming):
        """Relabelling leaves the cuts as they are, and each stays within its bounds."""
        rng = np.random.default_rng(seed)
        W, labels = random_graph(rng, n), rng.integers(0, 4, n)
        if W.sum() == 0:
            W[:2, :2] = 1.0
        renamed = np.array([f"group {naming[label]}" for label in labels])
        groups = len(np.unique(labels))
        assert modularity(W, renamed) == pytest.approx(modularity(W, labels), abs=1e-12)
        assert -0.5 - 1e-12 <= modularity(W, labels) <= 1
        assert normalized_cut(W, renamed) == pytest.approx(normalized_cut(W, labels), abs=1e-12)
        assert 0 <= normalized_cut(W, labels) <= groups + 1e-12
        np.testing.assert_allclose(sorted(conductance(W, renamed)), sorted(conductance(W, labels)), atol=1e-12)
        assert (conductance(W, labels) <= 1 + 1e-12).all()

    def test_groups_without_weight(self):
        """An isolated node and a group holding everything cut nothing."""
        W = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
        assert conductance(W, [0, 0, 1]).tolist() == [0.0, 0.0]
        assert normalized_cut(W, [0, 0, 1]) == 0.0
        assert conductance(W, [0, 0, 0]).tolist() == [0.0]

    @pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
    def test_any_number_type(self, dtype):
        """Bools, unsigned ints and single precision give the values of the same graph in float64."""
        W = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
        for measure in CUTS.values():
            for held in (W.astype(dtype), sp.csr_array(W.astype(dtype))):
                np.testing.assert_allclose(measure(held, [0, 0, 1]), measure(W.astype(float), [0, 0, 1]), atol=1e-12)

    def test_a_large_sparse_graph_is_never_made_dense(self):
        """A ring of 200,000 nodes in pairs, 300 GB if it were dense, gives the values worked out by hand."""
        n = 200_000
        i = np.arange(n)
        ring = sp.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
        ring = ring + ring.T
        assert normalized_cut(ring, i // 2) == pytest.approx(n / 2 * 0.5)
        assert modularity(ring, i // 2) == pytest.approx(0.5 - 2 / n)
        np.testing.assert_allclose(conductance(ring, i // 2), 0.5)

    @pytest.mark.parametrize("measure", CUTS.values(), ids=CUTS.keys())
    def test_bad_graphs_are_named(self, measure):
        """Wrong shape, negative, asymmetric or not finite affinities are refused with the remedy."""
        with pytest.raises(ValueError, match=r"W has shape \(2, 3\) but there are 2 labels"):
            measure(np.ones((2, 3)), [0, 1])
        with pytest.raises(ValueError, match="uncentred affinity >= 0"):
            measure(-np.eye(2), [0, 1])
        with pytest.raises(ValueError, match="not finite"):
            measure(sp.csr_array([[np.nan, 0], [0, 1]]), [0, 1])
        with pytest.raises(ValueError, match=r"pass \(W \+ W.T\) / 2"):
            measure(np.array([[0, 1], [0, 0]]), [0, 1])

    def test_modularity_needs_an_edge(self):
        """Without edges modularity is 0/0 and says so."""
        with pytest.raises(ValueError, match="W has no edges"):
            modularity(sp.csr_array((3, 3)), [0, 1, 1])


def double_sum(K, A):
    """The mean overlap of two clusters by sums over all pairs of samples and clusters."""
    n, k = A.shape

    def product(c, e):
        return sum(A[i, c] * A[j, e] * K[i, j] for i in range(n) for j in range(n))

    pairs = [(c, e) for c in range(k) for e in range(c + 1, k)]
    return sum(product(c, e) / np.sqrt(product(c, c) * product(e, e)) for c, e in pairs) / len(pairs)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_cauchy_schwarz_divergence_is_the_double_sum(k):
    """Soft and crisp memberships, rows, similarities and Grams give what the sums over pairs of samples give."""
    rng = np.random.default_rng(k)
    X, A = rng.standard_normal((12, 3)), rng.random((12, k))
    K = RBF(1.3)(X)
    soft = -np.log(double_sum(K, A))
    assert cauchy_schwarz_divergence(X, A, kernel=RBF(1.3)) == pytest.approx(soft)
    assert cauchy_schwarz_divergence(K, A * rng.random(k), kernel="precomputed") == pytest.approx(soft)
    assert cauchy_schwarz_divergence(FeatureGram(np.linalg.cholesky(K)), A) == pytest.approx(soft)
    paper = cauchy_schwarz_divergence(X, A, kernel=RBF(1.3), pair_normalization="paper")
    assert paper == pytest.approx(soft - np.log((k - 1) / 2))
    labels = np.arange(12) % k
    crisp = -np.log(double_sum(K, np.eye(k)[labels]))
    assert cauchy_schwarz_divergence(X, [f"c{label}" for label in labels], kernel=RBF(1.3)) == pytest.approx(crisp)


def test_cauchy_schwarz_divergence_at_its_ends():
    """Equal densities are 0 apart, clusters without similarity infinitely, and far clusters farther than near ones."""
    X = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 2, axis=0)
    assert cauchy_schwarz_divergence(X, np.arange(12) % 2, kernel=RBF(1.0)) == pytest.approx(0, abs=1e-12)
    assert cauchy_schwarz_divergence(np.eye(4), [0, 0, 1, 1], kernel="precomputed") == np.inf
    y = np.repeat([0, 1], 6)
    near, far = (cauchy_schwarz_divergence(X + shift * y[:, None], y, kernel=RBF(1.0)) for shift in (1, 3))
    assert 0 < near < far
    tiny = np.column_stack([np.ones(12), np.full(12, 1e-250)])
    assert cauchy_schwarz_divergence(X, tiny, kernel=RBF(1.0)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([0, 0, 0], "at least two clusters"),
        ([0, 1], r"shape \(2, 2\); pass \(3,\) labels or \(3, k\)"),
        ([[1.0, 0.0]] * 3, "none of them empty"),
        ([[1.0, -1.0]] * 3, "negative or not finite"),
    ],
)
def test_cauchy_schwarz_divergence_refuses(memberships, message):
    """Memberships that are no clusters are refused, and so is a kernel under which a cluster has no size."""
    with pytest.raises(ValueError, match=message):
        cauchy_schwarz_divergence(np.eye(3), memberships)
    with pytest.raises(ValueError, match="pair_normalization='sum' is not known"):
        cauchy_schwarz_divergence(np.eye(3), [0, 1, 1], pair_normalization="sum")
    with pytest.raises(ValueError, match="cluster 1 is not similar to itself"):
        cauchy_schwarz_divergence(np.diag([1.0, 0.0, 0.0]), [0, 1, 1], kernel="precomputed")


# Forecasts -------------------------------------------------------------------------------------------------


def test_nrmse_of_a_perfect_forecast_is_zero_and_of_the_mean_one():
    y = np.random.default_rng(0).normal(size=50)
    assert nrmse(y, y) == 0
    assert abs(nrmse(y, np.full(50, y.mean())) - 1) < 1e-15


@settings(max_examples=30, deadline=None)
@given(scale=st.floats(0.01, 100), shift=st.floats(-100, 100), columns=st.integers(1, 3))
def test_nrmse_does_not_depend_on_units_and_is_the_root_of_what_r2_leaves(scale, shift, columns):
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(1)
    true, found = rng.normal(size=(2, 40, columns))
    value = nrmse(true, found)
    assert abs(nrmse(scale * true + shift, scale * found + shift) - value) < 1e-9 * value
    if columns == 1:
        assert abs(value - np.sqrt(1 - r2_score(true, found))) < 1e-12


def test_mase_of_the_seasonal_naive_forecast_is_one():
    x = np.random.default_rng(0).normal(size=120)
    assert abs(mase(x[7:], x[:-7], x, period=7) - 1) < 1e-12
    two = np.column_stack([x, 100 * x])
    assert abs(mase(two[7:], two[:-7], two, period=7) - 1) < 1e-12


def test_coverage_counts_values_inside_ends_included():
    assert interval_coverage([0.0, 1.0, 2.0], [0.0, 2.0, -np.inf], [0.0, 3.0, np.inf]) == 2 / 3


def test_missing_true_values_are_left_out():
    assert nrmse([1.0, np.nan, 3.0], [1.0, 9.0, 3.0]) == 0
    assert mase([2.0, np.nan], [3.0, np.nan], [0.0, 1.0, np.nan, 2.0, 3.0]) == 1
    assert interval_coverage([np.nan, 1.0], [np.nan, 0.0], [np.nan, 2.0]) == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nrmse([1.0, 1.0], [1.0, 2.0]), "does not vary"),
        (lambda: nrmse([1.0, 2.0], [1.0, np.nan]), "y_pred is NaN"),
        (lambda: nrmse([1.0, 2.0], [1.0]), "shape"),
        (lambda: nrmse([np.nan], [1.0]), "no step"),
        (lambda: mase([1.0], [1.0], [1.0, 2.0], period=2), "period=2 needs more"),
        (lambda: mase([1.0], [1.0], [1.0, 1.0]), "repeats itself"),
        (lambda: mase([1.0], [1.0], [[1.0, 2.0]] * 3), "1 columns of y_true"),
        (lambda: interval_coverage([1.0], [0.0, 1.0], [2.0]), "shape"),
        (lambda: interval_coverage([1.0], [np.nan], [2.0]), "NaN where y_true is known"),
        (lambda: interval_coverage([np.nan], [0.0], [2.0]), "no known value"),
    ],
)
def test_forecasts_that_do_not_fit_are_refused(call, told):
    with pytest.raises(ValueError, match=told):
        call()
