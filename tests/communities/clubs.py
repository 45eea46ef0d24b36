"""A small network with names: three clubs of friends, who know few outside, and a pair of strangers."""

import numpy as np


def clubs(seed=0, sizes=(16, 14, 12), inside=0.6, outside=0.02):
    """Pairs of names, each once."""
    rng = np.random.default_rng(seed)
    names = [f"{club}{i:02}" for club, size in zip("xyz", sizes, strict=True) for i in range(size)]
    pairs = []
    for i, one in enumerate(names):
        pairs += [
            (one, other) for other in names[i + 1 :] if rng.random() < (inside if one[0] == other[0] else outside)
        ]
    return [*pairs, ("p", "q")]


def written(pairs, separator=" "):
    return "".join(separator.join(map(str, pair)) + "\n" for pair in pairs)
