"""``gramian cluster-images``: a folder from images, and a model that places others."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from albums.digits import digits, write_digits
from cli.conftest import error_of


def test_images_become_a_folder_and_others_are_placed(run, tmp_path):
    write_digits(tmp_path / "scans", 60)
    write_digits(tmp_path / "new", 4, size=(20, 30))
    result = run("cluster-images", "scans", "--clusters", 3, "--steps", 30)
    assert result.exit_code == 0, result.output
    assert "60 images of scans fall into" in result.stdout
    assert "scans_clustered/report.html" in result.stdout
    rows = pd.read_csv(tmp_path / "scans_clustered" / "rows.csv")
    assert list(rows) == ["image", "cluster", "probability"]
    placed = run("assign", "scans_clustered/model.gramian", "new", "--out", "placed.csv")
    assert placed.exit_code == 0, placed.output
    assert "resized from 20×30 to 8×8" in placed.stderr
    assert len(pd.read_csv(tmp_path / "placed.csv")) == 4
    assert "--force" in error_of(run("cluster-images", "scans", "--clusters", 3))
    assert "--missing is for tables" in error_of(
        run("assign", "scans_clustered/model.gramian", "new", "--missing", "9")
    )
    assert "use gramian assign" in error_of(run("predict", "scans_clustered/model.gramian", "new"))
    assert run("info", "scans_clustered/model.gramian").stdout.endswith("clusters: 3\nimage size: 8 x 8\n")


def test_json_and_quiet(run, tmp_path):
    np.savez(tmp_path / "d.npz", X=digits(30)[0])
    options = ["d.npz", "--clusters", 2, "--steps", 3, "--size", 9, "--out", "r"]
    told = json.loads(run("cluster-images", *options, "--json").stdout)
    assert (told["images"], told["image_shape"], told["folder"]) == (30, [1, 9, 9], "r")
    assert run("cluster-images", *options, "--quiet", "--force").output == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["empty"], "empty is empty"),
        (["broken"], "bad.png is not a PNG or JPEG image"),
        (["few"], "the 4 images of few cannot form 10 clusters; ask for 2 to 4"),
        (["no.npz"], "holds no array of images but y (5,)"),
        (["t.csv"], "t.csv is not a folder, a .zip or an .npz file"),
        (["nowhere"], "nowhere does not exist"),
        (["few", "--clusters", 2, "--size", 3], "size=3 must be a whole number from 8 to 128"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(run, tmp_path, options, why):
    (tmp_path / "empty").mkdir()
    write_digits(tmp_path / "few", 4)
    (write_digits(tmp_path / "broken", 1) / "bad.png").write_bytes(b"")
    np.savez(tmp_path / "no.npz", y=np.arange(5))
    (tmp_path / "t.csv").write_text("a\n1\n")
    before = sorted(tmp_path.iterdir())
    assert why in error_of(run("cluster-images", *options))
    assert sorted(tmp_path.iterdir()) == before


WITHOUT = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
from gramian.cli import main

main()
"""


def test_without_torch_one_line_names_the_extra(tmp_path):
    """The help needs no torch, and the command says what to install."""
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run([*command, "cluster-images", "x"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "gramian: this command needs torch, which is not installed; run pip install 'gramian[deep]'\n"
    script = "import sys\nfrom gramian.cli import app\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
