"""The scripts that draw deep kernels, and those of the two other networks, run in small and quote right."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from reproduce import ddc_figures, dkae_figures, knet_figures, multiview_network, neural_kernel
from reproduce.pictures import block_contrast
from reproduce.table import Options

pytest.importorskip("torch")


def test_contrast_of_blocks():
    """Pairs of one class have 2, pairs of two classes 1, and the diagonal is left out."""
    y = np.array([0, 0, 1, 1, 1])
    K = 1.0 + (y[:, None] == y) + 100 * np.eye(5)
    assert block_contrast(K, y) == pytest.approx(2)
    assert block_contrast(np.eye(5), y) == np.inf


@pytest.fixture
def images(tmp_path):
    """Ten kinds of noisy pictures in the place of MNIST."""
    rng = np.random.default_rng(0)
    y = np.arange(260) % 10
    X = np.clip(200 * rng.random((10, 8, 8))[y] + 20 * rng.standard_normal((260, 8, 8)), 0, 255).astype(np.uint8)
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "images" / "mnist.npz", X=X, y=y.astype(np.uint8))
    return tmp_path


def test_dkae_figures_are_drawn_in_small(images, monkeypatch):
    """All pictures are there; more components are nearer to the prior; λ = 0 is farther from it than λ = 0.1."""
    monkeypatch.setattr(dkae_figures, "WEIGHTS", (0.0, 0.1))
    monkeypatch.setattr(dkae_figures, "CODES", (5, 40))
    options = Options(runs=1, samples=260, restarts=1, components=3, data=images, pictures=images / "drawn")
    records, report = dkae_figures.EXPERIMENT.run(options)
    names = {path.stem.removeprefix("dkae_figure_") for path in (images / "drawn").glob("*.png")}
    assert names == {"3", "4_kernels", "4_images", "5", "6", "7", "8"}
    curve = [one["distance"] for one in records if one.get("rows") == "learned from" and one["m"]]
    assert curve == sorted(curve, reverse=True)
    distance = {one["weight"]: one["distance"] for one in records if one["figure"] == "3" and one["codes"] == 40}
    assert distance[0.1] < distance[0.0]
    assert "### Figure 3a" in report
    assert "| dkAE | 0.0358 |" in report
    assert "What the figures do not say" in report


def test_where_kernel_pca_crosses():
    """The fewest components whose mean is below that of the codes, or none."""
    found = [
        {"figure": "5", "rows": "new", "m": m, "distance": d} for m, d in ((0, 0.2), (1, 0.5), (4, 0.15), (8, 0.1))
    ]
    assert dkae_figures.crossing(found, "new") == 4
    assert dkae_figures.crossing(found[:2], "new") is None


def test_dkae_figures_without_images_say_so(tmp_path, capsys):
    assert list(dkae_figures.tasks(Options(data=tmp_path), 1)) == []
    assert "images/mnist.npz" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ddc_figures_are_drawn_in_small(images, monkeypatch):
    """All pictures are there, every claim has its number, and the stages of Figure 4 are the first and later steps."""
    monkeypatch.setattr(ddc_figures, "RING_LAYERS", (10, 10))
    options = Options(runs=1, samples=260, data=images, pictures=images / "drawn")
    records, report = ddc_figures.EXPERIMENT.run(options)
    names = {path.stem.removeprefix("ddc_figure_") for path in (images / "drawn").glob("*.png")}
    assert names == {"3", "4", "7b", "9a", "9b", "10", "11"}
    assert [one["step"] for one in records if one["figure"] == "4"] == [1, 4, 16]
    assert all(len([one for one in records if one["figure"] == name]) == 45 for name in ("7b pairs", "10 pairs"))
    assert {one["term"] for one in records if one["figure"] == "9b"} == set(ddc_figures.TERMS)
    assert "| 4 and 9 |" in report
    assert "What the figures do not say" in report


def test_classes_that_share_a_cluster():
    """Half of class 1 is in the cluster of class 0, and class 2 is alone: by counting pairs of different rows."""
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
    within = np.mean([1, (1 + 1) / 6, 1])
    found = ddc_figures.together(y, np.equal.outer(labels, labels).astype(float))
    assert found == pytest.approx({(0, 1): 0.5 / within, (0, 2): 0, (1, 2): 0})


def test_terms_that_fall_while_accuracy_rises():
    """A falling term has a rank correlation of −1 with a rising accuracy; one that stays has none."""
    curves = {"falls": np.linspace(3, 1, 100), "stays": np.ones(100)}
    falls, stays = ddc_figures.learning("9a", curves, {1: 0.2, 30: 0.4, 60: 0.5, 100: 0.9}, None)
    assert falls["agreement"] == -1
    assert falls["end"] < falls["start"]
    assert (stays["agreement"], stays["start"], stays["end"]) == (0, 1, 1)
    assert (falls["least"], falls["last"]) == (0.2, 0.9)


def test_ink():
    """A map that is positive on ink only, and one that is negative everywhere."""
    X = np.array([[0.0, 1.0, 0.9, 0.1]])
    assert ddc_figures.ink(np.array([[-1.0, 2.0, 4.0, 0.0]]), X) == {"on": 3.0, "off": 0.0}
    assert ddc_figures.ink(-X, X) == {"on": 0.0, "off": 0.0}


def test_ddc_figures_without_images_draw_the_ring(tmp_path, capsys):
    assert len(list(ddc_figures.tasks(Options(data=tmp_path), 1))) == 1
    assert "images/mnist.npz" in capsys.readouterr().err


def test_knet_figures_are_drawn_in_small(tmp_path):
    """Four pictures, and a line for every noise."""
    records, report = knet_figures.EXPERIMENT.run(Options(runs=1, samples=200, pictures=tmp_path))
    drawn = sorted(path.stem for path in tmp_path.glob("*.png"))
    assert drawn == ["knet_figure_4_1", "knet_figure_b_1", "knet_figure_b_2", "knet_figure_b_3"]
    assert len(records) == 2 + len(knet_figures.NOISES)
    assert all(0 <= one["nmi of network"] <= 1 for one in records)
    assert "| B.2, Moon, noise 0.3 |" in report


def test_multiview_network_quotes_the_table():
    """The weighted average is best in all rows but one."""
    table = multiview_network.PUBLISHED
    assert len(table) == 12
    assert table[1, "least"][multiview_network.WEIGHTED] == 1.67
    assert table[6, "greatest"][multiview_network.MEAN] == 2.87
    best = [key for key, row in table.items() if row[multiview_network.WEIGHTED] == min(row.values())]
    assert set(table) - set(best) == {(5, "least")}


def test_multiview_network_runs_on_a_made_up_station(tmp_path, capsys):
    """Three networks, two LS-SVMs and persistence; the other station is named."""
    day = np.arange(800)
    least = 10 - 8 * np.cos(2 * np.pi * day / 365.25) + np.random.default_rng(0).normal(size=800)
    path = tmp_path / "series" / "melbourne_temperature.csv.gz"
    path.parent.mkdir()
    lines = ["date,tmin,tmax", *(f"{d},{t},{t + 6}" for d, t in zip(day, least, strict=True))]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    records, report = multiview_network.EXPERIMENT.run(Options(runs=1, samples=100, data=tmp_path))
    assert "Seattle left out" in capsys.readouterr().err
    assert len(records) == 3 * 6
    assert all(0 < record["least"] < 12 for record in records)
    assert "| published for Brussels: early fusion | 1.89 | 2.29 | 2.64 |" in report


def test_neural_kernel_runs_on_wine(capsys):
    """Every model beats the largest class, and tables without a file are named."""
    options = Options(runs=1, samples=60, datasets=("wine", "vehicle"), data=Path("nowhere"))
    records, report = neural_kernel.EXPERIMENT.run(options)
    assert "vehicle left out" in capsys.readouterr().err
    assert len(records) == 7
    assert min(record["acc"] for record in records) > 0.8
    assert "| SVC, RBF |" in report
