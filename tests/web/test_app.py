"""The server: what it does for people, and what it does not let others do."""

import asyncio
import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys

import httpx2
import psutil
import pytest

import gramian
from gramian.datasets import list_tables
from gramian.tables import UnreadableTable, read_table
from gramian.web import serve
from gramian.web.upload import shown_name, stored_name
from gramian.web.worker import explore_table
from web.servers import FAKE, flowers, serving, wait_until

SERVER = """
import sys
from gramian.web import serve

serve(sys.argv[1], port=0, worker=sys.argv[2:], ready=lambda url: print(url, flush=True))
"""
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=X"}


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # ended, and its new parent has not looked yet
    except psutil.NoSuchProcess:
        return True


def one_line(response, status):
    assert response.status_code == status, response.text
    line = response.json()["detail"]
    assert line
    assert "\n" not in line
    return line


# A table that is really explored -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A server with the worker that people get."""
    with serving(tmp_path_factory.mktemp("real")) as client:
        yield client


@pytest.fixture(scope="module")
def explored(real):
    job = real.wait_for(real.begin(flowers(), name="C:\\data\\flowers.csv"))
    assert job["state"] == "done", job["message"]
    return job


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


def test_rows_like_a_row_are_those_of_the_model_with_their_values(real, explored):
    found = real.get(f"/api/jobs/{explored['id']}/like?row=17&top=5").json()
    model = gramian.load(real.folder(explored["id"]) / "result" / "model.gramian")
    rows, scores = model.like(16, 5)
    assert [item["row"] for item in found["rows"]] == [row + 1 for row in rows]
    assert [item["score"] for item in found["rows"]] == pytest.approx(scores.tolist())
    table = list(csv.DictReader(io.StringIO(flowers())))
    written = list(csv.DictReader(io.StringIO(real.get(f"/api/jobs/{explored['id']}/files/rows.csv").text)))
    assert {"id", "length", "width", "colour"} == set(found["columns"])
    for item in [found["asked"], *found["rows"]]:
        own = table[item["row"] - 1]
        assert item["values"]["id"] == own["id"]
        assert item["values"]["colour"] == own["colour"]
        assert float(item["values"]["length"]) == float(own["length"])
        assert str(item["group"]) == written[item["row"] - 1]["group"]
    # Rows 1, 3, 5, ... are of one kind.
    assert all(item["row"] % 2 == 1 for item in found["rows"])


@pytest.mark.parametrize(
    "query", ["row=0", "row=-3", "row=x", "row=1.5", "", "row=31", "row=1&top=0", "row=" + 40 * "9"]
)
def test_a_row_that_cannot_be_asked_for_gets_one_line(real, explored, query):
    assert "row" in one_line(real.get(f"/api/jobs/{explored['id']}/like?{query}"), 422) or "top" in query


def test_group_again_is_a_job_of_its_own_on_the_same_table(fake):
    first = fake.begin("x", name="flowers.csv", ignore="id", missing="-1, -9")
    other = fake.post(f"/api/jobs/{first}/again", json={"clusters": 3}).json()["id"]
    assert (fake.wait_for(first)["found"]["groups"], fake.wait_for(other)["found"]["groups"]) == (1, 3)
    before, after = (json.loads((fake.folder(id) / "job.json").read_text()) for id in (first, other))
    for name in ("name", "table", "ignore", "missing"):
        assert before[name] == after[name]
    assert (after["ignore"], after["missing"]) == (["id"], ["-1", "-9"])
    # One file on disk, which counts once, and stays as long as one of them needs it.
    assert (fake.folder(first) / "table.csv").samefile(fake.folder(other) / "table.csv")
    assert fake.delete(f"/api/jobs/{first}").status_code == 204
    assert (fake.folder(other) / "table.csv").read_text() == "x"
    for wrong in (0, -1, "x", 1.5, 10**9):
        assert "clusters" in one_line(fake.post(f"/api/jobs/{other}/again", json={"clusters": wrong}), 422)


def order(folder, text, name="flowers.csv", clusters=None):
    """A folder of a job and what its job.json says, for the work itself."""
    (folder / "table.csv").write_text(text)
    return folder, {"name": name, "table": "table.csv", "clusters": clusters, "ignore": [], "missing": []}


