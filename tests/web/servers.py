"""Servers on temporary folders, and a way to wait for them that ends."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from starlette.testclient import TestClient

from gramian.web.app import create_app

FAKE = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))
SERVER = """
import sys
from gramian.web import serve

serve(sys.argv[1], port=0, patience=float(sys.argv[2]), worker=sys.argv[3:], ready=lambda url: print(url, flush=True))
"""
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=X"}
ENDED = ("done", "failed", "cancelled", "interrupted")


def wait_until(question, seconds=120):
    """The first answer that is true. The deadline is for machines that are busy with other work."""
    deadline = time.monotonic() + seconds
    while True:
        if answer := question():
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"still {answer!r} after {seconds} seconds")
        time.sleep(0.02)


class Client(TestClient):
    """A client with a few words for what a person does."""

    def upload(self, content, name="table.csv", **settings):
        return self.post("/api/uploads", files={"file": (name, content)}, data=settings)

    def begin(self, content, **settings):
        """Upload, and the identifier of the job."""
        response = self.upload(content, **settings)
        assert response.status_code == 201, response.text
        return response.json()["id"]

    def job(self, id):
        return self.get(f"/api/jobs/{id}").json()

    def wait_for(self, id, *states):
        """The job once it is in one of the states; by default once it has ended."""

        def reached():
            job = self.job(id)
            return job if job["state"] in (states or ENDED) else None

        return wait_until(reached)

    def folder(self, id):
        return self.app.state.jobs.folder / id


@contextmanager
def serving(folder, **options):
    with Client(create_app(folder, **options), base_url="http://127.0.0.1:8765") as client:
        yield client


def flowers(n_rows=30):
    """A table of two kinds of flowers as CSV, with names, holes and a category."""
    random = np.random.default_rng(0)
    kind = np.arange(n_rows) % 2
    length, width = 4 + 3 * kind + 0.3 * random.standard_normal((2, n_rows))
    colour = np.where(kind, "red", "blue")
    lines = ["id,length,width,colour"]
    for i in range(n_rows):
        lines.append(f"F{i:03d},{length[i]:.3f},{'' if i % 9 == 4 else f'{width[i]:.3f}'},{colour[i]}")
    return "\n".join(lines) + "\n"


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
