"""Scores for partitions, rankings, graph cuts, divergences of clusters, and forecasts.

Pure functions on labels, score vectors, affinity matrices and Grams; they know no estimator. Labels are names: text,
ints and the -1 that other libraries give to noise are all ordinary groups here. To leave points out, leave their rows
out of both arguments.
"""

from gramian.metrics.cuts import conductance, modularity, normalized_cut
from gramian.metrics.divergence import cauchy_schwarz_divergence
from gramian.metrics.forecasts import interval_coverage, mase, nrmse
from gramian.metrics.partitions import (
    adjusted_rand,
    clustering_accuracy,
    normalized_mutual_info,
    variation_of_information,
)
from gramian.metrics.rankings import expected_random_ndcg, ndcg_at_k, precision_at_k, rank_correlation, score_cosine
from gramian.score_criteria import (
    average_membership_strength,
    balanced_angular_fit,
    balanced_angular_similarity,
    balanced_line_fit,
)

__all__ = [
    "adjusted_rand",
    "average_membership_strength",
    "balanced_angular_fit",
    "balanced_angular_similarity",
    "balanced_line_fit",
    "cauchy_schwarz_divergence",
    "clustering_accuracy",
    "conductance",
    "expected_random_ndcg",
    "interval_coverage",
    "mase",
    "modularity",
    "ndcg_at_k",
    "normalized_cut",
    "normalized_mutual_info",
    "nrmse",
    "precision_at_k",
    "rank_correlation",
    "score_cosine",
    "variation_of_information",
]