def test_more_groups_than_rows_is_the_line_of_explore(tmp_path):
    with pytest.raises(ValueError, match=r"^n_clusters=31 must be from 1 to the number of rows, 30$"):
        explore_table(*order(tmp_path, flowers(), clusters=31), lambda stage, done: None)
    assert not (tmp_path / "result").exists()


def test_an_unreadable_table_is_the_line_of_read_table_with_the_name_people_know(tmp_path):
    (tmp_path / "pets.csv").write_text("weight,coat\n4.1,long,soft\n")
    with pytest.raises(UnreadableTable) as expected:
        read_table(tmp_path / "pets.csv")
    with pytest.raises(ValueError) as refused:
        explore_table(*order(tmp_path, (tmp_path / "pets.csv").read_text(), "pets.csv"), lambda stage, done: None)
    assert str(refused.value) == str(expected.value)
    assert str(refused.value).startswith("pets.csv, row 2: 3 cells but 2 columns")


def test_the_answer_of_an_example_is_left_out(fake):
    tables = fake.get("/api/tables").json()
    assert [table["name"] for table in tables] == list_tables()
    assert all(table["title"] for table in tables)
    job = fake.post("/api/jobs", json={"table": "wine", "clusters": 3, "ignore": "ash, hue"}).json()
    notes = json.loads((fake.folder(job["id"]) / "job.json").read_text())
    assert (notes["ignore"], notes["clusters"], notes["name"]) == (["ash", "hue", "label"], 3, "wine")
    assert (fake.folder(job["id"]) / "table.csv.gz").exists()


# Jobs and their ends -------------------------------------------------------------------------------------------------


def test_progress_has_the_names_of_the_stages(fake):
    id = fake.begin("wait")
    job = wait_until(lambda: (job := fake.job(id))["progress"].get("stage") == "comparing rows" and job)
    assert job["state"] == "running"
    assert job["progress"]["done"] == 0.3
    assert [stage["name"] for stage in job["progress"]["stages"]] == ["reading", "comparing rows"]
    assert "its results" not in one_line(fake.get(f"/api/jobs/{id}/files/report.html"), 409)
    (fake.folder(id) / "go").touch()
    job = fake.wait_for(id)
    assert (job["state"], job["found"]["sentence"]) == ("done", "It is a fake.")
    assert job["started"] <= job["ended"]


