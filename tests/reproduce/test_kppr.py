"""Kernel PageRank: the scripts run in small, quote the sources right, and score as a textbook computation does."""

import csv
import re

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import ndcg_score

from reproduce import kppr, kppr_denoising, kppr_leave_one_out, kppr_ordering, kppr_out_of_sample
from reproduce.baselines import Ensemble
from reproduce.table import COLUMNS, Options, Published, lead, select, write_csv

SMALL = Options(runs=1, restarts=2, components=5, datasets=("iris",))
SMALL_ENSEMBLE = Ensemble(2, 5)


def records_and_report(experiment, **changes):
    return experiment.run(Options(**{**vars(SMALL), **changes}))


@pytest.fixture
def K():
    """RBF similarities of 60 points, dense and of full rank."""
    X = np.random.default_rng(3).standard_normal((60, 2))
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def textbook(K, inside, row=None, seed=None):
    """Scores of all points by a walk on those inside, for a new query or a seed inside: the paper's formulas, by loops.

    e_j(x) = Σ_k k(x, x_k) e_j(k) / (λ_j √(d(x) d_k)); π(x) = d(x)/vol + β √d(x) Σ_j e_j(x) m_j / (1 + β − λ_j).
    """
    beta = kppr.RESTART / (1 - kppr.RESTART)
    W = K[np.ix_(inside, inside)]
    d = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(d, d)))
    used = [j for j in range(len(d)) if 0.01 < values[j] < 1 - 1e-10]

    def place(k):
        return np.array([np.sum(k / np.sqrt(k.sum() * d) * vectors[:, j]) / values[j] for j in used])

    start = W[seed] if row is None else K[row, inside]
    m = place(start) / np.sqrt(start.sum())
    scores = []
    for i in range(len(K)):
        k = K[i, inside]
        restart = np.sum(place(k) * m / (1 + beta - values[used]))
        scores.append(k.sum() / d.sum() + beta * np.sqrt(k.sum()) * restart)
    return np.array(scores)


# What they share -----------------------------------------------------------------------------------------------------


def test_exact_scores_solve_their_equation(K):
    """π = (1 − α) Pᵀ π + α s for each query."""
    queries = np.array([4, 17])
    scores = kppr.exact_scores(K, queries)
    P = K / K.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, 0.9 * P.T @ scores + 0.1 * np.eye(60)[:, queries], atol=1e-14)


@pytest.mark.parametrize("by", ["query", "seeds"])
def test_all_points_are_scored_by_a_walk_on_some(K, by):
    """Low-rank scores of fitted and new points, at their own places, as the formulas of the paper give them."""
    order = np.random.default_rng(0).permutation(60)
    inside, outside = order[:25], order[25:]
    model = kppr.walk_on(K[np.ix_(inside, inside)])
    query = {"query": K[outside[3], inside]} if by == "query" else {"seeds": 7}
    wanted = textbook(K, inside, row=outside[3]) if by == "query" else textbook(K, inside, seed=7)
    np.testing.assert_allclose(kppr.rank_all(model, K, inside, outside, "low_rank", **query), wanted, atol=1e-10)


def test_one_step_scores_are_exact_inside_and_one_step_away_outside(K):
    """π inside solves the walk there, and π(x) = (1 − α) Σ_j k(x, x_j) π_j / d_j outside."""
    inside, outside = np.arange(20, 60), np.arange(20)
    W = K[20:, 20:]
    d = W.sum(axis=1)
    wanted = np.linalg.solve(np.eye(40) - 0.9 * W / d, 0.1 * np.eye(40)[5])
    scores = kppr.rank_all(kppr.walk_on(W), K, inside, outside, "one_step", seeds=5)
    np.testing.assert_allclose(scores[20:], wanted, atol=1e-12)
    np.testing.assert_allclose(scores[:20], 0.9 * K[:20, 20:] @ (wanted / d), atol=1e-12)


def test_two_moons_come_from_the_folder_or_are_drawn(tmp_path):
    """And the report says which."""
    assert kppr.table("two_moons", None)[0] == "make_moons"
    name, X = kppr.table("two_moons", tmp_path)
    np.testing.assert_array_equal(X, make_moons((276, 97), noise=0.07, random_state=0)[0])
    assert "substitute make_moons" in kppr.which_moons([{"dataset": name}])
    (tmp_path / "shapes").mkdir()
    np.savez(tmp_path / "shapes" / "sipu.npz", jain_X=np.ones((5, 2)), jain_y=np.zeros(5, int))
    name, X = kppr.table("two_moons", tmp_path)
    assert (name, X.shape) == ("jain", (5, 2))
    assert "Jain's data" in kppr.which_moons([{"dataset": name}])
    assert kppr.which_moons([{"dataset": "iris"}]) == ""


