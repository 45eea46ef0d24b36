"""Kinds of work: settings are read or refused in one line, and each kind runs, writes and tells what its entry says."""

import io
import json
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

from albums.digits import write_digits
from communities.clubs import clubs, written
from gramian.imager import cluster_images
from gramian.web.kinds import COUNT, FLAG, KINDS, MOST, NAMES, TEXT, Setting
from gramian.web.upload import stored_name
from gramian.web.worker import do_job
from learning.houses import houses
from outlook.shop import shop
from web.servers import FAKE, one_line, serving


@pytest.mark.parametrize(
    ("type", "given", "value"),
    [
        (COUNT, None, None),
        (COUNT, "", None),
        (COUNT, "12", 12),
        (COUNT, MOST, MOST),
        (NAMES, " a, b c ,,d", ["a", "b c", "d"]),
        (NAMES, ["a", " b"], ["a", "b"]),
        (NAMES, None, []),
        (TEXT, " price ", "price"),
        (TEXT, None, ""),
        (FLAG, "yes", True),
        (FLAG, True, True),
        (FLAG, None, False),
        (FLAG, "off", False),
    ],
)
def test_settings_are_read_from_forms_and_again_from_notes(type, given, value):
    setting = Setting("x", "X", type)
    assert setting.read(given) == value
    assert setting.read(json.loads(json.dumps(value))) == value


@pytest.mark.parametrize(
    ("type", "given"),
    [(COUNT, text) for text in ("0", "-1", "1.5", "1e3", "x", "²", True, MOST + 1, "9" * 400)] + [(FLAG, "maybe")],
)
def test_wrong_settings_name_themselves(type, given):
    with pytest.raises(ValueError, match=r"^x: .*; pass "):
        Setting("x", "X", type).read(given)


def test_long_missing_and_unknown_settings_are_refused():
    with pytest.raises(ValueError, match=r"^x: 11 characters; pass at most 10$"):
        Setting("x", "X", TEXT, longest=10).read("a" * 11)
    with pytest.raises(ValueError, match=r"^target: it is missing; fill in column to predict$"):
        KINDS["learn"].read({"target": ""})
    with pytest.raises(ValueError, match=r"^folder: there is no such setting; the settings are clusters, levels"):
        KINDS["network"].read({"folder": "/etc"})


@pytest.mark.parametrize("name", KINDS)
def test_entries_are_complete(name):
    """What the page asks of a kind is there, and a number of parts is a setting called clusters."""
    kind = KINDS[name]
    told = json.loads(json.dumps(kind.described()))
    assert all(told[key] for key in ("title", "act", "noun", "formats", "accept", "files", "settings"))
    assert {"report.html", "summary.json", "model.gramian"} <= set(kind.files)
    assert bool(kind.again) == any(setting.name == "clusters" for setting in kind.settings) == bool(kind.parts[1])


