"""Which rows are judged, how many clusters, which way, and how surely."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gramian.clustering.automatic.choice import Choice, Judged, Trials, _is_found_again, choose, gather_evidence
from gramian.clustering.automatic.rows import Rows
from gramian.clustering.automatic.views import WAYS
from gramian.datasets import make_rings
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


@pytest.mark.parametrize(
    ("counts", "few"), [([3] * 7, True), ([3] * 8, False), ([20, 3, 1], True), ([20, 2, 2], False), ([20], None)]
)
def test_a_few_kinds_of_rows_are_judged_with_their_copies(counts, few, rng):
    """At least two kinds that each occur three times; eight different rows show clusters as any rows do."""
    X = np.repeat(np.arange(len(counts), dtype=float)[:, None] ** 2, counts, axis=0)
    if few is None:
        with pytest.raises(ValueError, match="no row can be told from another"):
            Judged.of(X, None, 20, None, rng)
        return
    judged = Judged.of(X, None, 20, None, rng)
    assert judged.of_few_kinds == few
    assert len(judged.index) == (sum(counts) if few else len(counts))


@pytest.mark.parametrize(("n", "most"), [(7, 1), (8, 2), (30, 10), (90, 20)])
def test_few_rows_show_few_clusters(n, most, rng):
    assert Judged.of(rng.normal(size=(n, 2)), None, 20, None, rng).most == most


def trials_of(rows, ways=tuple(WAYS)):
    return Trials(rows, list(ways), 0)


def test_the_number_of_blobs_is_chosen_and_neighbouring_numbers_are_shown(blobs):
    rows, y = blobs
    choice, shown = choose(trials_of(rows), Judged(np.arange(120), False, None, 20))
    assert {2, 3, 4} <= set(shown)
    assert adjusted_rand(y, choice.labels) == 1
    choice, shown = choose(trials_of(rows), Judged(np.arange(120), False, 5, 5))
    assert shown == [5]
    assert choice.labels.max() == 4


def planted(monkeypatch, rows, gaps, agreements, other=None, labels=lambda k: np.arange(120) % k):
    """The number that is chosen if the walks have such gaps, and the numbers that are tried."""
    shares = np.array([[walk.get(k, 0.0) for k in range(2, 9)] for walk in (gaps, other or gaps)])
    monkeypatch.setattr("gramian.clustering.automatic.choice.shares_of_gaps", lambda grams, most: shares)
    tried = []

    class Planted(Trials):
        def choose(self, k):
            tried.append(k)
            assert all(k in found for name, found in self.found.items() if name != "gaussian_mixture")
            return Choice("kmeans", labels(k), [{"n_clusters": k}], np.array([agreements.get(k, 0.0)]))

    trials = Planted(rows, ["kmeans", "gaussian_mixture"], 0)
    choice, shown = choose(trials, Judged(np.arange(120), False, None, 8))
    k = int(choice.labels.max()) + 1
    assert list(trials.found["gaussian_mixture"]) == [k]  # every way is among the final candidates
    assert set(tried) <= set(shown)
    assert {k - 1, k, k + 1} & set(range(2, 9)) <= set(shown)
    return k, set(tried)


def test_the_number_has_a_wide_gap_and_ways_agree_on_it(blobs, monkeypatch):
    rows, _ = blobs
    gaps = {2: 0.9, 3: 0.8, 5: 0.5, 6: 0.46}
    assert planted(monkeypatch, rows, gaps, {2: 0.5, 3: 0.55, 5: 0.8}) == (2, {2, 3, 5, 6})
    assert planted(monkeypatch, rows, gaps, {2: 0.5, 3: 0.65, 5: 0.8}) == (3, {2, 3, 5, 6})
    assert planted(monkeypatch, rows, gaps, {2: 0.5, 3: 0.5, 5: 0.95}) == (5, {2, 3, 5, 6})


def test_more_clusters_are_taken_where_a_walk_has_its_widest_gap_and_all_are_found_again(blobs, monkeypatch):
    """Three blobs are found again, five parts of them are not, and neither are three classes that are no blobs."""
    rows, y = blobs
    agreed = {2: 1.0, 3: 0.6, 5: 0.6}
    one, other = {2: 1.0, 3: 0.7, 5: 0.6}, {2: 0.7, 3: 1.0, 5: 0.6}
    true = {2: np.minimum(y, 1), 3: y, 5: y + 3 * (np.arange(120) % 2) * (y < 2)}
    assert planted(monkeypatch, rows, one, agreed, other, true.get)[0] == 3
    assert planted(monkeypatch, rows, one, agreed, one, true.get)[0] == 2  # no walk has its widest gap after three
    assert planted(monkeypatch, rows, one, agreed, other)[0] == 2
    assert planted(monkeypatch, rows, one, agreed, {2: 0.7, 3: 0.9, 5: 1.0}, true.get)[0] == 2


def test_a_gap_has_to_be_wide_in_both_walks(blobs, monkeypatch):
    rows, _ = blobs
    agreed = {2: 0.5, 3: 0.5}
    assert planted(monkeypatch, rows, {2: 1.0, 3: 0.8}, agreed, {2: 0.2, 3: 0.8}) == (3, {2, 3})


def test_of_several_larger_numbers_the_largest_that_is_found_again_is_taken(blobs, monkeypatch):
    rows, _ = blobs
    one, other, agreed = {2: 0.7, 3: 1.0, 5: 0.6}, {2: 0.7, 3: 0.6, 5: 1.0}, {2: 1.0, 3: 0.6, 5: 0.6}
    for held, expected in (({3, 5}, 5), ({3}, 3), ({5}, 5), (set(), 2)):
        monkeypatch.setattr(
            "gramian.clustering.automatic.choice._is_found_again", lambda trials, k, held=held: k in held
        )
        assert planted(monkeypatch, rows, one, agreed, other)[0] == expected


@pytest.mark.parametrize(("least", "found"), [(0.8, True), (0.79, False)])
def test_every_cluster_has_to_be_found_again(least, found, monkeypatch):
    place = "gramian.clustering.automatic.choice"
    monkeypatch.setattr(f"{place}._resampled", lambda name, rows, counts, seed: {k: [] for k in counts})
    monkeypatch.setattr(f"{place}.cluster_stability", lambda labels, resampled: np.array([1.0, least, 1.0]))
    chosen = Choice("kmeans", np.arange(9) % 3, [], np.zeros(0))
    assert _is_found_again(SimpleNamespace(choose=lambda k: chosen, rows=None, seed=0), 3) == found


def test_numbers_of_narrow_gaps_and_more_than_four_are_not_tried(blobs, monkeypatch):
    rows, _ = blobs
    agreed = dict.fromkeys(range(2, 9), 0.5) | {6: 1.0}
    assert planted(monkeypatch, rows, {3: 1.0, 4: 0.6, 6: 0.49}, agreed) == (3, {3, 4})
    assert planted(monkeypatch, rows, {3: 1.0, 4: 0.9, 5: 0.8, 7: 0.7, 6: 0.6}, agreed) == (3, {3, 4, 5, 7})


def found_number(X, seed=0):
    rows = Rows.of(X, None, seed)[0]
    judged = Judged(np.arange(len(X)), False, None, 20)
    choice, _ = choose(Trials(rows, [name for name in WAYS if name != "gaussian_mixture"], seed), judged)
    return choice


@pytest.mark.parametrize("k", [2, 4, 7])
def test_blobs_that_lie_apart_are_counted(k):
    X, y = make_blobs(40 * k, centers=k, n_features=3, cluster_std=0.5, random_state=3)
    assert adjusted_rand(y, found_number(X).labels) == 1


def test_rings_are_counted_whatever_the_seed():
    X, y = make_rings(random_state=0)
    for seed in range(3):
        assert adjusted_rand(y, found_number(X, seed).labels) == 1


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