def test_a_table_that_the_paper_does_not_have_is_an_error():
    """It names those that there are."""
    with pytest.raises(ValueError, match=r"datasets has 'beer'.*wdbc, two_moons, wine, iris"):
        kppr.table("beer", None)


# Which eigenvectors --------------------------------------------------------------------------------------------------


def test_ordering_quotes_the_reference():
    """Three tables, four numbers of eigenvectors, two lists, two orders; two moons were not run."""
    table = kppr_ordering.REIMPLEMENTED
    assert len(table) == 3 * 4 * 2 * 2
    assert table["wine", 40, "kept", "query"] == ".940/.944"
    assert table["iris", 20, "kept", "eigenvalue"] == ".776/.846"
    assert table["wdbc", 80, "removed", "query"] == ".969/.938"
    assert table["wdbc", 10, "removed", "eigenvalue"] == ".978/.983"


def test_ordering_runs_and_judges_as_scikit_learn(monkeypatch):
    """Every query with both orders and lists; NDCG of one of them against scikit-learn and a plain eigensolver."""
    monkeypatch.setattr(kppr_ordering, "QUERIES", 12)
    records, report = records_and_report(kppr_ordering.EXPERIMENT)
    assert len(records) == 4 * 2 * 2 * 12
    assert re.search(r"\| Iris 40 \| \.929/\.940 \| \.\d{3}/\.\d{3} \|", report)
    assert "Iris ahead by" in report or "Iris **behind** by" in report
    record = select(records, dims=10, list="removed", method="eigenvalue")[0]
    seed = int(np.random.default_rng([0, kppr.TABLES.index("iris")]).integers(2**31))
    K = kppr.similarities(kppr.table("iris", None)[1], SMALL_ENSEMBLE, seed)
    d = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    beta, others, query = 1 / 9, np.delete(np.arange(len(K)), record["query"]), record["query"]
    gains = vectors[:, -11:] / (1 + beta - values[-11:]) @ vectors[query, -11:]  # the trivial one and ten more
    low_rank = beta * np.sqrt(d / d[query]) * gains
    exact = np.linalg.solve(np.eye(len(K)) - 0.9 * K / d, 0.1 * np.eye(len(K))[query])
    wanted = ndcg_score([exact[others]], [low_rank[others]], k=30, ignore_ties=True)
    assert record["ndcg30"] == pytest.approx(wanted, abs=1e-9)


# Out of sample -------------------------------------------------------------------------------------------------------


def test_out_of_sample_quotes_the_reference():
    """Three tables at four parts in sample."""
    table = kppr_out_of_sample.REIMPLEMENTED
    assert len(table) == 12
    assert table["wine", 0.1] == ".941/.965"
    assert table["iris", 0.5] == ".978/.980"
    assert table["wdbc", 0.8] == ".976/.969"


def test_out_of_sample_runs_both_parts(monkeypatch):
    """A mean per split for queries, a score per query for points; the words of the paper beside them."""
    monkeypatch.setattr(kppr_out_of_sample, "SPLITS", 3)
    records, report = records_and_report(kppr_out_of_sample.EXPERIMENT, rates=(0.1, 0.5, 0.8))
    assert len(select(records, part="new queries")) == 3 * 3 * 2
    assert len(select(records, part="new points")) == 2 * 3 * 2
    assert all(0 < record["ndcg10"] <= 1 for record in records)
    assert re.search(r"\| Iris 50% \| \.978/\.980 \| 0\.\d{3} ± 0\.\d{3} \|", report)
    assert "Wine and Iris need about 20 %" in report
    assert re.search(r"at 10, 20, 30, 40: Iris [+-]0\.\d{3}, [+-]0\.\d{3}, [+-]0\.\d{3}, [+-]0\.\d{3}\.", report)


def test_new_points_are_the_best_of_the_query(K, monkeypatch):
    """A part of the 40 best are unknown to the walk, never the query; the score is that of the textbook."""
    monkeypatch.setattr(kppr_out_of_sample, "SPLITS", 1)
    seen = []

    def watch(model, K, inside, outside, method, **query):
        scores = kppr.rank_all(model, K, inside, outside, method, **query)
        seen.append((inside, outside, query["seeds"], scores))
        return scores

    monkeypatch.setattr(kppr_out_of_sample, "rank_all", watch)
    record, _ = kppr_out_of_sample.new_points(K, 0.5, np.random.default_rng(0))
    inside, outside, seed, scores = seen[0]
    query = inside[seed]
    exact = kppr.exact_scores(K, np.array([query]))[:, 0]
    others = np.delete(np.arange(60), query)
    assert len(outside) == 20
    assert set(outside) <= set(others[np.argsort(-exact[others])][:40])
    np.testing.assert_allclose(scores, textbook(K, inside, seed=seed), atol=1e-10)
    wanted = ndcg_score([exact[others]], [scores[others]], k=20, ignore_ties=True)
    assert record["ndcg20"] == pytest.approx(wanted)


