"""What is answered for one file: only sums of bounded size leave it, and files are written whole or not at all."""

import pickle

import numpy as np
import pandas as pd
import pytest

from exploration.conftest import customers
from gramian.exploration.in_parts import (
    Answering,
    Known,
    Totals,
    answer_partition,
    of_all_rows,
    write_partition,
    write_ranked,
)
from gramian.tables import ColumnStatistics, Quantiles


@pytest.fixture(scope="module")
def answering(explored):
    found, model, _ = explored
    return Answering.of(found, model, ".")


def answered(answering, frame, place, known=None):
    place.mkdir()
    frame.to_parquet(place / "part.parquet", index=False)
    nothing = np.empty(0, int)
    known = known or Known(nothing, nothing, nothing, nothing, dict.fromkeys(answering.others, nothing))
    totals = answer_partition(str(place / "part.parquet"), answering, known, str(place / "answers.npz"))
    with np.load(place / "answers.npz") as kept:
        return totals, {name: kept[name] for name in kept.files}


def test_sums_leave_a_worker_and_do_not_grow_with_its_rows(answering, tmp_path):
    """The largest group has more rows than quantiles keep values."""
    few, many = (customers(n, seed=1)[0] for n in (2000, 20_000))
    sizes = []
    assert len(many) / 2 > 8192
    for frame, name in ((few, "few"), (many, "many")):
        totals, kept = answered(answering, frame, tmp_path / name)
        assert totals.groups.sum() == len(frame) == len(kept["group"])
        np.testing.assert_array_equal(np.bincount(kept["group"], minlength=len(totals.groups)), totals.groups)
        assert max(len(scores.values) for scores in totals.scores) <= 8192
        sizes.append(len(pickle.dumps(totals)))
    bound = len(totals.scores) * 8192 * 16 + 10_000
    assert max(sizes) <= bound
    twice = Totals.merged([totals, totals])
    assert len(pickle.dumps(twice)) <= bound
    np.testing.assert_array_equal(twice.groups, 2 * totals.groups)
    assert (twice.odd, twice.complete) == (2 * totals.odd, 2 * totals.complete)


def test_what_is_sent_to_workers_leaves_out_the_rows_that_the_model_remembers(explored, answering):
    found, model, _ = explored
    assert not hasattr(answering.model, "places_")
    assert len(model.places_) == len(found.labels)  # the model itself is as it was
    assert set(answering.others) == set(found.other_groupings())


def test_known_rows_stay_as_they_are(answering, tmp_path):
    frame, _ = customers(60, seed=2)
    rows, others = np.array([3, 59]), {name: np.array([0, -1]) for name in answering.others}
    known = Known(rows, np.array([1, -1]), np.array([0.25, 0.0]), np.array([0.5, 0.75]), others)
    _, free = answered(answering, frame, tmp_path / "free")
    totals, kept = answered(answering, frame, tmp_path / "known", known)
    assert kept["group"][rows].tolist() == [2, 0]
    assert kept["membership"][rows].tolist() == [0.25, 0.0]
    assert kept["oddness"][rows].tolist() == [0.5, 0.75]
    rest = np.setdiff1d(np.arange(60), rows)
    for name in kept:
        np.testing.assert_array_equal(kept[name][rest], free[name][rest])
        if name in others:
            assert kept[name][rows].tolist() == [1, 0]
    assert totals.groups[0] >= 1


def test_a_group_that_is_not_described_is_none(answering, tmp_path):
    frame, _ = customers(20)
    far = Answering(answering.model, {"group_of_2": (lambda X: np.arange(len(X)) % 3, 2)}, [], ".")
    totals, kept = answered(far, frame, tmp_path / "far")
    grouped = kept["group"] > 0
    np.testing.assert_array_equal(kept["group_of_2"], np.where(grouped, [1, 2, 0] * 6 + [1, 2], 0))
    assert totals.others["group_of_2"].sum() == 20


def test_ranks_count_the_rows_of_all_files(answering, tmp_path):
    frame, _ = customers(80, seed=4)
    totals, kept = answered(answering, frame, tmp_path / "part")
    elsewhere = [Quantiles.of(np.full(5, np.inf)) for _ in totals.scores]
    scores = [Quantiles.merged(pair) for pair in zip(totals.scores, elsewhere, strict=True)]
    part, target = tmp_path / "part", tmp_path / "out.parquet"
    write_ranked(str(part / "part.parquet"), list(frame), str(part / "answers.npz"), scores, str(target))
    rows = pd.read_parquet(target)
    for group in np.unique(kept["group"]):
        members = kept["group"] == group
        own = kept["score"][members]
        np.testing.assert_array_equal(rows["rank_in_group"][members], 6 + (own > own[:, None]).sum(axis=1))


def test_columns_of_the_table_are_not_replaced_and_files_are_whole(tmp_path):
    pd.DataFrame({"group": ["x", "y"], "v": [1, 2]}).to_parquet(tmp_path / "a.parquet", index=False)
    target = str(tmp_path / "out.parquet")
    write_partition(str(tmp_path / "a.parquet"), ["v", "group"], {"group": np.array([1, 0])}, target)
    rows = pd.read_parquet(target)
    assert rows.to_dict("list") == {"v": [1, 2], "group": ["x", "y"], "gramian_group": [1, 0]}
    with pytest.raises(ValueError, match="length"):
        write_partition(str(tmp_path / "a.parquet"), ["v"], {"group": np.array([1])}, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "out.parquet"]


def test_sizes_and_gaps_of_all_rows_replace_those_of_the_sample(explored):
    found, model, _ = explored
    sizes = np.arange(found.n_clusters + 1) * 100 + 1000
    others = {name: np.arange(len(g.clusters) + 1) * 10 for name, g in found.other_groupings().items()}
    totals = Totals(sizes, others, 7, 12, np.arange(len(found.missingness.patterns)), [])
    n = int(sizes.sum())
    used = list(model.preparation.kinds_)
    statistics = {name: ColumnStatistics(n, n // 2) for name in used}
    whole = of_all_rows(found, model, np.arange(150) * 3, totals, statistics)
    assert whole.n_rows == n
    assert [cluster.size for cluster in whole.clusters] == sizes[1:].tolist()
    assert whole.missingness.share == pytest.approx(0.5, abs=1e-3)
    assert whole.missingness.complete_rows == 12
    assert whole.number(2) == 6
    assert "7 rows are like few others." in whole.sentences
    assert found.n_rows == 150
