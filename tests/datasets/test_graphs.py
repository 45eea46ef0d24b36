"""Generated networks have the edges they promise."""

import numpy as np
import pytest

from gramian.datasets import make_block_graph, make_planted_graph


def is_simple(A):
    return (A != A.T).nnz == 0 and not A.diagonal().any() and (A.data == 1).all() and A.has_canonical_format


def test_planted_graph():
    """Mean degree and the share of edges inside are those asked for, within their spread; sizes are equal."""
    A, y = make_planted_graph(20_000, 10, degree=12, inside=0.6, random_state=0)
    assert is_simple(A)
    assert (np.bincount(y) == 2000).all()
    rows = np.repeat(np.arange(20_000), np.diff(A.indptr))
    assert abs(A.nnz / 20_000 - 12) < 0.1
    share = (y[rows] == y[A.indices]).mean()
    assert abs(share - (0.6 + 0.4 / 10)) < 0.01


def test_block_graph():
    """The share of pairs that are joined is the probability of their blocks."""
    A, y = make_block_graph([100, 150, 50, 100], 0.5, 0.02, nested=(2, 0.2), random_state=1)
    assert is_simple(A)
    np.testing.assert_array_equal(np.bincount(y), [100, 150, 50, 100])
    D = A.toarray()
    for a in range(4):
        for b in range(4):
            inner = D[np.ix_(y == a, y == b)]
            share = inner.sum() / (inner.size - (len(inner) if a == b else 0))
            chance = 0.5 if a == b else 0.2 if a // 2 == b // 2 else 0.02
            assert abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / inner.size * (2 if a == b else 1))


def test_complete_and_empty_blocks():
    A, _ = make_block_graph([40, 30], 1.0, 0.0, random_state=0)
    np.testing.assert_array_equal(A.toarray(), np.kron(np.eye(2), np.ones((40, 40)))[:70, :70] - np.eye(70))
    assert make_block_graph([3, 3], 0.0, 0.0)[0].nnz == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda s: make_planted_graph(50, 2, degree=5, random_state=s),
        lambda s: make_block_graph([20, 30], 0.3, 0.1, random_state=s),
    ],
)
def test_seeds_repeat(make):
    assert (make(0)[0] != make(0)[0]).nnz == 0
    assert (make(0)[0] != make(1)[0]).nnz > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_planted_graph(10, 11), "n_communities=11"),
        (lambda: make_planted_graph(10, 2, degree=10), "degree"),
        (lambda: make_planted_graph(50, 2, inside=2), "inside"),
        (lambda: make_block_graph([], 0.1, 0.1), "sizes"),
        (lambda: make_block_graph([3, 0], 0.1, 0.1), "sizes"),
        (lambda: make_block_graph([3], 1.1, 0.1), "p_in"),
        (lambda: make_block_graph([3], 1.0, 0.1, nested=2), "nested"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
