"""Workers call functions in order, hold few results, survive the death of one of them, and say what is wrong."""

import importlib
import operator
import os
import signal
import time

import dask
import pytest

from gramian.workers import open_workers


def once_killed(path, number):
    """Dies the first time that it is called for the third number."""
    if number == 3 and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def always_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def length_of(value, number):
    return len(value) + number


def interrupts():
    return "passed over" if signal.getsignal(signal.SIGINT) == signal.SIG_IGN else "taken"


def tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


@pytest.fixture(scope="module")
def workers():
    importlib.import_module("distributed")  # brings the settings that come back at the end
    # A call is given up with its second worker rather than the fourth: starting one takes seconds.
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), open_workers(2) as opened:
        yield opened


def test_interrupts_reach_the_command_and_not_its_workers(workers):
    """A terminal sends Ctrl-C to all processes of a command, of which one is to say that it stopped."""
    assert set(workers.client.run(interrupts).values()) == {"passed over"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_results_come_in_order_and_few_are_held(workers):
    """Neither workers nor the scheduler hold more for more calls: four calls for two workers."""
    told, held, results = [], [], []
    for result in workers.in_order(operator.mul, [(i, i) for i in range(40)], told.append):
        results.append(result)
        held.append(workers.client.run_on_scheduler(tasks))
    assert results == [i * i for i in range(40)]
    assert told == [(i + 1) / 40 for i in range(40)]
    assert max(held) <= 6  # two may not have been forgotten yet


def test_a_shared_value_is_an_argument_of_many_calls(workers):
    shared = workers.share(list(range(5)))
    assert list(workers.in_order(length_of, [(shared, i) for i in range(3)])) == [5, 6, 7]
    assert list(workers.in_order(length_of, [])) == []


def test_errors_come_as_they_are_and_nothing_goes_on(workers):
    with pytest.raises(ZeroDivisionError):
        list(workers.in_order(operator.truediv, [(1, i) for i in (2, 1, 0, 4, 5, 6, 7, 8)]))
    for _ in range(100):
        if not workers.client.run_on_scheduler(tasks):
            break
        time.sleep(0.05)
    assert not workers.client.run_on_scheduler(tasks)


def test_a_worker_that_is_killed_changes_nothing(workers, tmp_path):
    path = str(tmp_path / "killed")
    assert list(workers.in_order(once_killed, [(path, i) for i in range(6)])) == list(range(6))
    assert os.path.exists(path)


def test_a_call_that_kills_its_workers_is_given_up(workers):
    with pytest.raises(ConnectionError, match=r"several workers died at the same file.*smaller files"):
        list(workers.in_order(always_killed, [()]))


def test_a_running_scheduler_is_used(workers):
    with open_workers(scheduler=workers.client.scheduler.address) as others:
        assert list(others.in_order(operator.add, [(1, 2)])) == [3]


def test_wrong_arguments_are_refused_before_anything_starts():
    with (
        pytest.raises(ValueError, match="workers=2 and scheduler='tcp://here:1' exclude each other"),
        open_workers(2, "tcp://here:1"),
    ):
        pass
    with pytest.raises(ValueError, match="workers=0"), open_workers(0):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_scheduler_that_does_not_answer_is_not_left_the_default_one(monkeypatch, address):
    monkeypatch.setattr("gramian.workers._ANSWER", 1)
    with dask.config.set(scheduler="synchronous"):
        with (
            pytest.raises(ConnectionError, match=f"no Dask scheduler answers at {address} within"),
            open_workers(scheduler=address),
        ):
            pass
        assert dask.config.get("scheduler") == "synchronous"
