"""Scores for partitions: how well two sets of labels agree.

Labels are names: text, ints and the -1 that other libraries give to noise are all ordinary groups here."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from gramian.typing import Array


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, return_mapping: bool = False) -> Any:
    """Share of samples in the right cluster, under the best one-to-one matching of clusters and classes.

    ACC = max over one-to-one maps M of (1/n) Σ_i 1[y_i = M(ŷ_i)], found by the Hungarian method on the table
    of co-occurrences. With more clusters than classes the surplus clusters stay unnamed and count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Class and cluster of each sample: ints or text; the two need not use the same names or as many.
    return_mapping : bool, default False
        Also return the best naming, a dict from cluster to class; surplus clusters are not in it.

    Returns
    -------
    float or (float, dict)

    References
    ----------
    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2
    (1955).

    Examples
    --------
    >>> from gramian.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    classes, clusters, (true_names, pred_names) = _two_partitions(y_true, y_pred)
    table = np.zeros((len(pred_names), len(true_names)), dtype=np.int64)
    np.add.at(table, (clusters, classes), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    accuracy = float(table[rows, columns].sum() / len(classes))
    if not return_mapping:
        return accuracy
    names = zip(pred_names[rows].tolist(), true_names[columns].tolist(), strict=True)
    return accuracy, dict(names)


def normalized_mutual_info(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    average: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic",
) -> float:
    """Mutual information of two partitions over a mean of their entropies, in [0, 1].

    NMI = I(l, c) / mean(H(l), H(c)). The default mean is the arithmetic one, as in scikit-learn; the papers
    on alternative clustering divide by the geometric mean √(H(l) H(c)), so compare with their tables under
    ``average="geometric"``. Two constant partitions give 1, one constant and one not gives 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
    average : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles", Journal of Machine Learning Research 3 (2002).

    Examples
    --------
    >>> from gramian.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], ["b", "b", "a", "a"]), 12)
    1.0
    """
    allowed = ("arithmetic", "geometric", "min", "max")
    if average not in allowed:
        raise ValueError(f"average={average!r} is not a mean known here; pass one of {', '.join(allowed)}")
    classes, clusters, _ = _two_partitions(y_true, y_pred)
    return float(normalized_mutual_info_score(classes, clusters, average_method=average))


def adjusted_rand(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Rand index corrected for chance: 1 for equal partitions, 0 expected for independent ones.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)

    References
    ----------
    L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2 (1985).

    Examples
    --------
    >>> from gramian.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    classes, clusters, _ = _two_partitions(y_true, y_pred)
    return float(adjusted_rand_score(classes, clusters))


def variation_of_information(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Distance between two partitions: VI = H(l) + H(c) − 2 I(l, c), in nats, from 0 to log n.

    What each partition says that the other does not. A metric: zero for equal partitions only, symmetric, and it obeys
    the triangle inequality, which neither the Rand index nor the mutual information does.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)

    References
    ----------
    M. Meilă, "Comparing clusterings: an information based distance", Journal of Multivariate Analysis 98 (2007).

    Examples
    --------
    Half of one partition is halved in the other:

    >>> from gramian.metrics import variation_of_information
    >>> round(variation_of_information([0, 0, 0, 0], ["a", "a", "b", "b"]), 4)
    0.6931
    """
    classes, clusters, (true_names, pred_names) = _two_partitions(y_true, y_pred)
    shape = len(true_names), len(pred_names)
    cells, counts = np.unique(np.ravel_multi_index((classes, clusters), shape), return_counts=True)
    rows, columns = np.unravel_index(cells, shape)
    joint = counts / len(classes)
    own, other = np.bincount(classes) / len(classes), np.bincount(clusters) / len(classes)
    # H(l|c) + H(c|l), of which every term is at least zero: no difference of large entropies is taken.
    return float(joint @ (np.log(own[rows] / joint) + np.log(other[columns] / joint)))


def label_codes(name: str, labels: ArrayLike) -> tuple[Array, Array]:
    """Codes 0..c-1 of the labels and the sorted names they stand for."""
    values = np.asarray(labels)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; pass one label per sample, shape (n,) with n >= 1")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; drop these rows or give them a label of their own")
    try:
        names, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"{name} mixes types that cannot be ordered; pass all ints or all text") from error
    return codes, names


def _two_partitions(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Array, Array, tuple[Array, Array]]:
    classes, true_names = label_codes("y_true", y_true)
    clusters, pred_names = label_codes("y_pred", y_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            f"y_true has {len(classes)} labels and y_pred {len(clusters)}; pass labels of the same samples"
        )
    return classes, clusters, (true_names, pred_names)
