"""Generators of the shapes on which the field's papers show their methods.

Each returns samples ordered by group, ``(X, y)`` or ``(X, y1, y2)`` for data with two clusterings, in the units of
the source; centre and scale them as the experiment asks. Only NumPy is used.
"""

from __future__ import annotations

import numpy as np

from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = [
    "make_clouds",
    "make_crescents",
    "make_diamond_gauss",
    "make_land_cover",
    "make_large_gauss",
    "make_moon_views",
    "make_parabolas",
    "make_rings",
    "make_small_gauss",
    "make_spirals",
]

_CLASSES, _BANDS, _DATES = 7, 6, 3
"""Land cover: classes, spectral bands per image, images."""


def make_crescents(
    n_samples: int | tuple[int, int] = 400, *, noise: float = 0.05, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Two interleaving half circles in the plane.

    Parameters
    ----------
    n_samples : int or (int, int), default 400
        In all, or of each crescent: (276, 97) has the sizes of Jain's data.
    noise : float, default 0.05
        Standard deviation of the Gaussian noise on both coordinates.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
    y : int array of shape (n,)

    References
    ----------
    A. Jain, M. Law, "Data clustering: a user's dilemma", PReMI (2005).

    Examples
    --------
    >>> from gramian.datasets import make_crescents
    >>> X, y = make_crescents((276, 97), noise=0.07, random_state=0)
    >>> X.shape, int((y == 1).sum())
    ((373, 2), 97)
    """
    sizes = _parts(n_samples, 2) if isinstance(n_samples, int) else _sizes(n_samples)
    upper, lower = (np.linspace(0, np.pi, size) for size in sizes)
    X = np.vstack([np.c_[np.cos(upper), np.sin(upper)], np.c_[1 - np.cos(lower), 0.5 - np.sin(lower)]])
    return X + _noise(noise) * generator(random_state).standard_normal(X.shape), np.repeat([0, 1], sizes)


def make_parabolas(
    n_samples: int = 1000, *, noise: float = 0.1, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Two parabolas in the plane that open towards each other, the Moon data of the KernelNet paper.

    One is y = x² for x from −2 to 2, the other y = 8 − 1.4 (x − 2)² for x from 0 to 4.

    Parameters
    ----------
    n_samples : int, default 1000
        In all; the first parabola takes the remainder.
    noise : float, default 0.1
        Standard deviation of the Gaussian noise on both coordinates.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
    y : int array of shape (n,)

    References
    ----------
    C. Wu, Z. Khan, S. Ioannidis, J. Dy, "Deep kernel learning for clustering", SDM (2020).

    Examples
    --------
    >>> from gramian.datasets import make_parabolas
    >>> X, y = make_parabolas(random_state=0)
    >>> X.shape, int(y.sum())
    ((1000, 2), 500)
    """
    sizes = _parts(n_samples, 2)
    left, right = np.linspace(-2, 2, sizes[0]), np.linspace(0, 4, sizes[1])
    X = np.vstack([np.c_[left, left**2], np.c_[right, 8 - 1.4 * (right - 2) ** 2]])
    return X + _noise(noise) * generator(random_state).standard_normal(X.shape), np.repeat([0, 1], sizes)


def make_spirals(
    n_samples: int = 3000, *, arms: int = 3, noise: float = 0.16, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Arms of a spiral: arm j is (r sin t, r cos t) with r from 0.3 to 2 and t from 4j to 4(j + 0.6).

    Parameters
    ----------
    n_samples : int, default 3000
        In all; the first arms take the remainder.
    arms : int, default 3
    noise : float, default 0.16
        Standard deviation of the Gaussian noise on the angle t.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
    y : int array of shape (n,)

    References
    ----------
    C. Wu, Z. Khan, S. Ioannidis, J. Dy, "Deep kernel learning for clustering", SDM (2020).

    Examples
    --------
    >>> from gramian.datasets import make_spirals
    >>> X, y = make_spirals(300, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 2), [0, 1, 2])
    """
    sizes = _parts(n_samples, _at_least("arms", arms, 1))
    radius = np.concatenate([np.linspace(0.3, 2, size) for size in sizes])
    angle = np.concatenate([np.linspace(4 * j, 4 * (j + 0.6), size) for j, size in enumerate(sizes)])
    angle += _noise(noise) * generator(random_state).standard_normal(n_samples)
    return np.c_[radius * np.sin(angle), radius * np.cos(angle)], np.repeat(np.arange(arms), sizes)


def make_rings(
    n_samples: int = 400,
    *,
    radii: tuple[float, ...] = (2.0, 10.0),
    noise: float = 0.5,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Concentric rings in the plane: uniform angles, Gaussian radii.

    Parameters
    ----------
    n_samples : int, default 400
        In all; the first rings take the remainder.
    radii : tuple of float, default (2, 10)
        With an RBF width of 5 uncentred KPCA separates these two; it does not separate (5, 15).
    noise : float, default 0.5
        Standard deviation of the radius.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
    y : int array of shape (n,)

    Examples
    --------
    >>> from gramian.datasets import make_rings
    >>> X, y = make_rings(6, noise=0.0, random_state=0)
    >>> (X**2).sum(axis=1).round(6)
    array([  4.,   4.,   4., 100., 100., 100.])
    """
    if len(radii) == 0 or min(radii) <= 0:
        raise ValueError(f"radii={radii!r} are not radii of rings; pass numbers > 0")
    rng, y = generator(random_state), np.repeat(np.arange(len(radii)), _parts(n_samples, len(radii)))
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    radius = np.asarray(radii, dtype=np.float64)[y] + _noise(noise) * rng.standard_normal(n_samples)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], y


