"""Scores with each cluster as seeds, memberships, cohesion and exemplars, against dense solves."""

import numpy as np
import pytest

from gramian.grams import DenseGram
from gramian.kernels import RBF
from gramian.ranking.kernel_walk.cluster_rankings import ClusterRankings, memberships
from gramian.ranking.kernel_walk.walk import Walk

ALPHA = 0.2


@pytest.fixture
def K():
    X = np.random.default_rng(3).standard_normal((30, 2))
    return RBF(0.7)(np.vstack([X, [[50.0, 50.0]]]))


@pytest.fixture
def labels():
    return np.append(np.random.default_rng(4).integers(0, 3, 30), -1)


def pagerank(K, S):
    P = K / K.sum(axis=1, keepdims=True)
    return ALPHA * np.linalg.solve(np.eye(len(K)) - (1 - ALPHA) * P.T, S)


def test_everything_by_its_definition(K, labels):
    """Each attribute as the definition has it, cluster by cluster; a sample of no cluster is ranked too."""
    found = ClusterRankings.of(Walk(DenseGram(K)), labels, 3, ALPHA)
    for c in range(3):
        inside = labels == c
        expected = pagerank(K, inside / inside.sum())
        np.testing.assert_allclose(found.scores[:, c], expected, atol=1e-12)
        np.testing.assert_allclose(found.cohesion[c], expected[inside].sum())
        assert found.exemplars[c] == np.flatnonzero(inside)[np.argmax(expected[inside])]
    # A restart anywhere is a mixture of restarts in the clusters.
    everything = pagerank(K, (labels >= 0) / 30)
    np.testing.assert_allclose(found.joint.sum(axis=1), everything, atol=1e-12)
    np.testing.assert_allclose(found.memberships[:30], found.joint[:30] / everything[:30, None])
    np.testing.assert_allclose(found.memberships[30], 1 / 3)


def test_memberships_are_where_a_walk_last_restarted(K, labels):
    """By Bayes: of walks with restarts anywhere that end at i, the share whose last restart was in c."""
    found = ClusterRankings.of(Walk(DenseGram(K)), labels, 3, ALPHA)
    P = K / K.sum(axis=1, keepdims=True)
    # After a restart the walk goes on for m steps with probability α (1 − α)^m.
    ends = sum(ALPHA * (1 - ALPHA) ** m * np.linalg.matrix_power(P, m) for m in range(200))
    share = np.array([(labels == c) / 30 @ ends for c in range(3)]).T
    np.testing.assert_allclose(found.memberships[:30], share[:30] / share[:30].sum(axis=1, keepdims=True), atol=1e-10)


def test_steps_give_new_samples_the_next_step(K, labels):
    """k(x, X) times the coefficients is joint(x) / (1 − α), so a fitted row has (joint − α s) / (1 − α)."""
    walk = Walk(DenseGram(K))
    found = ClusterRankings.of(walk, labels, 3, ALPHA)
    values = K @ found.steps(walk)
    restarts = (labels[:, None] == np.arange(3)) / 30
    np.testing.assert_allclose((1 - ALPHA) * values[:, :-1] + ALPHA * restarts, found.joint, atol=1e-12)
    np.testing.assert_allclose(values[:, -1], K.sum(axis=1))
    assert found.steps(Walk(DenseGram(K.astype(np.float32)))).dtype == np.float32


def test_memberships_of_nothing():
    """A row of sum at most ``least`` belongs to all alike."""
    joint = np.array([[1.0, 3.0], [0.0, 0.0], [0.01, 0.0]])
    np.testing.assert_allclose(memberships(joint), [[0.25, 0.75], [0.5, 0.5], [1, 0]])
    np.testing.assert_allclose(memberships(joint, least=0.01), [[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])
