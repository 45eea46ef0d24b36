"""Kernel spectral clustering at several scales: every number of clusters that stands out is a level of one tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, real, whole
from gramian.clustering.core.nested import linkage, parents, refined, strays
from gramian.clustering.ksc import model_selection as selection
from gramian.clustering.ksc.estimator import KernelSpectralClustering
from gramian.clustering.placed import warn_isolated
from gramian.estimator import KernelEstimator
from gramian.kernels import Kernel
from gramian.kernels.given import symmetric
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState

_CRITERIA = {"gap": selection.STANDS_OUT, "ams": 0.75, "blf": 0.75}  # with the least value that makes a level
_ASTRAY = 0.1  # of the rows: two levels that disagree on more are no levels of one tree


@dataclass(frozen=True)
class Level:
    """One level of a tree of clusters.

    Attributes
    ----------
    n_clusters : int
    criterion : float
        Its value, for which the level was taken.
    model : KernelSpectralClustering
        With the kernel of the level.
    labels : ndarray (n,)
        Of the fitted rows.
    parents : ndarray of int (n_clusters,)
        The cluster of the level above that holds each cluster; zero on the first level.
    inconsistent : float
        Share of the rows whose cluster has another parent than the cluster they have above. Under ``strict`` these
        rows were moved.
    """

    n_clusters: int
    criterion: float
    model: KernelSpectralClustering
    labels: Array
    parents: Array
    inconsistent: float


class HierarchicalKSC(ClusterMixin, KernelEstimator):
    """Find clusters within clusters, on as many levels as the data show.

    Kernel spectral clustering is tried for many widths and numbers of clusters k. Data with clusters within clusters
    have several good pairs: few clusters under a wide kernel, more under a narrow one. Each k that stands out under
    some width is a level, fitted with that width; levels are put together to a tree, in which the parent of a cluster
    is the coarser cluster that holds most of its rows.

    Parameters
    ----------
    max_clusters : int, default 10
        Most clusters of a level.
    kernel : Kernel, str, callable or list of them, default "rbf"
        As in :class:`KernelSpectralClustering`: a name stands for several widths. A single Kernel object shows the
        clusters of its own scale, and seldom more than one level.
    criterion : {"gap", "ams", "blf"}, default "gap"
        What makes a level: the relative gap of the eigenvalues, or a criterion on rows held back.
    threshold : float, optional
        The least value of a level, best over the kernels; default 0.6 for "gap" and 0.75 for the others. Evidence, on
        two draws each of Gaussian clusters: 2 groups of 2 (levels 2, 4), 2 of 2 of 2 (2, 4, 8), 3 or 5 in a circle (one
        level), one cloud (none). The gap of every true level was 0.63 or more and of all others 0.42 or less; "blf" of
        0.75, the published rule, would have kept nearly every number. On six fresh draws of each the levels were right
        every time, the smallest gap of a true one 0.61. Tables seldom are so clear: on iris, wine, breast_w and
        dermatology no number reached it.
    strict : bool, default True
        Move rows that contradict the tree into the child of their coarser cluster in which they have the largest
        membership, so that every level is a refinement of the one above.
    decoding, validation
        As in :class:`KernelSpectralClustering`.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    levels_ : list of Level
        From the root to the leaves; at least one. Levels that disagree on more than a tenth of the rows, or of which a
        coarser cluster has no child, are not both kept: the one of the smaller criterion is left out.
    labels_ : ndarray (n,)
        Of the finest level; −1 for rows without a cluster there or above.
    n_clusters_ : int
        Of the finest level.
    linkage_ : ndarray (n_clusters_ − 1, 4)
        The tree for :func:`scipy.cluster.hierarchy.dendrogram`; leaves are the clusters of the finest level, heights
        count levels.
    selection_ : dict of ndarray
        The whole table of kernels and numbers, as in :class:`KernelSpectralClustering`.
    kernel_ : Kernel
        Of the finest level.

    References
    ----------
    Alzate, Suykens (2012). Hierarchical kernel spectral clustering. Neural Networks 35.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import HierarchicalKSC
    >>> centers = np.repeat([[0, 0], [2, 0], [12, 0], [14, 0]], 30, axis=0)
    >>> X = centers + np.random.default_rng(0).normal(scale=0.35, size=(120, 2))
    >>> model = HierarchicalKSC(random_state=0).fit(X)
    >>> [level.n_clusters for level in model.levels_], model.levels_[1].parents
    ([2, 4], array([0, 0, 1, 1]))
    >>> model.predict([[13.8, 0.2]], level=0), model.predict([[13.8, 0.2]])
    (array([1]), array([3]))
    """

    def __init__(
        self,
        max_clusters: int = 10,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Sequence[Any] = "rbf",
        criterion: str = "gap",
        threshold: float | None = None,
        strict: bool = True,
        decoding: str = "auto",
        validation: float = 0.5,
        random_state: RandomState = None,
    ) -> None:
        self.max_clusters = max_clusters
        self.kernel = kernel  # type: ignore[assignment]
        self.criterion = criterion
        self.threshold = threshold
        self.strict = strict
        self.decoding = decoding
        self.validation = validation
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> HierarchicalKSC:
        """Find the levels of X.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
        y : ignored

        Returns
        -------
        self : HierarchicalKSC
        """
        check_choice(self, "criterion", tuple(_CRITERIA))
        check_choice(self, "strict", (True, False))
        least = _CRITERIA[self.criterion]
        if self.threshold is not None:
            least = real(self.threshold, "threshold", instead="None")
        plain = self._plain(None)
        plain._check_parameters()
        samples = X
        X = self._check_rows(X, min_samples=2)
        if self._unfitted_kernel().pairwise:
            X = symmetric(X)  # before rows and columns are drawn from it
        for_split, for_landmarks = spawn(self.random_state, 2)
        kernels = plain._candidates(X)
        table = plain._tried(kernels, X, None, for_split, int(for_landmarks.integers(2**31)))
        levels = self._tree([self._level(X, kernels, *found) for found in standing_out(table, self.criterion, least)])
        self.levels_ = levels
        self.linkage_ = linkage([level.parents for level in levels])
        self.labels_, self.n_clusters_ = levels[-1].labels, levels[-1].n_clusters
        self.selection_ = table
        self._keep(levels[-1].model.kernel_, samples)
        warn_isolated(int((self.labels_ < 0).sum()))
        return self

    def _plain(self, k: int | None, kernel: Any = None) -> KernelSpectralClustering:
        """The clustering of one level, not fitted."""
        return KernelSpectralClustering(
            k,
            kernel=self.kernel if kernel is None else kernel,
            decoding=self.decoding,
            max_clusters=self.max_clusters,
            validation=self.validation,
            random_state=self.random_state,
        )

    def _level(self, X: Matrix, kernels: Sequence[Kernel], place: int, k: int, value: float) -> Level:
        """A level by itself."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of rows without a cluster, which fit counts once for all
            model = self._plain(k, kernels[place]).fit(X)
        return Level(model.n_clusters_, value, model, model.labels_, np.zeros(model.n_clusters_, np.intp), 0.0)

    def _tree(self, alone: list[Level]) -> list[Level]:
        """Levels that nest, from the root to the leaves, of levels by themselves."""
        alone = sorted(alone, key=lambda level: level.n_clusters)
        levels = alone[:1]
        while len(levels) < len(alone):
            above, level = levels[-1], alone[len(levels)]
            up = parents(above.labels, level.labels)
            astray = float(strays(above.labels, level.labels, up).mean())
            if astray > _ASTRAY or not np.array_equal(np.unique(up), np.arange(above.n_clusters)):
                # The level that stands out less is left out, and what was built on it is built anew.
                weaker = len(levels) - (above.criterion < level.criterion)
                del alone[weaker]
                levels = alone[:1]
                continue
            labels = level.labels
            if self.strict:
                labels = refined(above.labels, labels, up, _memberships(level.model))
            levels.append(replace(level, labels=labels, parents=up, inconsistent=astray))
        return levels

    # Levels ----------------------------------------------------------------------------------------------------

    def labels_at(self, level: int) -> Array:
        """Labels of the fitted rows on one level.

        Parameters
        ----------
        level : int
            From 0, the root, or from −1, the finest.

        Returns
        -------
        labels : ndarray (n,)
        """
        check_is_fitted(self, "levels_")
        labels: Array = self.levels_[self._place(level)].labels
        return labels

    def predict(self, X: Matrix, level: int = -1) -> Array:
        """Cluster of each new row on one level.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)
        level : int, default -1
            From 0, the root, or from −1, the finest.

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a row that is similar to no fitted one on this level or above.
        """
        check_is_fitted(self, "levels_")
        last = self._place(level)
        labels = self._descend(X)[: last + 1][-1]
        warn_isolated(int((labels < 0).sum()))
        return labels

    def predict_levels(self, X: Matrix) -> Array:
        """Cluster of each new row on every level.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new, n_levels)
            From the root to the leaves; −1 for a row that is similar to no fitted one.
        """
        check_is_fitted(self, "levels_")
        return np.column_stack(self._descend(X))

    def _descend(self, X: Matrix) -> list[Array]:
        """Labels of new rows on every level, each by its own model and then fitted into the tree."""
        X = self._check_new(X)
        found: list[Array] = []
        for level in self.levels_:
            scores, _, alone = level.model.model_(X)
            decoder = level.model.decoder_
            labels = np.where(alone, -1, decoder.labels(scores))
            if found and self.strict:
                labels = refined(found[-1], labels, level.parents, decoder.memberships(scores))
            found.append(labels)
        return found

    def _place(self, level: int) -> int:
        n = len(self.levels_)
        place = whole(level, "level", least=-n, most=n - 1)
        return place % n

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return self._plain(None)._unfitted_kernel(n_samples)


