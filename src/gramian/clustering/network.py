"""Communities of a network as a model: trained on a representative subgraph, extended to all other nodes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_whole, real, remember_columns, whole
from gramian.clustering.core.embedding import labels_by_first_row
from gramian.clustering.ksc import Directions
from gramian.clustering.networks.adjacency import (
    as_adjacency,
    check_edges,
    component_labels,
    numbered_components,
    sparse_of,
    with_loops,
)
from gramian.clustering.networks.placement import UNKNOWN, decoded, majority, spread, warn_unplaced
from gramian.clustering.networks.refinement import conductance_of, group_weights, modularity_of, refined
from gramian.clustering.networks.selection import by_gap, by_partitions
from gramian.clustering.networks.subgraph import SubgraphModel, solved
from gramian.clustering.networks.training import TrainingSet, training_set
from gramian.diagram import Estimator
from gramian.randomness import generator
from gramian.score_criteria import memberships
from gramian.typing import Array, Matrix, RandomState

_BY_MODULARITY = 20_000  # nodes up to which criterion="auto" refines a partition for every number of communities
_MOST = 150  # communities at most by default
_EXACT = 3000  # training nodes up to which eigenvectors are found to several digits


class NetworkKSC(ClusterMixin, Estimator):
    """Find communities of a network by kernel spectral clustering of a representative subgraph.

    FURS selects training nodes of high degree from different regions. With x_i the rows of the adjacency matrix and
    the kernel k(i, j) = x_i·x_j / (‖x_i‖ ‖x_j‖), the model is kernel spectral clustering of the training nodes,

        D⁻¹ M_D K α = λ α,    e(x) = Σ_i α_i k(x, x_i) + b,

    and a node has the community whose prototype is at the smallest angle to its scores e. All nodes, and new ones, are
    scored by two sparse products, adjacency · (trainᵀ · α). Then single nodes move between the k communities as long
    as that raises modularity (``refine``).

    Nothing is random: a second fit gives the same answer. Unlike Louvain or Leiden it takes a number of communities,
    and ``predict`` places new nodes without moving the others. Without the refinement its modularity is well below
    theirs on sparse networks; with it, and k chosen by the modularity reached, it is within 0.005 of a converged
    Leiden run on the networks of the guide. Leiden repeated as often as k were tried is level with it or better.

    Parameters
    ----------
    n_clusters : int or None, default None
        Communities of the model; None chooses them. Components below ``min_size`` come on top.
    max_clusters : int, optional
        Most communities considered when ``n_clusters=None``; default about √n, from 20 to 150.
    train_fraction : float, default 0.15
        Share of the nodes that are trained on at most. Up to 5,000 training nodes it may be more: the subset grows
        until its nodes have 20 others that share a neighbour, on average, and its kernel is as connected as the
        network.
    max_train : int, optional
        Training nodes at most, whatever their kernel looks like; the published method has 5,000. A large sparse
        network needs more: its training nodes would share no neighbours.
    criterion : {"auto", "modularity", "gap", "baf"}, default "auto"
        What chooses the number of communities: the modularity of the (refined) partition, the largest relative gap of
        the eigenvalues, or the balanced angular fit without balance. "auto" is "modularity" up to 20,000 nodes and
        "gap" beyond. "baf", the published one, is misleading on small networks and where communities are blurred.
    refine : bool, default True
        Whether nodes are moved by modularity afterwards.
    self_loops : bool, default True
        Whether nodes count as their own neighbours, so that direct neighbours are alike.
    min_size : int, default 10
        A connected component of fewer nodes is a community of its own.
    random_state : int, Generator or None, default None
        Not used; nothing is random.

    Attributes
    ----------
    labels_ : ndarray (n,)
        Communities of the model from 0 on, in the order of their first nodes, then small components. −1 for a node
        without edges.
    model_labels_ : ndarray (n,)
        The same before the refinement: what ``predict`` says of the rows of the adjacency matrix with its self loops.
    n_clusters_ : int
        Communities of the model.
    modularity_ : float
        Of ``labels_``.
    conductance_ : ndarray (number of communities,)
        Of each community, small components included.
    selection_ : dict of ndarrays
        ``n_clusters`` against ``gap``, ``baf`` and ``modularity``, NaN where not computed.
    train_indices_ : ndarray (m,)
        Training nodes, in the order of their selection.
    train_size_ : int
    eigenvalues_ : ndarray (n_clusters_ − 1,)
    dual_coef_ : ndarray (m, n_clusters_ − 1)
        α.
    intercept_ : ndarray (n_clusters_ − 1,)
        b.
    prototypes_ : ndarray (n_clusters_, n_clusters_ − 1)
        Mean scores of the training nodes of each community.
    directed_ : bool
        Whether the network had directions, which were averaged away.

    See Also
    --------
    MultilevelKSC : All levels of a network at once.

    References
    ----------
    R. Mall, R. Langone, J. Suykens, "Kernel spectral clustering for big data networks", Entropy 15 (2013).

    Examples
    --------
    >>> from gramian import NetworkKSC
    >>> from gramian.datasets import make_planted_graph
    >>> adjacency, y = make_planted_graph(600, 3, degree=15, inside=0.9, random_state=0)
    >>> model = NetworkKSC().fit(adjacency)
    >>> model.n_clusters_, bool((model.labels_ == y).mean() > 0.99)
    (3, True)

    A new node with two edges into the last community:

    >>> import numpy as np
    >>> row = np.zeros((1, 600))
    >>> row[0, [450, 500]] = 1
    >>> model.predict(row)
    array([2])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_clusters: int | None = None,
        train_fraction: float = 0.15,
        max_train: int | None = None,
        criterion: str = "auto",
        refine: bool = True,
        self_loops: bool = True,
        min_size: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.train_fraction = train_fraction
        self.max_train = max_train
        self.criterion = criterion
        self.refine = refine
        self.self_loops = self_loops
        self.min_size = min_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NetworkKSC:
        """Find the communities of a network.

        Parameters
        ----------
        X : scipy sparse or array-like (n, n), networkx graph or igraph graph
            Adjacency matrix: weights >= 0, of a directed network those of both directions are averaged. Its diagonal
            does not count.
        y : ignored

        Returns
        -------
        self : NetworkKSC
        """
        self._check_parameters()
        graph, directed = as_adjacency(self, X)
        large, small = component_labels(graph, self.min_size)
        part = graph if large.all() else graph[large][:, large]
        n = part.shape[0]
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n} nodes in components of min_size={self.min_size} "
                f"nodes; pass n_clusters <= {n}"
            )
        looped = with_loops(part) if self.self_loops else part
        model, decoder, values, training, table = self._model(part, looped)
        labels, known = decoded(model, decoder, looped)
        labels, distance = spread(looped, labels, known)
        found = labels >= 0  # a component that no training node is in or near stays apart, too
        small[np.flatnonzero(large)[~found]] = numbered_components(part, ~found) + small.max() + 1
        inner = part if found.all() else part[found][:, found]
        final = refined(inner, labels[found], decoder.n_clusters) if self.refine else labels[found]
        final, order = labels_by_first_row(final)
        place = np.zeros(decoder.n_clusters, np.int64)
        place[order] = np.arange(len(order))
        k = len(order)
        if self.n_clusters is not None and k < self.n_clusters:
            warnings.warn(
                f"n_clusters={self.n_clusters} but the network shows {k} directions of communities only",
                UserWarning,
                stacklevel=2,
            )
        self._rows, self._large = training.rows, np.flatnonzero(large)
        self.train_indices_ = self._large[training.nodes]
        self.train_size_ = len(training.nodes)
        self.n_clusters_, self.directed_, self.selection_ = k, directed, table
        self.eigenvalues_, self.dual_coef_, self.intercept_ = values, model.coefficients, model.intercept
        self.prototypes_ = decoder.prototypes[order]
        others = np.where(small >= 0, small + k, -1)
        self.labels_, self.model_labels_ = others.copy(), others
        inside = self._large[found]
        self.labels_[inside], self.model_labels_[inside] = final, place[labels[found]]
        self._distance = np.where(self.model_labels_ >= 0, 0, UNKNOWN).astype(np.int32)
        self._distance[inside] = distance[found]
        weights = group_weights(graph, self.labels_, int(self.labels_.max()) + 1)
        self.modularity_, self.conductance_ = modularity_of(*weights), conductance_of(*weights)
        if sparse_of(X) is X:
            remember_columns(self, X)
        else:
            self.n_features_in_ = graph.shape[0]
        return self

    def _check_parameters(self) -> None:
        if self.n_clusters is not None:
            whole(self.n_clusters, "n_clusters", instead="None")
        if self.max_clusters is not None:
            whole(self.max_clusters, "max_clusters", least=2, instead="None")
        if self.max_train is not None:
            whole(self.max_train, "max_train", least=2, instead="None")
        real(self.train_fraction, "train_fraction", above=0, most=1)
        check_choice(self, "criterion", ("auto", "modularity", "gap", "baf"))
        check_choice(self, "refine", (True, False))
        check_choice(self, "self_loops", (True, False))
        check_whole(self, "min_size")
        if self.criterion == "baf" and self.n_clusters is None and self.max_clusters == 2:
            raise ValueError("criterion='baf' needs at least 3 clusters to compare angles; pass max_clusters >= 3")
        generator(self.random_state)  # not used, but refused if it could not be

    def _model(
        self, graph: Matrix, looped: Matrix
    ) -> tuple[SubgraphModel, Directions, Array, TrainingSet, dict[str, Array]]:
        """The model of the chosen number of communities, its decoder and eigenvalues, and what it was chosen by."""
        n = graph.shape[0]
        most = self._most(n)
        wanted = most if self.n_clusters is None else self.n_clusters
        training = training_set(graph, looped, self.train_fraction, min(n, 10 * wanted), self.max_train)
        m = len(training.nodes)
        if not training.holds_together and m < n:
            warnings.warn(
                f"{training.loose:.0%} of the {m} training nodes share no neighbour with the others, so the model is "
                "in pieces; raise max_train or train_fraction",
                UserWarning,
                stacklevel=3,
            )
        if self.n_clusters is None:
            most = wanted = min(most, m)
        elif wanted > m:
            raise ValueError(f"n_clusters={wanted} is more than the max_train={m} training nodes; raise max_train")
        if wanted == 1:
            return _undivided(training, {})
        if training.all_alike:
            if self.n_clusters is not None:
                raise ValueError(
                    f"n_clusters={wanted} but all nodes are joined to each other with the same weight, so there is one "
                    "community; pass n_clusters=1"
                )
            alike = "all nodes are joined to each other with the same weight, so they are one community"
            return _undivided(training, {}, alike)
        criterion = self.criterion
        if criterion == "auto":
            criterion = "modularity" if n <= _BY_MODULARITY else "gap"
        pairs = min(wanted - 1 if self.n_clusters is not None else wanted, m - 1)
        model, problem = solved(training, pairs, 1e-4 if m <= _EXACT else 1e-2)
        if self.n_clusters is not None:
            k = min(self.n_clusters, len(problem.values) + 1)
            decoder = Directions.of(problem.scores(), k)
            return model, decoder, problem.values, training, {}
        most = min(most, len(problem.values) + 1)
        if criterion == "gap":
            selection = by_gap(problem, most)
            k = selection.best(criterion)
            decoder = Directions.of(problem.first(k - 1).scores(), k)
        else:
            selection, decoders = by_partitions(
                graph, looped, model, problem, training.nodes, most, criterion, self.refine
            )
            if criterion == "modularity" and not np.nanmax(selection.modularity) > 0:
                why = "no division into communities has a modularity above 0, so all nodes are one community"
                return _undivided(training, selection.table(), why)
            k = selection.best(criterion)
            decoder = decoders[k]
        problem = problem.first(k - 1)
        return model.first(k - 1), decoder, problem.values, training, selection.table()

    def _most(self, n: int) -> int:
        """The largest number of communities considered."""
        most = min(_MOST, max(20, int(np.ceil(np.sqrt(n))) + 1)) if self.max_clusters is None else self.max_clusters
        return max(2, min(most, n // 2))

    # Nodes, fitted and new ---------------------------------------------------------------------------------

    def decision_function(self, X: Matrix) -> Array:
        """Scores e of nodes given their edges to the fitted ones.

        Parameters
        ----------
        X : scipy sparse or array-like (n_new, n)
            Weights of the edges to the n fitted nodes. For the fitted nodes themselves: the adjacency matrix, with the
            self loops that the model was trained with.

        Returns
        -------
        scores : ndarray (n_new, n_clusters_ − 1)
            The intercept for a node that shares no neighbour with a training node.
        """
        rows = self._inner(self._new(X))
        return self._subgraph().scores(rows)

    def predict_proba(self, X: Matrix) -> Array:
        """Membership of nodes in the communities of the model.

        Parameters
        ----------
        X : scipy sparse or array-like (n_new, n)
            As in ``decision_function``.

        Returns
        -------
        memberships : ndarray (n_new, n_clusters_)
            Inversely proportional to 1 − cos of the angle to the prototypes; rows sum to one. All alike for a node that
            shares no neighbour with a training node.
        """
        rows = self._inner(self._new(X))
        if self.n_clusters_ == 1:
            return np.ones((rows.shape[0], 1), self.prototypes_.dtype)
        model = self._subgraph()
        found = memberships(model.scores(rows), self.prototypes_)
        found[~model.reaches(rows)] = 1 / self.n_clusters_
        return found

    def predict(self, X: Matrix) -> Array:
        """Communities of new nodes, numbered as in ``labels_``.

        Parameters
        ----------
        X : scipy sparse or array-like (n_new, n)
            As in ``decision_function``.

        Returns
        -------
        labels : ndarray (n_new,)
            A node that shares no neighbour with a training node has the community of most of its neighbours, and −1,
            with a warning, if it has none.
        """
        given = self._new(X)
        model = self._subgraph()
        labels, known = decoded(model, Directions(self.prototypes_), self._inner(given))
        if not known.all():
            labels[~known] = majority(given[~known], self.model_labels_, self._distance)
            warn_unplaced(int((labels < 0).sum()))
        return labels

    def _subgraph(self) -> SubgraphModel:
        return SubgraphModel(self._rows, self.dual_coef_, self.intercept_)

    def _new(self, X: Matrix) -> Matrix:
        check_is_fitted(self)
        return check_edges(self, X)

    def _inner(self, rows: Matrix) -> Matrix:
        """Edges to the nodes of the model."""
        return rows if len(self._large) == rows.shape[1] else rows[:, self._large]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags


def _undivided(
    training: TrainingSet, table: dict[str, Array], why: str = ""
) -> tuple[SubgraphModel, Directions, Array, TrainingSet, dict[str, Array]]:
    """The model of one community, which has no scores, and a warning if nobody asked for it."""
    if why:
        warnings.warn(why, UserWarning, stacklevel=4)
    m, dtype = len(training.nodes), training.rows.dtype
    model = SubgraphModel(training.rows, np.empty((m, 0), dtype), np.empty(0, dtype))
    return model, Directions(np.empty((1, 0), dtype)), np.empty(0), training, table
