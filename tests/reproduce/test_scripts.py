"""Every script runs in small, prints what it promises, and quotes the paper right."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from reproduce import __main__ as command
from reproduce import (
    evidence_accumulation,
    pckid_land_cover,
    pckid_land_cover_pairs,
    pckid_mnist,
    pckid_ranking,
    pckid_wine,
)
from reproduce.table import COLUMNS, Options, Ours, Published, best_imputation, difference, lead, markdown, signed

SMALL = Options(runs=1, restarts=2, components=4, samples=140)


def records_and_report(experiment, **changes):
    return experiment.run(Options(**{**vars(SMALL), **changes}))


# Wine ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "method", "rate", "mean", "std"),
    [
        ("mcar", "PCKID", 0.05, 0.965, 0.00749),
        ("mcar", "GMM", 0.45, 0.875, 0.0815),
        ("mar", "PCKID", 0.21, 0.938, 0.00355),
        ("mar", "k-POD", 0.21, 0.916, 0.0),
        ("mar", "PCK", 0.17, 0.919, 0.0206),
        ("nmar", "PCKID", 0.45, 0.899, 0.00821),
        ("nmar", "k-means", 0.35, 0.918, 0.00265),
        ("nmar", "RBF", 0.25, 0.446, 0.0401),
    ],
)
def test_wine_quotes_table_3(mechanism, method, rate, mean, std):
    """Spot checks of the printed table."""
    assert pckid_wine.PUBLISHED[mechanism, method, rate] == Published(mean, std)


def test_wine_has_all_settings_of_table_3():
    """Three mechanisms, five rates, six methods; both mixtures answer to GMM and both kernels to RBF."""
    assert len(pckid_wine.PUBLISHED) == 90
    assert len(pckid_wine.REIMPLEMENTED) == 120
    assert pckid_wine.published("mar", "GMM, 1 start", 0.05) == pckid_wine.PUBLISHED["mar", "GMM", 0.05]
    assert pckid_wine.published("mar", "RBF exp(-d²/2σ²)", 0.05) == pckid_wine.PUBLISHED["mar", "RBF", 0.05]
    assert pckid_wine.published("mar", "PCK", 0.05) == pckid_wine.PUBLISHED["mar", "PCK", 0.05]
    assert len(list(pckid_wine.tasks(Options(), 2))) == 30


def test_wine_runs():
    """One rate that all mechanisms share: eight methods, four of them with four imputations each."""
    records, report = records_and_report(pckid_wine.EXPERIMENT, rates=(0.05,))
    assert len(records) == 3 * (4 + 4 * 4)
    assert {record["mechanism"] for record in records} == {"mcar", "mar", "nmar"}
    assert "### MAR" in report
    assert re.search(r"\| 5% PCKID \|  \| 0\.968 \(0\.004\) \| 0\.961 \| 0\.\d{3} \|", report)
    assert report.count("kept") + report.count("missed") == 3


def test_wine_runs_differ_in_their_masks_and_repeat(monkeypatch):
    """Two runs see different holes; the same run sees the same."""
    monkeypatch.setattr(pckid_wine, "METHODS", ("PCKID", "k-POD"))
    first = pckid_wine.one_mask("mcar", 0.45, 0, SMALL_ENSEMBLE)
    again = pckid_wine.one_mask("mcar", 0.45, 0, SMALL_ENSEMBLE)
    other = pckid_wine.one_mask("mcar", 0.45, 1, SMALL_ENSEMBLE)
    assert [record["ari"] for record in first] == [record["ari"] for record in again]
    assert [record["ari"] for record in first] != [record["ari"] for record in other]


SMALL_ENSEMBLE = pckid_wine.Ensemble(2, 4)

# Land cover ----------------------------------------------------------------------------------------------------------


def test_land_cover_quotes_table_2():
    """Spot checks of the printed table, and all fifteen rows."""
    table = pckid_land_cover.PUBLISHED
    assert len(table) == 15
    assert table["PCKID", ""]["acc"] == Published(0.494, 0.00584)
    assert table["GMM", ""]["ari"] == Published(0.351, 0.0250)
    assert table["RBF", "most frequent"]["ari"] == Published(-0.00783, 0.00370)
    assert table["k-means", "zero"]["nmi"] == Published(0.279, 0.000381)
    assert max(row["acc"].mean for row in table.values()) == 0.494


def test_land_cover_runs_and_says_surrogate():
    """Nobody can take the figures for the paper's data."""
    records, report = records_and_report(pckid_land_cover.EXPERIMENT)
    assert len(records) == 4 + 3 * 4
    assert "**Surrogate data**" in report
    assert "surrogate ± s.e." in report
    assert "| PCKID | 0.494 (0.006) |" in report


def test_land_cover_pairs_quote_table_1():
    """All pairs of six classes; PCKID is best, or tied first, in ten of fifteen rows."""
    table = pckid_land_cover_pairs.PUBLISHED
    assert len(table) == 15
    assert table["6-7"]["PCKID"] == 0.970
    assert table["2-4"]["RBF most frequent"] == 0.674
    assert sum(row["PCKID"] == max(row.values()) for row in table.values()) == 10