def standing_out(table: dict[str, Array], criterion: str, least: float) -> list[tuple[int, int, float]]:
    """For every number of clusters that reaches a value under some kernel: the kernel's place, the number, the value.

    Where none does the best one alone is given, with a warning.

    Parameters
    ----------
    table : dict of ndarray
        Of :func:`gramian.clustering.ksc.model_selection.candidates`.
    criterion : str
        A column of it.
    least : float
    """
    found = []
    # A gap of one says that the rows fall into more parts than were counted, not that this is their number.
    counted = table[criterion] < 1
    if criterion == "gap" and counted.any():
        table = {name: values[counted] for name, values in table.items()}
    for k in np.unique(table["n_clusters"]):
        part = {name: values[table["n_clusters"] == k] for name, values in table.items()}
        best = selection.proposals(part, criterion, given=True)[0]
        value = float(part[criterion][part["kernel"] == best.kernel][0])
        found.append((best.kernel, int(k), value))
    if not found:
        selection.proposals(table, criterion, given=True)  # which says what is wrong
    standing = [one for one in found if one[2] >= least]
    if standing:
        return standing
    best_of_all = max(found, key=lambda one: one[2])
    warnings.warn(
        f"no number of clusters reaches threshold={least:g} of criterion={criterion!r} under any kernel tried, so the "
        f"single level of {best_of_all[1]} clusters, with {best_of_all[2]:.2f}, means little",
        UserWarning,
        stacklevel=3,
    )
    return [best_of_all]


def _memberships(model: KernelSpectralClustering) -> Array:
    memberships: Array = model.decoder_.memberships(model.embedding_)
    return memberships