def make_small_gauss(n_samples: int = 40, *, random_state: RandomState = None) -> tuple[Array, Array, Array]:
    """Four tight blobs at the corners of a square, with two clusterings: left or right, low or high.

    Parameters
    ----------
    n_samples : int, default 40
        A multiple of 4.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
        Centres (±2.5, ±2.5), standard deviation 0.1. The experiments centre it.
    y1, y2 : int arrays of shape (n,)
        The given clustering (first feature) and the alternative one (second feature).

    References
    ----------
    C. Wu et al., "Iterative spectral method for alternative clustering", AISTATS (2018).

    Examples
    --------
    >>> from gramian.datasets import make_small_gauss
    >>> X, y1, y2 = make_small_gauss(random_state=0)
    >>> bool(((X[:, 0] > 0) == y1).all()), bool(((X[:, 1] > 0) == y2).all())
    (True, True)
    """
    m = _quarter(n_samples)
    centres = 2.5 * np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)])
    X = np.repeat(centres, m, axis=0) + 0.1 * generator(random_state).standard_normal((n_samples, 2))
    return X, np.repeat([0, 1, 0, 1], m), np.repeat([0, 0, 1, 1], m)


def make_large_gauss(n_samples: int = 1000, *, random_state: RandomState = None) -> tuple[Array, Array, Array]:
    """Four unit blobs in three dimensions plus one feature of uniform noise, with two clusterings.

    Parameters
    ----------
    n_samples : int, default 1000
        A multiple of 4.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 4)
        Centres 10 (±(1, 1), ±1); the fourth feature is uniform on [-20, 20). The experiments centre it.
    y1, y2 : int arrays of shape (n,)
        The given clustering (sign of the first feature) and the alternative one (sign of the third).

    References
    ----------
    C. Wu et al., "Iterative spectral method for alternative clustering", AISTATS (2018).

    Examples
    --------
    >>> from gramian.datasets import make_large_gauss
    >>> X, y1, y2 = make_large_gauss(200, random_state=0)
    >>> bool(((X[:, 0] < 0) == y1).all()), bool(((X[:, 2] < 0) == y2).all())
    (True, True)
    """
    m, rng = _quarter(n_samples), generator(random_state)
    centres = 10.0 * np.array([(1, 1, 1), (-1, -1, -1), (1, 1, -1), (-1, -1, 1)])
    blobs = np.repeat(centres, m, axis=0) + rng.standard_normal((n_samples, 3))
    X = np.hstack([blobs, rng.uniform(-20, 20, (n_samples, 1))])
    return X, np.repeat([0, 1, 0, 1], m), np.repeat([0, 1, 1, 0], m)


