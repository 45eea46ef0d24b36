"""One clustering from several runs: matched clusters, a majority vote, or the evidence of all."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.clustering.ensemble.agreement import affinities, memberships_of, spectral_labels
from gramian.typing import Array


def align_labels(reference: Any, labels: Any, *, n_clusters: int | None = None, return_mapping: bool = False) -> Any:
    """Number the clusters of a partition as those of a reference with which they share most rows.

    Parameters
    ----------
    reference, labels : array-like of int (n,)
        Cluster numbers from 0.
    n_clusters : int, optional
        Numbers to map; by default up to the largest of both.
    return_mapping : bool, default False
        Also return the new number of each cluster.

    Returns
    -------
    aligned : ndarray (n,)
        ``mapping[labels]``, which agrees with the reference on as many rows as a one-to-one renaming can.
    mapping : ndarray (k,)
        A permutation of 0 … k − 1; only with ``return_mapping``.

    Examples
    --------
    >>> from gramian.deep import align_labels
    >>> align_labels([0, 0, 1, 1, 2], [2, 2, 0, 0, 1])
    array([0, 0, 1, 1, 2])
    """
    first, second = _codes("reference", reference), _codes("labels", labels)
    if first.shape != second.shape:
        raise ValueError(f"reference has {len(first)} labels and labels {len(second)}; pass labels of the same rows")
    k = max(int(first.max()), int(second.max())) + 1
    if n_clusters is not None:
        if n_clusters < k:
            raise ValueError(f"n_clusters={n_clusters} is less than the {k} clusters of the labels")
        k = n_clusters
    table = np.zeros((k, k), np.intp)
    np.add.at(table, (second, first), 1)
    mapping = linear_sum_assignment(table, maximize=True)[1]
    return (mapping[second], mapping) if return_mapping else mapping[second]


def vote_labels(runs: Any, *, n_clusters: int | None = None) -> Array:
    """Majority vote of several partitions, their clusters matched to those of the first.

    Parameters
    ----------
    runs : array-like of int (n_runs, n)
        Cluster numbers from 0; the best run first.
    n_clusters : int, optional
        As in :func:`align_labels`.

    Returns
    -------
    labels : ndarray (n,)
        Of clusters with equally many votes, that of the earliest run.

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> from gramian.deep import vote_labels
    >>> vote_labels([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]])
    array([0, 0, 1, 1])
    """
    partitions = [_codes("runs", run) for run in runs]
    if not partitions:
        raise ValueError("runs is empty; pass at least one row of labels")
    aligned = [partitions[0], *(align_labels(partitions[0], run, n_clusters=n_clusters) for run in partitions[1:])]
    return majority(np.array(aligned))


def majority(aligned: Array) -> Array:
    """The most frequent label of each column of (n_runs, n); of equals, that of the earliest run."""
    n = aligned.shape[1]
    votes = np.zeros((n, int(aligned.max()) + 1))
    for place, labels in enumerate(aligned):
        # All halves together are less than one vote, and an earlier one is more than all later ones.
        votes[np.arange(n), labels] += 1 + 0.5 ** (place + 2) if place < 40 else 1
    return np.argmax(votes, axis=1)


def _codes(name: str, labels: Any) -> Array:
    values = np.asarray(labels)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "iu" or values.min() < 0:
        raise ValueError(f"{name} must be whole numbers >= 0, one per row; got {values.dtype} of shape {values.shape}")
    return values


def consensus_tables(partitions: Array, n_outputs: int, n_clusters: int, rng: np.random.Generator) -> Array:
    """How the clusters of several runs make up the clusters that all of them together speak for.

    Rows that many runs put together belong together (evidence accumulation, as :class:`~gramian.ConsensusClustering`).

    Parameters
    ----------
    partitions : ndarray of int (n_runs, n)
        Labels below ``n_outputs``.
    n_outputs, n_clusters : int
        Clusters of a run, and of the consensus.
    rng : numpy.random.Generator

    Returns
    -------
    tables : ndarray (n_runs, n_outputs, n_clusters)
        Of a row in clusters j_1, j_2, … the sum of ``tables[r, j_r]`` is its mean co-association with the rows of each
        cluster of the consensus.
    """
    H = memberships_of(partitions, n_outputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows left out here get their cluster by the tables, as new rows do
        labels = spectral_labels(H, n_clusters, rng)
    inside = np.flatnonzero(labels >= 0)
    found = affinities(H[inside], labels[inside])
    tables = np.zeros((len(partitions), n_outputs, n_clusters))
    tables[:, :, : found.shape[1]] = found.reshape(len(partitions), n_outputs, -1)
    return tables
