"""gramian.cluster_images writes what the command line writes, and places other images."""

import json

import pandas as pd
import pytest

import gramian
from albums.digits import digits, write_digits
from gramian.imager import ClusteredImages


@pytest.fixture(scope="module")
def clustered():
    return gramian.cluster_images(digits(60)[0], 3, max_iter=20)


def test_the_folder_holds_everything(clustered, tmp_path):
    assert isinstance(clustered, ClusteredImages)
    assert repr(clustered).startswith("60 images of the array fall into")
    folder = clustered.save(tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == {"report.html", "rows.csv", "summary.json", "model.gramian"}
    assert json.loads((folder / "summary.json").read_text("utf-8")) == clustered.summary()
    rows = pd.read_csv(folder / "rows.csv")
    assert rows["cluster"].tolist() == clustered.found.labels.tolist()
    page = clustered.report(tmp_path / "page.html").read_text("utf-8")
    assert page == (folder / "report.html").read_text("utf-8")


def test_other_images_are_placed(clustered, tmp_path):
    placed = clustered.assign(write_digits(tmp_path / "digits", 5))
    assert placed["image"].iloc[0] == "000.png"
    assert placed["cluster"].tolist() == clustered.rows["cluster"].tolist()[:5]