def test_jobs_run_one_at_a_time_and_can_be_cancelled_and_deleted(fake):
    first, second, third = (fake.begin("wait") for _ in range(3))
    fake.wait_for(first, "running")
    pid = int(wait_until(lambda: (path := fake.folder(first) / "pid").exists() and path.read_text()))
    assert os.getpgid(pid) == pid
    assert psutil.Process(pid).nice() >= min(os.nice(0) + 10, 19)
    assert [fake.job(id)["before"] for id in (second, third)] == [1, 2]
    assert "running" in one_line(fake.delete(f"/api/jobs/{first}"), 409)
    assert fake.post(f"/api/jobs/{second}/cancel").json()["state"] == "cancelled"
    assert fake.job(third)["state"] == "waiting"
    assert fake.post(f"/api/jobs/{first}/cancel").status_code == 200
    job = fake.wait_for(first)
    assert (job["state"], job["message"]) == ("cancelled", "cancelled")
    assert is_gone(pid)
    fake.wait_for(third, "running")
    assert "nothing to cancel" in one_line(fake.post(f"/api/jobs/{first}/cancel"), 409)
    assert fake.delete(f"/api/jobs/{first}").status_code == 204
    assert not fake.folder(first).exists()
    one_line(fake.get(f"/api/jobs/{first}"), 404)
    assert {job["id"] for job in fake.get("/api/jobs").json()["jobs"]} == {second, third}
    # What was cancelled can be started again, and ends.
    (fake.folder(second) / "go").touch()
    (fake.folder(third) / "go").touch()
    assert fake.post(f"/api/jobs/{second}/restart").json()["state"] == "waiting"
    assert [fake.wait_for(id)["state"] for id in (third, second)] == ["done", "done"]
    assert "done" in one_line(fake.post(f"/api/jobs/{second}/restart"), 409)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("refuse", "table.csv, row 7: not to my taste; cook it longer"),
        ("break", "the exploration broke down (TypeError: a fault of our own); log.txt has the details"),
        ("crash", "its process was ended from outside or crashed (Segmentation fault"),
        ("nothing", "the exploration broke down (exit code 0)"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line(fake, told, line):
    id = fake.begin(told)
    job = fake.wait_for(id)
    assert job["state"] == "failed"
    assert job["message"].startswith(line)
    assert "\n" not in job["message"]
    log = fake.get(f"/api/jobs/{id}/log")
    assert log.headers["content-type"].startswith("text/plain")
    assert ("Traceback" in log.text) == (told in ("refuse", "break"))


def test_a_killed_worker_is_noticed(fake):
    id = fake.begin("wait")
    pid = int(wait_until(lambda: (path := fake.folder(id) / "pid").exists() and path.read_text()))
    os.kill(pid, signal.SIGKILL)
    job = fake.wait_for(id)
    assert (job["state"], "Killed" in job["message"]) == ("failed", True)


def test_time_and_memory_have_limits(tmp_path):
    with serving(tmp_path, worker=FAKE, time_limit=3600, memory_limit=2**30) as client:
        job = client.wait_for(client.begin("hoard"))
        assert job["state"] == "failed"
        assert job["message"].startswith("out of memory: it needs more than 1 GiB; take fewer rows")
        client.app.state.jobs.time_limit = 0.2
        job = client.wait_for(client.begin("wait"))
        assert job["state"] == "failed"
        assert job["message"].startswith("stopped after 0.2 seconds, the time limit; take fewer rows")


def test_a_worker_that_does_not_start_is_no_end_of_the_queue(tmp_path):
    with serving(tmp_path, worker=[str(tmp_path / "missing")]) as client:
        for _ in range(2):
            job = client.wait_for(client.begin("x"))
            assert (job["state"], "No such file" in job["message"]) == ("failed", True)


# Ends of the server --------------------------------------------------------------------------------------------------


def test_jobs_outlive_a_server_that_is_stopped(tmp_path):
    with serving(tmp_path, worker=FAKE) as client:
        finished, running = client.begin("x", clusters=2), client.begin("wait")
        client.wait_for(finished)
        client.wait_for(running, "running")
        waiting = client.begin("x")
        before = client.job(finished)
        with pytest.raises(ValueError, match="is used by another gramian serve"), serving(tmp_path):
            pass
    (tmp_path / ".new-broken-off").mkdir()
    with serving(tmp_path, worker=FAKE) as client:
        assert not (tmp_path / ".new-broken-off").exists()
        assert client.job(finished) == before
        assert client.get(f"/api/jobs/{finished}/files/rows.csv").text == "rows.csv of table.csv"
        job = client.job(running)
        assert (job["state"], job["message"]) == ("interrupted", "the server was stopped; start this again")
        assert client.wait_for(waiting)["state"] == "done"
        (client.folder(running) / "go").touch()
        client.post(f"/api/jobs/{running}/restart")
        assert client.wait_for(running)["state"] == "done"


def test_jobs_outlive_a_server_that_is_killed(tmp_path):
    folder = tmp_path / "jobs"
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(folder), *FAKE], stdout=subprocess.PIPE, text=True)
    try:
        with httpx2.Client(base_url=server.stdout.readline().strip(), trust_env=False, timeout=60) as client:
            first = client.post("/api/uploads", files={"file": ("table.csv", "wait")}).json()["id"]
        pid = int(wait_until(lambda: (path := folder / first / "pid").exists() and path.read_text()))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    wait_until(lambda: is_gone(pid))
    notes = json.loads((folder / first / "job.json").read_text())
    assert notes["state"] == "running"
    # A second one whose result came before the end of the server, but not the note of it.
    second = folder / ("0" * 32)
    (second / "result").mkdir(parents=True)
    (second / "job.json").write_text(json.dumps(notes | {"id": "f" * 32, "name": "late"}))
    (second / "result" / "summary.json").write_text('{"rows": 9, "groups": [], "verdict": "none", "overview": []}')
    with serving(folder, worker=FAKE) as client:
        assert client.job(first)["state"] == "interrupted"
        assert (client.job("0" * 32)["state"], client.job("0" * 32)["found"]["rows"]) == ("done", 9)
        (client.folder(first) / "go").touch()
        client.post(f"/api/jobs/{first}/restart")
        assert client.wait_for(first)["state"] == "done"


