"""From a table to groups: what was planted is found, noise is called noise, and every row is answered for."""

import json
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from exploration.conftest import customers
from gramian.exploration import analyse, explore
from gramian.metrics import adjusted_rand
from gramian.report import summary
from gramian.report.page import render
from gramian.tables import read_table
from report.decoder import Page


def read(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return read_table(tmp_path / "table.csv")


def test_planted_groups_are_found(explored):
    found, _, _ = explored
    assert found.n_clusters == 3
    assert found.verdict == "clear"
    assert adjusted_rand(customers()[1], found.labels) > 0.8
    assert [cluster.size for cluster in found.clusters] == sorted(np.bincount(found.labels), reverse=True)


def test_what_is_told(explored):
    found, _, _ = explored
    assert found.sentences[0] == "The 150 rows fall clearly into 3 groups."
    least = {item.column: item.dependence for item in found.importances}
    assert min(least, key=least.get) == "noise"
    assert "Not used to compare rows: id and country." in found.sentences
    young = found.clusters[0]
    assert any(item.column == "age" and item.effect < 0 for item in young.differences)
    assert set(young.typical) <= set(np.flatnonzero(found.labels == 0))


def test_categories_that_cut_across_the_groups_are_named(explored):
    found, _, _ = explored
    one = SimpleNamespace(left_out_=[], crossing_=["sex"])
    assert "sex cuts across the groups, with much the same differences in each." in analyse.overview(found, one, 0)
    two = SimpleNamespace(left_out_=[], crossing_=["sex", "site"])
    assert "sex and site cut across the groups, with much the same differences in each." in analyse.overview(
        found, two, 0
    )


def test_a_category_that_says_it_all_and_a_code_for_missing_are_named(tmp_path):
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 120)
    number = rng.normal(6 * group, 1)
    number[:10] = -999
    frame = pd.DataFrame({"a": number, "b": rng.normal(5 * group, 1), "kind": np.array(["old", "new"])[group]})
    sentences = explore(read(frame, tmp_path), n_clusters=2, alternative=False)[0].sentences
    alone = "kind alone says of nearly every row which group it is in; without it there may be others."
    code = "-999 counts as a value of a; if it means missing, say --missing -999."
    assert {alone, code} <= set(sentences)
    frame = frame.assign(kind=rng.permutation(frame["kind"]), a=np.where(number == -999, np.nan, number))
    others = explore(read(frame, tmp_path), n_clusters=2, alternative=False)[0].sentences
    assert not any("alone says" in text or "means missing" in text for text in others)


def test_columns_that_are_copies_of_one_have_no_other_grouping():
    """What is left beside the groups is a single point."""
    rng = np.random.default_rng(0)
    heaps = np.concatenate([rng.normal(size=60), rng.normal(size=60) + 9])
    found, _ = explore(read_table(pd.DataFrame({"a": heaps, "b": heaps, "c": 2 * heaps})), n_clusters=2)
    assert (found.verdict, found.alternative) == ("clear", None)


def test_a_few_columns_with_telling_gaps_are_named(explored):
    found, _, _ = explored
    none = SimpleNamespace(left_out_=[], crossing_=[])
    for names, told in (("abcd", "a, b, c and d"), ("abcdef", "a, b, c and 3 other columns")):
        gaps = replace(found.missingness, share=0.1, informative=[(name, 0.01, "") for name in names])
        sentences = analyse.overview(replace(found, missingness=gaps), none, 0)
        assert f"10 % of the values are missing; whether a value is missing is informative in {told}." in sentences


def test_shapes_and_ranges(explored):
    found, _, _ = explored
    n = len(found.frame)
    assert found.coordinates.shape == (n, 2)
    assert np.isfinite(found.coordinates).all()
    np.testing.assert_allclose(np.linalg.norm(found.embedding, axis=1), 1, atol=1e-5)
    assert found.membership.min() >= 0
    assert found.membership.max() <= 1 + 1e-12
    assert sum(view.chosen for view in found.views) == 1
    assert set(found.made["seconds"]) == set(analyse._STAGES)


