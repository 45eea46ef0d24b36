"""Rows one at a time: running means in the space of α, and when the next snapshot is due."""

from __future__ import annotations

import numpy as np

from gramian.clustering.ksc import Eigenproblem
from gramian.clustering.ksc.snapshot import Snapshot
from gramian.clustering.ksc.stream import Stream, coordinates
from gramian.kernels import RBF

CENTERS = np.array([(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)])


def rows(seed, n=30, shift=0.0):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTERS, n, axis=0) + shift + rng.normal(scale=0.5, size=(3 * n, 2))


def snapshot(q=2):
    X = rows(0)
    kernel = RBF(0.8).fit(X)
    gram = kernel.gram(X)
    problem = Eigenproblem.of(gram, 2).first(q)
    return Snapshot.of(kernel, X, gram, problem, before=None, memory=0.0, decoding="auto")


def test_the_coordinates_of_fitted_rows_are_alpha():
    """e = λ d α, so e(x) / (λ d(x)) is α for the rows of the snapshot."""
    first = snapshot()
    _, scores, degrees = first.read(first.rows)
    np.testing.assert_allclose(coordinates(scores, degrees, first.values), first.coefficients, atol=1e-12)
    assert coordinates(scores[:1], np.zeros(1), first.values).tolist() == [[0.0, 0.0]]


def test_centres_are_the_means_of_all_rows_that_joined():
    first = snapshot()
    stream, places, clusters = Stream.of(first), [first.coefficients], [first.labels]
    for x in rows(1, 5):
        labels, stream = stream.take(x[None], first)
        _, scores, degrees = first.read(x[None])
        places.append(coordinates(scores, degrees, first.values))
        clusters.append(labels)
    place, cluster = np.vstack(places), np.concatenate(clusters)
    means = [place[cluster == number].mean(axis=0) for number in range(3)]
    np.testing.assert_allclose(stream.centers, means, atol=1e-12)
    assert stream.counts.tolist() == np.bincount(cluster).tolist()
    assert stream.n_new == 15


def test_rows_together_or_apart_join_the_same_clusters():
    first, X = snapshot(), rows(2, 10)
    together, after = Stream.of(first).take(X, first)
    stream, apart = Stream.of(first), []
    for x in X:
        label, stream = stream.take(x[None], first)
        apart.append(label[0])
    assert together.tolist() == apart == first.read(X)[0].tolist()
    np.testing.assert_allclose(after.centers, stream.centers, atol=1e-12)
    assert np.array_equal(after.window, stream.window)
    assert np.array_equal(after.window, np.vstack([rows(0), X])[-90:])


def test_the_next_snapshot_is_due_when_half_of_the_window_is_new():
    first = snapshot()
    stream = Stream.of(first).take(rows(1)[:44], first)[1]
    assert not stream.due
    assert stream.take(rows(1)[-1:], first)[1].due


def test_the_next_snapshot_is_due_when_enough_rows_are_unlike_the_last():
    first = snapshot()
    labels, stream = Stream.of(first).take(np.full((5, 2), 9.0), first)
    assert labels.tolist() == [-1] * 5
    assert not stream.due  # √(90 / 3) = 5.5
    assert stream.take(np.full((1, 2), 9.0), first)[1].due


def test_the_next_snapshot_is_due_when_two_clusters_come_near():
    first = snapshot()
    stream = Stream.of(first)
    halfway = np.repeat([[1.98, 0.0], [2.02, 0.0]], 22, axis=0)
    stream = stream.take(halfway, first)[1]
    assert stream.n_new < 45
    assert stream.n_unlike == 0
    assert stream.due


def test_a_single_cluster_streams_too():
    first = snapshot(0)
    labels, stream = Stream.of(first).take(np.array([[0.1, 0.0], [99.0, 0.0]]), first)
    assert labels.tolist() == [0, -1]
    assert not stream.due
