"""The generators against the formulas of their sources, written out anew."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from gramian.datasets import (
    make_clouds,
    make_crescents,
    make_diamond_gauss,
    make_land_cover,
    make_large_gauss,
    make_moon_views,
    make_rings,
    make_small_gauss,
    make_spirals,
)
from gramian.metrics import clustering_accuracy, normalized_mutual_info

GENERATORS = [
    make_clouds,
    make_crescents,
    make_diamond_gauss,
    make_land_cover,
    make_large_gauss,
    make_moon_views,
    make_rings,
    make_small_gauss,
    make_spirals,
]


@pytest.mark.parametrize("make", GENERATORS, ids=lambda make: make.__name__)
def test_seeds_repeat_and_sizes_fit(make):
    """A seed repeats the data, another one changes it, and samples and labels are as many as asked."""
    first, again, other = make(40, random_state=1), make(40, random_state=1), make(40, random_state=2)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0], equal_nan=True)
    assert {len(part) for part in first} == {40}
    assert all(y.dtype.kind == "i" and set(np.diff(np.unique(y))) == {1} for y in first[1:])
    stream = np.random.default_rng(1)
    np.testing.assert_array_equal(make(40, random_state=stream)[0], first[0])


@pytest.mark.parametrize("sizes", [400, 41, (276, 97)])
def test_crescents_lie_on_scikit_learns_moons(sizes):
    """Without noise the crescents are the moons of scikit-learn, point by point, up to who gets the odd point."""
    X, y = make_crescents(sizes, noise=0.0)
    counts = tuple(np.bincount(y).tolist())
    moons, labels = make_moons(counts, shuffle=False)
    np.testing.assert_allclose(X, moons, atol=1e-12)
    np.testing.assert_array_equal(y, labels)


def test_crescent_noise_has_its_deviation():
    """The distance to the noiseless crescents is Gaussian with the asked deviation."""
    difference = make_crescents(20_000, noise=0.07, random_state=0)[0] - make_crescents(20_000, noise=0.0)[0]
    assert difference.std() == pytest.approx(0.07, rel=0.02)
    assert abs(difference.mean()) < 0.002


def test_spirals_follow_the_formula():
    """Without noise arm j is (r sin t, r cos t), r from 0.3 to 2, t from 4j to 4(j + 0.6)."""
    X, y = make_spirals(30, arms=3, noise=0.0)
    for i in range(30):
        j, s = divmod(i, 10)
        r, t = 0.3 + 1.7 * s / 9, 4 * j + 2.4 * s / 9
        np.testing.assert_allclose(X[i], [r * np.sin(t), r * np.cos(t)], atol=1e-12)
        assert y[i] == j


def test_spirals_have_the_published_width():
    """Standardised, a tenth of the median distance of 3,000 points is 0.1708 (published), within 0.002."""
    X, _ = make_spirals(3000, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert 0.1 * np.median(pdist(X)) == pytest.approx(0.1708, abs=0.002)


def test_rings_have_their_radii_and_uniform_angles():
    """Radii are N(2, 0.5) and N(10, 0.5), angles uniform, and k-means cannot tell the rings apart."""
    X, y = make_rings(20_000, random_state=0)
    radius, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    for ring, mean in enumerate((2, 10)):
        assert radius[y == ring].mean() == pytest.approx(mean, abs=0.02)
        assert radius[y == ring].std() == pytest.approx(0.5, abs=0.02)
    assert abs(np.exp(1j * angle).mean()) < 0.03
    X, y = make_rings(400, random_state=0)
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) < 0.8


def test_small_gauss_is_the_published_generator():
    """Four blobs of deviation 0.1 drawn one after the other, labels by side."""
    rng = np.random.default_rng(4)
    centres = [(-2.5, -2.5), (2.5, -2.5), (-2.5, 2.5), (2.5, 2.5)]
    expected = np.vstack([np.array(c) + 0.1 * rng.standard_normal((10, 2)) for c in centres])
    X, given, alternative = make_small_gauss(random_state=4)
    np.testing.assert_allclose(X, expected, atol=1e-12)
    np.testing.assert_array_equal(given, X[:, 0] > 0)
    np.testing.assert_array_equal(alternative, X[:, 1] > 0)


def test_large_gauss_is_the_published_generator():
    """Four unit blobs in space, one noise feature, labels by the signs of features 0 and 2."""
    rng = np.random.default_rng(4)
    centres = 10.0 * np.array([(1, 1, 1), (-1, -1, -1), (1, 1, -1), (-1, -1, 1)])
    blobs = np.vstack([c + rng.standard_normal((50, 3)) for c in centres])
    expected = np.hstack([blobs, rng.uniform(-20, 20, (200, 1))])
    X, given, alternative = make_large_gauss(200, random_state=4)
    np.testing.assert_allclose(X, expected, atol=1e-12)
    np.testing.assert_array_equal(given, X[:, 0] < 0)
    np.testing.assert_array_equal(alternative, X[:, 2] < 0)


@pytest.mark.parametrize("n_noise", [0, 3])
def test_moon_views_cross_evenly(n_noise):
    """Parabolas and Gaussians follow their formulas, and the two labellings tell nothing of each other."""
    X, given, alternative = make_moon_views(2000, n_noise=n_noise, random_state=0)
    assert X.shape == (2000, 4 + n_noise)
    assert normalized_mutual_info(given, alternative) == pytest.approx(0, abs=1e-12)
    u = np.linspace(-2, 2, 500)
    first = X[(given == 0) & (alternative == 0)]
    second = X[(given == 1) & (alternative == 1)]
    assert np.abs(first[:, :2] - np.c_[u, u**2]).std() < 0.1
    assert np.abs(second[:, :2] - np.c_[u + 2, 8 - 1.4 * u**2]).std() < 0.1
    np.testing.assert_allclose([first[:, 2:4].mean(), second[:, 2:4].mean()], [-5, 5], atol=0.15)
    np.testing.assert_allclose(second[:, 2:4].std(axis=0), 1, atol=0.1)
    assert (np.abs(X[:, 4:]) <= 10).all()
    if n_noise:
        assert X[:, 4:].std() == pytest.approx(20 / np.sqrt(12), rel=0.03)


def test_diamond_gauss_is_the_published_generator():
    """Four unit blobs on the axes and uniform noise features, centred."""
    rng = np.random.default_rng(4)
    centres = np.array([(0, 10), (10, 0), (0, -10), (-10, 0)])
    blobs = np.vstack([c + rng.standard_normal((20, 2)) for c in centres])
    expected = np.hstack([blobs, rng.uniform(-30, 30, (80, 5))])
    X, y = make_diamond_gauss(80, 7, random_state=4)
    np.testing.assert_allclose(X, expected - expected.mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(y, np.arange(80) // 20)


def test_clouds_have_three_unit_blobs():
    """Half the samples are ground; two thirds of the clouds are thin; each blob has unit covariance."""
    X, y = make_clouds(24_000, random_state=0)
    assert (y == 0).sum() == 12_000
    blobs = {(0, 0): X[y == 0], (4.5, 0): X[y == 1][:8000], (6, 8): X[y == 1][8000:]}
    for centre, part in blobs.items():
        np.testing.assert_allclose(part.mean(axis=0), [*centre, 0, 0], atol=0.06)
        np.testing.assert_allclose(np.cov(part.T), np.eye(4), atol=0.08)


def test_land_cover_misses_whole_images():
    """Bands of one date are missing together, never all three, elevation and slope never, at the chances told."""
    X, y = make_land_cover(20_000, random_state=0)
    hidden = np.isnan(X)
    assert not hidden[:, 18:].any()
    dates = hidden[:, :18].reshape(-1, 3, 6)
    assert (dates.all(axis=2) == dates.any(axis=2)).all()
    assert not hidden[:, :18].all(axis=1).any()
    # Chance of one date given that not all three are hidden: (0.3 - 0.3³) / (1 - 0.3³).
    np.testing.assert_allclose(dates[:, :, 0].mean(axis=0), (0.3 - 0.027) / (1 - 0.027), atol=0.01)
    assert len(np.unique(hidden, axis=0)) == 7
    assert np.bincount(y).max() - np.bincount(y).min() <= 1


def test_land_cover_classes_are_correlated_gaussians():
    """Each class has its own mean, spread 1.5 over classes, and a positive definite covariance of variance ≈ 1."""
    X, y = make_land_cover(70_000, random_state=3)
    observed = ~np.isnan(X).any(axis=1)
    means = np.array([X[observed & (y == c)].mean(axis=0) for c in range(7)])
    assert means.std() == pytest.approx(1.5, abs=0.2)
    covariances = np.array([np.cov(X[observed & (y == c)].T) for c in range(7)])
    assert np.mean([np.diag(c).mean() for c in covariances]) == pytest.approx(1.0, abs=0.1)
    assert np.linalg.eigvalsh(covariances).min() > 0
    assert np.abs(covariances[0] - covariances[1]).max() > 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_small_gauss(42), "n_samples=42 cannot be split into four equal blobs; pass 40"),
        (lambda: make_large_gauss(3), "n_samples=3 .*; pass 4"),
        (lambda: make_crescents(1), "n_samples=1 is too small; pass n_samples >= 2"),
        (lambda: make_crescents((0, 3)), r"n_samples=\(0, 3\) must be an int or the sizes of two crescents"),
        (lambda: make_crescents(noise=-1.0), "noise=-1.0 is not a standard deviation"),
        (lambda: make_rings(radii=(0.0, 1.0)), r"radii=\(0.0, 1.0\) are not radii"),
        (lambda: make_spirals(arms=0), "arms=0 is too small"),
        (lambda: make_moon_views(n_noise=-1), "n_noise=-1 is too small"),
        (lambda: make_diamond_gauss(40, 1), "n_features=1 is too small; pass n_features >= 2"),
        (lambda: make_land_cover(6), "n_samples=6 is too small; pass n_samples >= 7"),
    ],
)
def test_bad_parameters_are_named(call, message):
    """An impossible size or parameter is named with its value and one that works."""
    with pytest.raises(ValueError, match=message):
        call()
