"""A table in many files is explored as in one, its sample does not depend on the files, and every row is answered."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from exploration.conftest import customers
from gramian.cli import app
from gramian.exploration import explore_folder
from gramian.metrics import adjusted_rand
from gramian.tables import UnreadableTable, read_table


class Here:
    """Calls functions in this process, as workers would: arguments and results are copies."""

    def share(self, value):
        return pickle.loads(pickle.dumps(value))

    def in_order(self, function, calls, done=None):
        for finished, call in enumerate(calls, start=1):
            result = function(*pickle.loads(pickle.dumps(call)))
            if done is not None:
                done(finished / len(calls))
            yield pickle.loads(pickle.dumps(result))


def written(frame, folder, places, kind="parquet"):
    folder.mkdir()
    for i, rows in enumerate(np.split(np.arange(len(frame)), places)):
        path, part = folder / f"{i:02d}.{kind}", frame.iloc[rows]
        part.to_csv(path, index=False) if kind == "csv" else part.to_parquet(path, index=False)
    return folder


def rows_of(folder):
    files = sorted(folder.iterdir())
    return pd.concat([pd.read_parquet(path) for path in files], ignore_index=True)


@pytest.fixture(scope="module")
def table():
    return customers(400, seed=3)


@pytest.fixture(scope="module")
def sampled(table, tmp_path_factory):
    """Explored by 150 of 400 rows, with an empty file and one of one row."""
    place = tmp_path_factory.mktemp("sampled")
    source = written(table[0], place / "customers", [100, 101, 250, 250])
    told = []
    found, model = explore_folder(source, place / "rows", Here(), sample=150, notify=lambda *stage: told.append(stage))
    return found, model, place, told


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_that_fit_the_sample_are_explored_as_those_of_one_file(customers_file, explored, tmp_path, kind):
    one, *_ = explored
    frame = pd.read_csv(customers_file)
    many, _ = explore_folder(written(frame, tmp_path / "parts", [40, 41, 41, 100], kind), tmp_path / "rows", Here())
    rows = rows_of(tmp_path / "rows")
    for name, column in one.row_columns().items():
        np.testing.assert_array_equal(rows[name], column, err_msg=name)
    assert many.sentences == one.sentences
    assert many.numbers is None
    assert rows["id"].astype(int).tolist() == frame["id"].tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "rows"]


def test_all_rows_get_groups_from_a_sample(table, sampled):
    """Groups of all rows beside the planted ones; ranks, sizes and counts beside the written rows."""
    frame, planted = table
    found, _, place, _ = sampled
    rows = rows_of(place / "rows")
    pd.testing.assert_frame_equal(rows[list(frame.columns)], frame, check_dtype=False)
    assert len(found.labels) == 150
    assert found.n_rows == 400
    assert adjusted_rand(planted, rows["group"].to_numpy()) > 0.9
    for cluster in found.clusters:
        members = rows[rows["group"] == cluster.label + 1]
        assert cluster.size == len(members)
        assert members["rank_in_group"].min() == 1
        assert members["rank_in_group"].max() <= len(members)
    for name, grouping in found.other_groupings().items():
        assert [cluster.size for cluster in grouping.clusters] == [
            (rows[name] == cluster.label + 1).sum() for cluster in grouping.clusters
        ]
    used = [column.name for column in found.columns if column.kind not in ("identifier", "constant")]
    gaps = frame[used].isna()
    assert found.missingness.share == pytest.approx(gaps.to_numpy().mean())
    assert found.missingness.complete_rows == (~gaps.any(axis=1)).sum()
    for names, times in found.missingness.patterns:
        assert times == (gaps == [name in names for name in used]).all(axis=1).sum()
    assert {column.name: column.missing for column in found.columns}["age"] == pytest.approx(gaps["age"].mean())
    assert found.sentences[0].startswith("The 400 rows fall")
    assert sorted(path.name for path in place.iterdir()) == ["customers", "rows"]
    assert len(list((place / "rows").iterdir())) == 5


def test_sampled_rows_keep_what_was_found_of_them(table, sampled):
    frame, _ = table
    found, model, place, _ = sampled
    rows = rows_of(place / "rows").iloc[found.numbers]
    expected = found.row_columns()
    for name in expected:
        if name != "rank_in_group":  # ranks are among all rows
            np.testing.assert_allclose(rows[name], expected[name], atol=1e-4, err_msg=name)
    assert found.frame["id"].tolist() == frame["id"].iloc[found.numbers].tolist()
    np.testing.assert_array_equal(model.numbers_, found.numbers)


def test_other_rows_are_answered_by_the_model(table, sampled, tmp_path):
    """The preparation knows the quantiles and levels of all rows, and the model answers as for rows that come later."""
    frame, _ = table
    found, model, place, _ = sampled
    path = tmp_path / "all.parquet"
    frame.to_parquet(path, index=False)
    X = model.preparation.transform(read_table(path, like=model.preparation))
    groups, _, scores, oddness = model.answer(X)
    rows = rows_of(place / "rows")
    others = np.setdiff1d(np.arange(400), found.numbers)
    np.testing.assert_array_equal(rows["group"].to_numpy()[others], groups[others] + 1)
    np.testing.assert_allclose(rows["oddness"].to_numpy()[others], oddness[others], atol=1e-4)
    group = rows["group"].to_numpy()
    own = scores[np.arange(400), np.maximum(group - 1, 0)]
    expected = [1 + ((group == group[i]) & (own > own[i])).sum() for i in range(400)]
    np.testing.assert_array_equal(rows["rank_in_group"], expected)
    assert model.preparation.recipes_["age"]["range"] == [frame["age"].min(), frame["age"].max()]


def test_how_the_table_is_divided_changes_nothing(table, sampled, tmp_path):
    found, _, place, _ = sampled
    for number, places in enumerate(([], list(range(24, 400, 25)))):
        source = written(table[0], tmp_path / f"customers{number}", places)
        again, _ = explore_folder(source, tmp_path / f"rows{number}", Here(), sample=150)
        np.testing.assert_array_equal(again.numbers, found.numbers)
        pd.testing.assert_frame_equal(rows_of(tmp_path / f"rows{number}"), rows_of(place / "rows"), check_dtype=False)
        assert again.sentences == found.sentences


def test_progress_never_goes_back(sampled):
    *_, told = sampled
    done = [part for _, part in told]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, 1.0)
    assert {"checking files", "sampling rows", "counting", "answering"} <= {name for name, _ in told}


def test_findings_of_a_sample_can_be_reported_and_the_model_saved(sampled, tmp_path):
    """Pages and summaries count all rows, and a model that was read again names rows of the whole table."""
    import gramian
    from gramian.report import write_findings

    found, model, *_ = sampled
    write_findings(found, model, tmp_path)
    told = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert told["rows"] == 400
    assert sum(group["size"] for group in told["groups"]) <= 400
    typical = [row - 1 for group in told["groups"] for row in group["typical"]]
    assert set(typical) <= set(found.numbers.tolist())
    again = gramian.load(tmp_path / "model.gramian")
    assert set(again.typical(0, 5)[0]) <= set(found.numbers.tolist())
    groups = found.labels[np.searchsorted(found.numbers, again.typical(1, 5)[0])]
    np.testing.assert_array_equal(again.groups(again.typical(1, 5)[0]), groups)
    printed = CliRunner().invoke(app, ["rank", str(tmp_path / "model.gramian"), "--cluster", "2", "--json"])
    assert {item["group"] for item in json.loads(printed.stdout)} == {2}
    missing = int(np.setdiff1d(np.arange(400), found.numbers)[0])
    with pytest.raises(ValueError, match="is not among the 150 rows of the table that the model remembers"):
        again.like(missing)
    assert "drawn at random" in (tmp_path / "report.html").read_text("utf-8")


def test_bad_folders_are_refused_and_named(table, tmp_path):
    frame, _ = table
    rows = tmp_path / "rows"
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableTable, match="empty holds no Parquet"):
        explore_folder(tmp_path / "empty", rows, Here())
    source = written(frame, tmp_path / "other", [200])
    frame.rename(columns={"age": "years"}).to_parquet(source / "02.parquet", index=False)
    with pytest.raises(UnreadableTable, match=r"02.parquet has no column 'age', which 00.parquet has"):
        explore_folder(source, rows, Here())
    (source / "02.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(UnreadableTable, match=r"02.parquet is damaged Parquet"):
        explore_folder(source, rows, Here())
    nothing = written(frame.iloc[:0], tmp_path / "nothing", [0])
    with pytest.raises(ValueError, match="nothing has no rows in 2 files"):
        explore_folder(nothing, rows, Here())
    with pytest.raises(ValueError, match="sample=1 "):
        explore_folder(source, rows, Here(), sample=1)
    with pytest.raises(UnreadableTable, match="has no column 'agee'; did you mean 'age'"):
        explore_folder(written(frame, tmp_path / "good", []), rows, Here(), ignore=["agee"])
    assert not rows.exists()
