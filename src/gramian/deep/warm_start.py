"""Labels for the first steps of a clustering network, from spectral clustering on a neighbour graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramian.checks import check_partial_classes
from gramian.clustering import SpectralClustering
from gramian.typing import Array

MOST_ROWS = 10_000
_LEAST_ROWS = 25  # with fewer, the graph of the ten nearest rows is almost complete and says nothing


def spectral_labels(X: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Labels by spectral clustering on the graph of nearest rows; −1 where there is none.

    Parameters
    ----------
    X : ndarray (n, d)
        Scaled. Of more than 10,000 rows a random 10,000 get labels, the others −1.
    n_clusters : int
    rng : numpy.random.Generator

    Returns
    -------
    labels : ndarray (n,)
        −1 throughout where the graph tells nothing: too few different rows, or rows that fall apart.
    """
    n = len(X)
    labels = np.full(n, -1)
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(rng.choice(n, MOST_ROWS, replace=False))
    if n_clusters == 1 or len(np.unique(X[rows], axis=0)) < max(_LEAST_ROWS, 3 * n_clusters):
        return labels
    with warnings.catch_warnings():
        # A row without a label, or a cluster too few, does no harm to a start.
        warnings.simplefilter("ignore")
        try:
            found = SpectralClustering(n_clusters, random_state=rng).fit(X[rows]).labels_
        except ValueError:  # the graph falls apart into pieces too small for clusters
            return labels
    if len(np.unique(found[found >= 0])) > 1:
        labels[rows] = found
    return labels


def given_labels(init: Any, n_samples: int, n_clusters: int) -> Array:
    """Labels that the user passed as ``init``, numbered from 0; −1 for rows without one."""
    if np.shape(init) != (n_samples,):
        raise ValueError(f"init={init!r} must be 'spectral', 'random', or one label for each of the {n_samples} rows")
    try:
        known, names = check_partial_classes(init, n_samples)
    except ValueError as error:
        raise ValueError(f"init: {str(error).removeprefix('y ')}") from error
    classes, codes = np.unique(names, return_inverse=True)
    if codes.ndim != 1 or not 2 <= len(classes) <= n_clusters:
        raise ValueError(f"init has {len(classes)} different labels; pass between 2 and the {n_clusters} clusters")
    labels = np.full(n_samples, -1)
    labels[known] = codes
    return labels
