"""Kernel spectral clustering of data that change: snapshots with memory, clusters followed from one to the next."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_count, check_whole, real
from gramian.clustering.core.components import least_cluster
from gramian.clustering.core.tracking import Event, follow
from gramian.clustering.ksc.decoding import DECODINGS
from gramian.clustering.ksc.degrees import Degrees
from gramian.clustering.ksc.estimator import KernelSpectralClustering
from gramian.clustering.ksc.snapshot import Snapshot, leading
from gramian.clustering.ksc.stream import Stream
from gramian.clustering.placed import warn_isolated
from gramian.estimator import KernelEstimator
from gramian.kernels import Kernel
from gramian.partitions import refuse_partitions
from gramian.typing import Array, Matrix, RandomState


class EvolvingKSC(ClusterMixin, KernelEstimator):
    """Cluster data that change over time, and follow the clusters from one snapshot to the next.

    ``partial_fit`` takes one snapshot after another: the rows of a day, a month, a batch. Each is clustered by kernel
    spectral clustering that remembers the snapshot before,

        min ½ wᵀw − γ/2 eᵀVe − ν wᵀw_old,    e = Φw + b,

    with V one over the degrees, ν the ``memory`` and γ = (1 − ν)/λ₁ (see Notes). Clusters keep their labels from one
    snapshot to the next; where one is born, dies, splits or merges with others, ``events_`` says so.

    Parameters
    ----------
    n_clusters : int or None, default None
        Of every snapshot. None chooses it anew each time, from 1 to ``max_clusters``, by the largest relative gap of
        the eigenvalues; gaps are smoothed over time, (1 − ν) · present + ν · past, so that the number does not flicker.
        A number that leaves a cluster fewer than ½ √(n/k) rows gives way to the next best.
    kernel : Kernel, str or callable, default "rbf"
        Fitted on the first snapshot and kept, for snapshots are compared by it. A name such as "rbf" takes the width
        that :class:`KernelSpectralClustering` chooses for the first snapshot, and the kernel's own rule where no number
        of clusters stands out there. Not a graph, and not ``"precomputed"``: they say nothing of rows of different
        snapshots.
    memory : float, default 0.3
        ν, from 0 to below 1. 0 clusters every snapshot for itself; labels are still matched.
    max_clusters : int, default 10
        Most clusters considered when ``n_clusters=None``.
    share : float, default 0.15
        The least part of a cluster that counts in a split or a merge.
    incremental : bool, default False
        After the first snapshot rows come one or a few at a time. Each joins the cluster whose centre in the space of
        α is nearest and moves this centre a little. The last rows, as many as the first snapshot has, become the next
        snapshot when half of them are new, when more than √(n/k) rows are unlike the present one (they have label −1
        until then), or when two centres come to three quarters of their distance.
    decoding : {"auto", "hamming", "cosine"}, default "auto"
        As in :class:`KernelSpectralClustering`.
    random_state : int, Generator or None, default None
        For kernels that draw random numbers.

    Attributes
    ----------
    labels_ : ndarray (n,)
        Of the rows given last; −1 for rows that are similar to nothing.
    cluster_labels_ : ndarray (n_clusters_,)
        Label of each cluster of the present snapshot. A cluster that was born has a label that none had before.
    n_clusters_ : int
    events_ : list of Event
        With ``snapshot`` (its number, from 0), ``kind`` ("birth", "death", "merge" or "split"), ``before`` and
        ``after`` (labels).
    sizes_ : list of dict
        For each snapshot the rows of each label.
    n_snapshots_ : int
    n_remembered_ : int
        Score columns of the present snapshot that remember the one before; the others are new.
    eigenvalues_ : ndarray (n_clusters_ − 1,)
        Of the score columns, falling where nothing is remembered.
    gaps_ : ndarray (max_clusters,) or None
        The smoothed gaps that chose the number of clusters; None where it is given.
    kernel_ : Kernel

    Notes
    -----
    In the published system ν scales all scores, so that no label depends on it, and the balance of present and past is
    left to γ. Here γ follows ν: near 0 the leading eigenvectors of the snapshot decide, near 1 the model of the
    snapshot before. A direction that the present rows no longer have is forgotten, and where more clusters are wanted
    than were remembered, the eigenvectors of the snapshot give what is new.

    Two clusters of successive snapshots are related if each model gives at least ``share`` of the rows of one to the
    other. With rows that jump further than a few widths from one snapshot to the next nothing is related, and every
    cluster dies and is born; take shorter steps, or scale the columns.

    References
    ----------
    Langone, Alzate, Suykens (2013). Kernel spectral clustering with memory effect. Physica A 392(10).

    Langone, Agudelo, De Moor, Suykens (2014). Incremental kernel spectral clustering for online learning of
    non-stationary data. Neurocomputing 139.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import EvolvingKSC
    >>> from gramian.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> model = EvolvingKSC(kernel=RBF(0.8))
    >>> for apart in np.linspace(4, 0, 9):
    ...     centers = np.repeat([[-apart / 2, 0], [apart / 2, 0], [0, 6]], 40, axis=0)
    ...     _ = model.partial_fit(centers + rng.normal(scale=0.4, size=(120, 2)))
    >>> [(event.kind, event.before, event.after) for event in model.events_]
    [('merge', (0, 1), (0,))]
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        memory: float = 0.3,
        max_clusters: int = 10,
        share: float = 0.15,
        incremental: bool = False,
        decoding: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.memory = memory
        self.max_clusters = max_clusters
        self.share = share
        self.incremental = incremental
        self.decoding = decoding
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> EvolvingKSC:
        """Forget everything and take X as the first snapshot.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        y : ignored

        Returns
        -------
        self : EvolvingKSC
        """
        return self._begin(X)

    def partial_fit(self, X: Matrix, y: Any = None) -> EvolvingKSC:
        """Take the next snapshot or, with ``incremental=True``, the next rows.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            With the columns of the first snapshot. A snapshot needs two rows.
        y : ignored

        Returns
        -------
        self : EvolvingKSC
        """
        if not hasattr(self, "snapshot_"):
            return self._begin(X)
        self._check_parameters()
        streamed = bool(self.incremental)
        least = 1 if streamed else 2
        refuse_partitions(self, X)
        X = validate_data(self, X, reset=False, ensure_min_samples=least, **self.kernel_._checks())
        return self._stream(X) if streamed else self._advance(X)

    def _begin(self, X: Matrix) -> EvolvingKSC:
        """The first snapshot."""
        self._check_parameters()
        samples = X
        X = self._check_rows(X, min_samples=2)
        kernel = self._first_kernel(X)
        snapshot, gaps = self._cluster(kernel, X, None, None)
        self._keep(kernel, samples)
        self.n_snapshots_ = self.n_labels_ = 0
        self.events_: list[Event] = []
        self.sizes_: list[dict[int, int]] = []
        self._store(snapshot, gaps, np.arange(snapshot.n_clusters), [])
        return self

    def _advance(self, X: Matrix) -> EvolvingKSC:
        """The next snapshot."""
        before: Snapshot = self.snapshot_
        snapshot, gaps = self._cluster(self.kernel_, X, before, self.gaps_)
        labels, events = follow(
            before.views(snapshot), self.cluster_labels_, self.n_labels_, snapshot=self.n_snapshots_, share=self.share
        )
        self._store(snapshot, gaps, labels, events)
        return self

    def _stream(self, X: Matrix) -> EvolvingKSC:
        """The next rows, and the next snapshot if it is due."""
        started = self.stream_ or Stream.of(self.snapshot_)
        found, stream = started.take(X, self.snapshot_)
        if stream.due:
            self._advance(stream.window)
            self.labels_: Array = self._named(self.snapshot_.labels[-X.shape[0] :])
            return self
        self.stream_: Stream | None = stream
        self.labels_ = self._named(found)
        return self

    def _cluster(
        self, kernel: Kernel, X: Matrix, before: Snapshot | None, past: Array | None
    ) -> tuple[Snapshot, Array | None]:
        """The snapshot of checked rows, and the smoothed gaps if they chose the number of clusters."""
        n = X.shape[0]
        k = check_count(self, "n_clusters", n, none_allowed=True)
        gram = kernel._unchecked("gram")(X)
        smallest = least_cluster(n, k or int(self.max_clusters))
        degrees = Degrees.of(gram, least=smallest, approximate=kernel.approximate and kernel.definite)

        def of(k: int) -> Snapshot:
            memory = float(self.memory)
            few = problem.first(k - 1)
            return Snapshot.of(kernel, X, gram, few, before=before, memory=memory, decoding=self.decoding)

        if k is not None:
            problem = leading(gram, degrees, max(k - 1, 1))[0]
            return of(k), None
        most = min(int(self.max_clusters), n - 1)
        problem, found = leading(gram, degrees, most)
        gaps = np.zeros(int(self.max_clusters))
        gaps[:most] = found
        if past is not None and len(past) == len(gaps):
            gaps = (1 - self.memory) * gaps + self.memory * past
        for k in 1 + np.argsort(-gaps[: len(problem.values) + 1], kind="stable"):
            snapshot = of(int(k))
            if snapshot.sizes().min() >= least_cluster(n, int(k)):  # a few rows beyond all others are no cluster
                break
        return snapshot, gaps

    def _first_kernel(self, X: Matrix) -> Kernel:
        """The kernel fitted on the first snapshot; of a name whose width can be chosen, the chosen one."""
        kernel = self._seeded_kernel(X.shape[0])
        if kernel.pairwise or kernel.sparse_blocks:
            raise ValueError(
                f"kernel={self.kernel!r} compares no rows of different snapshots; pass a kernel of rows such as 'rbf' "
                "or 'cluster'"
            )
        chosen = check_count(self, "n_clusters", X.shape[0], none_allowed=True)
        if not isinstance(self.kernel, str) or chosen == 1 or (chosen is None and X.shape[0] < 3):
            return kernel._fitted(X)
        plain = KernelSpectralClustering(
            self.n_clusters,
            kernel=self.kernel,
            decoding=self.decoding,
            max_clusters=self.max_clusters,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the number of clusters is chosen here, and may be one
            plain.fit(X)
        # Where no number stands out the width says nothing; the kernel's own rule is wide enough for a single cluster.
        return kernel._fitted(X) if plain.chosen_by_ == "nothing" else plain.kernel_

    def _check_parameters(self) -> None:
        check_whole(self, "max_clusters", least=2)
        check_choice(self, "decoding", DECODINGS)
        real(self.memory, "memory", least=0, below=1)
        real(self.share, "share", above=0, most=1)
        check_choice(self, "incremental", (True, False))

    def _store(self, snapshot: Snapshot, gaps: Array | None, labels: Array, events: list[Event]) -> None:
        self.snapshot_, self.gaps_ = snapshot, gaps
        self.stream_ = None
        self.cluster_labels_ = labels
        self.n_labels_ = max(self.n_labels_, int(labels.max()) + 1)
        self.n_clusters_, self.n_remembered_ = snapshot.n_clusters, snapshot.n_kept
        self.eigenvalues_ = snapshot.values
        self.labels_ = self._named(snapshot.labels)
        self.events_ = [*self.events_, *events]
        sizes = {int(label): int(size) for label, size in zip(labels, snapshot.sizes(), strict=True)}
        self.sizes_ = [*self.sizes_, sizes]
        self.n_snapshots_ += 1
        warn_isolated(int((snapshot.labels < 0).sum()))

    def _named(self, clusters: Array) -> Array:
        """Labels of clusters of the present snapshot; −1 stays."""
        named: Array = np.append(self.cluster_labels_, -1)[clusters]
        return named

    # New rows ------------------------------------------------------------------------------------------------

    def predict(self, X: Matrix) -> Array:
        """Label of each row under the model of the present snapshot.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a row that is similar to none of the snapshot.
        """
        clusters = self._read(X)[0]
        warn_isolated(int((clusters < 0).sum()))
        return self._named(clusters)

    def decision_function(self, X: Matrix) -> Array:
        """Scores e(x) of each row, (n_new, n_clusters_ − 1)."""
        return self._read(X)[1]

    def predict_proba(self, X: Matrix) -> Array:
        """Soft memberships of each row in the clusters of ``cluster_labels_``, (n_new, n_clusters_)."""
        check_is_fitted(self, "snapshot_")
        found: Array = self.snapshot_.memberships(self._check_new(X))
        return found

    def _read(self, X: Matrix) -> tuple[Array, Array]:
        check_is_fitted(self, "snapshot_")
        clusters, scores, _ = self.snapshot_.read(self._check_new(X))
        return clusters, scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        return tags
