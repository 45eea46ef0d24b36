"""The performance page shows every measurement of results.json, with the right times, and loses none that is new."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import performance_pages

    return performance_pages


def row(case, side, seconds, **scores):
    measured = {"date": "2026-01-02", "commit": "abc1234", "cores": 2, "memory_gb": 8.0, "processor": "a processor"}
    measured |= dict.fromkeys(("python", "numpy", "scipy", "scikit-learn", "gramian"), "1.0")
    return {
        "case": case,
        "question": f"What of {case}?",
        "side": side,
        "seconds": seconds,
        "peak_mb": 300,
        "before_mb": 200,
        "scores": scores,
        "measured": measured,
    }


@pytest.fixture
def cases():
    return {
        "eigen_moons": [row("eigen_moons", "gramian", 2.0, residual=0.0), row("eigen_moons", "ARPACK", 0.5)],
        "fixed_size": [
            row("fixed_size", "gramian", 9.0, fit_seconds=1.0, accuracy=0.8),
            row("fixed_size", "scikit-learn", 9.0, fit_seconds=3.0, accuracy=0.7),
        ],
        "kernel_pagerank_queries": [
            row("kernel_pagerank_queries", "gramian", 1.0),
            row("kernel_pagerank_queries", "exact, 4 queries", 2.0),
        ],
        "brand_new": [row("brand_new", "gramian", 1.0, processor_seconds=0.5), row("brand_new", "<peer>", 2.0)],
    }


def test_every_case_of_the_page_was_measured_and_every_measurement_is_on_the_page(pages):
    cases = pages.measured()
    shown = [question.case for questions in pages.topics(cases).values() for question in questions]
    assert sorted(shown) == sorted(cases)
    named = [question.case for questions in pages.TOPICS.values() for question in questions]
    assert set(named) <= set(cases)
    assert len(named) == len(set(named))


def test_sides_that_are_named_were_measured(pages):
    cases = pages.measured()
    for questions in pages.TOPICS.values():
        for question in questions:
            rows = cases[question.case]
            sides = {row["side"] for row in rows}
            if len(rows) > 1:
                assert {*question.rivals, *question.times} <= sides
            assert not question.seconds or question.seconds in rows[0]["scores"]
            assert not question.megabytes or all(question.megabytes in row["scores"] for row in rows)
            assert set(question.scores) <= {key for row in rows for key in row["scores"]}
    for growth in pages.GROWTH:
        assert len(pages.line(growth, cases)[0]) == len(growth.points)


def test_times_are_those_of_the_question_and_of_the_processor_where_all_sides_have_it(pages, cases):
    questions = {question.case: question for found in pages.topics(cases).values() for question in found}
    times = {case: pages.clock(questions[case], rows) for case, rows in cases.items()}
    assert times["eigen_moons"] == ("clock", [2.0, 0.5])
    assert times["fixed_size"] == ("processor", [1.0, 3.0])
    assert times["kernel_pagerank_queries"] == ("clock", [1.0, 500.0])  # four of 1,000 queries were asked
    assert times["brand_new"] == ("clock", [1.0, 2.0])  # the peer has no processor time


def test_rivals_that_are_faster_are_told(pages, cases):
    assert [(title, rivals) for _, title, rivals in pages.ratios(cases)] == [
        ("20 eigenpairs, graph of two moons, n = 10,000", [("ARPACK", 0.25)]),
        ("Fixed-size LS-SVM, 100,000 × 20, 500 prototypes", [("scikit-learn", 3.0)]),
    ]
    assert pages.faster(cases) == "- 20 eigenpairs, graph of two moons, n = 10,000: ARPACK takes 0.25 of our time."


def test_new_benchmarks_stand_last_with_their_own_words(pages, cases):
    text = pages.tables(cases)
    assert text.index("### Other measurements") > text.index("### Prediction")
    assert "What of brand_new? <small>clock time; 2026-01-02, abc1234</small>" in text
    assert "<td>&lt;peer&gt;</td><td>2 s</td><td>2 ×</td><td>100 MB</td><td></td>" in text


def test_memory_of_a_command_is_that_of_its_process(pages):
    """The benchmark only waits for ``gramian explore``, so that its own memory says nothing."""
    cases = {"explore_1m": [row("explore_1m", "gramian", 88.0, cpu_seconds=154.0, command_peak_mb=1904)]}
    assert "<td>154 s</td><td>1</td><td>1.9 GB</td>" in pages.tables(cases)


def test_machines_are_told_once_each(pages, cases):
    text = pages.machine(cases)
    assert text.startswith("- 2 cores of an a processor, 8 GB; Python 1.0, numpy 1.0")
    assert text.endswith("4 questions, 2026-01-02.")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0236, "24 ms"), (0.9951, "995 ms"), (1.26, "1.3 s"), (192.6, "193 s"), (1200.0, "20 min")]
)
def test_durations_read_well(pages, seconds, text):
    assert pages.duration(seconds) == text


def test_pictures_and_tables_are_written(pages, cases, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    monkeypatch.setattr(pages, "measured", lambda: cases)
    pages.write_pages()
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"machine.inc", "tables.inc", "faster.inc"}
    for theme in ("light", "dark"):
        for name in ("ratios", "growth"):
            assert (tmp_path / f"{name}_{theme}.svg").read_text().startswith("<?xml")


def test_the_guide_of_explore_has_the_times_that_were_measured(pages):
    """Every time of its last paragraph is that of a run, rounded as it is written."""
    cases = pages.measured()
    guide = (DOCS / "guide" / "explore.md").read_text("utf-8").split("Two cores, 20 columns")[1]
    times = {1000: "explore_1k", 100_000: "explore_100k", 1_000_000: "explore_1m", 200_000: "explore_categories_200k"}
    told = re.findall(r"([\d.]+) s (?:and [\d.]+ GB )?for ([\d,]+)", guide)
    assert len(told) == len(times)
    for seconds, rows in told:
        (measured,) = (row["seconds"] for row in cases[times[int(rows.replace(",", ""))]])
        decimals = len(seconds.partition(".")[2])
        assert f"{measured:.{decimals}f}" == seconds


def test_the_speed_table_of_the_readme_has_what_was_measured(pages):
    """Its seconds are those of the named runs, rounded as they are written, ours first."""
    cases = pages.measured()
    table = (DOCS.parent / "README.md").read_text("utf-8").split("## Speed")[1].split("[How fast")[0]
    lines = [line for line in table.splitlines() if re.search(r"[\d.]+ s\b", line)]
    expected = {
        "spectral clustering": ("spectral_blobs", ["gramian", "scikit-learn arpack", "scikit-learn lobpcg"]),
        "exact kernel PCA": ("kernel_pca", ["gramian", "scikit-learn arpack"]),
        "width and ridge": ("lssvm_sweep_1200", ["gramian", "GridSearchCV(KernelRidge)"]),
        "PageRank": ("pagerank_undirected", ["gramian", "fast-pagerank", "igraph prpack"]),
        "HSIC": ("hsic_alignment", ["gramian", "hyppo"]),
        "50 communities": ("communities_1m", ["gramian", "igraph Leiden"]),
        "`gramian explore`": ("explore_1m", ["gramian"]),
    }
    for line, (start, (case, sides)) in zip(lines, expected.items(), strict=True):
        assert line.startswith(f"| {start}")
        told = re.findall(r"([\d.]+) s\b", line)
        runs = [next(row for row in cases[case] if row["side"] == side) for side in sides]
        processor = "processor time" in line
        for text, row in zip(told, runs, strict=True):
            measured = row["scores"]["processor_seconds"] if processor else row["seconds"]
            assert f"{measured:.{len(text.partition('.')[2])}f}" == text, line