@pytest.mark.parametrize("notes", ["", "[]", '{"name": "x"}', "{", '{"name": "x", "table": ""}'])
def test_a_damaged_job_can_only_be_deleted(tmp_path, notes):
    folder = tmp_path / ("a" * 32)
    folder.mkdir()
    (folder / "job.json").write_text(notes)
    (tmp_path / "notes.txt").write_text("not a job")
    with serving(tmp_path, worker=FAKE) as client:
        assert [job["id"] for job in client.get("/api/jobs").json()["jobs"]] == ["a" * 32]
        client.wait_for("a" * 32, "failed")
        one_line(client.post(f"/api/jobs/{'a' * 32}/restart"), 409)
        one_line(client.post(f"/api/jobs/{'a' * 32}/again", json={}), 409)
        assert client.delete(f"/api/jobs/{'a' * 32}").status_code == 204
    assert not folder.exists()


def test_a_taken_port_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1, port {port}"):
            serve(tmp_path, port=port)


# Strangers -----------------------------------------------------------------------------------------------------------


def test_the_page_and_its_headers(fake):
    for path, kind in (("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")):
        response = fake.get(path)
        assert response.headers["content-type"].startswith(kind)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'self'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in fake.get("/api/jobs").headers
    assert fake.get("/openapi.json").status_code == fake.get("/docs").status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8765", "localhost.evil", "", ":8765", "[::2]", "a@127.0.0.1"]
)
def test_other_hosts_are_refused(fake, host):
    assert "--allow-host" in one_line(fake.get("/api/jobs", headers={"Host": host}), 400)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"])
def test_names_of_this_machine_are_taken(fake, host):
    assert fake.get("/api/jobs", headers={"Host": host}).status_code == 200