def make_moon_views(
    n_samples: int = 400, *, n_noise: int = 0, random_state: RandomState = None
) -> tuple[Array, Array, Array]:
    """Two views in one table: two interleaved parabolas (hidden) and two Gaussians (easy to see), crossed evenly.

    Parameters
    ----------
    n_samples : int, default 400
        A multiple of 4; the experiments use 400 without and 200 with noise features.
    n_noise : int, default 0
        Features of uniform noise on [-10, 10).
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 4 + n_noise)
        Features 0 and 1 are the parabolas, 2 and 3 the Gaussians. The experiments standardise, and then divide the
        noise features by 3; without that division the hidden view is not found.
    y1, y2 : int arrays of shape (n,)
        The given clustering (Gaussians) and the alternative one (parabolas).

    References
    ----------
    C. Wu et al., "Iterative spectral method for alternative clustering", AISTATS (2018).

    Examples
    --------
    >>> from gramian.datasets import make_moon_views
    >>> X, y1, y2 = make_moon_views(200, n_noise=3, random_state=0)
    >>> X.shape, [int(((y1 == a) & (y2 == b)).sum()) for a in (0, 1) for b in (0, 1)]
    ((200, 7), [50, 50, 50, 50])
    """
    m, rng = _quarter(n_samples), generator(random_state)
    _at_least("n_noise", n_noise, 0)
    u = np.linspace(-2, 2, m)
    parabolas = (np.c_[u, u**2], np.c_[u + 2, 8 - 1.4 * u**2])
    blocks = []
    for hidden in (0, 1):
        for seen in (0, 1):
            curve = parabolas[hidden] + rng.normal(0, 0.1, (m, 2))
            blocks.append(np.c_[curve, rng.normal(10 * seen - 5, 1, (m, 2)), rng.uniform(-10, 10, (m, n_noise))])
    return np.vstack(blocks), np.repeat([0, 1, 0, 1], m), np.repeat([0, 0, 1, 1], m)


