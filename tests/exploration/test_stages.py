"""Stages are told in order, with the part of the work before each, and timed."""

import pytest

from gramian.exploration.stages import Stages


def test_stages_are_told_and_timed():
    told = []
    stages = Stages({"a": 1, "b": 2, "c": 1}, lambda name, done: told.append((name, done)))
    for name in "abc":
        with stages(name):
            pass
    assert told == [("a", 0.0), ("b", 0.25), ("c", 0.75), ("", 1.0)]
    assert list(stages.seconds) == ["a", "b", "c"]
    assert all(seconds >= 0 for seconds in stages.seconds.values())


def test_a_stage_that_fails_is_not_done():
    told = []
    stages = Stages({"a": 1, "b": 1}, lambda name, done: told.append(done))
    with pytest.raises(KeyError), stages("a"):
        raise KeyError
    with stages("b"):
        pass
    assert told == [0.0, 0.0]
    assert list(stages.seconds) == ["b"]


def test_nobody_need_be_told():
    stages = Stages({"a": 1})
    with stages("a"):
        pass
    assert set(stages.seconds) == {"a"}
