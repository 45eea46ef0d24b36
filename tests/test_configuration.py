"""The settings: sizes as people write them, changed for good or for a while, and refused by name."""

import os
import re

import pytest

import gramian
from gramian import MemoryBudgetError, config
from gramian.configuration import memory_budget, require_memory, threads


@pytest.fixture(autouse=True)
def restored():
    """The settings of before, whatever a test changes."""
    with config():
        yield


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1000, 1000),
        (2.5e3, 2500),
        ("123", 123),
        ("12b", 12),
        ("2GB", 2_000_000_000),
        ("1.5 gb", 1_500_000_000),
        ("512MiB", 512 * 2**20),
        (" 3 KiB ", 3072),
        ("1k", 1000),
        ("1T", 10**12),
    ],
)
def test_sizes(text, size):
    """A size is a number of bytes or a number with a decimal or binary unit."""
    assert config(memory_budget=text).memory_budget == size
    assert memory_budget() == size


@pytest.mark.parametrize("bad", ["big", "", "GB", "2 GB extra", "-1GB", 0, -5, float("nan"), "0GB"])
def test_bad_sizes(bad):
    """Anything else is refused with its value and an example, and nothing changes."""
    before = memory_budget(), threads()
    with pytest.raises(ValueError, match=r"memory_budget=.*write it like '2GB' or 2e9"):
        config(memory_budget=bad, threads=7)
    assert (memory_budget(), threads()) == before


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two"])
def test_bad_threads(bad):
    """Threads are a positive whole number."""
    with pytest.raises(ValueError, match=r"threads=.* must be a positive whole number"):
        config(threads=bad)


def test_with_block_restores():
    """Inside a with block the settings hold; after it, also after an error, the former ones are back."""
    before = memory_budget(), threads()
    with config(memory_budget="1GB", threads=3) as settings:
        assert (settings.memory_budget, settings.threads) == (10**9, 3)
        with config(threads=5):
            assert (memory_budget(), threads()) == (10**9, 5)
        assert threads() == 3
    assert (memory_budget(), threads()) == before
    with pytest.raises(RuntimeError, match="inside"), config(memory_budget=1):
        raise RuntimeError("inside")
    assert memory_budget() == before[0]


def test_a_plain_call_lasts():
    """Without a with block the setting stays, and reading changes nothing."""
    config(memory_budget=777)
    assert memory_budget() == 777
    assert config().memory_budget == 777
    assert "memory_budget=777" in repr(config())


def test_defaults():
    """By default the budget is at most a quarter of the machine's memory and the threads are the usable cores."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < memory_budget() <= physical // 4 + 1
    assert threads() == len(os.sched_getaffinity(0))


def test_require_memory():
    """What fits passes; what does not is refused before it is allocated, naming sizes and both ways out."""
    with config(memory_budget="1MB"):
        require_memory(1e6, "a matrix", "use less")
        with pytest.raises(MemoryBudgetError) as caught:
            require_memory(2e6, "a matrix", "use less")
    message = (
        r"a matrix needs (0\.002 G|2 M)B, above the memory budget of (0\.001 G|1 M)B; use less, or raise the budget "
    )
    assert re.fullmatch(message + r"with gramian\.config\(memory_budget=\.\.\.\)", str(caught.value))
    assert isinstance(caught.value, MemoryError)
    assert gramian.MemoryBudgetError is MemoryBudgetError


def test_a_task_of_a_dask_worker_has_its_share(cluster):
    """One thread and a quarter of the worker's memory; settings of the user count more."""
    worker = next(iter(cluster.cluster.workers.values()))
    here = threads(), memory_budget()
    assert cluster.submit(threads, pure=False).result() == 1
    found = cluster.submit(memory_budget, pure=False).result()
    assert found == int(worker.memory_manager.memory_limit / 4)
    assert (threads(), memory_budget()) == here
    with config(threads=3, memory_budget="1GB"):  # of this process, which the workers are in
        assert cluster.submit(threads, pure=False).result() == 3
        assert cluster.submit(memory_budget, pure=False).result() == 1_000_000_000
