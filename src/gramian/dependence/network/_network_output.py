"""Outputs of a trained network for rows: features, distances to class means, and the softmax temperature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import log_softmax

from gramian.configuration import require_memory
from gramian.dependence.network._labelled_samples import scaled
from gramian.dependence.network._network_layers import NetworkLayer
from gramian.dependence.projection._estimator import ColumnScaling
from gramian.grams import tiles
from gramian.typing import Array


def forward(X: Array, scaler: ColumnScaling | None, layers: list[NetworkLayer], space: str) -> Iterator[Array]:
    """The output of the last of the layers, a strip of rows at a time: inner layers are never held for all rows."""
    widest = max(X.shape[1], *(layer.feature_map._n_features_out for layer in layers))
    for rows in tiles.slices(len(X), max(1, 4 * tiles.TILE_BYTES // (8 * widest))):
        R = scaled(scaler, X[rows])
        for layer in layers:
            Z = layer.project(R)
            R = layer.features(Z) if layer is not layers[-1] or space == "features" else Z
        yield R


def class_means(X: Array, codes: Array, scaler: ColumnScaling | None, layers: list[NetworkLayer], space: str) -> Array:
    """Means (k, m) of the network's output over the classes, summed strip by strip."""
    counts = np.bincount(codes)
    total: Any = 0.0
    start = 0
    for part in forward(X, scaler, layers, space):
        of_rows = codes[start : start + len(part)]
        Y = csr_array((np.ones(len(part)), of_rows, np.arange(len(part) + 1)), shape=(len(part), len(counts)))
        total = total + Y.T @ part
        start += len(part)
    return total / counts[:, None]


def closeness(rows: Array, means: Array) -> Array:
    """The negative squared distance −‖r − μ_g‖² of every row to every class mean."""
    n, k = len(rows), len(means)
    require_memory(8.0 * n * k, f"the {n}×{k} distances to class means", "use fewer classes, or fewer rows at a time")
    squared = (rows * rows).sum(axis=1)[:, None] - 2 * rows @ means.T + (means * means).sum(axis=1)
    return -np.maximum(squared, 0.0)


def temperature(scores: Array, codes: Array) -> float:
    """The softmax temperature under which the training labels are most likely.

    A sample counts as its class with (n_g + 1) / (n_g + k). The held-back rest keeps the temperature of a perfectly
    separated training set off zero.
    """
    k = scores.shape[1]
    counts = np.bincount(codes, minlength=k)
    own = (counts + 1) / (counts + k)
    targets = np.repeat(((1 - own) / (k - 1))[codes][:, None], k, axis=1)
    targets[np.arange(len(codes)), codes] = own[codes]
    spread = float(np.ptp(scores, axis=1).mean())
    if spread == 0.0:
        return 1.0

    def loss(place: float) -> float:
        return -float((targets * log_softmax(scores / (spread * np.exp(place)), axis=1)).sum())

    found = minimize_scalar(loss, bounds=(-10.0, 5.0), method="bounded")
    return spread * float(np.exp(found.x))