def packed_digits():
    """A .zip of PNG files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, tempfile.TemporaryDirectory() as folder:
        for path in write_digits(Path(folder)).iterdir():
            archive.write(path, path.name)
    return packed.getvalue()


FILES = {
    "learn": (
        "mine.csv",
        lambda: houses(60).to_csv(index=False).encode(),
        {"target": "price", "ignore": "sold"},
        "price, 60 rows",
    ),
    "network": (
        "mine.txt",
        lambda: written(clubs()).encode(),
        {"clusters": "3", "levels": "yes"},
        "44 nodes, 4 communities",
    ),
    "forecast": (
        "mine.csv",
        lambda: shop(90).to_csv(index=False).encode(),
        {"column": "sold", "horizon": "5"},
        "sold, 90 steps",
    ),
    "images": ("mine.zip", packed_digits, {"clusters": "2"}, "12 images, 2 clusters"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_kind_writes_its_files_under_the_name_people_know(tmp_path, monkeypatch, name):
    """Exploring is tested in test_app.py."""
    monkeypatch.setattr("gramian.imager.cluster_images", partial(cluster_images, max_iter=3))
    kind = KINDS[name]
    called, make, settings, title = FILES[name]
    table = stored_name(called)
    (tmp_path / table).write_bytes(make())
    stages = []
    job = {"name": called, "table": table, "kind": name, "settings": kind.read(settings)}
    do_job(tmp_path, job, lambda stage, done: stages.append((stage, done)))
    assert {path.name for path in (tmp_path / "result").iterdir()} == set(kind.files)
    summary = json.loads((tmp_path / "result" / "summary.json").read_text("utf-8"))
    assert summary["source"] == called
    assert kind.found(summary)["title"].startswith(title)
    assert summary["overview"][0]
    assert [done for _, done in stages] == sorted(done for _, done in stages)


@pytest.mark.parametrize(
    ("name", "text", "settings", "line"),
    [
        ("images", "a,b\n1,2\n", {"clusters": None}, "mine.csv is not a folder, a .zip or an .npz file"),
        ("network", "a b\nb\n", {}, "mine.csv, line 2: 1 field"),
        ("network", "a a\n", {}, "mine.csv has no edge between two different nodes"),
        ("network", "a b\n", {"clusters": 9}, "communities=9 is more than the 2 nodes"),
        ("learn", "a,b\n1,2\n", {"target": "c"}, "c"),
        (
            "forecast",
            "a,b\n1,2.5\n2,x\n3,4.5\n",
            KINDS["forecast"].read({"column": "b"}),
            "mine.csv, row 3, column 'b'",
        ),
    ],
)
def test_bad_files_are_one_line_with_the_name_people_know(tmp_path, name, text, settings, line):
    (tmp_path / "table.txt").write_text(text)
    job = {"name": "mine.csv", "table": "table.txt", "kind": name, "settings": settings}
    with pytest.raises(ValueError) as refused:
        do_job(tmp_path, job, lambda stage, done: None)
    assert line in str(refused.value)
    assert "table.txt" not in str(refused.value)
    assert not (tmp_path / "result").exists()


def test_uploads_of_every_kind_become_jobs_of_it(fake):
    assert [kind["name"] for kind in fake.get("/api/kinds").json()] == list(KINDS)
    job = fake.wait_for(fake.begin("x", kind="network", clusters="2", levels="yes"))
    notes = json.loads((fake.folder(job["id"]) / "job.json").read_text())
    assert notes["settings"] == {"clusters": 2, "levels": True, "unweighted": False}
    assert (job["kind"], job["asked"]) == ("network", "2 communities asked for")
    assert job["found"]["title"] == "3 nodes, 2 communities"
    files = [item["name"] for item in fake.get(f"/api/jobs/{job['id']}/files").json()]
    assert files == ["report.html", "summary.json", "model.gramian"]  # rows.csv, which is there, is not of this kind
    one_line(fake.get(f"/api/jobs/{job['id']}/files/rows.csv"), 404)
    assert "groups of rows only" in one_line(fake.get(f"/api/jobs/{job['id']}/like?row=1"), 422)
    other = fake.post(f"/api/jobs/{job['id']}/again", json={"clusters": 3}).json()
    assert (other["kind"], other["asked"]) == ("network", "3 communities asked for")
    learned = fake.begin("x", kind="learn", target="y")
    assert "the number of groups of this exploration cannot be changed" in one_line(
        fake.post(f"/api/jobs/{learned}/again", json={"clusters": 3}), 409
    )


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"kind": "dream"}, "kind: there is no 'dream'; take one of explore, learn, network, forecast, images"),
        ({"kind": "learn"}, "target: it is missing"),
        ({"kind": "network", "ignore": "a"}, "ignore: there is no such setting"),
    ],
)
def test_wrong_orders_of_any_kind_leave_nothing(fake, settings, line):
    assert one_line(fake.upload("x", **settings), 422).startswith(line)
    assert fake.get("/api/jobs").json()["jobs"] == []


def test_a_job_of_a_kind_that_is_gone_can_be_deleted(tmp_path):
    folder = tmp_path / ("a" * 32)
    folder.mkdir()
    notes = {"id": folder.name, "name": "t", "table": "table.csv", "kind": "dream", "state": "waiting"}
    (folder / "job.json").write_text(json.dumps(notes))
    with serving(tmp_path, worker=FAKE) as client:
        assert client.job(folder.name)["state"] == "failed"
        assert client.delete(f"/api/jobs/{folder.name}").status_code == 204