def test_noise_has_no_groups(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(200, 5)), columns=list("abcde"))
    found, _ = explore(read(frame, tmp_path))
    assert found.verdict == "none"
    assert found.sentences[0].startswith("No groups stand out among the 200 rows")
    assert (found.n_clusters, found.views, found.evidence) == (1, [], [])
    assert found.alternative is None
    odd = int((found.oddness >= 0.6).sum())
    assert (len(found.oddities), found.n_odd) == (min(odd, 20), odd)
    assert np.isnan([found.stability, found.clusters[0].stability]).all()  # nothing was found to be found again


def test_parts_of_noise_that_were_asked_for_have_no_stability(tmp_path):
    """A figure of how well they are found again would contradict that no groups stand out."""
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(200, 5)), columns=list("abcde"))
    found, _ = explore(read(frame, tmp_path), n_clusters=3)
    assert (found.verdict, found.n_clusters, found.evidence) == ("none", 3, [])
    assert np.isnan([found.stability, *(cluster.stability for cluster in found.clusters)]).all()
    assert [view.chosen for view in found.views].count(True) == 1
    told = summary(found)
    assert told["stability"] is None
    assert [group["stability"] for group in told["groups"]] == [None] * 3
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    page = Page(render(found))
    names = [element.text for element in page.all("dt")]
    assert "parts" in names
    assert "groups" not in names


def test_odd_rows_are_counted_as_they_are_listed(tmp_path):
    """A full factorial table has no odd row; of far rows each is counted once, also where not all are listed."""
    levels = np.array(list(product("abc", "xyz", "pqr", "12", "mno")))
    found, _ = explore(read(pd.DataFrame(levels, columns=list("abcde")), tmp_path))
    assert (found.oddities, found.n_odd) == ([], 0)
    assert "No row stands out from all others." in render(found)
    rng = np.random.default_rng(4)
    far = rng.normal(size=(30, 4)) * 60
    frame = pd.DataFrame(np.vstack([rng.normal(size=(200, 4)), far, far[:5]]), columns=list("abcd"))
    found, _ = explore(read(frame, tmp_path), alternative=False)
    assert 20 < found.n_odd <= 30 + 5
    assert f"{found.n_odd} rows are like few others." in found.sentences
    assert len(found.oddities) == 20
    assert len({item.row for item in found.oddities} & set(range(230, 235))) == 0
    assert f"The 20 oddest of {found.n_odd}." in render(found)


def test_a_dozen_rows_are_too_few_to_tell(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(12, 2)), columns=list("ab"))
    found, _ = explore(read(frame, tmp_path))
    assert found.sentences[0] == "12 rows are too few to tell whether they form groups."


def test_a_number_of_groups_may_be_asked_for(explored, customers_file):
    found, _ = explore(read_table(customers_file), n_clusters=2, alternative=False)
    assert found.n_clusters == 2
    assert found.made["parameters"]["clusters"] == 2
    assert found.verdict != "none"  # three groups are clear, and two of them near each other
    assert found.sentences[0].endswith("into 2 groups, as many as asked for.")


def test_rows_beyond_those_fitted_are_assigned(tmp_path, monkeypatch):
    """A part of the rows is fitted and the others get what new rows would get."""
    monkeypatch.setattr(analyse, "_FITTED_ROWS", 120)
    frame, group = customers(400, seed=5)
    found, model = explore(read(frame, tmp_path), alternative=False)
    assert len(model.rows_) == 120
    assert adjusted_rand(group, found.labels) > 0.75
    for label in range(found.n_clusters):
        ranks = found.rank[found.labels == label]
        assert sorted(ranks) == list(range(1, len(ranks) + 1))
        assert model.typical(label, top=5)[0].tolist() == found.clusters[label].typical
    other = int(np.setdiff1d(np.arange(400), model.rows_)[0])  # rows that were not fitted are known all the same
    rows, likeness = model.like(other, top=7)
    every = found.embedding @ found.embedding[other]
    every[other] = -1
    np.testing.assert_allclose(likeness, np.sort(every)[::-1][:7], rtol=1e-6)
    np.testing.assert_allclose(every[rows], likeness, rtol=1e-6)


