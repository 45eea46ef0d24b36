"""Scores by two sparse products against a dense model of the subgraph."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array, vstack

from gramian.clustering.networks import subgraph
from gramian.clustering.networks.adjacency import with_loops
from gramian.clustering.networks.subgraph import gram_of, solved
from gramian.clustering.networks.training import training_set
from gramian.datasets import make_planted_graph


@pytest.fixture
def network():
    graph, _ = make_planted_graph(300, 3, degree=14, inside=0.8, random_state=2)
    return graph, with_loops(graph)


def dense_scores(looped, nodes, q):
    """Kernel spectral clustering of the training nodes and scores of all, from the full matrices."""
    rows = looped.toarray()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    block = rows @ rows[nodes].T
    K = block[nodes]
    d = K.sum(axis=1)
    s = 1 / np.sqrt(d)
    u = s / np.linalg.norm(s)
    P = np.eye(len(d)) - np.outer(u, u)
    values, vectors = eigh(P @ (K * np.outer(s, s)) @ P)
    alpha = s[:, None] * vectors[:, ::-1][:, :q]
    intercept = -(1 / d) @ K @ alpha / (1 / d).sum()
    return values[::-1][:q], block @ alpha + intercept


def test_scores_are_those_of_the_dense_model(network):
    """Scores of all nodes, up to the sign of each, are those of the textbook on dense matrices."""
    graph, looped = network
    training = training_set(graph, looped, 0.3, 2, None)
    model, problem = solved(training, 2, 1e-9)
    values, expected = dense_scores(looped, training.nodes, 2)
    found = model.scores(looped)
    np.testing.assert_allclose(problem.values, values, rtol=1e-9)
    np.testing.assert_allclose(found * np.sign((found * expected).sum(axis=0)), expected, atol=1e-8)
    np.testing.assert_allclose(found[training.nodes], problem.scores(), atol=1e-8)
    np.testing.assert_allclose(model.first(1).scores(looped), found[:, :1], atol=1e-12)


def test_blocks_and_single_precision_change_nothing_but_rounding(network, monkeypatch):
    """Scores do not depend on how many rows are worked on at once; large weights are held in single precision."""
    graph, looped = network
    model, _ = solved(training_set(graph, looped, 0.3, 2, None), 2, 1e-9)
    expected = model.scores(looped)
    monkeypatch.setattr(subgraph, "_BLOCK", 64)
    np.testing.assert_array_equal(model.scores(looped), expected)
    monkeypatch.setattr(subgraph, "_SINGLE", 100)
    assert model.scores(looped).dtype == np.float32
    np.testing.assert_allclose(model.scores(looped), expected, atol=1e-5)


def test_rows_without_a_shared_neighbour(network):
    """A row reaches the model if it has a neighbour of a training node; empty rows do not."""
    graph, looped = network
    model, _ = solved(training_set(graph, looped, 0.1, 2, 20), 1, 1e-9)
    rows = csr_array(vstack([looped, csr_array((1, 300))]))
    shared = model.rows.toarray().any(axis=0)
    np.testing.assert_array_equal(model.reaches(rows), (rows.toarray()[:, shared] > 0).any(axis=1))


def test_a_full_kernel_is_held_as_a_product():
    """Where hubs make nearly all nodes alike the kernel is not written down; its products are the same."""
    rng = np.random.default_rng(0)
    rows = csr_array((rng.random((1200, 400)) < 0.05).astype(float))
    gram, few = gram_of(rows), gram_of(rows[:50])
    assert gram.factor is not None
    assert few.factor is None
    V = rng.random((1200, 2))
    np.testing.assert_allclose(gram @ V, rows @ (rows.T @ V))