def make_diamond_gauss(
    n_samples: int = 400, n_features: int = 2, *, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Four unit blobs at the corners of a diamond plus features of uniform noise; for timing over the dimension.

    Parameters
    ----------
    n_samples : int, default 400
        A multiple of 4.
    n_features : int, default 2
        Two that tell the blobs apart, the others uniform on [-30, 30).
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, n_features)
        Centred.
    y : int array of shape (n,)

    References
    ----------
    C. Wu et al., "Iterative spectral method for alternative clustering", AISTATS (2018).

    Examples
    --------
    >>> from gramian.datasets import make_diamond_gauss
    >>> make_diamond_gauss(80, 16, random_state=0)[0].shape
    (80, 16)
    """
    m, rng = _quarter(n_samples), generator(random_state)
    _at_least("n_features", n_features, 2)
    centres = 10.0 * np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
    blobs = np.repeat(centres, m, axis=0) + rng.standard_normal((n_samples, 2))
    X = np.hstack([blobs, rng.uniform(-30, 30, (n_samples, n_features - 2))])
    return X - X.mean(axis=0), np.repeat(np.arange(4), m)


def make_clouds(n_samples: int = 400, *, random_state: RandomState = None) -> tuple[Array, Array]:
    """Ground and clouds as a satellite sees them: one Gaussian against a thin and a thick kind of cloud.

    Ground is N(0, I) in four dimensions; two thirds of the clouds are N((4.5, 0, 0, 0), I) and one third is
    N((6, 8, 0, 0), I). So three clusters, to be merged into two classes.

    Parameters
    ----------
    n_samples : int, default 400
        In all, half of it ground.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 4)
    y : int array of shape (n,)
        0 for ground, 1 for cloud.

    Examples
    --------
    >>> from gramian.datasets import make_clouds
    >>> X, y = make_clouds(400, random_state=0)
    >>> X.shape, int(y.sum())
    ((400, 4), 200)
    """
    ground, cloud = _parts(n_samples, 2)
    thin = round(2 * cloud / 3)
    centres = np.array([(0, 0, 0, 0), (4.5, 0, 0, 0), (6, 8, 0, 0)])
    means = np.repeat(centres, [ground, thin, cloud - thin], axis=0)
    return means + generator(random_state).standard_normal((n_samples, 4)), np.repeat([0, 1], [ground, cloud])


def make_land_cover(n_samples: int = 2000, *, random_state: RandomState = None) -> tuple[Array, Array]:
    """Land cover seen on three dates, some of them behind clouds: blocks of features are missing together.

    Seven Gaussian classes in 20 dimensions: three images of six bands, then elevation and slope. Means are
    N(0, 1.5² I), covariances random. Each image is missing with chance 0.3 in a row, drawn again if all three
    were, so there are seven patterns; elevation and slope are always there.

    Parameters
    ----------
    n_samples : int, default 2000
        The first classes take the remainder.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 20)
        NaN where missing.
    y : int array of shape (n,)

    References
    ----------
    Stands in for the Hardangervidda data of A.-B. Salberg, R. Jenssen, "Land-cover classification of partly
    missing data using support vector machines", International Journal of Remote Sensing 33 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.datasets import make_land_cover
    >>> X, y = make_land_cover(700, random_state=0)
    >>> len(np.unique(np.isnan(X), axis=0)), bool(np.isnan(X[:, 18:]).any())
    (7, False)
    """
    d, rng = _BANDS * _DATES + 2, generator(random_state)
    sizes = _parts(n_samples, _CLASSES)
    y = np.repeat(np.arange(_CLASSES), sizes)
    means = 1.5 * rng.standard_normal((_CLASSES, d))
    # Columns of a random square factor A: the covariance A Aᵀ / d is positive definite, with variances around 1.
    factors = rng.standard_normal((_CLASSES, d, d)) / np.sqrt(d)
    parts = [rng.standard_normal((size, d)) @ factor.T for size, factor in zip(sizes, factors, strict=True)]
    X = means[y] + np.vstack(parts)
    patterns = np.array([[p >> date & 1 for date in range(_DATES)] for p in range(2**_DATES - 1)], dtype=bool)
    chance = np.where(patterns, 0.3, 0.7).prod(axis=1)
    hidden = patterns[rng.choice(len(patterns), n_samples, p=chance / chance.sum())]
    X[:, : _BANDS * _DATES][np.repeat(hidden, _BANDS, axis=1)] = np.nan
    return X, y


def _parts(n_samples: int, k: int) -> list[int]:
    """Sizes of k parts that differ by at most one, the larger ones first."""
    _at_least("n_samples", n_samples, k)
    return [n_samples // k + (j < n_samples % k) for j in range(k)]


def _sizes(n_samples: tuple[int, int]) -> list[int]:
    if len(n_samples) != 2 or min(n_samples) < 1:
        raise ValueError(f"n_samples={n_samples!r} must be an int or the sizes of two crescents, both >= 1")
    return list(n_samples)


def _quarter(n_samples: int) -> int:
    if n_samples < 4 or n_samples % 4:
        raise ValueError(
            f"n_samples={n_samples} cannot be split into four equal blobs; pass {max(n_samples // 4, 1) * 4}"
        )
    return n_samples // 4


def _at_least(name: str, value: int, least: int) -> int:
    if value < least:
        raise ValueError(f"{name}={value} is too small; pass {name} >= {least}")
    return value


def _noise(noise: float) -> float:
    if not noise >= 0:
        raise ValueError(f"noise={noise} is not a standard deviation; pass a number >= 0")
    return noise
