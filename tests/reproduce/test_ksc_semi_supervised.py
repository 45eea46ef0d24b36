"""The comparison of semi-supervised methods runs in small."""

import gzip

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from reproduce import ksc_semi_supervised as script
from reproduce.table import Options


@pytest.fixture
def folder(tmp_path):
    """Two clouds under the name of iris."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 5 * y[:, None]
    (tmp_path / "uci").mkdir()
    with gzip.open(tmp_path / "uci" / "iris.csv.gz", "wt") as file:
        file.write("a,b,label\n" + "\n".join(f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(X, y, strict=True)) + "\n")
    return tmp_path


def test_all_methods_answer_both_questions(folder, capsys, monkeypatch):
    """With clouds apart all are right; tables that are missing are named."""
    names = ("MSS-KSC", "label spreading knn", "Laplacian RLS, folds", "LS-SVM")
    monkeypatch.setattr(script, "EXACT", names)
    monkeypatch.setattr(script, "OPEN", names)
    records, report = script.EXPERIMENT.run(Options(runs=1, datasets=("iris", "wine"), data=folder))
    assert len(records) == 2 * len(names)
    assert min(record["acc"] for record in records) > 0.9
    assert "wine left out" in capsys.readouterr().err
    assert "### New rows" in report
    assert "| MSS-KSC | " in report


def test_folds_hide_labels_and_keep_rows():
    """The first of equal settings is taken, and it is scored on labels it has not seen."""
    seen = []

    def predict(X, y, new, *, setting):
        seen.append((len(X), int((y >= 0).sum()), len(new)))
        return np.zeros(len(new), int) if setting else np.ones(len(new), int)

    y = np.array([0] * 5 + [1] * 5 + [-1] * 4)
    chosen = script.folded([{"setting": True}, {"setting": False}], predict)
    assert (chosen(np.zeros((14, 1)), y, np.zeros((3, 1))) == 0).all()
    assert set(seen[:-1]) == {(14, 8, 2)}
    assert seen[-1] == (14, 10, 3)


def test_widths_are_those_of_the_reference():
    """exp(−d²/σ²) with σ² the median squared distance is the RBF of width σ/√2."""
    X = np.array([[0.0], [2.0]])
    assert script.width(X, 0.5) == pytest.approx(1.0)


def test_laplacian_least_squares_solve_the_printed_system(monkeypatch):
    """(A K + ambient·l I + graph·l/n² L K) α = A C, by a dense solve."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = script.few((X[:, 0] * X[:, 1] > 0).astype(int), rng)
    monkeypatch.setattr(script, "SHARES", (0.3,))
    monkeypatch.setattr(script, "AMBIENT", (1e-2,))
    monkeypatch.setattr(script, "GRAPH", (10.0,))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * script.width(X, 0.3) ** 2))
    order = np.argsort(cdist(X, X), axis=1)[:, 1:8]
    W = np.zeros((40, 40))
    np.put_along_axis(W, order, 1.0, axis=1)
    W = np.maximum(W, W.T)
    L = np.eye(40) - W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    A, l = np.diag((y >= 0).astype(float)), (y >= 0).sum()
    C = A @ np.where(y[:, None] == [0, 1], 1.0, -1.0)
    alpha = np.linalg.solve(A @ K + 1e-2 * l * np.eye(40) + 10.0 * l / 40**2 * L @ K, C)
    assert np.array_equal(script.laplacian(X, y, X), (K @ alpha).argmax(axis=1))


def test_label_spreading_answers_for_its_own_rows_or_for_new_ones():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    y = np.array([0, -1, -1, 1, -1, -1])
    assert script.spreading(X, y, X[y < 0], kernel="rbf", transduction=True).tolist() == [0, 0, 1, 1]
    assert script.spreading(X, y, X, kernel="rbf").tolist() == [0, 0, 0, 1, 1, 1]
