"""The experiments on joint ranking and clustering run in small, say what they lack, and quote the thesis right."""

import gzip
import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from reproduce import (
    joint,
    joint_clouds,
    joint_digits,
    joint_documents,
    joint_faces,
    joint_schooling,
    joint_tables,
)
from reproduce.baselines import Ensemble
from reproduce.table import Options

SMALL = Options(runs=2, restarts=3, components=6, samples=40)


def records_and_report(module, **changes):
    return module.EXPERIMENT.run(Options(**{**vars(SMALL), **changes}))


# What they share -----------------------------------------------------------------------------------------------------


def test_participation_counts_the_samples_of_an_axis():
    """1 for a single sample, m for m equal ones, whatever the scale; in between otherwise."""
    Z = np.zeros((8, 3))
    Z[2, 0] = 5.0
    Z[:4, 1] = [-3, 3, 3, -3]
    Z[:, 2] = np.arange(8)
    found = joint.participation(Z)
    np.testing.assert_allclose(found[:2], [1, 4])
    assert 4 < found[2] < 8


def test_lists_are_matched_by_what_they_share():
    """Not by their order, and however the names are set."""
    published = {"a": ("One, two", "three"), "b": ("Four",)}
    found = [["FOUR."], ["one two", "five"]]
    assert joint.matched(found, published) == {"a": 1, "b": 0}
    assert joint.overlap(published["a"], found[1]) == ["One, two"]
    table = joint.side_by_side({"a": found[1], "b": found[0]}, published)
    assert "| 1 | One, two | **one two** | Four | **FOUR.** |" in table
    assert "| 2 | three | five |" in table


def test_the_model_is_the_published_one():
    """The embedding of the thesis, not the normalised one, with its restart; changes reach the model."""
    model = joint.joint(3, 7)
    assert (model.n_clusters, model.normalized, model.restart, model.n_init) == (3, False, 0.15, 100)
    assert joint.joint(3, 7, normalized=True).normalized


# Small tables --------------------------------------------------------------------------------------------------------


def test_compactness_is_distance_within_over_distance_between():
    """Two classes at distance 10 whose samples are 1 from their means."""
    Z = np.array([[-1.0, 0], [1, 0], [9, 0], [11, 0]])
    assert joint_tables.compactness(Z, np.array([0, 0, 1, 1])) == pytest.approx(0.1)


def test_tables_run_and_find_planted_outliers():
    """Four outliers are flagged, spoil both embeddings, and are harmless when left out."""
    records, report = records_and_report(joint_tables, runs=1)
    assert {record["dataset"] for record in records} == {joint_tables.TOY, *joint_tables.TABLES, joint_tables.PLANTED}
    assert re.search(r"\| iris, joint \| 0\.907 \| 0\.\d{3} \|", report)
    assert report.count("| 1 of 1 |") >= 4
    planted = {(record["method"], record["measure"]): record["value"] for record in records if "measure" in record}
    assert planted["joint", "least participation"] < 2
    assert planted["joint", "blobs"] == planted["joint, normalised", "blobs"] == 0.5
    assert planted["joint, pruned", "blobs"] == planted["joint, normalised, pruned", "blobs"] == 1


# Clouds --------------------------------------------------------------------------------------------------------------


def test_clouds_quote_the_thesis():
    """Fifteen sizes; its intervals and p-values fit an unpaired t-test of 200 against 200 samples."""
    from scipy.stats import t

    assert tuple(joint_clouds.PUBLISHED) == joint_clouds.SIZES
    for top, p in ((60, 0.0001015), (70, 0.03354), (130, 0.0009720), (140, 0.6410)):
        low, high, printed = joint_clouds.PUBLISHED[top]
        half = (high - low) / 2
        found = 2 * t.sf(abs(low + high) / 2 / (half / t.ppf(0.975, 398)), 398)
        assert found == pytest.approx(p, rel=0.02)
        assert float(printed) == p


def test_clouds_are_drawn_as_described():
    """A third of the clouds lies apart; ground and other clouds do not."""
    X, y = joint_clouds.draw(np.random.default_rng(0), 3000)
    np.testing.assert_array_equal(np.bincount(y), [3000, 3000])
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.1)
    assert (X[y == 1, 1] > 4).mean() == pytest.approx(1 / 3, abs=0.01)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), [5, 8 / 3, 0, 0], atol=0.1)


