"""FURS against the published procedure written as a loop."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramian.datasets import make_planted_graph
from gramian.landmarks import furs
from gramian.landmarks.furs import by_rounds


def random_graph(seed, n=40, density=0.12):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < density, 1).astype(float)
    return A + A.T


def textbook(A, n_select, least):
    """Rounds of selected nodes, one after the other."""
    degrees = A.sum(axis=1)
    waiting = sorted((i for i in range(len(A)) if degrees[i] >= least), key=lambda i: (-degrees[i], i))
    rounds, count = [], 0
    while waiting and count < n_select:
        aside, taken = [], []
        for i in waiting:
            if any(A[i, j] for j in taken):
                aside.append(i)
            elif count < n_select:
                taken.append(i)
                count += 1
        rounds.append(taken)
        waiting = aside
    return rounds


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_selection_is_the_published_one(seed, n_select):
    """The nodes of the loop, in its order; no two of a round are adjacent; the array form gives the same."""
    A = random_graph(seed)
    rounds = textbook(A, n_select, -np.inf)
    expected = [i for taken in rounds for i in taken]
    np.testing.assert_array_equal(furs(A, n_select, threshold=-np.inf), expected)
    order = np.argsort(-A.sum(axis=1), kind="stable")
    np.testing.assert_array_equal(by_rounds(csr_array(A), order, n_select), expected)
    for taken in rounds:
        assert not A[np.ix_(taken, taken)].any()


def test_nodes_at_the_median_are_candidates():
    """In a ring all degrees are the median, and all nodes can be selected."""
    ring = np.roll(np.eye(10), 1, axis=1)
    ring += ring.T
    np.testing.assert_array_equal(furs(ring, 10), [0, 2, 4, 6, 8, 1, 3, 5, 7, 9])


def test_shorter_selections_are_prefixes_and_excluded_nodes_stay_out():
    A, _ = make_planted_graph(500, 5, random_state=0)
    first = furs(A, 100)
    np.testing.assert_array_equal(furs(A, 40), first[:40])
    second = furs(A, 100, exclude=first)
    assert not set(first) & set(second)
    np.testing.assert_array_equal(second, furs(A, 100, exclude=np.isin(np.arange(500), first)))


def test_self_loops_and_weights():
    """A loop neither counts as a degree nor blocks its node; weights order the nodes."""
    A = random_graph(3)
    np.testing.assert_array_equal(furs(A + 5 * np.eye(40), 20), furs(A, 20))
    A[7] *= 100
    A[:, 7] *= 100
    assert furs(A, 1)[0] == 7


def test_all_communities_are_covered():
    """A few per cent of the nodes come from every planted community."""
    A, y = make_planted_graph(2000, 11, random_state=1)
    assert len(set(y[furs(A, 100)])) == 11


def test_without_numba_the_answer_is_the_same(monkeypatch):
    A, _ = make_planted_graph(300, 3, random_state=0)
    expected = furs(A, 50)
    monkeypatch.setitem(sys.modules, "gramian.landmarks._furs_loops", None)
    np.testing.assert_array_equal(furs(A, 50), expected)


def test_too_few_candidates_warn():
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1
    with pytest.warns(UserWarning, match="only 1 nodes reach the degree 2"):
        assert list(furs(star, 3, threshold=2)) == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_select": 0}, "n_select"),
        ({"n_select": 41}, "n_select=41 is more than 40"),
        ({"threshold": "mean"}, "threshold"),
        ({"threshold": np.nan}, "threshold"),
        ({"exclude": [50]}, "exclude"),
        ({"exclude": [0.5]}, "exclude"),
        ({"adjacency": np.ones((2, 3))}, "square"),
    ],
    ids=str,
)
def test_bad_input(options, message):
    arguments = {"adjacency": random_graph(0), "n_select": 3} | options
    with pytest.raises(ValueError, match=message):
        furs(arguments.pop("adjacency"), arguments.pop("n_select"), **arguments)


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(weight):
    with pytest.raises(ValueError, match="adjacency has weights that are NaN or infinite"):
        furs([[0, weight], [weight, 0]], 1)
