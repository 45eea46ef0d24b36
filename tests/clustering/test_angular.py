"""Angular k-means against all partitions of small data and its own definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramian import angular_kmeans
from gramian.clustering.angular import nearest_direction
from gramian.metrics import adjusted_rand

ROWS = st.tuples(st.integers(3, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-9, 9))
)


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def cosine(a, b):
    """Cosine of the angle between two vectors, zero if one of them has no direction."""
    length = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / length) if length else 0.0


def score_of(Z, labels):
    """Σ_i cos∠(z_i, m_c(i)) with m_c the plain mean of the rows of cluster c."""
    return sum(cosine(z, Z[labels == c].mean(axis=0)) for z, c in zip(Z, labels, strict=True))


def rays(rng, angles, n_each=6, spread=0.03):
    """Rows of any length along the given angles of the plane, and which ray each row is on."""
    theta = np.repeat(angles, n_each) + spread * rng.standard_normal(n_each * len(angles))
    lengths = rng.uniform(0.5, 20, len(theta))
    return lengths[:, None] * np.column_stack([np.cos(theta), np.sin(theta)]), np.repeat(range(len(angles)), n_each)


@pytest.mark.parametrize("k", [2, 3])
def test_best_score_of_all_partitions(k, rng):
    """On separated directions the result is the partition of largest score among all of them."""
    Z, _ = rays(rng, [0.0, 2.0, 4.0][:k], n_each=6 // k)
    best = max(score_of(Z, np.array(labels)) for labels in product(range(k), repeat=len(Z)) if len(set(labels)) == k)
    labels, _, score = angular_kmeans(Z, k, random_state=0)
    assert score == pytest.approx(best, abs=1e-9)
    assert score_of(Z, labels) == pytest.approx(best, abs=1e-9)


def test_no_score_beats_all_partitions(rng):
    """On data without structure the score stays at or below the best of all partitions."""
    Z = rng.standard_normal((8, 3))
    best = max(score_of(Z, np.array(labels)) for labels in product(range(2), repeat=8))
    assert angular_kmeans(Z, 2, random_state=0)[2] <= best + 1e-12


def test_rows_of_any_length_follow_their_direction(rng):
    """Five directions are found whatever the lengths of the rows."""
    Z, y = rays(rng, [0.0, 1.2, 2.4, 3.6, 4.9], n_each=20)
    assert adjusted_rand(y, angular_kmeans(Z, 5, random_state=0)[0]) == 1


@given(ROWS, st.integers(1, 3), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_the_answer_is_consistent(Z, k, seed):
    """Without zero rows the labels fill all clusters, centres are plain means and the score is its definition."""
    assume(np.all(Z.any(axis=1)))
    labels, centers, score = angular_kmeans(Z, k, n_init=3, random_state=seed)
    assert set(labels) == set(range(k))
    for c in range(k):
        np.testing.assert_allclose(centers[c], Z[labels == c].mean(axis=0), atol=1e-12)
    assert score == pytest.approx(score_of(Z, labels), abs=1e-9)
    assert score <= len(Z) + 1e-9


@given(ROWS, st.sampled_from([0.125, 4.0, 1024.0]))
@settings(max_examples=30, deadline=None)
def test_scale_does_not_matter(Z, scale):
    """Multiplying all rows by one power of two changes no label."""
    labels, _, score = angular_kmeans(Z, 2, n_init=3, random_state=0)
    scaled_labels, _, scaled_score = angular_kmeans(scale * Z, 2, n_init=3, random_state=0)
    np.testing.assert_array_equal(labels, scaled_labels)
    assert score == pytest.approx(scaled_score)


def test_one_zero_row_goes_to_cluster_zero(rng):
    """A row without direction joins cluster 0 and does not disturb the others."""
    Z, y = rays(rng, [0.0, 2.0, 4.0])
    labels = angular_kmeans(np.vstack([Z, np.zeros(2)]), 3, random_state=1)[0]
    assert labels[-1] == 0
    assert adjusted_rand(y, labels[:-1]) == 1


def test_many_zero_rows_do_not_disturb_the_directions(rng):
    """Many zero rows neither seed clusters nor leave cluster 0, whatever the start."""
    Z, y = rays(rng, [0.0, 2.1, 4.2], n_each=3, spread=0.01)
    for seed in range(10):
        labels = angular_kmeans(np.vstack([np.zeros((50, 2)), Z]), 3, n_init=1, random_state=seed)[0]
        assert adjusted_rand(y, labels[50:]) == 1
        assert not labels[:50].any()


def test_zero_rows_fill_no_empty_cluster():
    """A zero row goes to cluster 0 also where a cluster would be empty."""
    assert angular_kmeans(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), 2, random_state=0)[0][0] == 0


def test_only_zero_rows(rng):
    """Where no row has a direction all go to cluster 0, at score zero."""
    labels, centers, score = angular_kmeans(np.zeros((4, 3)), 2, random_state=0)
    assert not labels.any()
    assert not centers.any()
    assert score == 0


def test_whole_numbers_are_data():
    """An integer array is clustered like its floats."""
    Z = np.array([[1, 0], [5, 0], [0, 2]])
    labels = angular_kmeans(Z, 2, random_state=0)[0]
    assert labels[0] == labels[1] != labels[2]


def test_more_clusters_than_directions_leaves_none_empty():
    """Two directions asked for three clusters are split, none of the clusters stays empty."""
    Z = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    assert set(angular_kmeans(Z, 3, random_state=0)[0]) == {0, 1, 2}
    assert set(angular_kmeans(Z, 4, random_state=0)[0]) == {0, 1, 2, 3}


def test_one_cluster_takes_all(rng):
    """With one cluster the centre is the mean of all rows."""
    Z = rng.standard_normal((10, 2))
    labels, centers, score = angular_kmeans(Z, 1, random_state=0)
    assert not labels.any()
    np.testing.assert_allclose(centers[0], Z.mean(axis=0))
    assert score == pytest.approx(score_of(Z, labels))


def test_more_starts_never_score_less(rng):
    """The first starts of many are those of few, so the score grows with ``n_init``."""
    Z = rng.standard_normal((40, 3))
    scores = [angular_kmeans(Z, 6, n_init=n_init, random_state=3)[2] for n_init in (1, 2, 5, 20)]
    assert scores == sorted(scores)


def test_seeds_repeat(rng):
    """The same seed gives the same labels, centres and score."""
    Z = rng.standard_normal((30, 3))
    first, second = (angular_kmeans(Z, 4, n_init=2, random_state=5) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_single_precision_stays_single(rng):
    """float32 rows have float32 centres."""
    Z, y = rays(rng, [0.0, 2.0])
    labels, centers, _ = angular_kmeans(Z.astype(np.float32), 2, random_state=0)
    assert centers.dtype == np.float32
    assert adjusted_rand(y, labels) == 1


def test_nearest_direction_is_the_largest_cosine(rng):
    """New rows go to the centre at the smallest angle, whatever its length."""
    Z, centers = rng.standard_normal((20, 3)), rng.standard_normal((4, 3)) * [[1], [10], [100], [0.1]]
    expected = [int(np.argmax([cosine(z, c) for c in centers])) for z in Z]
    np.testing.assert_array_equal(nearest_direction(Z, centers), expected)


@pytest.mark.parametrize(
    ("Z", "options", "words"),
    [
        (np.zeros(5), {"n_clusters": 1}, "Expected 2D array"),
        (np.full((5, 2), np.nan), {"n_clusters": 1}, "Z contains NaN"),
        (np.full((5, 2), np.inf), {"n_clusters": 1}, "Z contains infinity"),
        (np.ones((5, 2)), {"n_clusters": 6}, "n_clusters=6 .*n_samples=5"),
        (np.ones((5, 2)), {"n_clusters": 0}, "n_clusters=0"),
        (np.ones((5, 2)), {"n_clusters": 2, "n_init": 0}, "n_init=0"),
        (np.ones((5, 2)), {"n_clusters": 2, "max_iter": 0}, "max_iter=0"),
        (np.ones((5, 2)), {"n_clusters": 2.5}, "n_clusters=2.5"),
        (np.ones((5, 2)), {"n_clusters": "a"}, "n_clusters='a'"),
    ],
)
def test_bad_input_is_refused_by_name(Z, options, words):
    """What cannot be clustered is refused with the parameter and its value."""
    with pytest.raises(ValueError, match=words):
        angular_kmeans(Z, **options)


def test_farthest_rows_find_every_direction(rng):
    """The deterministic start finds rays that a random one may miss, and needs no random state."""
    Z, truth = rays(rng, np.linspace(0, 2 * np.pi, 9)[:-1], n_each=12)
    runs = [angular_kmeans(Z, 8, start="farthest", random_state=seed) for seed in (0, 1)]
    assert adjusted_rand(truth, runs[0][0]) == 1
    np.testing.assert_array_equal(runs[0][0], runs[1][0])


def test_short_rows_do_not_start_clusters(rng):
    """Rows near the origin point anywhere; as starts they would leave a true direction without one."""
    Z, truth = rays(rng, [0.0, 2.0, 4.0], n_each=30)
    Z = np.vstack([Z, 1e-3 * rng.standard_normal((10, 2))])
    labels, _, _ = angular_kmeans(Z, 3, start="farthest")
    assert adjusted_rand(truth, labels[:90]) == 1


def test_unknown_start(rng):
    with pytest.raises(ValueError, match="start='first'"):
        angular_kmeans(rng.standard_normal((5, 2)), 2, start="first")