def test_clouds_run_and_say_surrogate(monkeypatch):
    """A small sample of clear classes is labelled right, and nobody can take the figures for the satellite's."""
    monkeypatch.setattr(joint_clouds, "TEST", 200)
    records, report = records_and_report(joint_clouds, restarts=10, components=20, samples=150)
    assert len(records) == 2 * (1 + 15 + 1)
    assert "**Surrogate data**" in report
    assert "| 60 | -0.0200 to -0.0067 | 0.0001015 |" in report
    whole = [record["acc"] for record in records if record.get("n_top") == 0]
    assert min(whole) > 0.9


# Digits --------------------------------------------------------------------------------------------------------------


def test_digits_run_without_usps(tmp_path):
    """The small digits alone, and a note."""
    records, report = records_and_report(joint_digits, data=tmp_path, runs=1)
    assert {record["dataset"] for record in records} == {joint_digits.SMALL}
    assert "images/usps.npz is not in the data folder" in report
    assert re.search(r"\| digits \(8×8\) @10 \| 0\.991 \| 0\.9\d\d \| 0\.9\d\d \| 0\.992 \| 0\.99\d \|", report)
    assert "| digits (8×8), k-means | 0.975 | 0.975 | +0.000 |" in report


def test_digits_draw_as_many_fours_as_nines(tmp_path):
    """From USPS in thousandths, balanced, anew for each run."""
    y = np.repeat([4, 9, 1], 30)
    X = (100 * y[:, None, None] + np.arange(90)[:, None, None] + np.zeros((16, 16))).astype(np.int16)
    np.savez(tmp_path / "usps.npz", X=X, y=y)
    draws = [joint_digits.fours_and_nines(tmp_path / "usps.npz", 20, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    for name, images, digits in draws:
        assert (name, images.shape) == (joint_digits.USPS, (40, 256))
        np.testing.assert_array_equal(np.unique(digits, return_counts=True), [[4, 9], [20, 20]])
        np.testing.assert_allclose(images.min(), 0.4, atol=0.03)
    np.testing.assert_array_equal(draws[0][1], draws[1][1])
    assert not np.array_equal(draws[0][1], draws[2][1])


# Faces ---------------------------------------------------------------------------------------------------------------


def test_faces_without_the_file_reproduce_the_digits(tmp_path):
    """Four planted outliers take four axes; at half the width 86 samples are flagged: both as found independently."""
    records, report = records_and_report(joint_faces, data=tmp_path, samples=None)
    assert "images/frey_faces.npz is not in the data folder" in report
    flagged = {record["method"]: record["value"] for record in records if record["measure"] == "low degree"}
    assert flagged["30 %, all"] == 4
    assert flagged["15 %, all"] == 86
    assert "| 1.0, 1.0, 1.0, 1.0, 361 | 1.0, 1.0, 1.0, 1.0, 361." in report


def test_faces_run_on_the_file_they_are_given(tmp_path):
    """Three groups of images: sizes fall, best-ranked images are nearer to each other than any."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], [60, 40, 30])
    X = rng.integers(0, 40, (130, 28, 20)) + 70 * kind[:, None, None]
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "images" / "frey_faces.npz", X=X.astype(np.uint8))
    records = joint_faces.with_cluster_kernel(tmp_path / "images" / "frey_faces.npz", 0, Ensemble(4, 8), None)
    sizes = [record["value"] for record in records if record["measure"] == "size"]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 130
    _, report = records_and_report(joint_faces, data=tmp_path, runs=1, samples=None)
    assert "Cluster kernel, k = 3" in report
    assert "| Frey faces, 15 %, all |" in report


# Documents -----------------------------------------------------------------------------------------------------------


def test_documents_quote_the_thesis():
    """Four lists of twenty and the sizes of all 1,740 papers."""
    assert {theme: len(names) for theme, names in joint_documents.PUBLISHED.items()} == dict.fromkeys(
        joint_documents.SIZES, 20
    )
    assert sum(joint_documents.SIZES.values()) == 1740
    assert joint_documents.PUBLISHED["black"][2] == "Risk Sensitive Reinforcement Learning"


def test_titles_are_found_though_cut_off_or_misread():
    """The published spelling answers for the collection's; other titles answer for none."""
    titles = np.array(["LEARNING T0 SEE: a longer end", "Monotonicity Hints,", "Something else"])
    found = joint_documents.collected(("Learning to See", "Monotonicity Limits", "Absent"), titles)
    assert found == {titles[0]: "Learning to See", titles[1]: "Monotonicity Limits"}


def test_documents_without_files_say_so(tmp_path):
    """And end without an error."""
    records, report = records_and_report(joint_documents, data=tmp_path)
    assert records == []
    assert "text/nips12_abstracts.npz and text/nips_uci_1500.npz not in the data folder" in report


def test_documents_run_on_the_file_they_are_given(tmp_path, monkeypatch):
    """Four kinds of made-up papers with words of their own: clusters hold the titles of their kind."""
    monkeypatch.setattr(joint_documents, "DIMENSIONS", 4)
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(4), 20)
    rates = np.full((4, 40), 0.1)
    for c in range(4):
        rates[c, 10 * c : 10 * c + 10] = 8
    counts = csr_matrix(rng.poisson(rates[kind]))
    titles = np.array([name for names in joint_documents.PUBLISHED.values() for name in names])
    words = np.array([f"word{c}{j}" for c in range(4) for j in range(10)])
    path = tmp_path / "text" / "nips12_abstracts.npz"
    path.parent.mkdir()
    save_npz(path, counts)
    with np.load(path) as archive:
        np.savez(path, **dict(archive), title=titles, vocab=words)
    _, report = records_and_report(joint_documents, data=tmp_path, runs=1, restarts=6, components=6)
    assert "| published | 621 | 522 | 413 | 184 |" in report
    assert re.search(r"\| black \| 20 \| 0 \| 0 \| 0 \| 20 \| word3", report)
    assert "**Risk Sensitive Reinforcement Learning**" in report


# Schooling -----------------------------------------------------------------------------------------------------------


def test_schooling_quotes_the_thesis():
    """Four lists of ten different countries; the query is not on its own list."""
    assert all(len(set(names)) == 10 for names in joint_schooling.PUBLISHED.values())
    assert joint_schooling.QUERY not in joint_schooling.PUBLISHED[joint_schooling.QUERY]
    assert joint_schooling.PUBLISHED["red"][1] == "Mali"


def test_schooling_without_files_says_so(tmp_path):
    """And ends without an error."""
    records, report = records_and_report(joint_schooling, data=tmp_path)
    assert records == []
    assert "series/barro_lee_attainment.csv.gz and series/barro_lee_schooling.csv.gz not in" in report


def test_schooling_reads_one_year_and_lists_countries(tmp_path):
    """Made-up countries of three kinds: each published list lies in a cluster of its own, and 1950 is passed over."""
    rng = np.random.default_rng(0)
    lines = ["BLcode,country,year," + ",".join(joint_schooling.FEATURES)]
    for c, colour in enumerate(joint_schooling.COLOURS):
        for name in (*joint_schooling.PUBLISHED[colour], *(["Norway"] if colour == "green" else [])):
            row = 20.0 * c + rng.standard_normal(11)
            lines.append(f'1,"{name}",2010,' + ",".join(f"{value:.2f}" for value in row))
            lines.append(f'1,"{name}",1950,' + ",".join(["500"] * 11))
    path = tmp_path / "series" / "barro_lee_attainment.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    names, X = joint_schooling.countries(joint_schooling.ATTAINMENT, path)
    assert (len(names), X.shape, X.max() < 100) == (31, (31, 11), True)
    _, report = records_and_report(joint_schooling, data=tmp_path)
    assert "series/barro_lee_schooling.csv.gz not in the data folder" in report
    assert "### Attainment in 2010, full covariances" in report
    assert re.search(r"\| red \| 10\.0 \(10 to 10\) \| 10\.0 \(10 to 10\) \| 0\.0 .* \| 10\.0 .* \| 0\.0", report)
    assert re.search(r"Without schooling in the red cluster: from 1\d\.\d+ .*published: 3\.9 % to 81\.37 %", report)
