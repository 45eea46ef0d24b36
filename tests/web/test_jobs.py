"""The queue: jobs run one at a time, end as they should, outlive the server, and do not fill the disk."""

import json
import os
import signal
import subprocess
import sys

import httpx2
import psutil
import pytest

from gramian.web.jobs import Jobs
from web.servers import FAKE, SERVER, is_gone, one_line, serving, wait_until


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
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder), "15", *FAKE], stdout=subprocess.PIPE, text=True
    )
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
    (second / "result" / "summary.json").write_text('{"rows": 9, "groups": [], "overview": []}')
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


def test_group_again_is_a_job_of_its_own_on_the_same_table(fake):
    first = fake.begin("x", name="flowers.csv", ignore="id", missing="-1, -9")
    other = fake.post(f"/api/jobs/{first}/again", json={"clusters": 3}).json()["id"]
    assert (fake.wait_for(first)["found"]["groups"], fake.wait_for(other)["found"]["groups"]) == (1, 3)
    before, after = (json.loads((fake.folder(id) / "job.json").read_text()) for id in (first, other))
    for name in ("name", "table", "kind"):
        assert before[name] == after[name]
    assert before["settings"] == {"clusters": None, "ignore": ["id"], "missing": ["-1", "-9"]}
    assert after["settings"] == before["settings"] | {"clusters": 3}
    assert fake.job(other)["asked"] == "3 groups asked for"
    # One file on disk, which counts once, and stays as long as one of them needs it.
    assert (fake.folder(first) / "table.csv").samefile(fake.folder(other) / "table.csv")
    assert fake.delete(f"/api/jobs/{first}").status_code == 204
    assert (fake.folder(other) / "table.csv").read_text() == "x"
    for wrong in (0, -1, "x", 1.5, 10**9):
        assert "clusters" in one_line(fake.post(f"/api/jobs/{other}/again", json={"clusters": wrong}), 422)


# Room on the disk ----------------------------------------------------------------------------------------------------


def ended_jobs(folder, sizes, **limits):
    """A queue on a folder of jobs that have ended one after the other, with tables of these sizes."""
    for place, size in enumerate(sizes):
        own = folder / f"{place:032x}"
        own.mkdir(parents=True)
        (own / "table.csv").write_bytes(bytes(size))
        notes = {
            "id": own.name,
            "name": "t",
            "table": "table.csv",
            "state": "done",
            "created": 1.0,
            "ended": place + 2.0,
        }
        (own / "job.json").write_text(json.dumps(notes | {"ended": place + 2.0}))
    return Jobs(folder, time_limit=60, memory_limit=2**30, worker=FAKE, **limits)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [({"keep": 2}, [2, 3]), ({"keep": 9}, [0, 1, 2, 3]), ({"keep_bytes": 75_000}, [2, 3]), ({"keep_bytes": 1}, [3])],
)
def test_the_oldest_jobs_expire(tmp_path, limits, kept):
    """The newest N, or as many as fit into B bytes, are kept; the newest in any case."""
    jobs = ended_jobs(tmp_path, [30_000] * 4, **limits)
    jobs.open()
    jobs.close()
    assert sorted(int(job.id, 16) for job in jobs) == kept
    assert sorted(int(path.name, 16) for path in tmp_path.iterdir() if path.name != ".lock") == kept


def test_a_shared_table_counts_once(tmp_path):
    jobs = ended_jobs(tmp_path, [0, 50_000], keep_bytes=60_000)
    first, second = (tmp_path / f"{place:032x}" / "table.csv" for place in (0, 1))
    first.unlink()
    os.link(second, first)
    jobs.open()
    jobs.close()
    assert len(list(jobs)) == 2


def test_jobs_expire_when_others_end(tmp_path):
    with serving(tmp_path, worker=FAKE, keep=2) as client:
        begun = []
        for _ in range(3):
            begun.append(client.begin("x"))
            client.wait_for(begun[-1])
        wait_until(lambda: len(client.get("/api/jobs").json()["jobs"]) == 2)
        assert {job["id"] for job in client.get("/api/jobs").json()["jobs"]} == set(begun[1:])


def test_the_queue_is_bounded(tmp_path):
    """Waiting jobs are not deleted, so there is an end to how many may wait, and to the bytes of their tables."""
    with serving(tmp_path, worker=FAKE, keep=2, keep_bytes=10**6) as client:
        client.wait_for(client.begin("wait"), "running")
        client.begin("wait"), client.begin("wait")
        assert one_line(client.upload("wait"), 507).startswith("2 explorations are waiting")
    with serving(tmp_path / "bytes", worker=FAKE, keep_bytes=10_000) as client:
        client.wait_for(client.begin("wait"), "running")
        client.begin(b"wait" + b" " * 9_000)
        assert "no room for more" in one_line(client.upload(b"wait" + b" " * 9_000), 507)


@pytest.mark.parametrize(("name", "value"), [("keep", 0), ("keep", 1.5), ("keep_bytes", -1)])
def test_limits_are_whole_numbers(tmp_path, name, value):
    with pytest.raises(ValueError, match=f"{name}={value} must be a whole number >= 1"):
        ended_jobs(tmp_path, [], **{name: value})
