"""Rules for the number of clusters, on eigenvalues and dendrograms whose gaps are known."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.clustering.core import (
    choose_by_gap,
    estimate_n_clusters,
    longest_lived,
    relative_gap,
    relative_gaps,
    shares_of_gaps,
)
from gramian.grams import DenseGram, SparseGram
from gramian.kernels import RBF, NeighborGraph


def blocks(k, size=6, inside=0.9, outside=0.02):
    """Similarities of k equal groups."""
    return np.kron(np.eye(k), np.full((size, size), inside)) + outside


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_relative_gap_by_its_formula(graph, seed):
    """The k >= 2 of the largest (λ_k − λ_{k+1}) / (1 − λ_{k+1})^p, by a loop."""
    values = np.append(1, np.sort(np.random.default_rng(seed).random(9))[::-1])
    power = 0.9 if graph else 0.5
    gaps = {k: (values[k - 1] - values[k]) / (1 - values[k]) ** power for k in range(2, 10)}
    assert relative_gap(values, graph=graph) == max(gaps, key=gaps.get)


def test_relative_gaps_of_two_powers():
    """p = 0 is the plain gap; p = 1 the share by which a walk is slower between clusters than within."""
    values = np.array([1.0, 0.99, 0.9, 0.5])
    np.testing.assert_allclose(relative_gaps(values, 0), [0.09, 0.4])
    np.testing.assert_allclose(relative_gaps(values, 1), [1 - 0.01 / 0.1, 1 - 0.1 / 0.5])


def test_relative_gap_of_components():
    """As many eigenvalues of one as were looked at mean at least as many clusters."""
    assert relative_gap(np.ones(6), graph=True) == 5
    assert relative_gap(np.array([1, 1, 1, 0.2, 0.1]), graph=True) == 3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_choose_by_gap(k):
    """Groups that hardly touch are counted, with or without the trivial eigenpair, and the eigenpairs are kept."""
    gram = DenseGram(blocks(k))
    walk = gram.normalized()
    chosen, (values, vectors), candidates = choose_by_gap(gram, walk.eigenpairs, 8)
    assert chosen == k
    exact = np.sort(np.linalg.eigvalsh(walk.dense()))[::-1]
    np.testing.assert_allclose(candidates, exact[:9], atol=1e-8)
    assert vectors.shape == (6 * k, len(values))
    assert len(choose_by_gap(gram, walk.eigenpairs, 3, n_axes=7)[1][0]) == 7
    without = lambda m: tuple(part[..., 1:] for part in walk.eigenpairs(m + 1))  # noqa: E731
    chosen, _, candidates = choose_by_gap(gram, without, 8, trivial=False)
    assert chosen == k
    assert candidates[0] == 1
    np.testing.assert_allclose(candidates, exact[:9], atol=1e-8)


def test_choose_by_gap_knows_a_graph_by_its_diagonal():
    """The power for graphs is taken where the diagonal is zero."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    for kernel, graph in ((NeighborGraph(6), True), (RBF(0.5), False)):
        gram = kernel.fit(X).gram(X)
        chosen, _, candidates = choose_by_gap(gram, gram.normalized().eigenpairs, 20)
        assert chosen == relative_gap(candidates, graph=graph)


@pytest.mark.parametrize(("n", "most"), [(2, 20), (9, 1)])
def test_choose_by_gap_needs_a_choice(n, most):
    """Two samples, or one cluster at most, leave nothing to choose."""
    gram = DenseGram(np.ones((n, n)))
    with pytest.raises(ValueError, match=rf"max_clusters={most} and n_samples={n}: pass n_clusters"):
        choose_by_gap(gram, gram.normalized().eigenpairs, most)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_gaps_by_their_formula(seed):
    """(λ_k − λ_{k+1}) / (1 − λ_{k+1})^0.8 as shares of the largest of each walk, by loops over exact eigenvalues."""
    rng = np.random.default_rng(seed)
    grams, expected = [], []
    for _ in range(2):
        K = rng.random((30, 30))
        K = K + K.T
        np.fill_diagonal(K, 0)
        grams.append(DenseGram(K))
        roots = np.sqrt(K.sum(axis=0))
        values = np.sort(np.linalg.eigvalsh(K / roots / roots[:, None]))[::-1]
        gaps = [(values[k - 1] - values[k]) / (1 - values[k]) ** 0.8 for k in range(2, 8)]
        expected.append(np.array(gaps) / max(gaps))
    np.testing.assert_allclose(shares_of_gaps(grams, 7), expected, atol=1e-8)


