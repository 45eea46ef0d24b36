"""What all commands share: errors of one line, names, help, and what is left when they break off."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gramian
from cli.conftest import error_of
from exploration.conftest import customers
from tables.malformed_files import write_refused

pytest_plugins = ["exploration.conftest"]


def test_files_that_are_not_there(run, explored, tmp_path):
    assert error_of(run("info", "no.gramian")) == "gramian: no.gramian: No such file or directory; check the path"
    customers(5)[0].to_csv("new.csv", index=False)
    model = explored[2] / "model.gramian"
    assert "is a folder; name a file" in error_of(run("assign", model, "new.csv", "--out", tmp_path, "--force"))


def test_malformed_files(run, tmp_path):
    """One line that names the file and what is wrong, exit code 2, and nothing written."""
    refused = write_refused(tmp_path)
    assert len(refused) >= 20
    before = sorted(tmp_path.iterdir())
    for path, message in refused.values():
        line = error_of(run("explore", path))
        assert re.search(re.escape(path.name) + message, line), line
    assert sorted(tmp_path.iterdir()) == before


def test_names_with_commas(run, tmp_path):
    (tmp_path / "t.csv").write_text('"size, cm",b,c\n' + "".join(f"{i % 5}.5,{i % 3}.5,{i % 2}\n" for i in range(30)))
    found = json.loads(run("explore", "t.csv", "--ignore", '"size, cm", c', "--json").stdout)
    assert [column["name"] for column in found["columns"] if column["kind"] == "ignored"] == ["size, cm", "c"]


@pytest.mark.parametrize("command", [["explore"], ["network"], []])
def test_help_shows_no_value_for_flags(run, command):
    """A flag takes no value, so that none must stand behind it in the help."""
    for line in run(*command, "--help").stdout.splitlines():
        if re.search(r"--(force|json|quiet|levels|unweighted|version)\b", line):
            assert "<bool>" not in line


def test_help_has_examples(run):
    assert "gramian explore data.csv" in run("explore", "--help").output
    assert {"explore", "assign", "rank", "info", "reproduce", "serve"} <= set(run("--help").output.split())
    assert gramian.__version__ in run("--version").output
    as_module = [sys.executable, "-m", "gramian", "--version"]
    assert subprocess.run(as_module, capture_output=True, text=True, check=True).stdout == run("--version").output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_broken_off_at_any_moment(tmp_path, number, code):
    """No partial output, and the next run works: drafts of a killed process are cleared."""
    customers(300)[0].to_csv(tmp_path / "t.csv", index=False)
    command = [sys.executable, "-m", "gramian", "explore", "t.csv", "--out", "out", "--quiet"]
    rng = np.random.default_rng(int(number))
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(rng.uniform(1.0, 5.0))
    process.send_signal(number)  # nothing happens if it has ended by now
    process.communicate()
    if not (tmp_path / "out").exists():
        assert process.returncode in (code, -number)  # the signal itself, while Python is still starting
    shown = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert shown <= {"t.csv", "out"}
    done = subprocess.run([*command, "--force"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "out"}


BLOCKED = """
import json, sys

APP = {"fastapi", "jinja2", "matplotlib", "openpyxl", "pandas", "pyarrow", "python_multipart", "starlette", "uvicorn"}


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in APP:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Finder())
from gramian_command import main

for arguments in json.loads(sys.argv[1]):
    sys.argv = ["gramian", *arguments]
    try:
        main()
    except SystemExit as end:
        print("code", end.code, file=sys.stderr, flush=True)
"""


INTERRUPTED = """
import os, signal, sys

module, sys.argv = sys.argv[1], ["gramian", "explore", "nothing.csv"]


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Finder())
from gramian_command import main

main()
"""


def test_without_the_extra_every_command_names_it(explored, tmp_path):
    """A plain installation has no pandas: one line that says what to install, exit code 2, no traceback."""
    model = str(explored[2] / "model.gramian")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    commands = [["explore"], ["explore", "t.csv"], ["assign", model, "t.csv"], ["serve", "--port", "0"]]
    lighter = [["rank", model, "--like", "1"], ["info", model], ["--help"], ["--version"]]
    command = [sys.executable, "-c", BLOCKED, json.dumps(commands + lighter)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert len(lines) == 2 * len(commands) + len(lighter), done.stderr
    pattern = r"gramian: this command needs \w+, which is not installed; run pip install 'gramian\[app\]'"
    for message, code in zip(lines[: 2 * len(commands) : 2], lines[1 : 2 * len(commands) : 2], strict=True):
        assert re.fullmatch(pattern, message)
        assert code == "code 2"
    assert lines[2 * len(commands) :] == ["code 0"] * len(lighter)


@pytest.mark.parametrize(
    ("module", "said"),
    [("gramian.cli", ""), ("sklearn", "gramian: stopped\n"), ("gramian.report", "gramian: stopped\n")],
)
def test_an_interrupt_while_libraries_load_is_quiet(tmp_path, module, said):
    """Ctrl-C at the import of a library: no traceback, exit code 130."""
    command = [sys.executable, "-c", INTERRUPTED, module]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


def test_a_missing_library_of_no_extra_keeps_its_traceback(run, monkeypatch):
    """A module that nobody promised is a fault of the installation, not of the user."""

    def broken(*_, **__):
        raise ModuleNotFoundError("No module named 'nobody'", name="nobody")

    monkeypatch.setattr("gramian.explorer.read_table", broken)
    assert isinstance(run("explore", "t.csv").exception, ModuleNotFoundError)
