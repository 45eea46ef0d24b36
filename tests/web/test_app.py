"""The application: what it does for people, and what it does not let others do."""

import errno
import json
import os
import socket
import subprocess
import sys

import pytest

from communities.clubs import clubs, written
from gramian.datasets import list_tables
from gramian.web import serve
from web.servers import one_line


def test_an_upload_becomes_a_report_with_all_its_files(real, explored):
    assert (explored["name"], explored["found"]["rows"], explored["found"]["groups"]) == ("flowers.csv", 30, 2)
    files = {item["name"]: item["size"] for item in real.get(f"/api/jobs/{explored['id']}/files").json()}
    expected = {"report.html", "rows.csv", "summary.json", "model.gramian", "map.png", "groups.png", "missing.png"}
    assert set(files) == expected
    assert explored["size"] >= sum(files.values())
    for name, size in files.items():
        response = real.get(f"/api/jobs/{explored['id']}/files/{name}?download=1")
        assert len(response.content) == size
        assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
    summary = real.get(f"/api/jobs/{explored['id']}/files/summary.json").json()
    assert summary["source"] == "flowers.csv"


def test_the_report_is_shown_in_a_sandbox(real, explored):
    response = real.get(f"/api/jobs/{explored['id']}/files/report.html")
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-disposition"].startswith("inline")
    assert response.headers["content-security-policy"] == "sandbox allow-scripts; frame-ancestors 'self'"
    assert "flowers.csv" in response.text


def test_an_edge_list_becomes_communities_with_all_their_files(real):
    job = real.wait_for(real.begin(written(clubs()), name="clubs.edgelist", kind="network"))
    assert (job["state"], job["kind"]) == ("done", "network"), job["message"]
    assert job["found"]["title"] == "44 nodes, 4 communities"
    files = {item["name"] for item in real.get(f"/api/jobs/{job['id']}/files").json()}
    assert files == {"report.html", "nodes.csv", "summary.json", "model.gramian"}
    assert "clubs.edgelist" in real.get(f"/api/jobs/{job['id']}/files/report.html").text
    assert "groups of rows only" in one_line(real.get(f"/api/jobs/{job['id']}/like?row=1"), 422)
    other = real.wait_for(real.post(f"/api/jobs/{job['id']}/again", json={"clusters": 2}).json()["id"])
    assert (other["kind"], other["found"]["communities"]) == ("network", 3)  # the pair of strangers comes on top


def test_the_answer_of_an_example_is_left_out(fake):
    tables = fake.get("/api/tables").json()
    assert [table["name"] for table in tables] == list_tables()
    assert all(table["title"] for table in tables)
    job = fake.post("/api/jobs", json={"table": "wine", "clusters": 3, "ignore": "ash, hue"}).json()
    notes = json.loads((fake.folder(job["id"]) / "job.json").read_text())
    assert (notes["name"], notes["kind"]) == ("wine", "explore")
    assert notes["settings"] == {"clusters": 3, "ignore": ["ash", "hue", "label"], "missing": []}
    assert (fake.folder(job["id"]) / "table.csv.gz").exists()


def test_a_taken_port_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1, port {port}"):
            serve(tmp_path, port=port)


@pytest.mark.parametrize(
    "id",
    ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "A" * 32, "a" * 31, "a" * 32 + "%0a", "a" * 32 + "%00", ".lock", "%ff"],
)
def test_made_up_identifiers_open_nothing(fake, id):
    for path in ("", "/files", "/files/report.html", "/like?row=1", "/log"):
        response = fake.get(f"/api/jobs/{id}{path}")
        assert response.status_code == 404 or (response.status_code == 200 and response.url.path == "/api/jobs")
    for act in ("again", "restart", "cancel"):
        assert fake.post(f"/api/jobs/{id}/{act}", json={}).status_code in (404, 405)
    assert fake.delete(f"/api/jobs/{id}").status_code in (404, 405)


@pytest.mark.parametrize(
    "name",
    ["job.json", "table.csv", "../job.json", "..%2fjob.json", "%2fetc%2fpasswd", "log.txt", "report.html%00", ""],
)
def test_files_outside_the_list_are_not_there(fake, name):
    id = fake.begin("x")
    assert fake.wait_for(id)["state"] == "done"
    response = fake.get(f"/api/jobs/{id}/files/{name}", follow_redirects=False)
    assert response.status_code in (307, 404)
    assert "fake" not in response.text


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"table": "../wine"}', b'{"table": 7}', b'{"table": "wine", "clusters": 0}', b"\xff"],
)
def test_wrong_orders_get_one_line(fake, body):
    headers = {"Content-Type": "application/json"}
    one_line(fake.post("/api/jobs", content=body, headers=headers), 400 if body == b"\xff" else 422)
    assert fake.get("/api/jobs").json()["jobs"] == []


def test_the_library_does_not_load_the_server():
    heavy = "{'fastapi', 'starlette', 'uvicorn', 'python_multipart', 'pydantic'}"
    code = f"import sys, gramian; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize("path", ["/api/jobs", "/api/uploads"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_line(fake, monkeypatch, path, number):
    def full(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("shutil.copyfile" if path == "/api/jobs" else "gramian.web.jobs.write_json", full)
    response = fake.post(path, json={"table": "iris"}) if path == "/api/jobs" else fake.upload("x")
    assert one_line(response, 507) == "the disk of the server is full; delete explorations"
    assert not list(fake.app.state.jobs.folder.glob(".new-*"))


def test_a_folder_that_went_away_is_one_line(fake):
    fake.app.state.jobs.folder.rename(fake.app.state.jobs.folder.with_name("elsewhere"))
    assert "No such file or directory" in one_line(fake.post("/api/jobs", json={"table": "iris"}), 500)