def test_a_name_that_the_server_was_given_is_taken(tmp_path):
    with serving(tmp_path, worker=FAKE, hosts=["Tables.example", "fd00::7"]) as client:
        for host in ("tables.example", "[fd00::7]:80"):
            assert client.get("/", headers={"Host": host}).status_code == 200
        assert client.get("/", headers={"Host": "www.tables.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1:8765.evil.example"},
        {"Origin": "http://[evil"},
        {"Origin": "http://evil@127.0.0.1:8765"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_change_nothing(fake, headers):
    id = fake.begin("x")
    fake.wait_for(id)
    for method, path in (
        ("POST", "/api/uploads"),
        ("POST", "/api/jobs"),
        ("POST", f"/api/jobs/{id}/again"),
        ("POST", f"/api/jobs/{id}/restart"),
        ("POST", f"/api/jobs/{id}/cancel"),
        ("DELETE", f"/api/jobs/{id}"),
    ):
        assert "another site" in one_line(fake.request(method, path, headers=headers), 403)
    assert len(fake.get("/api/jobs").json()["jobs"]) == 1


def test_the_own_page_may_change_things(fake):
    headers = {"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
    response = fake.post("/api/jobs", json={"table": "iris"}, headers=headers)
    assert response.status_code == 201


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
    ("sent", "stored", "shown"),
    [
        ("pets.csv", "table.csv", "pets.csv"),
        ("PETS.CSV.GZ", "table.csv.gz", "PETS.CSV.GZ"),
        ("../../etc/passwd", "table.txt", "passwd"),
        ("C:\\data\\pets.xlsx", "table.xlsx", "pets.xlsx"),
        ("run.sh", "table.txt", "run.sh"),
        ("a.csv/../../b.py", "table.txt", "b.py"),
        ("x.csv\x00.py", "table.txt", "x.csv.py"),
        ("..", "table.txt", ".."),
        ("/", "table.txt", "table"),
        ("\u202egpj.csv\n", "table.txt", "gpj.csv"),
        ("é" * 500 + ".parquet", "table.parquet", "é" * 120),
        ("<img src=x onerror=alert(1)>.csv", "table.csv", "<img src=x onerror=alert(1)>.csv"),
    ],
)
def test_names_of_files_are_for_people_only(fake, sent, stored, shown):
    assert stored_name(sent) == stored
    assert shown_name(sent) == shown


def test_a_hostile_name_writes_its_own_folder_only(fake):
    id = fake.begin("x", name="../../../escape.csv")
    job = fake.wait_for(id)
    assert job["name"] == "escape.csv"
    assert (fake.folder(id) / "table.csv").read_text() == "x"
    home = fake.app.state.jobs.folder
    assert {path.name for path in home.iterdir()} == {id, ".lock"}
    assert {path.name for path in home.parent.iterdir()} == {home.name}


def test_the_size_of_a_table_is_limited_to_the_byte(fake):
    assert fake.upload(b"x" * 100_000).status_code == 201
    line = one_line(fake.upload(b"x" * 100_001), 413)
    assert line == "the table is larger than 0.1 MB; take fewer rows, or serve with a larger --max-size"
    assert one_line(fake.upload(b"x" * 10_000_000), 413) == line
    assert len(fake.get("/api/jobs").json()["jobs"]) == 1
    assert not list(fake.app.state.jobs.folder.glob(".new-*"))


@pytest.mark.parametrize("announced", [None, b"5"])
def test_a_body_without_end_is_refused_as_soon_as_it_is_too_large(fake, announced):
    """Against the application itself: a client of the tests would send the whole body first."""
    head = b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n'
    headers = [(b"host", b"localhost"), (b"content-type", b"multipart/form-data; boundary=X")]
    if announced is not None:
        headers.append((b"content-length", announced))
    taken, sent = [], []

    async def receive():
        taken.append(1)
        return {"type": "http.request", "body": head if len(taken) == 1 else b"x" * 10_000, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/uploads", "headers": headers, "query_string": b""}
    scope |= {"scheme": "http", "server": ("localhost", 80), "root_path": "", "raw_path": b"/api/uploads"}
    asyncio.run(fake.app(scope | {"asgi": {"version": "3.0"}, "http_version": "1.1"}, receive, send))
    assert sent[0]["status"] == 413
    assert len(taken) == 12  # the head, ten blocks that fit, one that does not
    assert not list(fake.app.state.jobs.folder.glob(".new-*"))


def test_other_requests_are_small(fake):
    line = one_line(fake.post("/api/jobs", content=b'{"table": "' + b"x" * 70_000 + b'"}'), 413)
    assert line == "the request is too large"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/csv"}, b"a,b\n1,2\n", 400),
        ({"Content-Type": "multipart/form-data"}, b"", 400),
        ({}, b"", 400),
        ({"Content-Type": f"multipart/form-data; boundary={'x' * 1000}"}, b"--x", 400),
        (BOUNDARY, b"", 400),
        (BOUNDARY, b"nothing of the kind", 400),
        (BOUNDARY, b"--X\r\n", 400),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\na,b\n', 400),
        (BOUNDARY, b"--X\r\nContent-Disposition\r\n\r\nx\r\n--X--\r\n", 400),
        (BOUNDARY, b"--X\r\n\x00\xff: y\r\n\r\nx\r\n--X--\r\n", 400),
        (BOUNDARY, b"--X\r\n\r\nx\r\n--X--\r\n", 422),
        (BOUNDARY, b"--X--\r\n", 422),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--X--\r\n', 422),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"\r\n\r\n1\r\n--X--\r\n', 422),
    ],
)
def test_malformed_uploads_get_one_line_and_leave_nothing(fake, headers, body, status):
    one_line(fake.post("/api/uploads", content=body, headers=headers), status)
    assert {path.name for path in fake.app.state.jobs.folder.iterdir()} == {".lock"}


@pytest.mark.parametrize("settings", [{"clusters": "x"}, {"clusters": "0"}, {"clusters": "1e3"}, {"folder": "/etc"}])
def test_wrong_settings_get_one_line_and_leave_nothing(fake, settings):
    assert next(iter(settings)) in one_line(fake.upload("x", **settings), 422)
    fields = b"".join(b'--X\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n1\r\n' % i for i in range(20))
    assert "more than 10 fields" in one_line(
        fake.post("/api/uploads", content=fields + b"--X--\r\n", headers=BOUNDARY), 422
    )
    part = b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\nx\r\n'
    assert "two tables" in one_line(fake.post("/api/uploads", content=2 * part + b"--X--\r\n", headers=BOUNDARY), 422)
    assert {path.name for path in fake.app.state.jobs.folder.iterdir()} == {".lock"}


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
