"""The scripts for deep kernels run in small and quote the papers right."""

import numpy as np
import pytest

from reproduce import dkae_tables, knet_tables
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
