"""Ranking: random walks with restarts on graphs and on kernels, and Markov chains."""

from gramian.ranking.graphs.electric import effective_resistance, resistance_error_bound
from gramian.ranking.graphs.manifold import rank_on_manifold
from gramian.ranking.graphs.markov import (
    is_irreducible,
    is_reversible,
    k_step,
    reverse_chain,
    stationary_distribution,
    stochastic_type,
)
from gramian.ranking.graphs.pagerank import personalized_pagerank
from gramian.ranking.graphs.push import PushResult, push_pagerank
from gramian.ranking.graphs.seeds import restart_matrix
from gramian.ranking.kernel_pagerank import KernelPageRank
from gramian.ranking.low_rank import RankingError
from gramian.ranking.number_of_clusters import ClusterCount, estimate_n_clusters
from gramian.ranking.ranked_clustering import RankedClustering
from gramian.ranking.reduction import Competition, best_ranked, evalue_affinity, rank_compete

__all__ = [
    "ClusterCount",
    "Competition",
    "KernelPageRank",
    "PushResult",
    "RankedClustering",
    "RankingError",
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
