"""All levels of the communities of a network, or of the clusters of a table, at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.metrics import silhouette_score
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_whole, real, remember_columns, whole
from gramian.clustering.core.embedding import labels_by_first_row
from gramian.clustering.ksc import Eigenproblem
from gramian.clustering.networks.adjacency import (
    as_adjacency,
    check_edges,
    component_labels,
    numbered_components,
    sparse_of,
    with_loops,
)
from gramian.clustering.networks.levels import hierarchy, linkage_of
from gramian.clustering.networks.placement import UNKNOWN, majority, spread, warn_unplaced
from gramian.clustering.networks.refinement import group_weights, modularity_of, refined
from gramian.clustering.networks.subgraph import SubgraphModel, solved
from gramian.clustering.networks.training import training_set
from gramian.clustering.placed import warn_isolated
from gramian.estimator import KernelEstimator
from gramian.grams.features import unit_rows
from gramian.kernels import Kernel
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_ACCURACY = 1e-3  # of the eigenvectors


class MultilevelKSC(ClusterMixin, KernelEstimator):
    """Find communities of a network at all levels, from fine to coarse (multilevel KSC).

    A model of kernel spectral clustering, as in :class:`NetworkKSC`, gives every node scores e. On the finest level
    the distance of two nodes is

        S₀(i, j) = 1 − e_i·e_j / (‖e_i‖ ‖e_j‖),

    and nodes nearer than ``threshold`` to a seed are a community. On level h the communities of level h − 1 are the
    nodes, S_h is the mean of S_{h−1} over the members of two communities, and the threshold is the mean distance to
    the nearest one. It ends where nothing is joined any more. Levels are nested.

    The distances are those of at most ``n_validation`` nodes; every other node joins the finest community of the
    smallest mean distance. The method is for looking at several scales, not for the partition of the largest
    modularity.

    Parameters
    ----------
    max_clusters : int, default 20
        One more than the scores of the model. More scores tell more communities apart.
    kernel : "network", Kernel, str or callable, default "network"
        "network": X is the adjacency matrix of a network. With any other kernel X are rows, all of which are trained
        on, and levels are those of clusters of rows.
    threshold : float, default 0.15
        Of the finest level.
    max_levels : int, default 10
    n_validation : int, default 2000
        Nodes or rows at most whose distances are computed; the memory is its square.
    train_fraction : float, default 0.15
        Training nodes of a network, as in :class:`NetworkKSC`.
    max_train : int, optional
    refine : bool, default True
        Whether nodes of a network move between the finest communities as long as that raises modularity.
    min_size : int, default 10
        A connected component of a network of fewer nodes is a community of its own, on all levels.
    random_state : int, Generator or None, default None
        For kernels that draw random numbers; the method draws none.

    Attributes
    ----------
    levels_ : list of ndarrays (n,)
        Labels of all nodes or rows, finest level first. −1 for a node without edges or a row similar to nothing.
    n_clusters_per_level_ : list of int
        Of the model; small components come on top.
    thresholds_ : list of float
    linkage_ : ndarray (n_finest − 1, 4)
        SciPy's linkage of the finest communities; a height is a level.
    level_ : int
        The level of ``labels_``: of the largest modularity for a network, of the largest silhouette for rows.
    labels_ : ndarray (n,)
    n_clusters_ : int
        Of ``labels_``, without small components.
    modularity_ : list of float
        Of each level of a network.
    prototypes_ : ndarray (n_finest, max_clusters − 1)
        Mean direction of the scores of each finest community.

    References
    ----------
    R. Mall, R. Langone, J. Suykens, "Multilevel hierarchical kernel spectral clustering for real-life large scale
    complex networks", PLOS ONE 9 (2014).

    Examples
    --------
    >>> from gramian import MultilevelKSC
    >>> from gramian.datasets import make_block_graph
    >>> adjacency, y = make_block_graph([60] * 8, 0.4, 0.005, nested=(4, 0.08), random_state=0)
    >>> model = MultilevelKSC().fit(adjacency)
    >>> model.n_clusters_per_level_[-1]
    2
    """

    def __init__(
        self,
        max_clusters: int = 20,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "network",
        threshold: float = 0.15,
        max_levels: int = 10,
        n_validation: int = 2000,
        train_fraction: float = 0.15,
        max_train: int | None = None,
        refine: bool = True,
        min_size: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.max_clusters = max_clusters
        self.kernel = kernel
        self.threshold = threshold
        self.max_levels = max_levels
        self.n_validation = n_validation
        self.train_fraction = train_fraction
        self.max_train = max_train
        self.refine = refine
        self.min_size = min_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> MultilevelKSC:
        """Find the levels.

        Parameters
        ----------
        X : scipy sparse or array-like (n, n), networkx or igraph graph; with another kernel array-like (n, d)
            Adjacency matrix of a network, weights >= 0, or rows.
        y : ignored

        Returns
        -------
        self : MultilevelKSC
        """
        whole(self.max_clusters, "max_clusters", least=2)
        real(self.threshold, "threshold", above=0, most=2)
        check_whole(self, "max_levels", "min_size")
        whole(self.n_validation, "n_validation", least=2)
        real(self.train_fraction, "train_fraction", above=0, most=1)
        if self.max_train is not None:
            whole(self.max_train, "max_train", least=2, instead="None")
        check_choice(self, "refine", (True, False))
        return self._fit_network(X) if self._is_network() else self._fit_rows(X)

    def _fit_network(self, X: Any) -> MultilevelKSC:
        generator(self.random_state)  # not used, but refused if it could not be
        graph, _ = as_adjacency(self, X)
        large, small = component_labels(graph, self.min_size)
        columns = np.flatnonzero(large)
        part = graph if large.all() else graph[large][:, large]
        looped = with_loops(part)
        n = part.shape[0]
        pairs = min(self.max_clusters, n) - 1
        training = training_set(part, looped, self.train_fraction, min(n, 10 * (pairs + 1)), self.max_train)
        if training.all_alike:
            raise ValueError(
                "all nodes are joined to each other with the same weight, so there are no levels; check the network"
            )
        model, problem = solved(training, min(pairs, len(training.nodes) - 1), _ACCURACY)
        others = np.setdiff1d(np.arange(n), training.nodes)
        # Nodes that were not trained on judge, if there are enough of them.
        held = _some(others if len(others) >= self.n_validation else np.arange(n), self.n_validation)
        known = model.reaches(looped)
        held = held[known[held]]
        parents, thresholds, means = self._levels(model.scores(looped[held]))
        labels = np.empty(n, np.int64)
        for rows, scores in model.blocks(looped):
            labels[rows] = _nearest(scores, means)
        labels[~known] = -1
        labels, distance = spread(looped, labels, known)
        told = labels >= 0  # a component that no training node is in or near stays apart, too
        small[columns[~told]] = numbered_components(part, ~told) + small.max() + 1
        large[columns[~told]] = False
        inner, labels, distance = (part if told.all() else part[told][:, told]), labels[told], distance[told]
        found = refined(inner, labels, len(means)) if self.refine else labels
        found, means, parents = _numbered(found, means, parents)
        levels = _lifted(found, parents)
        counts = [int(level.max()) + 1 for level in levels]
        every, quality = [], []
        for level, count in zip(levels, counts, strict=True):
            whole_level = np.where(small >= 0, small + count, -1)
            whole_level[large] = level
            every.append(whole_level)
            quality.append(modularity_of(*group_weights(graph, whole_level, int(whole_level.max()) + 1)))
        self._rows, self._coefficients, self._intercept = training.rows, problem.coefficients, problem.intercept
        self._large = columns
        self._distance = np.where(every[0] >= 0, 0, UNKNOWN).astype(np.int32)
        self._distance[large] = distance
        self.modularity_ = quality
        self._remember(every, counts, parents, thresholds, means, int(np.argmax(quality)))
        if sparse_of(X) is X:
            remember_columns(self, X)
        else:
            self.n_features_in_ = graph.shape[0]
        return self

    def _fit_rows(self, X: Any) -> MultilevelKSC:
        samples = X
        X, kernel, gram = self._fit_kernel(X, min_samples=2)
        n = X.shape[0]
        problem = Eigenproblem.of(gram, min(self.max_clusters, n) - 1, tol=_ACCURACY)
        inside = problem.degrees.inside
        scores = problem.scores()
        held = _some(np.flatnonzero(inside), self.n_validation)
        parents, thresholds, means = self._levels(scores[held])
        labels, means, parents = _numbered(_nearest(scores[inside], means), means, parents)
        levels = _lifted(labels, parents)
        counts = [int(level.max()) + 1 for level in levels]
        every = [np.full(n, -1) for _ in levels]
        for level, found in zip(every, levels, strict=True):
            level[inside] = found
        self._model = problem.model(kernel, X, gram)
        widths = [_silhouette(scores[held], level[held]) for level in every]
        self._remember(every, counts, parents, thresholds, means, int(np.argmax(widths)))
        self._keep(kernel, samples)
        warn_isolated(int((~inside).sum()))
        return self

    def _levels(self, scores: Array) -> tuple[list[Array], list[float], Array]:
        """The parents of all levels above the finest, thresholds, and mean directions of the finest groups."""
        units = unit_rows(scores)
        distances = 1 - units @ units.T
        (finest, *parents), thresholds = hierarchy(distances, float(self.threshold), int(self.max_levels))
        member = np.equal.outer(np.arange(finest.max() + 1), finest).astype(units.dtype)
        return parents, thresholds, member @ units / member.sum(axis=1, keepdims=True)

    def _remember(
        self,
        levels: list[Array],
        counts: list[int],
        parents: list[Array],
        thresholds: list[float],
        means: Array,
        best: int,
    ) -> None:
        self.levels_, self.n_clusters_per_level_, self.thresholds_ = levels, counts, thresholds
        self.linkage_ = linkage_of(parents, counts[0])
        self._parents = parents
        self.prototypes_ = means
        self.level_, self.labels_, self.n_clusters_ = best, levels[best], counts[best]
        self.train_size_ = len(levels[0]) if not self._is_network() else self._rows.shape[0]

    def labels_at(self, level: int) -> Array:
        """Labels of all nodes or rows on a level, 0 for the finest; negative numbers count from the coarsest."""
        check_is_fitted(self)
        count = len(self.levels_)
        found = whole(level, "level", least=-count, most=count - 1)
        labels: Array = self.levels_[found]
        return labels

    def predict(self, X: Matrix, level: int | None = None) -> Array:
        """Communities of new nodes or rows on a level.

        Parameters
        ----------
        X : scipy sparse or array-like (n_new, n), or rows (n_new, d)
            Weights of the edges of new nodes to the n fitted ones.
        level : int, optional
            Default that of ``labels_``.

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a node without edges or a row similar to nothing.
        """
        check_is_fitted(self)
        count = len(self.levels_)
        at = self.level_ if level is None else whole(level, "level", least=-count, most=count - 1) % count
        if self._is_network():
            given = check_edges(self, X)
            rows = given if len(self._large) == given.shape[1] else given[:, self._large]
            model = SubgraphModel(self._rows, self._coefficients, self._intercept)
            labels, known = _nearest(model.scores(rows), self.prototypes_), model.reaches(rows)
            for groups in self._parents[:at]:
                labels = groups[labels]
            if not known.all():
                labels[~known] = majority(given[~known], self.levels_[at], self._distance)
        else:
            scores, _, alone = self._model(self._check_new(X))
            labels = _nearest(scores, self.prototypes_)
            for groups in self._parents[:at]:
                labels = groups[labels]
            labels[alone] = -1
        lost = int((labels < 0).sum())
        if self._is_network():
            warn_unplaced(lost)
        else:
            warn_isolated(lost)
        return labels

    def _is_network(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "network"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is_network():
            tags.input_tags.sparse = True
            tags.input_tags.pairwise = True
            tags.input_tags.positive_only = True
        return tags


def _some(index: Array, most: int) -> Array:
    """At most so many, spread evenly."""
    return index if len(index) <= most else index[np.linspace(0, len(index) - 1, most).astype(int)]


def _nearest(scores: Array, means: Array) -> Array:
    """The group of the smallest mean distance 1 − cos to its members, by its mean direction."""
    labels: Array = np.argmax(unit_rows(scores) @ means.T.astype(scores.dtype), axis=1)
    return labels


def _numbered(labels: Array, means: Array, parents: list[Array]) -> tuple[Array, Array, list[Array]]:
    """Finest communities numbered by their first nodes, without empty ones, and all levels above in that order."""
    labels, used = labels_by_first_row(labels)
    means, above = means[used], []
    for groups in parents:
        groups, used = labels_by_first_row(groups[used])
        above.append(groups)
    return labels, means, above


def _lifted(labels: Array, parents: list[Array]) -> list[Array]:
    """The labels of every level."""
    levels = [labels]
    for groups in parents:
        levels.append(groups[levels[-1]])
    return levels


def _silhouette(scores: Array, labels: Array) -> float:
    """Mean silhouette by the cosine, −1 where there is one cluster, or as many as rows."""
    if not 1 < len(np.unique(labels)) < len(labels):
        return -1.0
    return float(silhouette_score(scores, labels, metric="cosine"))