def test_land_cover_pairs_run_and_say_surrogate(monkeypatch):
    """Two classes at a time, nine columns each."""
    records, report = records_and_report(pckid_land_cover_pairs.EXPERIMENT)
    assert len(records) == 15 * 9
    assert "**Surrogate data**" in report
    assert "PCKID 10 published" in report


# Votes of partitions ------------------------------------------------------------------------------------------------


def test_evidence_accumulation_runs():
    """Votes follow the rings that a single k-means cuts across."""
    records, report = records_and_report(evidence_accumulation.EXPERIMENT, datasets=("rings", "iris"))
    assert len(records) == 2 * len(evidence_accumulation.METHODS)
    scores = {r["method"]: r["ari"] for r in records if r["dataset"] == "rings"}
    assert scores["votes, single linkage"] > scores["k-means, one start"]
    assert "What the figures do not say" in report


# MNIST ---------------------------------------------------------------------------------------------------------------


def test_mnist_falls_back_to_small_digits(tmp_path, capsys):
    """Without the file a note says so, and no figure of MNIST is put beside ours."""
    _, report = records_and_report(pckid_mnist.EXPERIMENT, data=tmp_path, rates=(0.5,))
    assert "small digits of scikit-learn" in capsys.readouterr().err
    assert "not MNIST" in report
    assert "0.954" not in report
    assert "figure only" in report


def test_mnist_reads_the_folder_it_is_given(tmp_path, capsys):
    """Bytes become [0, 1], and only fives and sixes are used."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4, 8), 25).astype(np.uint8)
    X = rng.integers(0, 90, (100, 28, 28)) + 40 * y[:, None, None] - 130
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "images" / "mnist.npz", X=X.clip(0, 255).astype(np.uint8), y=y)
    images, digits, shape, name = pckid_mnist.digits_5_and_6(tmp_path)
    assert (images.shape, shape, name, set(digits)) == ((50, 784), (28, 28), "mnist", {5, 6})
    assert 0 <= images.min() < images.max() <= 1
    assert capsys.readouterr().err == ""
    _, report = records_and_report(pckid_mnist.EXPERIMENT, data=tmp_path, rates=(0.5,), samples=40)
    assert re.search(r"\| PCKID \| 0\.5 \| figure only \| 0\.954 \|", report)


def test_mnist_draws_as_many_of_each_digit():
    """A fresh, balanced subset per generator."""
    y = np.array([5] * 30 + [6] * 20)
    first, second = (pckid_mnist.draw(np.zeros((50, 1)), y, 24, np.random.default_rng(seed)) for seed in (0, 1))
    assert len(set(first)) == 24
    assert (y[first] == 5).sum() == 12
    assert set(first) != set(second)
    assert len(pckid_mnist.draw(np.zeros((50, 1)), y, 1000, np.random.default_rng(0))) == 40


def test_mnist_leaves_out_pixels_that_never_vary():
    """Blank pixels reach no method: a table of nothing but blank and two inked pixels has two columns."""
    X = np.zeros((8, 16))
    X[:, 5] = X[:, 10] = np.repeat([0.0, 1.0], 4)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pckid_mnist, "contest", lambda table, *rest, **options: seen.append(table) or [])
        pckid_mnist.one_mask(X, np.repeat([5, 6], 4), (4, 4), "blank", 0.25, 0, SMALL_ENSEMBLE)
    assert seen[0].shape == (8, 2)


# Ranking -------------------------------------------------------------------------------------------------------------


def test_contrast_is_one_minus_the_mean_cosine_of_two_queries():
    """Against the double loop; zero for equal columns, one for orthogonal ones."""
    scores = np.random.default_rng(0).random((9, 4))
    cosines = [
        a @ b / np.sqrt((a @ a) * (b @ b)) for i, a in enumerate(scores.T) for j, b in enumerate(scores.T) if i != j
    ]
    assert pckid_ranking.contrast(scores) == pytest.approx(1 - np.mean(cosines))
    assert pckid_ranking.contrast(np.ones((5, 3))) == pytest.approx(0)
    assert pckid_ranking.contrast(np.eye(4)) == pytest.approx(1)


def test_ranking_runs_and_counts_cases():
    """One table, one rate: PCKID beside two kernels with four imputations."""
    records, report = records_and_report(pckid_ranking.EXPERIMENT, datasets=("iris",), rates=(0.1,))
    assert len(records) == 9
    assert all(0 < record["cosine"] <= 1 and 0 < record["contrast"] <= 1 for record in records)
    assert "| iris 10% | 0.9982 |" in report
    assert re.search(r"of 8 cases \(published: 154 of 160, .*\): \d of 4 against RBF, \d of 4 against PCK", report)


def test_ranking_of_papers_draws_figure_4(tmp_path, capsys):
    """Counts become directions, every query is a dot, and the shares are those of the dots above the diagonal."""
    rng = np.random.default_rng(0)
    (tmp_path / "text").mkdir()
    words = csr_array(rng.poisson(0.5 + 2 * rng.random((4, 40))[np.arange(120) % 4]))
    save_npz(tmp_path / "text" / "nips12_abstracts.npz", words)
    options = {"datasets": ("nips",), "rates": (0.1,), "data": tmp_path, "pictures": tmp_path / "drawn"}
    records, report = records_and_report(pckid_ranking.EXPERIMENT, **options)
    assert pckid_ranking.load("nips", tmp_path).shape == (120, 20)
    assert (tmp_path / "drawn" / "pckid_figure_4.png").exists()
    ours, rival = (np.array(record["queries"].split(), float) for record in records[:2])
    assert ours.mean() == pytest.approx(records[0]["cosine"], abs=1e-6)
    assert f"| 10% | {np.mean(ours > rival):.2f} |" in report
    with pytest.raises(ValueError, match="leave nothing of pckid_ranking to run"):
        records_and_report(pckid_ranking.EXPERIMENT, datasets=("nips",), data=None)
    assert "text/nips12_abstracts.npz is not in the folder" in capsys.readouterr().err


def test_ranking_quotes_the_reference():
    """All settings but Ecoli at 20 %, which nobody has run before."""
    assert len(pckid_ranking.REIMPLEMENTED) == 15
    assert ("ecoli", 0.2) not in pckid_ranking.REIMPLEMENTED
    assert pckid_ranking.REIMPLEMENTED["wdbc", 0.20] == (0.9997, 0.9819, 0.9752, 0.9992, 0.9988)


# Tables and command --------------------------------------------------------------------------------------------------


def test_standard_errors_and_differences():
    """s/√n over runs; the error of a difference adds the paper's own, from its 30 runs."""
    ours = Ours.of([0.9, 0.92, 0.94])
    assert ours.error == pytest.approx(0.02 / np.sqrt(3))
    assert str(ours) == "0.920 ± 0.012"
    assert difference(ours, Published(0.91, 0.03)) == f"+0.010 ± {np.sqrt(0.02**2 / 3 + 0.03**2 / 30):.3f}"
    assert difference(ours, Published(0.95)) == "-0.030"
    assert str(Ours.of([0.5])) == "0.500"
    assert str(Published(0.9)) == "0.900"


