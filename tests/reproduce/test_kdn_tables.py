"""The script for dependence networks runs in small without data files, and quotes the thesis right."""

import numpy as np
import pytest

from reproduce import kdn_tables
from reproduce.table import Options


def test_quotes_table_6_1():
    """Spot checks of the printed rows, and all eight data sets."""
    table = kdn_tables.PUBLISHED
    assert len(table) == len(kdn_tables.SIZES) == 8
    assert (table["wine"]["acc"], table["wine"]["train"], table["wine"]["layers"]) == (0.97, 0.99, 6.1)
    assert (table["cancer"]["width"], table["cancer"]["seconds"], table["cancer"]["features"]) == (0.39, 2.58, 0.96)
    assert (table["face"]["ce"], table["face"]["cosine_ratio"], table["random"]["scatter"]) == (0.17, 0.01, 0.02)
    assert kdn_tables.printed("face", "acc") == "0.99"
    assert kdn_tables.printed("face, 27 columns", "acc") == ""
    assert kdn_tables.printed("car, its own label", "acc") == ""


def test_runs_without_files(tmp_path, capsys):
    """Two folds of a bundled table and of a generator; what needs a file is left out with a note."""
    options = Options(runs=2, datasets=("wine", "random", "divorce"), samples=60, data=tmp_path)
    records, report = kdn_tables.EXPERIMENT.run(options)
    assert len(records) == 2 * 2 * 4
    assert "divorce left out: uci/divorce.csv.gz is not in the folder" in capsys.readouterr().err
    for record in records:
        assert 0 <= record["acc"] <= 1
        assert record["seconds"] > 0
    ours = [record for record in records if record["method"] == kdn_tables.NETWORK]
    assert all(record["sizes"].count("-") == record["layers"] - 1 for record in ours)
    assert "| wine | 0.97 | " in report
    assert "divorce" not in report
    assert "cluster kernels" not in report


def test_cancer_has_the_complete_rows():
    """683 of 699, nine columns, two classes."""
    X, y = kdn_tables.cancer()
    assert X.shape == (683, 9)
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(np.bincount(y), [444, 239])


def test_the_released_car_file_repeats_a_column(tmp_path):
    """Its target is "safety" itself; the label of the table is another one."""
    lines = ["buying,maint,doors,persons,lug_boot,safety,label"]
    lines += [f"vhigh,low,{doors},more,big,{safety},acc" for doors in ("2", "5more") for safety in ("low", "high")]
    lines.append("med,med,3,2,small,med,unacc")
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "car_evaluation.csv.gz").write_text("\n".join(lines))
    X, y = kdn_tables.car(tmp_path, "safety")
    np.testing.assert_array_equal(X[:, 5], y)
    np.testing.assert_array_equal(X[3], [3, 0, 5, 5, 2, 2])
    assert set(kdn_tables.car(tmp_path, "label")[1]) == {0, 1}


def test_the_one_hot_mlp_learns_two_groups():
    """Its largest output names the class."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    X = rng.standard_normal((80, 2)) + 4.0 * (y == "b")[:, None]
    assert kdn_tables.OneHotMLP().fit(X, y).score(X, y) > 0.95


def test_unknown_sets_leave_nothing_to_run():
    """Rather than an empty table."""
    with pytest.raises(ValueError, match="leave nothing of kdn_tables to run"):
        kdn_tables.EXPERIMENT.run(Options(datasets=("beer",)))
