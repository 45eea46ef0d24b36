"""The seeds: repeatable from an int, advancing from a generator, independent between children."""

import numpy as np
import pytest

from gramian.randomness import generator, spawn


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), np.uint8(200), 2**70])
def test_an_int_seeds_numpys_default_generator(seed):
    """Any int, Python's or NumPy's, gives the stream numpy.random.default_rng gives for it."""
    np.testing.assert_array_equal(generator(seed).random(5), np.random.default_rng(int(seed)).random(5))


def test_a_generator_is_used_not_copied():
    """A Generator is handed back itself, so draws inside a function advance the caller's stream."""
    rng = np.random.default_rng(1)
    assert generator(rng) is rng


def test_a_random_state_seeds_by_drawing():
    """Equal RandomStates give equal generators; a second call on the same one gives another stream."""
    state = np.random.RandomState(5)
    first, second = generator(state).random(4), generator(state).random(4)
    np.testing.assert_array_equal(first, generator(np.random.RandomState(5)).random(4))
    assert not np.array_equal(first, second)


def test_none_takes_fresh_entropy():
    """Without a seed two generators differ."""
    assert not np.array_equal(generator(None).random(4), generator().random(4))


@pytest.mark.parametrize("seed", [1.0, "1", True, np.True_, [1, 2], -1, np.int64(-3)])
def test_anything_else_is_refused_by_name(seed):
    """A float, text, bool, list or negative int raises an error that names random_state and the way out."""
    with pytest.raises(ValueError, match=r"random_state=.*pass an int >= 0"):
        generator(seed)


def test_children_keep_their_place_when_more_are_spawned():
    """The first children do not depend on how many follow."""
    few, many = spawn(3, 2), spawn(3, 5)
    for a, b in zip(few, many, strict=False):
        np.testing.assert_array_equal(a.random(3), b.random(3))


def test_children_are_those_of_the_seed_sequence():
    """Children are the SeedSequence children of the seed, hence independent streams."""
    expected = [np.random.default_rng(s).random() for s in np.random.SeedSequence(9).spawn(4)]
    assert [child.random() for child in spawn(9, 4)] == expected
    assert len(set(expected)) == 4


def test_a_generator_spawns_new_children_each_time():
    """Spawning twice from one Generator never repeats a child."""
    rng = np.random.default_rng(0)
    draws = [child.random() for child in spawn(rng, 3) + spawn(rng, 3)]
    assert len(set(draws)) == 6


def test_no_children_and_a_negative_number_of_children():
    """Zero children is an empty list; fewer is an error."""
    assert spawn(0, 0) == []
    with pytest.raises(ValueError, match="n=-1"):
        spawn(0, -1)