def test_groups_are_numbered_by_all_of_their_rows(tmp_path):
    """Copies, which are not fitted, make the smaller group the larger one; the model answers by the same numbers."""
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], [60, 40])
    frame = pd.DataFrame(rng.normal(9.0 * group[:, None], 1, (100, 3)), columns=list("abc"))
    frame = pd.concat([frame, *[frame[group == 1]] * 2], ignore_index=True)
    found, model = explore(read(frame, tmp_path), alternative=False)
    assert [cluster.size for cluster in found.clusters] == [120, 60]
    np.testing.assert_array_equal(found.labels[:100], 1 - group)
    groups, memberships, _, oddness = model.answer(model.preparation.transform(found.frame))
    np.testing.assert_array_equal(groups, found.labels)
    np.testing.assert_allclose(oddness, found.oddness)
    assert memberships[np.arange(len(groups)), groups].min() > 0.5
    for cluster in found.clusters:
        assert set(model.typical(cluster.label, 40)[0]) >= set(cluster.typical)
        assert cluster.differences[0].effect * (1 if cluster.label == 0 else -1) > 0
    np.testing.assert_allclose([cluster.stability for cluster in found.clusters], 1)


def test_one_copy_is_a_copy_of_another(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)).round(4), columns=list("abc"))
    found, _ = explore(read(pd.concat([frame, frame.iloc[[4]]]), tmp_path), alternative=False)
    assert "1 row is a copy of another and changed nothing." in found.sentences


def test_a_row_without_values_is_like_no_other(tmp_path):
    frame, _ = customers(60, seed=2)
    frame.loc[[0, 9], frame.columns.drop(["id", "country"])] = np.nan
    found, model = explore(read(frame, tmp_path), alternative=False)
    assert found.labels[[0, 9]].tolist() == [-1, -1]
    assert "2 rows have no value to compare by and no group." in found.sentences
    assert sum(cluster.size for cluster in found.clusters) == 58
    with pytest.raises(ValueError, match="row 1 has no value to compare by"):
        model.like(0)
    rows, _ = model.like(6, top=100)
    assert set(rows) == set(range(60)) - {0, 6, 9}
    model.check()  # as when it is read from a file


def test_repeatable(customers_file, explored):
    again, _ = explore(read_table(customers_file))
    np.testing.assert_array_equal(again.labels, explored[0].labels)
    np.testing.assert_array_equal(again.coordinates, explored[0].coordinates)
    assert again.sentences == explored[0].sentences


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_few_rows(tmp_path, n):
    frame = pd.DataFrame({"a": np.arange(n) * 1.5, "b": np.arange(n)[::-1] ** 2 + 0.5})
    found, _ = explore(read(frame, tmp_path))
    assert len(found.labels) == n


def test_refusals(tmp_path, customers_file):
    with pytest.raises(ValueError, match="n_clusters=200 must be from 1"):
        explore(read_table(customers_file), n_clusters=200)
    for wrong in ("3", 2.5):
        with pytest.raises(ValueError, match=f"n_clusters={wrong!r} must be a whole number"):
            explore(read_table(customers_file), n_clusters=wrong)
    some = pd.DataFrame({"a": np.arange(9) * 1.5, "b": [1] * 9})
    for asked in ({"columns": []}, {"ignore": ["a", "b"]}):
        with pytest.raises(ValueError, match="no column is left to compare rows by; name at least one in columns"):
            explore(read_table(some, **asked))
    with pytest.raises(ValueError, match="no column that was asked for tells rows apart: all are constant"):
        explore(read_table(some, columns=["b"]))
    same = pd.DataFrame({"a": ["x"] * 9, "b": [1] * 9})
    with pytest.raises(ValueError, match="no column tells rows apart"):
        explore(read(same, tmp_path))
