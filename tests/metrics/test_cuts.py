"""Scores for groups in a graph against loops over its edges."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.metrics import (
    conductance,
    modularity,
    normalized_cut,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


CUTS = {"normalized_cut": normalized_cut, "modularity": modularity, "conductance": conductance}


def random_graph(rng, n=12, loops=True):
    """A weighted undirected graph with an isolated node."""
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    W = W + W.T
    W[-1] = W[:, -1] = 0
    if not loops:
        np.fill_diagonal(W, 0)
    return W


def cut_and_volume(W, labels, group):
    """Textbook double loop over all pairs of nodes."""
    cut = volume = 0.0
    for i, j in itertools.product(range(len(W)), repeat=2):
        if labels[i] == group:
            volume += W[i, j]
            cut += W[i, j] * (labels[j] != group)
    return cut, volume


class TestCuts:
    @pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
    def test_cuts_against_double_loops(self, rng, hold):
        """Dense or sparse, with loops, an isolated node and a group past half, all equal the textbook sums."""
        W, labels = random_graph(rng), np.array([0, 1, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0])
        total = W.sum()
        cuts, volumes = np.transpose([cut_and_volume(W, labels, g) for g in np.unique(labels)])
        assert normalized_cut(hold(W), labels) == pytest.approx(sum(cuts / volumes), abs=1e-12)
        expected = sum((v - c) / total - (v / total) ** 2 for c, v in zip(cuts, volumes, strict=True))
        assert modularity(hold(W), labels) == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(
            conductance(hold(W), labels), cuts / np.minimum(volumes, total - volumes), atol=1e-12
        )

    def test_modularity_of_pairs(self, rng):
        """On a graph without loops Q is Newman's sum over pairs, (A_ij - d_i d_j / 2m) / 2m inside groups."""
        W, labels = random_graph(rng, loops=False), rng.integers(0, 3, 12)
        d, twice_m = W.sum(axis=1), W.sum()
        pairs = itertools.product(range(12), repeat=2)
        Q = sum((W[i, j] - d[i] * d[j] / twice_m) / twice_m for i, j in pairs if labels[i] == labels[j])
        assert modularity(W, labels) == pytest.approx(Q, abs=1e-12)

    def test_two_way_cut_is_the_rayleigh_quotient(self, rng):
        """With y = 1/vol on one side, -1/vol on the other, yᵀLy / yᵀDy is the normalised cut, no factor ½."""
        W, labels = random_graph(rng), np.arange(12) % 2
        d = W.sum(axis=1)
        y = np.where(labels == 0, 1 / d[labels == 0].sum(), -1 / d[labels == 1].sum())
        assert normalized_cut(W, labels) == pytest.approx(y @ (np.diag(d) - W) @ y / (y @ (d * y)), abs=1e-12)

    @pytest.mark.parametrize("k", [2, 5])
    def test_disconnected_cliques(self, k):
        """The right partition of k equal cliques cuts nothing and has modularity 1 - 1/k."""
        W, labels = np.kron(np.eye(k), 1 - np.eye(4)), np.repeat(np.arange(k), 4)
        assert conductance(W, labels).tolist() == [0.0] * k
        assert normalized_cut(W, labels) == 0.0
        assert modularity(W, labels) == pytest.approx(1 - 1 / k)

    @given(st.integers(2, 9), st.integers(0, 2**31), st.permutations(range(4)))
    @settings(max_examples=40, deadline=None)
    def test_renaming_and_range(self, n, seed, naming):
        """Relabelling leaves the cuts as they are, and each stays within its bounds."""
        rng = np.random.default_rng(seed)
        W, labels = random_graph(rng, n), rng.integers(0, 4, n)
        if W.sum() == 0:
            W[:2, :2] = 1.0
        renamed = np.array([f"group {naming[label]}" for label in labels])
        groups = len(np.unique(labels))
        assert modularity(W, renamed) == pytest.approx(modularity(W, labels), abs=1e-12)
        assert -0.5 - 1e-12 <= modularity(W, labels) <= 1
        assert normalized_cut(W, renamed) == pytest.approx(normalized_cut(W, labels), abs=1e-12)
        assert 0 <= normalized_cut(W, labels) <= groups + 1e-12
        np.testing.assert_allclose(sorted(conductance(W, renamed)), sorted(conductance(W, labels)), atol=1e-12)
        assert (conductance(W, labels) <= 1 + 1e-12).all()

    def test_groups_without_weight(self):
        """An isolated node and a group holding everything cut nothing."""
        W = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
        assert conductance(W, [0, 0, 1]).tolist() == [0.0, 0.0]
        assert normalized_cut(W, [0, 0, 1]) == 0.0
        assert conductance(W, [0, 0, 0]).tolist() == [0.0]

    @pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
    def test_any_number_type(self, dtype):
        """Bools, unsigned ints and single precision give the values of the same graph in float64."""
        W = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
        for measure in CUTS.values():
            for held in (W.astype(dtype), sp.csr_array(W.astype(dtype))):
                np.testing.assert_allclose(measure(held, [0, 0, 1]), measure(W.astype(float), [0, 0, 1]), atol=1e-12)

    def test_a_large_sparse_graph_is_never_made_dense(self):
        """A ring of 200,000 nodes in pairs, 300 GB if it were dense, gives the values worked out by hand."""
        n = 200_000
        i = np.arange(n)
        ring = sp.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
        ring = ring + ring.T
        assert normalized_cut(ring, i // 2) == pytest.approx(n / 2 * 0.5)
        assert modularity(ring, i // 2) == pytest.approx(0.5 - 2 / n)
        np.testing.assert_allclose(conductance(ring, i // 2), 0.5)

    @pytest.mark.parametrize("measure", CUTS.values(), ids=CUTS.keys())
    def test_bad_graphs_are_named(self, measure):
        """Wrong shape, negative, asymmetric or not finite affinities are refused with the remedy."""
        with pytest.raises(ValueError, match=r"W has shape \(2, 3\) but there are 2 labels"):
            measure(np.ones((2, 3)), [0, 1])
        with pytest.raises(ValueError, match="uncentred affinity >= 0"):
            measure(-np.eye(2), [0, 1])
        with pytest.raises(ValueError, match="not finite"):
            measure(sp.csr_array([[np.nan, 0], [0, 1]]), [0, 1])
        with pytest.raises(ValueError, match=r"pass \(W \+ W.T\) / 2"):
            measure(np.array([[0, 1], [0, 0]]), [0, 1])

    def test_modularity_needs_an_edge(self):
        """Without edges modularity is 0/0 and says so."""
        with pytest.raises(ValueError, match="W has no edges"):
            modularity(sp.csr_array((3, 3)), [0, 1, 1])
