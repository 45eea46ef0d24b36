"""Tables of numbers and categories with and without groups, for the tests of latent classes."""

import numpy as np

from gramian.clustering.automatic.variables import variables_of


def planted(rng, n=210, missing=0.05):
    """Three unequal groups in two numbers and three categories, beside a category that says nothing."""
    labels = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    numbers = rng.normal(size=(n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[labels]
    codes = np.where(rng.random((n, 3)) < 0.85, labels[:, None], rng.integers(3, size=(n, 3)))
    codes = np.column_stack([codes, rng.integers(8, size=n)])
    numbers[rng.random(numbers.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = -1
    return variables_of(numbers, codes), labels


def gradient(rng, n=210):
    """Numbers and categories that follow one even slope: no groups."""
    slope = rng.uniform(-1, 1, n)
    numbers = slope[:, None] + 0.4 * rng.normal(size=(n, 2))
    codes = [np.searchsorted(cuts, slope + 0.4 * rng.normal(size=n)) for cuts in ([-0.3, 0.4], [0.0], [-0.5, 0, 0.5])]
    return variables_of(numbers, np.column_stack(codes))
