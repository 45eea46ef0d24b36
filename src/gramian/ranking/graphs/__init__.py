"""Random walks on graphs: personalized PageRank and its solvers, Markov chains, electric resistance.

A graph is a square SciPy sparse matrix or an array of weights, directed or not. The solvers (``power.py``,
``gauss_seidel.py``, ``reversible.py``, ``direct.py``, ``push.py``) work on :class:`~.graph_walk.GraphWalk`; only the
names below are for other folders.
"""

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
from gramian.ranking.graphs.seeds import check_restart, check_top, restart_matrix

__all__ = [
    "PushResult",
    "check_restart",
    "check_top",
    "effective_resistance",
    "is_irreducible",
    "is_reversible",
    "k_step",
    "personalized_pagerank",
    "push_pagerank",
    "rank_on_manifold",
    "resistance_error_bound",
    "restart_matrix",
    "reverse_chain",
    "stationary_distribution",
    "stochastic_type",
]
