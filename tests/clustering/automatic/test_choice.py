"""Which rows are judged, how many clusters, which way, and how surely."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gramian.clustering.automatic.choice import Judged, choose_count, choose_way, gather_evidence
from gramian.clustering.automatic.rows import Rows
from gramian.clustering.automatic.views import WAYS, clusterings
from gramian.metrics import adjusted_rand


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(120, centers=[[0, 0, 0], [8, 0, 4], [0, 9, 0]], random_state=0)
    return Rows.of(X, None, 0)[0], y


def test_judged_rows_differ_and_are_at_most_a_thousand(rng):
    X = rng.integers(3, size=(4000, 9)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    judged = Judged.of(X, None, 20, None, rng)
    assert len(judged.index) == 1000
    kinds = {tuple(np.nan_to_num(row, nan=-1)) for row in X[judged.index]}
    assert len(kinds) == 1000
    assert judged.most == 20
    assert len(Judged.of(X, 300, 20, None, rng).index) == 1500


@pytest.mark.parametrize(("n", "most"), [(7, 1), (8, 2), (30, 10), (90, 20)])
def test_few_rows_show_few_clusters(n, most, rng):
    assert Judged.of(rng.normal(size=(n, 2)), None, 20, None, rng).most == most


def test_the_number_of_blobs_is_chosen_and_neighbouring_numbers_are_shown(blobs, rng):
    rows, _ = blobs
    judged = Judged(np.arange(120), False, None, 20)
    assert choose_count(rows, judged) == (3, [2, 3, 4])
    assert choose_count(rows, Judged(np.arange(120), False, 5, 5)) == (5, [5])


def test_candidates_are_listed_best_first(blobs):
    rows, y = blobs
    choice = choose_way(rows, 3, 0, list(WAYS))
    assert adjusted_rand(y, choice.labels) == 1
    assert choice.agreement == pytest.approx(1)
    assert {candidate["name"] for candidate in choice.candidates} == set(WAYS)
    assert [candidate["chosen"] for candidate in choice.candidates] == [True] + [False] * 8
    scores = [candidate["score"] for candidate in choice.candidates]
    assert scores == sorted(scores, reverse=True)
    assert choice.candidates[0]["name"] == choice.name


def test_evidence_is_the_stability_of_the_chosen_way(blobs):
    rows, _ = blobs
    choice = choose_way(rows, 3, 0, ["kmeans", "genie"])
    evidence = gather_evidence(choice, rows, [2, 3, 4], 2.0, 0)
    assert [k for k, _ in evidence.counts] == [2, 3, 4]
    assert dict(evidence.counts)[3] == pytest.approx(evidence.stability) == pytest.approx(1)
    assert dict(evidence.counts)[4] < 0.95
    np.testing.assert_allclose(evidence.cluster_stability, 1)
    assert evidence.verdict == "clear"
    assert gather_evidence(choice, rows, [3], 1.0, 0).verdict == "none"
    four = choose_way(rows, 4, 0, ["kmeans"])
    np.testing.assert_array_equal(np.unique(four.labels), np.unique(clusterings("kmeans", rows, [4], 0)[4]))
