"""Which rows are judged, how many clusters, which way, and how surely."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gramian.clustering.automatic.choice import Choice, Judged, Trials, choose, gather_evidence
from gramian.clustering.automatic.rows import Rows
from gramian.clustering.automatic.views import WAYS
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


def trials_of(rows, ways=tuple(WAYS)):
    return Trials(rows, list(ways), 0)


def test_the_number_of_blobs_is_chosen_and_neighbouring_numbers_are_shown(blobs):
    rows, y = blobs
    choice, shown = choose(trials_of(rows), Judged(np.arange(120), False, None, 20))
    assert shown == [2, 3, 4]
    assert adjusted_rand(y, choice.labels) == 1
    choice, shown = choose(trials_of(rows), Judged(np.arange(120), False, 5, 5))
    assert shown == [5]
    assert choice.labels.max() == 4


def planted(monkeypatch, rows, seen, agreements):
    """The number that is chosen if the walks see some numbers and the ways agree so well on each."""
    monkeypatch.setattr("gramian.clustering.automatic.choice.most_seen", lambda grams, most: seen)

    class Planted(Trials):
        def choose(self, k):
            assert all(k in found for name, found in self.found.items() if name != "gaussian_mixture")
            candidate = {"n_clusters": k}
            return Choice("kmeans", np.arange(120) % k, [candidate], np.array([agreements[k]]))

    trials = Planted(rows, ["kmeans", "gaussian_mixture"], 0)
    choice, _ = choose(trials, Judged(np.arange(120), False, None, 6))
    assert choice.labels.max() + 1 in trials.found["gaussian_mixture"]  # every way is among the final candidates
    return choice.labels.max() + 1


def test_the_number_is_the_largest_seen_on_which_ways_agree(blobs, monkeypatch):
    rows, _ = blobs
    agreed = {2: 0.9, 3: 0.7, 4: 0.6, 5: 0.99, 6: 0.5}
    assert planted(monkeypatch, rows, [2, 2, 3], agreed) == 3  # 0.7 >= 0.75 · 0.9
    assert planted(monkeypatch, rows, [2, 4, 3], agreed) == 3  # 0.6 is less
    assert planted(monkeypatch, rows, [4, 3, 3], agreed) == 4


def test_where_ways_disagree_the_number_they_agree_on_most_is_taken(blobs, monkeypatch):
    rows, _ = blobs
    agreed = {2: 0.4, 3: 0.38, 4: 0.3, 5: 0.5, 6: 0.2}
    assert planted(monkeypatch, rows, [2, 2, 3], agreed) == 5  # 0.5 >= 1.15 · 0.38
    assert planted(monkeypatch, rows, [2, 2, 2], {**agreed, 5: 0.45}) == 2  # less than 1.15 · 0.4
    assert planted(monkeypatch, rows, [2, 2, 2], {**agreed, 2: 0.55, 5: 0.7}) == 2  # the ways agree on two


def test_candidates_are_listed_best_first(blobs):
    rows, y = blobs
    trials = trials_of(rows)
    trials.add([3])
    choice = trials.choose(3)
    assert adjusted_rand(y, choice.labels) == 1
    assert choice.agreement == pytest.approx(1) == pytest.approx(choice.mean_agreement)
    assert {candidate["name"] for candidate in choice.candidates} == set(WAYS)
    assert [candidate["chosen"] for candidate in choice.candidates] == [True] + [False] * 8
    scores = [candidate["score"] for candidate in choice.candidates]
    assert scores == sorted(scores, reverse=True)
    assert choice.candidates[0]["name"] == choice.name


def test_agreement_is_with_other_families(blobs):
    rows, _ = blobs
    trials = trials_of(rows, ["nearest", "mutual", "kmeans", "genie"])
    trials.add([5])
    choice = trials.choose(5)
    others = [name for name in trials.ways if WAYS[name].family != WAYS[choice.name].family]
    expected = [adjusted_rand(choice.labels, trials.found[name][5]) for name in others]
    assert choice.agreement == pytest.approx(np.median(expected))
    assert choice.mean_agreement == pytest.approx(np.mean(expected))
    alone = trials_of(rows, ["kmeans"])
    alone.add([5])
    assert alone.choose(5).agreement == alone.choose(5).mean_agreement == 1.0


def test_evidence_is_the_stability_of_the_chosen_way(blobs):
    rows, _ = blobs
    trials = trials_of(rows, ["kmeans", "genie"])
    trials.add([3])
    choice = trials.choose(3)
    evidence = gather_evidence(choice, rows, [2, 3, 4], 2.0, 0)
    assert [k for k, _ in evidence.counts] == [2, 3, 4]
    assert dict(evidence.counts)[3] == pytest.approx(evidence.stability) == pytest.approx(1)
    assert dict(evidence.counts)[4] < 0.95
    np.testing.assert_allclose(evidence.cluster_stability, 1)
    assert evidence.verdict == "clear"
    assert gather_evidence(choice, rows, [3], 1.0, 0).verdict == "none"
