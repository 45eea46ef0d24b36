"""``gramian info``, ``serve`` and ``reproduce``."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import gramian
from cli.conftest import error_of

pytest_plugins = ["exploration.conftest"]


def test_info(run, explored):
    printed = run("info", explored[2] / "model.gramian").stdout
    assert f"gramian: {gramian.__version__}" in printed
    assert "groups: 3" in printed
    assert "age" in json.loads(run("info", explored[2] / "model.gramian", "--json").stdout)["columns"]


def test_models_of_other_kinds(run):
    from gramian import KernelPCA
    from gramian.exploration.model import TableModel
    from gramian.tables.prepare import Preparation

    gramian.save(KernelPCA(), "pca.gramian")
    assert "KernelPCA" in run("info", "pca.gramian").stdout
    assert "not what explore writes" in error_of(run("rank", "pca.gramian", "--like", 1))
    gramian.save(TableModel(Preparation()), "old.gramian")
    assert "explore the table again" in error_of(run("rank", "old.gramian", "--like", 1))
    with open("broken.gramian", "wb") as file:
        file.write(b"no zip")
    assert "broken.gramian" in error_of(run("info", "broken.gramian"))


def test_reproduce_lists_experiments(run, monkeypatch):
    monkeypatch.chdir(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    result = run("reproduce")
    assert "pckid_wine" in result.output


def test_serve_answers_and_ends_politely(tmp_path):
    command = [sys.executable, "-m", "gramian", "serve", "--folder", str(tmp_path / "jobs"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        url = re.search(r"http://[\d.:]+\S*", process.stdout.readline())[0]
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert b"<html" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)
    finally:
        process.kill()
        process.communicate()


def test_serve_names_its_limits(run):
    printed = run("serve", "--help").output
    for option in ("--keep", "--keep-size", "--max-size", "--time-limit", "--memory-limit"):
        assert option in printed
