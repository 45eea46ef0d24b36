"""Agreement, cut and their ranks, against textbook loops."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.scoring import agreements, closest, normalized_cut, scores


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_agreements_are_rand_indices_between_families(rng):
    clusterings = [rng.integers(3, size=50) for _ in range(5)]
    families = ["a", "a", "b", "c", "d"]
    found = agreements(clusterings, families)
    for i in range(5):
        for j in range(5):
            if families[i] == families[j]:
                assert np.isnan(found[i, j])
            else:
                assert found[i, j] == pytest.approx(adjusted_rand_score(clusterings[i], clusterings[j]))
    for i, value in enumerate(closest(found)):
        three = sorted((found[i, j] for j in range(5) if families[i] != families[j]), reverse=True)[:3]
        assert value == pytest.approx(np.mean(three))


def test_without_another_family_nothing_agrees():
    np.testing.assert_array_equal(closest(np.full((2, 2), np.nan)), [0.0, 0.0])


def test_the_cut_is_that_of_a_loop_over_edges(rng):
    W = np.triu(rng.random((40, 40)) < 0.2, 1) * rng.random((40, 40))
    W = W + W.T
    labels = rng.integers(4, size=40)
    terms = []
    for c in range(4):
        cut = sum(W[i, j] for i in range(40) for j in range(40) if labels[i] == c and labels[j] != c)
        volume = sum(W[i, j] for i in range(40) for j in range(40) if labels[i] == c)
        conductance = cut / volume
        terms.append(conductance / (1 - volume / W.sum()))
    assert normalized_cut(labels, csr_array(W)) == pytest.approx(np.mean(terms))


def test_a_cluster_of_everything_or_without_edges_cuts_nothing():
    graph = csr_array(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert normalized_cut(np.zeros(3, int), graph) == 0.0
    assert normalized_cut(np.array([0, 0, 1]), graph) == 0.0


def test_scores_are_sums_of_ranks_and_ties_share():
    found = scores(np.array([0.9, 0.5, 0.5]), np.array([0.2, 0.1, 0.3]))
    np.testing.assert_allclose(found * 6, [3 + 2, 1.5 + 3, 1.5 + 1])
