"""Work beside this process: the same results as here, errors as here, and nothing left running."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gramian.configuration import threads
from gramian.second_process import has_second_process, second_process, start


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """As a program is that has just begun, whatever threads other tests have left."""
    monkeypatch.setattr("gramian.second_process.threading.active_count", lambda: 1)
    monkeypatch.setattr("gramian.second_process.threads", lambda: 2)


def squares(x):
    return x**2, os.getpid(), threads()


def refuse(value):
    raise ValueError(f"{value} is refused")


def unsendable():
    return lambda: None


def end():
    if os.getpid() != int(os.environ["GRAMIAN_TEST_PROCESS"]):
        os._exit(3)
    return "here"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_work_is_done_by_another_process_with_one_thread():
    x = np.arange(1e5)  # more than a pipe holds
    with second_process():
        assert has_second_process()
        results = [start(squares, x + i) for i in range(5)]
        for i in (3, 0, 4, 1, 2):  # in whatever order they are asked for
            found, process, workers = results[i]()
            np.testing.assert_array_equal(found, (x + i) ** 2)
            assert process != os.getpid()
            assert workers == 1
        np.testing.assert_array_equal(results[0]()[0], x**2)  # and again
    assert not has_second_process()


def test_without_it_work_is_done_when_asked_for_and_once():
    calls = []
    result = start(calls.append, 1)
    assert calls == []
    result()
    result()
    assert calls == [1]


def test_errors_come_back_and_the_next_work_is_done():
    with second_process():
        refused, lost, done = start(refuse, 3), start(unsendable), start(abs, -2)
        with pytest.raises(ValueError, match="3 is refused"):
            refused()
        if has_second_process():
            with pytest.raises((AttributeError, TypeError), match="pickle"):
                lost()
        assert done() == 2


def test_a_process_that_is_killed_is_done_without(monkeypatch):
    monkeypatch.setenv("GRAMIAN_TEST_PROCESS", str(os.getpid()))
    with second_process():
        lost = start(end)
        assert lost() == "here"
        assert start(end)() == "here"


def test_none_where_there_are_other_threads(monkeypatch):
    monkeypatch.undo()
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    try:
        with second_process():
            assert not has_second_process()
            assert start(abs, -1)() == 1
    finally:
        wait.set()
        thread.join()


def test_one_inside_another_is_the_same():
    with second_process():
        outer = start(os.getpid)()
        with second_process():
            assert start(os.getpid)() == outer
        assert start(os.getpid)() == outer


PROGRAM = """
import os, sys, time
from gramian.second_process import second_process, start

with second_process():
    print(start(os.getpid)(), flush=True)
    start(time.sleep, 60)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_the_first_process(number):
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        second = int(process.stdout.readline())
    finally:
        process.send_signal(number)
        process.communicate()
    for _ in range(200):
        if not _runs(second):
            break
        time.sleep(0.05)
    assert not _runs(second)


def _runs(process):
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
