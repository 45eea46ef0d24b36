"""The scripts for fixed-size machines and double descent run in small, and quote the table right."""

import gzip

import numpy as np

from reproduce import double_descent, lssvm_fixed_size
from reproduce.table import Options


def test_quotes_the_table():
    """Spot checks of the printed cells."""
    problems = lssvm_fixed_size.PROBLEMS
    assert problems["pima"].published[lssvm_fixed_size.RBF_MACHINE] == (76.7, 3.43)
    assert problems["adult"].published[lssvm_fixed_size.LINEAR_SVM] == (83.5, 0.28)
    assert problems["cover, 116,203 rows"].published[lssvm_fixed_size.RBF_SVM] == (81.5, None)
    assert problems["magic"].published[lssvm_fixed_size.MAJORITY] == (65.8, 0.28)
    assert problems["cover, 15,120 rows"].published == {}


def test_runs_on_a_small_file_and_leaves_out_what_is_not_there(tmp_path, capsys):
    """Rows with a hole are dropped, categories become indicators, the mark of the two files is no feature."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    lines = ["age,sex,split,label", ",Male,train,<=50K"]
    lines += [f"{a:.3f},{'Male' if a > 1 else 'Female'},train,{'>50K' if a > 0 else '<=50K'}" for a in x]
    (tmp_path / "uci").mkdir()
    with gzip.open(tmp_path / "uci" / "adult.csv.gz", "wt") as file:
        file.write("\n".join(lines))
    X, y = lssvm_fixed_size.load("adult", tmp_path)
    assert X.shape == (200, 3)
    assert set(y) == {0, 1}
    options = Options(runs=2, datasets=("adult", "pima"), samples=90, data=tmp_path)
    records, report = lssvm_fixed_size.EXPERIMENT.run(options)
    assert len(records) == 2 * 5
    assert "pima left out: uci/pima.csv.gz is not in the folder" in capsys.readouterr().err
    best = [record["acc"] for record in records if record["method"] == lssvm_fixed_size.RBF_MACHINE]
    assert min(best) > 0.9
    assert "| adult, RBF FS-LSSVM | 85.21 (0.21) | " in report


def test_double_descent_peaks_at_the_number_of_rows():
    """The peak is ten times both sides' least error, and the last error below the best small model's."""
    found = {
        m: np.median([double_descent.errors(m, run) for run in range(3)], axis=0) for m in (40, 80, 200, 400, 6400)
    }
    assert found[200][1] > 10 * max(found[40][1], found[6400][1])
    assert found[6400][1] < min(found[40][1], found[80][1])
    assert max(found[m][0] for m in (200, 400, 6400)) < 1e-20
    for m in (40, 80, 400, 6400):
        assert abs(found[m][1] - double_descent.REFERENCE[m]) < 0.3 * double_descent.REFERENCE[m]