# Leave one out -------------------------------------------------------------------------------------------------------


def test_leave_one_out_quotes_table_1():
    """Spot checks of the printed table; both two moons answer to the paper's."""
    assert len(kppr_leave_one_out.PUBLISHED) == 16
    assert kppr_leave_one_out.published("wine", 10) == Published(0.973, 0.023)
    assert kppr_leave_one_out.published("iris", 20) == Published(0.975, 0.015)
    assert kppr_leave_one_out.published("jain", 30) == Published(0.989, 0.012)
    assert kppr_leave_one_out.published("make_moons", 40) == Published(0.987, 0.012)
    assert kppr_leave_one_out.published("wdbc", 40) == Published(0.970, 0.028)
    assert kppr_leave_one_out.REIMPLEMENTED["wine", "one scale", 20] == Published(0.980, 0.015)
    assert ("jain", "standardised", 10) not in kppr_leave_one_out.REIMPLEMENTED


def test_leave_one_out_runs_on_every_mth_point():
    """With both scalings and both extensions; the record of a point is that of the textbook."""
    records, report = records_and_report(kppr_leave_one_out.EXPERIMENT, samples=10)
    assert len(records) == 2 * 10 * 2
    assert {record["query"] for record in records} == set(range(0, 150, 15))
    assert re.search(r"\| Iris @20 \| 0\.975 \(0\.015\) \| 0\.970 \(0\.015\) \| 0\.\d{3} \(0\.\d{3}\) \|  \|", report)
    assert report.count("- standardised: Iris") == 1
    record = select(records, scaling="standardised", method="low_rank", query=45)[0]
    seed = int(np.random.default_rng([0, kppr.TABLES.index("iris")]).integers(2**31))
    K = kppr.similarities(kppr.table("iris", None)[1], SMALL_ENSEMBLE, seed)
    others = np.delete(np.arange(150), 45)
    P = K / K.sum(axis=1, keepdims=True)
    exact = np.linalg.solve(np.eye(150) - 0.9 * P.T, 0.1 * np.eye(150)[45])[others]
    wanted = ndcg_score([exact], [textbook(K, others, row=45)[others]], k=10, ignore_ties=True)
    assert record["ndcg10"] == pytest.approx(wanted, abs=1e-9)


def test_means_of_kernels_are_told_apart_from_points():
    """The standard deviation over all points, and that of the means of the runs."""
    records = [{"run": run, "s": value} for run, values in enumerate(((0.8, 1.0), (0.6, 0.8))) for value in values]
    ours, moves = kppr_leave_one_out.over_points(records, "s")
    assert (ours.mean, ours.std) == (pytest.approx(0.8), pytest.approx(np.std([0.8, 1, 0.6, 0.8], ddof=1)))
    assert moves == f"{0.2 / np.sqrt(2):.3f}"
    assert kppr_leave_one_out.over_points(records[:2], "s")[1] == ""


# Few eigenvectors against all ----------------------------------------------------------------------------------------


def test_denoising_quotes_the_reference():
    """Five widths and eight columns."""
    table = kppr_denoising.REIMPLEMENTED
    assert len(table) == 40
    assert table[0.2, "4%", "kept"] == 0.907
    assert table[0.5, "exact", "removed"] == 0.493
    assert table[1.0, "exact / √d", "removed"] == 0.494


def test_denoising_runs():
    """Few eigenvectors lose with a narrow kernel and win with a wide one; figures of 1,000 digits stay away."""
    records, report = records_and_report(kppr_denoising.EXPERIMENT, samples=300, rates=(0.1, 1.0))
    assert len(select(records, part="widths")) == 2 * 7 * 2
    assert "below −0.2 at 0.5 and 1.0: met" in report
    assert "A random order" not in report
    assert "0.349" not in report.split("| width")[1]
    assert re.search(r"\| best 20 of the cluster of \ds, in sample \| [01]\.\d{3}", report)
    assert all(0 <= record["purity"] <= 1 for record in select(records, part="clusters"))


# Tables --------------------------------------------------------------------------------------------------------------


def test_csv_has_the_columns_that_only_some_records_have(tmp_path):
    """After the common ones, empty where a record lacks them."""
    write_csv([{"dataset": "iris", "run": 0}, {"dataset": "wine", "dims": 3, "ndcg10": 0.5}], tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == (*COLUMNS, "dims", "ndcg10")
    assert [row["ndcg10"] for row in rows] == ["", "0.5"]


def test_lead_pairs_queries_of_runs():
    """The same query of another run is another pair."""
    ours = [{"run": run, "query": query, "s": run + query} for run in (0, 1) for query in (2, 3)]
    rivals = [{**record, "s": 2 * record["run"]} for record in reversed(ours)]
    assert lead(ours, rivals, "s", by=("run", "query")).mean == pytest.approx(np.mean([2, 3, 1, 2]))
