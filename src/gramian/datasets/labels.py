"""Samples whose labels do not follow their places: what a classifier fits here it has learned by heart."""

from __future__ import annotations

import numpy as np

from gramian.datasets.synthetic import _at_least, _noise, _parts
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["make_adversarial", "make_random_labels"]


def make_adversarial(
    n_samples: int = 80, *, noise: float = 0.01, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Points of the unit square, each with a close neighbour of the other class.

    The nearest neighbour of most points has the other label, so a classifier that trusts distances does worse than
    chance on held-out points.

    Parameters
    ----------
    n_samples : int, default 80
        An even number; the first half has class 0.
    noise : float, default 0.01
        Standard deviation of the Gaussian step from a point of class 0 to its neighbour of class 1.
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, 2)
    y : int array of shape (n,)

    References
    ----------
    C. Wu, "Learning representations via kernel dependence measure", thesis, Northeastern University (2020), chapter 6.

    Examples
    --------
    >>> from gramian.datasets import make_adversarial
    >>> X, y = make_adversarial(80, random_state=0)
    >>> X.shape, int(y.sum())
    ((80, 2), 40)
    """
    _at_least("n_samples", n_samples, 2)
    if n_samples % 2:
        raise ValueError(f"n_samples={n_samples} cannot be split into pairs; pass an even number")
    rng = generator(random_state)
    first = rng.random((n_samples // 2, 2))
    second = first + _noise(noise) * rng.standard_normal(first.shape)
    return np.vstack([first, second]), np.repeat([0, 1], n_samples // 2)


def make_random_labels(
    n_samples: int = 60, *, n_features: int = 3, n_classes: int = 2, random_state: RandomState = None
) -> tuple[Array, Array]:
    """Standard normal points with labels that do not depend on them.

    Parameters
    ----------
    n_samples : int, default 60
        Spread over the classes as evenly as possible.
    n_features : int, default 3
    n_classes : int, default 2
    random_state : int, numpy Generator, RandomState or None

    Returns
    -------
    X : array of shape (n, n_features)
    y : int array of shape (n,)

    References
    ----------
    C. Wu, "Learning representations via kernel dependence measure", thesis, Northeastern University (2020), chapter 6.

    Examples
    --------
    >>> from gramian.datasets import make_random_labels
    >>> X, y = make_random_labels(60, random_state=0)
    >>> X.shape, int(y.sum())
    ((60, 3), 30)
    """
    sizes = _parts(n_samples, _at_least("n_classes", n_classes, 1))
    rng = generator(random_state)
    X = rng.standard_normal((n_samples, _at_least("n_features", n_features, 1)))
    return X, rng.permutation(np.repeat(np.arange(n_classes), sizes))
