"""A snapshot: its clusters, its model for any row, and what the next one remembers of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gramian.clustering.ksc import Degrees, Eigenproblem, decoder_of
from gramian.clustering.ksc.snapshot import Snapshot, leading, stacked
from gramian.kernels import RBF, Linear

CENTERS = np.array([(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)])


def rows(seed, shift=0.0, n=30):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTERS, n, axis=0) + shift + rng.normal(scale=0.5, size=(3 * n, 2))


def snapshot(kernel, X, before=None, memory=0.3, q=2):
    gram = kernel.gram(X)
    problem = Eigenproblem.of(gram, max(q, 1)).first(q)
    return Snapshot.of(kernel, X, gram, problem, before=before, memory=memory, decoding="auto")


def test_a_first_snapshot_is_plain_kernel_spectral_clustering():
    kernel, X = RBF(0.8).fit(rows(0)), rows(0)
    first = snapshot(kernel, X)
    problem = Eigenproblem.of(kernel.gram(X), 2)
    assert np.array_equal(first.labels, decoder_of(problem.scores(), 3).labels(problem.scores()))
    np.testing.assert_allclose(first.coefficients, problem.coefficients)
    assert first.n_kept == 0


def test_scores_of_new_rows_are_those_of_the_formula():
    """e(x) = K(x, X) α + K(x, X_old) α_old turn + b, by the blocks themselves; fitted rows find their labels again."""
    kernel = RBF(0.8).fit(rows(0))
    first = snapshot(kernel, rows(0))
    second = snapshot(kernel, rows(1, 0.2), first, 0.6)
    assert second.n_kept == 2
    labels, scores, degrees = second.read(second.rows)
    assert np.array_equal(labels, second.labels)
    np.testing.assert_allclose(degrees, kernel(second.rows).sum(axis=1))
    # α = γ V e holds only if both parts and b are right.
    gamma = (1 - 0.6) / Eigenproblem.of(kernel.gram(second.rows), 2).values[0]
    np.testing.assert_allclose(second.coefficients, gamma * scores / degrees[:, None], atol=1e-13)
    np.testing.assert_allclose(second.memberships(second.rows).sum(axis=1), 1)


def test_a_single_cluster_has_no_scores_and_takes_every_row_near_it():
    kernel = RBF(0.8).fit(rows(0))
    one = snapshot(kernel, rows(0), q=0)
    assert one.n_clusters == 1
    labels, scores, _ = one.read(np.array([[0.0, 0.1], [1e3, 1e3]]))
    assert labels.tolist() == [0, -1]
    assert scores.shape == (2, 0)
    assert one.memberships(rows(0)[:2]).tolist() == [[1.0], [1.0]]
    assert np.array_equal(snapshot(kernel, rows(1), one).labels, snapshot(kernel, rows(1)).labels)


def test_rows_that_are_like_nothing_have_no_cluster():
    X = np.vstack([rows(0), [[500.0, 500.0]]])
    kernel = RBF(0.8).fit(X)
    gram = kernel.gram(X)
    found = Snapshot.of(kernel, X, gram, Eigenproblem.of(gram, 2), before=None, memory=0.3, decoding="auto")
    assert found.labels[-1] == -1
    assert found.sizes().tolist() == [30, 30, 30]


def test_gaps_find_one_two_or_three_clusters():
    for k in (1, 2, 3):
        X = rows(0)[: 30 * k]
        gram = RBF(0.7).fit(X).gram(X)
        problem, gaps = leading(gram, Degrees.of(gram), 6)
        assert len(problem.values) == len(gaps) == 6
        assert 1 + np.argmax(gaps) == k


def test_gaps_beyond_the_rank_of_the_kernel_are_zero():
    X = np.abs(rows(0)) + 1
    gram = Linear().fit(X).gram(X)
    problem, gaps = leading(gram, Degrees.of(gram), 5)
    assert len(problem.values) <= 2
    assert not gaps[3:].any()


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_stacked_rows_are_those_of_both(container):
    first, second = np.eye(2), np.ones((3, 2))
    both = stacked(container(first), container(second))
    assert issparse(both) == (container is csr_array)
    assert np.array_equal(both.toarray() if issparse(both) else both, np.vstack([first, second]))