def test_best_imputation_is_chosen_by_the_mean():
    """One lucky run does not make an imputation the best."""
    values = {"zero": (0.99, 0.1), "mean": (0.7, 0.8)}
    records = [{"imputation": name, "acc": acc} for name, accs in values.items() for acc in accs]
    name, ours = best_imputation(records)
    assert (name, ours.mean) == ("mean", pytest.approx(0.75))


def test_lead_pairs_runs():
    """Differences are taken within a run, whatever the order of the records."""
    ours = [{"run": 0, "acc": 0.9}, {"run": 1, "acc": 0.5}]
    rivals = [{"run": 1, "acc": 0.4}, {"run": 0, "acc": 0.8}]
    assert lead(ours, rivals).mean == pytest.approx(0.1)
    assert lead(ours, rivals).error == pytest.approx(0, abs=1e-12)
    assert signed(lead(ours, rivals)) == "+0.100 ± 0.000"


def test_markdown_has_one_line_per_row():
    """Missing cells are blank."""
    assert markdown(("a", "b"), [(1, None)]).splitlines() == ["| a | b |", "|---|---:|", "| 1 |  |"]


def test_command_lists_runs_and_writes(tmp_path, capsys):
    """Without a name the experiments are listed; with one the CSV has one line per score, in the promised columns."""
    assert command.main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(command.MODULES)
    out = tmp_path / "scores.csv"
    small = ["--runs", "1", "--restarts", "2", "--components", "3", "--jobs", "1", "--out", str(out)]
    assert command.main(["pckid_ranking", "--datasets", "iris", "--rates", "0.05", *small]) == 0
    printed = capsys.readouterr().out
    assert "1 runs" not in printed
    assert "scikit-learn" in printed
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 9
    assert rows[0]["experiment"] == "pckid_ranking"
    assert rows[0]["acc"] == ""


def test_rates_that_an_experiment_does_not_have_are_an_error():
    """Rather than an empty table."""
    with pytest.raises(ValueError, match="leave nothing of pckid_wine to run"):
        records_and_report(pckid_wine.EXPERIMENT, rates=(0.5,))


def test_command_looks_for_data_where_the_environment_says(tmp_path, monkeypatch):
    """``--data`` wins over GRAMIAN_DATA, which wins over the folder beside the project."""
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    assert command._parser().parse_args([]).data == command.ROOT.parent / "shared" / "data"
    monkeypatch.setenv("GRAMIAN_DATA", str(tmp_path))
    assert command._parser().parse_args([]).data == tmp_path
    assert command._parser().parse_args(["--data", "elsewhere"]).data == Path("elsewhere")


def test_command_names_what_it_does_not_know(capsys):
    """An unknown experiment ends with code 2 and the list of those that exist."""
    assert command.main(["pckid_beer"]) == 2
    assert "no experiment pckid_beer; there are: pckid_wine" in capsys.readouterr().err
