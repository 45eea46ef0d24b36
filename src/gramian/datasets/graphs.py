"""Generators of networks with planted communities, for trying methods that find them.

Each returns ``(adjacency, y)``: a symmetric CSR array of ones without self loops, nodes ordered by community, and the
community of each node. Edges are drawn one by one, never all pairs looked at, so that millions of nodes take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from gramian.checks import real, whole
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

__all__ = ["make_block_graph", "make_planted_graph"]


def make_planted_graph(
    n_nodes: int = 1000,
    n_communities: int = 10,
    *,
    degree: float = 20.0,
    inside: float = 0.7,
    random_state: RandomState = None,
) -> tuple[Matrix, Array]:
    """A network of communities of equal size, in which a share of each node's edges stays in its community.

    ``degree`` n / 2 edges are drawn: one end is any node, the other is, with probability ``inside``, a node of its
    community and otherwise any node. Loops and repeated edges are dropped, so the mean degree is a little lower.

    Parameters
    ----------
    n_nodes : int, default 1000
    n_communities : int, default 10
        At most ``n_nodes``; sizes differ by at most one.
    degree : float, default 20
        Mean degree.
    inside : float, default 0.7
        From 0 to 1.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    adjacency : CSR array of shape (n_nodes, n_nodes)
    y : int array of shape (n_nodes,)

    References
    ----------
    A. Condon, R. Karp, "Algorithms for graph partitioning on the planted partition model", Random Structures and
    Algorithms 18 (2001).

    Examples
    --------
    >>> from gramian.datasets import make_planted_graph
    >>> adjacency, y = make_planted_graph(400, 4, degree=10, random_state=0)
    >>> adjacency.shape, sorted(set(y.tolist())), bool((adjacency != adjacency.T).nnz)
    ((400, 400), [0, 1, 2, 3], False)
    """
    n, k = whole(n_nodes, "n_nodes", least=2), whole(n_communities, "n_communities")
    if k > n:
        raise ValueError(f"n_communities={k} is more than the n_nodes={n}; pass n_communities <= {n}")
    degree = real(degree, "degree", least=0, most=n - 1)
    inside = real(inside, "inside", least=0, most=1)
    rng = generator(random_state)
    bounds = np.arange(k + 1, dtype=np.int64) * n // k
    y = np.repeat(np.arange(k), np.diff(bounds))
    source = rng.integers(0, n, round(degree * n / 2))
    target = rng.integers(0, n, len(source))
    near = np.flatnonzero(rng.random(len(source)) < inside)
    own = y[source[near]]
    first = bounds[own]
    target[near] = first + (rng.random(len(near)) * (bounds[own + 1] - first)).astype(np.int64)
    return _symmetric(source, target, n), y


def make_block_graph(
    sizes: Sequence[int],
    p_in: float,
    p_out: float,
    *,
    nested: tuple[int, float] | None = None,
    random_state: RandomState = None,
) -> tuple[Matrix, Array]:
    """A stochastic block model: two nodes are joined with a probability that depends on their blocks alone.

    Parameters
    ----------
    sizes : sequence of int
        Nodes of each block.
    p_in, p_out : float
        Probability of an edge inside a block and between blocks.
    nested : (int, float), optional
        Blocks per super block, and the probability of an edge between two blocks of one super block.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    adjacency : CSR array of shape (n, n)
    y : int array of shape (n,)
        Block of each node. With ``nested=(b, p)`` its super block is ``y // b``.

    References
    ----------
    P. Holland, K. Laskey, S. Leinhardt, "Stochastic blockmodels: first steps", Social Networks 5 (1983).

    Examples
    --------
    >>> from gramian.datasets import make_block_graph
    >>> adjacency, y = make_block_graph([3, 2], 1.0, 0.0, random_state=0)
    >>> adjacency.toarray().astype(int)
    array([[0, 1, 1, 0, 0],
           [1, 0, 1, 0, 0],
           [1, 1, 0, 0, 0],
           [0, 0, 0, 0, 1],
           [0, 0, 0, 1, 0]])
    """
    counts = np.array([whole(size, "sizes") for size in sizes], dtype=np.int64)
    if not len(counts):
        raise ValueError("sizes is empty; pass the number of nodes of each block")
    p_in, p_out = (real(p, name, least=0, most=1) for p, name in ((p_in, "p_in"), (p_out, "p_out")))
    k, n = len(counts), int(counts.sum())
    chance = np.full((k, k), p_out)
    if nested is not None:
        try:
            together, p_near = nested
        except (TypeError, ValueError):
            raise ValueError(f"nested={nested!r} must be (blocks per super block, probability) or None") from None
        above = np.arange(k) // whole(together, "nested[0]")
        chance[above[:, None] == above] = real(p_near, "nested[1]", least=0, most=1)
    chance[np.diag_indices(k)] = p_in
    rng = generator(random_state)
    first = np.concatenate([[0], np.cumsum(counts)])
    ends = [_block_edges(rng, first, counts, chance, a, b) for a in range(k) for b in range(a, k) if chance[a, b] > 0]
    source, target = np.hstack(ends) if ends else np.empty((2, 0), np.int64)
    return _symmetric(source, target, n), np.repeat(np.arange(k), counts)


def _block_edges(
    rng: np.random.Generator, first: Array, counts: Array, chance: Array, a: int, b: int
) -> tuple[Array, Array]:
    """Ends of the edges between blocks a <= b: a binomial number of pairs, none twice."""
    pairs = int(counts[a] * (counts[a] - 1) // 2 if a == b else counts[a] * counts[b])
    chosen = np.sort(_distinct(rng, pairs, int(rng.binomial(pairs, chance[a, b]))))
    if a != b:
        return first[a] + chosen // counts[b], first[b] + chosen % counts[b]
    # Pair number p of the pairs (i, j), j < i, counted row by row: i is the largest with i (i − 1) / 2 <= p.
    i = ((1 + np.sqrt(1 + 8.0 * chosen)) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > chosen
    i += i * (i + 1) // 2 <= chosen
    return first[a] + i, first[a] + chosen - i * (i - 1) // 2


def _distinct(rng: np.random.Generator, most: int, count: int) -> Array:
    """``count`` different whole numbers below ``most``."""
    if count > most // 4:
        return rng.permutation(most)[:count]
    found = np.empty(0, np.int64)
    while len(found) < count:  # where few are drawn few are drawn twice
        drawn = np.concatenate([found, rng.integers(0, most, count - len(found) + 16)])
        found = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return found[:count]


def _symmetric(source: Array, target: Array, n: int) -> Matrix:
    """The adjacency of edges drawn in one direction, without loops and repetitions."""
    keep = source != target
    source, target = source[keep], target[keep]
    edges = np.sort(np.minimum(source, target) * n + np.maximum(source, target))
    edges = edges[np.concatenate([[True], edges[1:] != edges[:-1]])] if len(edges) else edges
    low, high = edges // n, (edges % n).astype(np.int32)
    after = np.bincount(low, minlength=n)
    pointers = np.concatenate([[0], np.cumsum(after)])
    upper = csr_array((np.ones(len(high), np.int8), high, pointers), shape=(n, n))
    lower = csr_array(upper.T)  # sorted, too
    before = np.diff(lower.indptr)
    # A row is its part left of the diagonal, then the part right of it: both are sorted, so nothing is sorted again.
    starts = np.concatenate([[0], np.cumsum(before + after)])
    columns = np.empty(2 * len(high), np.int32)
    columns[np.arange(len(high)) + np.repeat(starts[:-1] - lower.indptr[:-1], before)] = lower.indices
    columns[np.arange(len(high)) + np.repeat(starts[:-1] + before - pointers[:-1], after)] = high
    index = np.int32 if len(columns) < 2**31 else np.int64
    return csr_array((np.ones(len(columns)), columns, starts.astype(index)), shape=(n, n))
