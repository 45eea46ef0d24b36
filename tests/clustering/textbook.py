"""What the tests of several clusterings compare with, by definition and slowly."""

import numpy as np
from scipy.spatial.distance import cdist


def lloyd(X, labels, k):
    """Textbook k-means from given labels; returns the labels after every step, until they repeat."""
    history = [labels]
    while True:
        means = np.array([X[labels == c].mean(axis=0) for c in range(k)])
        labels = cdist(X, means, "sqeuclidean").argmin(axis=1)
        if np.array_equal(labels, history[-1]):
            return history
        history.append(labels)


def base_labels(model):
    """Labels of every base partition, (n, M), −1 where the partition did not see the row, from H alone.

    Columns of one partition are neighbours in H: a new partition begins where a row has its next one.
    """
    H = model.memberships_.toarray()
    assert set(np.unique(H)) <= {0, 1}
    seen = np.ones((len(H), int(H[0].sum())), bool) if model.seen_ is None else model.seen_
    labels = np.full(seen.shape, -1)
    for i, row in enumerate(H):
        labels[i, seen[i]] = np.flatnonzero(row)
    return labels
