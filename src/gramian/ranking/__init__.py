"""Ranking: random walks with restarts on graphs and on kernels, and Markov chains.

``kernel_pagerank.py`` and ``ranked_clustering.py`` hold the estimators, on the parts in ``kernel_walk/``; ``graphs/``
ranks the nodes of a graph; ``reduction.py`` has small tools around both. What other folders may call is listed here.

``GraphWalk`` (in ``graphs/``) is the random walk on the nodes of a graph, directed or not. ``Walk`` (in
``kernel_walk/``) is the random walk on the samples of a Gram, which is symmetric. ``NormalizedGram`` (in
:mod:`gramian.grams`) is no walk but an operator, D^-½ K D^-½, whose eigenvectors a ``Walk`` needs.
"""

from gramian.clustering.core import ClusterCount, estimate_n_clusters
from gramian.ranking._queries import best_first
from gramian.ranking.graphs import (
    PushResult,
    effective_resistance,
    is_irreducible,
    is_reversible,
    k_step,
    personalized_pagerank,
    push_pagerank,
    rank_on_manifold,
    resistance_error_bound,
    restart_matrix,
    reverse_chain,
    stationary_distribution,
    stochastic_type,
)
from gramian.ranking.kernel_pagerank import KernelPageRank
from gramian.ranking.kernel_walk.low_rank import RankingError
from gramian.ranking.ranked_clustering import RankedClustering
from gramian.ranking.reduction import Competition, best_ranked, evalue_affinity, rank_compete

__all__ = [
    "ClusterCount",
    "Competition",
    "KernelPageRank",
    "PushResult",
    "RankedClustering",
    "RankingError",
    "best_first",
    "best_ranked",
    "effective_resistance",
    "estimate_n_clusters",
    "evalue_affinity",
    "is_irreducible",
    "is_reversible",
    "k_step",
    "personalized_pagerank",
    "push_pagerank",
    "rank_compete",
    "rank_on_manifold",
    "resistance_error_bound",
    "restart_matrix",
    "reverse_chain",
    "stationary_distribution",
    "stochastic_type",
]
