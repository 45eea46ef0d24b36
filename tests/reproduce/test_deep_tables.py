"""The scripts for deep kernels run in small and quote the papers right."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gramian.metrics import clustering_accuracy
from reproduce import ddc_tables, dkae_tables, knet_tables
from reproduce.table import Options

pytest.importorskip("torch")


def test_dkae_quotes_the_tables():
    """Spot checks of Tables 1 to 4, and every order holds in the printed figures."""
    table = dkae_tables.PUBLISHED
    assert table["ideal"] == {"prior": 1.0132, "AE": 1.1417, "dkAE": 1.0115}
    assert table["svm"]["dkAE, ideal kernel"] == 0.9623
    assert table["denoising"]["DAE"] == 0.0173
    assert all(table[score][lower] < table[score][higher] for score, _, lower, higher in dkae_tables.ORDERS)


def test_dkae_verdicts():
    """A claim holds beyond two standard errors, in the mean, or not."""
    assert [dkae_tables.verdict(*pair) for pair in ((0.3, 0.1), (0.1, 0.1), (0.1, None), (-0.1, 0.01))] == [
        "yes",
        "in the mean",
        "in the mean",
        "no",
    ]


def test_nearest_neighbours_leave_the_row_out():
    """Two pairs of equal labels and one odd row."""
    Z = np.array([[0.0, 0], [0.1, 0], [5, 0], [5.1, 0], [5.3, 0]])
    assert dkae_tables.nearest(Z, np.array([0, 0, 1, 1, 2])) == pytest.approx(0.8)


def test_dkae_without_images_says_so(tmp_path, capsys):
    """There is no other data to take."""
    assert list(dkae_tables.tasks(Options(data=tmp_path), 1)) == []
    assert "images/mnist.npz" in capsys.readouterr().err


def test_knet_quotes_the_tables():
    """Spot checks of Tables 4.2, 4.4, 4.6 and 4.7."""
    assert knet_tables.TABLE_4_2["Face"]["KNet_EIG"] == 0.93
    assert knet_tables.TABLE_4_4["RCV"]["KNet_SMA"] == 0.431
    assert "k-means" not in knet_tables.TABLE_4_4["Cancer"]
    assert knet_tables.LAMBDA_NMI["Wine"][0.0] == (0.92, 0.91)
    assert knet_tables.LAMBDA_NMI["Spiral1"][1e-7] == (0.969, 0.824)


def test_knet_runs_on_wine(tmp_path, capsys):
    """Scaled k-means has the .876 that anybody gets, and tables without a file are named."""
    records = knet_tables.one_run("Wine", 0, None, None)
    scaled = [one["nmi"] for one in records if one["method"] == knet_tables.SCALED and one["rows"] == "all"]
    assert scaled == [pytest.approx(0.876, abs=2e-3)]
    assert "| Wine, k-means, scaled | 0.428 | 0.876 |" in knet_tables.report(records)
    list(knet_tables.tasks(Options(data=tmp_path, datasets=("RCV",)), 1))
    assert "RCV left out" in capsys.readouterr().err


def test_ddc_quotes_the_tables():
    """Spot checks of Tables 1 and 2; every variant has a published figure."""
    assert ddc_tables.TABLE_1["MNIST"][ddc_tables.VOTE] == (0.8849, 0.87)
    assert ddc_tables.TABLE_1["MNIST"][ddc_tables.SEC] == (0.6882, 0.77)
    assert ddc_tables.TABLE_1[ddc_tables.R8][ddc_tables.DDC] == (0.7306, 0.5)
    assert ddc_tables.TABLE_2["MNIST"]["l1 + l3"] == (0.847, 0.051)
    assert ddc_tables.TABLE_2[ddc_tables.R8]["l3"] == (0.702, 0.064)
    assert set(ddc_tables.TABLE_2["MNIST"]) == {*ddc_tables.TERMS, *ddc_tables.DIVERGENCES}
    assert set(ddc_tables.TABLE_2[ddc_tables.R8]) == set(ddc_tables.TERMS)


def test_balanced_texts(tmp_path):
    """As many texts of the four largest classes, by the stems that occur most, each of length one."""
    rng = np.random.default_rng(0)
    y = np.repeat([4, 0, 2, 1, 3], [9, 8, 7, 6, 5])
    counts = csr_matrix(rng.integers(0, 3, (35, 2100)) * (rng.random(2100) < 0.9))
    (tmp_path / "text").mkdir()
    np.savez(
        tmp_path / "text" / "reuters_r8.npz", format=b"csr", shape=counts.shape, data=counts.data,
        indices=counts.indices, indptr=counts.indptr, y=y.astype(np.uint8),
    )  # fmt: skip
    X, classes, shape = ddc_tables.rows_of(tmp_path, ddc_tables.R8, 0, 1000)
    assert (X.shape, shape, np.bincount(classes).tolist()) == ((24, 2000), None, [6, 6, 6, 6])
    assert np.allclose(np.linalg.norm(X, axis=1), 1)
    assert ddc_tables.rows_of(tmp_path, ddc_tables.R8, 0, 12)[0].shape == (12, 2000)


def test_rotated_labels_find_the_axes():
    """Rows on three axes, turned and scaled one by one, get the labels of their axes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = ddc_tables.rotated_labels((np.eye(3)[y] + 0.1 * rng.normal(size=(30, 3))) @ turn * rng.random((30, 1)))
    assert clustering_accuracy(y, found) == 1


def test_spectral_embedded_clustering_finds_blobs():
    """Three blobs far apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    assert clustering_accuracy(y, ddc_tables.spectral_embedded(rng.normal(size=(90, 4)) + 9 * np.eye(4)[y], 3)) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ddc_runs_in_small(tmp_path, capsys):
    """Images from a file: every method has a row, published figures stand beside, and missing files are named."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3], 30)
    X = rng.integers(0, 60, (90, 8, 8))
    X[np.arange(90), 2 * y] += 150
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "images" / "mnist.npz", X=X.astype(np.uint8), y=y)
    pixels, classes, shape = ddc_tables.images(tmp_path, "MNIST", 0, 60)
    assert (pixels.shape, shape, set(classes)) == ((60, 64), (1, 8, 8), {0, 1, 2})
    assert 0 <= pixels.min() < pixels.max() <= 1
    records, report = ddc_tables.EXPERIMENT.run(Options(runs=1, samples=80, data=tmp_path))
    assert "COIL-20 left out" in capsys.readouterr().err
    assert {record["method"] for record in records if record["table"] == 1} == {*ddc_tables.ORDER} - {"LDMGI"}
    assert len([record for record in records if record["table"] == 2]) == 9
    assert "| LDMGI | 0.830 | 0.810 |  |  |  |" in report
    assert "| l3 | 0.740 (0.029) | " in report
    assert "What the figures do not say" in report
