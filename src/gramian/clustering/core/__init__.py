"""The spectral core: embed a Gram by eigenvectors, cluster the embedded rows, choose the number of clusters.

Every clustering by eigenvectors stands on it: :class:`~gramian.SpectralClustering`, :class:`~gramian.AutoClustering`,
:class:`~gramian.RankedClustering` and the relaxed clusters of :mod:`gramian.dependence`.
"""

from gramian.clustering.core.embedding import (
    Axes,
    Placement,
    kmeans,
    labels_by_first_row,
    nearest_center,
    numbered,
    refill_empty,
    spectral_labels,
    used_labels,
)
from gramian.clustering.core.n_clusters import (
    ClusterCount,
    choose_by_gap,
    estimate_n_clusters,
    longest_lived,
    relative_gap,
    relative_gaps,
    shares_of_gaps,
)
from gramian.grams.features import unit_rows

__all__ = [
    "Axes",
    "ClusterCount",
    "Placement",
    "choose_by_gap",
    "estimate_n_clusters",
    "kmeans",
    "labels_by_first_row",
    "longest_lived",
    "nearest_center",
    "numbered",
    "refill_empty",
    "relative_gap",
    "relative_gaps",
    "shares_of_gaps",
    "spectral_labels",
    "unit_rows",
    "used_labels",
]