def test_shares_of_gaps_of_groups_components_and_few_samples():
    """The widest gap comes after as many eigenvalues as there are groups; all that were looked at are components."""
    graph = lambda k, size: DenseGram(blocks(k, size) - np.diag(np.diag(blocks(k, size))))  # noqa: E731
    shares = shares_of_gaps([graph(4, 6)], 10)[0]
    assert shares.shape == (9,)
    assert shares.argmax() + 2 == 4
    assert shares.max() == pytest.approx(1)
    np.testing.assert_allclose(shares_of_gaps([graph(2, 12), graph(4, 6)], 10)[:, [0, 2]], np.eye(2), atol=1e-9)
    apart = SparseGram(csr_array(np.kron(np.eye(8), np.ones((3, 3)) - np.eye(3))))
    np.testing.assert_array_equal(shares_of_gaps([apart], 5), [[0, 0, 0, 1]])
    assert not shares_of_gaps([graph(2, 3)], 10)[0, 4:].any()  # six samples have no seven clusters


def test_longest_lived():
    """The k whose lifetime is longest, the smaller one of equals."""
    assert longest_lived(np.array([0.1, 0.5, 0.2])) == 3
    assert longest_lived(np.array([0.3, 0.1 + 0.2, 0.2])) == 2
    assert longest_lived(np.array([0.1 + 0.2, 0.3, 0.2])) == 2


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_estimate_counts_groups_and_singletons(k, form):
    """Groups are counted with the samples that the threshold cuts off apart."""
    n = 6 * k
    K = np.full((n + 2, n + 2), 0.01)
    K[:n, :n] = blocks(k)
    K[[n, n + 1], [n, n + 1]] = 1
    count = estimate_n_clusters(form(K))
    assert (count.n_clusters, count.n_singletons) == (k, 2)
    cut = np.where(blocks(k) < 0.05, 0, blocks(k))
    exact = np.sort(np.linalg.eigvalsh(cut / cut.sum(axis=1)[:, None]))[::-1]
    np.testing.assert_allclose(count.eigenvalues, exact[: len(count.eigenvalues)], atol=1e-8)


def test_estimate_at_its_ends():
    """Too few linked samples, more groups than are looked for, and a second eigenvalue that forbids one cluster."""
    assert estimate_n_clusters(np.eye(4)).n_clusters == 0
    assert estimate_n_clusters(np.eye(4)).n_singletons == 4
    pair = np.eye(4)
    pair[0, 1] = pair[1, 0] = 0.9
    assert (estimate_n_clusters(pair).n_clusters, estimate_n_clusters(pair).n_singletons) == (1, 2)
    assert estimate_n_clusters(blocks(5, outside=0), max_clusters=3).n_clusters == 3
    ring = SparseGram(csr_array(np.roll(np.eye(40), 1, 1) + np.roll(np.eye(40), -1, 1) + np.eye(40))).dense()
    assert estimate_n_clusters(ring).eigenvalues[1] >= 0.5
    assert estimate_n_clusters(ring).n_clusters > 1


@pytest.mark.parametrize(
    ("K", "options", "message"),
    [
        (np.eye(3), {"threshold": -1}, "threshold=-1 must be a number >= 0"),
        (np.eye(3), {"max_clusters": 0}, "max_clusters=0 must be a whole number >= 1"),
        (np.eye(3) - 0.1, {}, "K has negative similarities"),
    ],
)
def test_estimate_refuses(K, options, message):
    """Bad parameters and negative similarities are named."""
    with pytest.raises(ValueError, match=message):
        estimate_n_clusters(K, **options)
