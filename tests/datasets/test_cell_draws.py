"""Draws of cells: right in number and frequency, and never a row or column emptied unless that is allowed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gramian.datasets.cell_draws import draw_count, draw_independently, newly_empty


def possible(candidates, observed):
    """The most cells that can be drawn with no line emptied, by trying all sets of cells."""
    places = np.argwhere(candidates)
    for count in range(len(places), -1, -1):
        for chosen in itertools.combinations(places.tolist(), count):
            removed = np.zeros(candidates.shape, bool)
            for i, j in chosen:
                removed[i, j] = True
            left = observed & ~removed
            if all(np.array_equal(left.any(axis=axis), observed.any(axis=axis)) for axis in (0, 1)):
                return count
    return 0


masks = st.integers(0, 2**32).map(
    lambda seed: (lambda rng: (rng.random((3, 3)) < 0.8, rng.random((3, 3)) < 0.8))(np.random.default_rng(seed))
)


@given(masks, st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_as_many_as_can_be_drawn(pair, seed):
    """Up to the largest number that leaves every line a value, and not one more."""
    observed, other = pair
    candidates = observed & other
    most = possible(candidates, observed)
    rng = np.random.default_rng(seed)
    for count in range(most + 1):
        removed = draw_count(candidates, observed, count, rng, rate=0.5, allow_empty=False)
        assert removed.sum() == count
        assert not (removed & ~candidates).any()
        assert not newly_empty(observed, removed, 0)
        assert not newly_empty(observed, removed, 1)
    with pytest.raises(ValueError, match=rf"rate=0.5 asks for {most + 1} more holes, {most} are possible without"):
        draw_count(candidates, observed, most + 1, rng, rate=0.5, allow_empty=False)


def test_every_cell_may_be_drawn_if_lines_may_be_emptied():
    cells = np.ones((3, 4), bool)
    removed = draw_count(cells, cells, 12, np.random.default_rng(0), rate=1.0, allow_empty=True)
    assert removed.all()
    with pytest.raises(ValueError, match="13 more holes, 12 are possible; pass a lower rate"):
        draw_count(cells, cells, 13, np.random.default_rng(0), rate=1.0, allow_empty=True)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_counts_are_drawn_evenly(allow_empty):
    """On a symmetric table all cells are drawn equally often."""
    cells, rng = np.ones((4, 4), bool), np.random.default_rng(1)
    mean = np.mean([draw_count(cells, cells, 6, rng, rate=0.4, allow_empty=allow_empty) for _ in range(2000)], axis=0)
    assert_allclose(mean, 6 / 16, atol=0.05)


def test_chances_are_kept():
    """Cells are drawn with their own chances, others never, and lines are emptied only if that is allowed."""
    rng = np.random.default_rng(2)
    observed = np.ones((5, 3), bool)
    candidates = observed.copy()
    candidates[:, 2] = False
    chance = np.broadcast_to([0.2, 0.7, 0.9], (5, 3))
    draws = np.array([draw_independently(candidates, observed, chance, rng, allow_empty=True) for _ in range(2000)])
    assert_allclose(draws.mean(axis=0), np.broadcast_to([0.2, 0.7, 0], (5, 3)), atol=0.05)
    certain = np.ones((5, 2))
    everything = draw_independently(observed[:, :2], observed[:, :2], certain, rng, allow_empty=True)
    assert everything.all()
    kept = ~draw_independently(observed[:, :2], observed[:, :2], certain, rng, allow_empty=False)
    assert kept.any(axis=0).all()
    assert kept.any(axis=1).all()
    assert kept.sum() <= 6  # five rows need one each, and the columns at most one more


def test_newly_empty():
    """A line counts that held something and holds nothing now, not one that was empty before."""
    observed = np.array([[True, True], [False, False]])
    assert not newly_empty(observed, np.array([[True, False], [False, False]]), 1)
    assert newly_empty(observed, np.array([[True, False], [False, False]]), 0)
    assert newly_empty(observed, observed, 1)
    assert not newly_empty(observed, ~observed, 1)
