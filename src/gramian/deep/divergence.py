"""Clustering with a network whose loss is a kernel divergence between the clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import cosine_similarity
from torch import nn

from gramian.checks import check_choice, is_real, one_of, real, whole
from gramian.clustering.ensemble.evidence import cut
from gramian.deep.architecture import Description, build, check_image_shape, check_sizes
from gramian.deep.base import NetworkEstimator, load_weights
from gramian.deep.cluster_losses import (
    DIVERGENCES,
    PAIR_NORMALIZATIONS,
    REDUCTIONS,
    TERMS,
    divergence_terms,
    hidden_kernel,
    overlaps,
    squared_distances,
    width_square,
)
from gramian.deep.divergence_run import (
    GIVEN,
    N_LOOKS,
    Run,
    Task,
    build_described,
    check_network,
    check_width,
    hidden_and_scores,
    run_or_fail,
    width_at,
)
from gramian.deep.partners import Partners, nearest_rows
from gramian.deep.restarts import run_restarts
from gramian.deep.saliency import guided_gradient
from gramian.deep.scaling import Scaling, standard_scaling, unit_scaling
from gramian.deep.training import Settings, warn_if_unsettled
from gramian.deep.votes import align_labels, consensus_tables, majority
from gramian.deep.warm_start import given_labels, spectral_labels
from gramian.grams.tiles import slices
from gramian.kernels import RBF
from gramian.randomness import spawn
from gramian.typing import Array, RandomState

_MOST_WARM_UP = 250
_PUBLISHED_STEPS = 20_000  # from here on learning_rate="auto" is that of the paper
_MERGED_TOGETHER = 1000  # rows whose kernel is looked at together when parts are merged
_WIDTH_ROWS = 2000
_SALIENCY_ROWS = 512
_LARGE_IMAGE = 14  # pixels of a side from which filters are 5×5, as in the paper; below they are 3×3
_MOST_GREY = 255


class DivergenceClustering(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, NetworkEstimator):
    """Cluster images or rows with a network, by a kernel divergence between the clusters (DDC).

    The network maps a row to hidden units h and to soft assignments a = softmax(scores). With K the Gaussian kernel of
    the hidden units of a batch, A the assignments and M_qi = exp(−‖a_q − e_i‖²) their nearness to the corners of the
    simplex, it is trained to make

        L = w₁ d(A) + w₂ ⟨a_q, a_l⟩ + w₃ d(M),   d(A) = (1/k) Σ_{i<j} α_iᵀ K α_j / √(α_iᵀ K α_i · α_jᵀ K α_j)

    small: clusters lie apart and are compact (first term), rows spread evenly over the clusters (second), and each row
    belongs to one of them (third). Two additions make it worth using: the first steps learn the labels of spectral
    clustering on a neighbour graph (``init="spectral"``), and an image and a slightly moved copy of it must get the
    same cluster (``consistency``). ``init="random", consistency=None`` is the paper's method.

    It is for images, and for clusters of roughly equal size. For rows of a table prefer
    :class:`~gramian.SpectralClustering`: on the wine and breast cancer tables it has accuracies of .949 and .935 after
    0.02 seconds, this network .959 and .883 after 2.5 to 3 (means of three states).

    Parameters
    ----------
    n_clusters : int, default 10
    image_shape : (channels, height, width), optional
        Rows are images: a convolutional network, and pixels scaled to [0, 1]. Without it the columns are standardised.
    hidden_layer_sizes : sequence of int, default (200, 200, 500)
        Hidden layers of the perceptron for rows.
    network : "auto", dict or torch.nn.Module, default "auto"
        "auto" is a convolutional network if there is an ``image_shape``, else a perceptron. A dict is a description for
        :func:`gramian.deep.architecture.build`, whose last layer gives the scores. A module must return the pair
        (hidden, scores); a single run starts from its weights, several runs from new ones. A model with a module of
        yours cannot be saved by :func:`gramian.save`; a description can.
    init : {"spectral", "random"} or array-like of labels (n,), default "spectral"
        "spectral": the first steps, at most a quarter of ``max_iter`` and 150, learn the labels of
        :class:`~gramian.SpectralClustering` by cross-entropy, of 10,000 random rows where there are more. Your own
        labels take their place, −1 for rows without one.
    consistency : {"auto", "augment", "neighbors", None} or callable, default "auto"
        A partner of each row that must get the same cluster, adding the mean of −log⟨a, a⁺⟩ to the loss: "augment" is
        the image rotated by up to 15°, scaled and shifted by up to 10 %, and sheared by up to 0.2; "neighbors" is one
        of the five nearest rows; a function gets rows (scaled, as an array) and a NumPy generator and returns partners.
        "auto" is "augment" for images and None for rows.
    width : str, float or callable, default "median_sq15"
        σ of the kernel, found anew for each batch: "median_sq15" is σ² = 15 % of the median squared distance,
        "median15" is σ = 15 % of the median distance, which the paper uses. Other percentages, a number (σ itself), or
        a schedule: a function of the step that returns one of these.
    term_weights : three floats, default (1, 1, 1)
        w₁, w₂, w₃. For clusters of very different sizes lower w₂.
    orthogonality : {"mean", "sum"}, default "mean"
        The second term is the mean over pairs of rows, or their sum, as the paper writes.
    pair_normalization : {"paper", "mean"}, default "paper"
        "paper" divides the sum over pairs of clusters by k, "mean" by their number.
    divergence : {"cauchy-schwarz", "kl", "kl-cosine"}, default "cauchy-schwarz"
        The others are for comparison: symmetrised Kullback–Leibler divergence of the clusters' densities, with the
        Gaussian or the cosine kernel.
    n_parts : int, optional
        Train with that many clusters and merge the most similar ones to ``n_clusters`` (average linkage of 1 − cosine).
    n_init : int, default 1
        Runs from different weights.
    combine : {"best", "vote", "consensus"}, default "best"
        "best" takes the run of the lowest loss, "vote" a majority of the three best, "consensus" the evidence of all
        runs for which rows belong together.
    max_iter : int, default 1000
        Steps of the optimiser, first steps on labels included.
    batch_size : int, default 100
        Rows per step, at least twice the number of clusters; all rows where there are fewer.
    learning_rate : float or "auto", default "auto"
        "auto" is 1e-3; for rows and 20,000 steps or more 1e-5, as in the paper.
    early_stopping : bool or "interruptible", default False
        Hold rows back and keep the weights that are best on them; "interruptible" keeps them after Ctrl-C too.
    validation_fraction : float, default 0.15
    n_iter_no_change : int, default 10
    callbacks : callable or sequence of callables, optional
        Called after each step with the step, the terms and a fitted copy; a true answer ends the run. The copy answers
        all but ``kernel``, whose width is found at the end.
    n_jobs : int, optional
        Processes for the runs; the result does not depend on it.
    device : str, default "auto"
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows a progress bar.

    Attributes
    ----------
    labels_ : ndarray (n,)
    n_clusters_ : int
    loss_ : float
        Of the best run, the mean over its last pass through the rows; with early stopping that of the rows held back.
    run_losses_ : ndarray (n_init,)
        Infinite for a run whose training gave up; it does not count.
    run_labels_ : ndarray (n_init, n)
        −1 for a run that does not count.
    term_curves_ : dict of ndarray
        Loss and terms of the best run at each step after those on labels.
    init_labels_ : ndarray (n,)
        Labels that the first steps learned; −1 for rows that had none.
    n_iter_ : int
        Steps of the best run.
    width_ : float
        σ of the kernel of the fitted rows.
    n_units_ : int
        Units of the last hidden layer, the columns of ``transform``.
    tables_ : ndarray (n_kept, n_outputs, n_clusters)
        How the outputs of each kept network, best first, make up the clusters.
    weights_ : dict of ndarray
    architecture_ : dict
    scaling_ : dict of ndarray

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> from gramian.deep import DivergenceClustering
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    >>> model = DivergenceClustering(2, hidden_layer_sizes=(20,), max_iter=40, random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    labels_: Array
    tables_: Array
    width_: float
    n_units_: int

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        image_shape: Sequence[int] | None = None,
        hidden_layer_sizes: Sequence[int] = (200, 200, 500),
        network: Any = "auto",
        init: Any = "spectral",
        consistency: str | Callable[..., Any] | None = "auto",
        width: str | float | Callable[[int], Any] = "median_sq15",
        term_weights: Sequence[float] = (1, 1, 1),
        orthogonality: str = "mean",
        pair_normalization: str = "paper",
        divergence: str = "cauchy-schwarz",
        n_parts: int | None = None,
        n_init: int = 1,
        combine: str = "best",
        max_iter: int = 1000,
        batch_size: int = 100,
        learning_rate: float | str = "auto",
        early_stopping: bool | str = False,
        validation_fraction: float = 0.15,
        n_iter_no_change: int = 10,
        callbacks: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.image_shape = image_shape
        self.hidden_layer_sizes = hidden_layer_sizes
        self.network = network
        self.init = init
        self.consistency = consistency
        self.width = width
        self.term_weights = term_weights
        self.orthogonality = orthogonality
        self.pair_normalization = pair_normalization
        self.divergence = divergence
        self.n_parts = n_parts
        self.n_init = n_init
        self.combine = combine
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def published(cls, n_clusters: int = 10, **changes: Any) -> DivergenceClustering:
        """The settings of the paper: best of 20 runs of 70,000 steps from random weights; hours on a CPU.

        The pairs of rows are averaged in the second term, not summed: taken literally, the sum outweighs the other two.
        On the digits, after 100 steps with ``orthogonality="sum"``, it is 485, they are 1.1 and 3.7.

        Parameters
        ----------
        n_clusters : int, default 10
        **changes
            Other parameters, such as ``image_shape``, or ``combine="vote"`` for DDC-VOTE.
        """
        settings: dict[str, Any] = {
            "init": "random",
            "consistency": None,
            "width": "median15",
            "n_init": 20,
            "max_iter": 70_000,
            "batch_size": 100,
        }
        return cls(n_clusters, **(settings | changes))

    # Learning ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> DivergenceClustering:
        """Cluster X.

        Parameters
        ----------
        X : array-like (n, d)
            Rows, or images with their pixels as columns, channel by channel and line by line.
        y : ignored

        Returns
        -------
        self : DivergenceClustering
        """
        settings, options = self._checked_settings()
        rows = self._check_rows(X)
        n, d = rows.shape
        k, n_outputs = self._checked_counts(n)
        shape = None if self.image_shape is None else check_image_shape(self.image_shape, d)
        scaling = self._scaling(rows, shape)
        values = self._tensor(rows, scaling)
        described, network = self._network(shape, d, n_outputs)
        if not isinstance(self.network, str):
            check_network(build_described(described) if network is None else network, values, n_outputs)
        first, *rngs = spawn(self.random_state, 1 + whole(self.n_init, "n_init"))
        scaled = values.cpu().numpy()
        labels = self._init_labels(scaled, n_outputs, first)
        n_warm = min(_MOST_WARM_UP, settings.max_iter // 4) if (labels >= 0).any() else 0
        partners = self._partners(scaled, shape)
        task = Task(
            described,
            network,
            settings,
            n_warm,
            labels,
            partners,
            self.width,
            self._weights_of_terms(),
            options,
            n_looks=N_LOOKS if isinstance(self.init, str) else 0,
            fresh=len(rngs) > 1,
        )
        learned: dict[str, Any] = {"scaling_": scaling.arrays, "tables_": np.eye(n_outputs)[None], "width_": np.nan}
        watch = None
        if self.callbacks is not None:
            watch = lambda module: self._on_step(module, X, described, **learned)  # noqa: E731
        runs = run_restarts(run_or_fail, rngs, task, values, watch, n_jobs=self.n_jobs, in_process=watch is not None)
        if failures := [found.failure for found in runs if found.failure]:
            if len(failures) == len(runs):
                raise ValueError(failures[0])
            warn_if_unsettled(f"{len(failures)} of {len(runs)} runs do not count, for instance: {failures[0]}")
        self._finish(runs, X, rows, described, k, learned | {"init_labels_": labels}, first)
        return self

    def _finish(
        self,
        runs: list[Run],
        X: Any,
        rows: Array,
        described: Description,
        k: int,
        learned: dict[str, Any],
        rng: np.random.Generator,
    ) -> None:
        """Join the runs to one model."""
        losses = np.array([found.loss for found in runs])
        good = np.array([place for place, found in enumerate(runs) if not found.failure])
        order = good[np.argsort(losses[good], kind="stable")]
        n_outputs = learned["tables_"].shape[1]
        outputs, tables = np.zeros((len(runs), len(rows)), np.intp), np.zeros((len(runs), n_outputs, k))
        run_labels = np.full(outputs.shape, -1)
        for place in good:
            view = self._view(runs[place].weights, X, described, learned)
            outputs[place], tables[place] = np.argmax(view._outputs(rows), axis=1), view._merged(rows, k)
            run_labels[place] = np.argmax(tables[place], axis=1)[outputs[place]]
        kept, tables = self._joined(order, outputs, run_labels, tables, k, rng)
        weights, best = runs[kept[0]].weights, runs[kept[0]]
        if len(kept) > 1:
            weights = {f"run{i}.{name}": array for i in kept for name, array in runs[i].weights.items()}
            described = {"kind": "parts", "modules": {f"run{i}": described for i in kept}}
        learned |= {"tables_": tables}
        view = self._view(weights, X, described, learned)
        learned["width_"] = view._kernel_width(rows, best.n_iter, rng)
        learned["n_units_"] = view._hidden(rows[:1]).shape[1]
        labels = view.predict(X)
        self._keep(
            view._module().float(),
            X,
            described,
            **learned,
            labels_=labels,
            n_clusters_=k,
            loss_=best.loss,
            run_losses_=losses,
            run_labels_=run_labels,
            term_curves_=best.curves,
            n_iter_=best.n_iter,
        )
        if (used := len(np.unique(labels))) < k:
            warn_if_unsettled(
                f"DivergenceClustering put all rows into {used} of {k} clusters; pass n_init=5, a larger max_iter or a "
                "smaller n_clusters"
            )

    def _view(self, weights: dict[str, Array], X: Any, described: Description, learned: dict[str, Any]) -> Any:
        """A fitted copy with other weights."""
        module = self._build(described)
        load_weights(module, weights)
        view = copy(self)
        view._keep(module, X, described, **learned)
        return view

    def _joined(
        self, order: Array, outputs: Array, run_labels: Array, tables: Array, k: int, rng: np.random.Generator
    ) -> tuple[list[int], Array]:
        """The runs that are kept, best first, and how their outputs make up the clusters."""
        best = int(order[0])
        if self.combine == "best" or len(order) == 1:
            return [best], tables[[best]]
        if self.combine == "consensus":
            kept = order.tolist()
            return kept, consensus_tables(outputs[kept], tables.shape[1], k, rng)
        kept = order[:3].tolist()
        for place in kept[1:]:
            mapping = align_labels(run_labels[best], run_labels[place], n_clusters=k, return_mapping=True)[1]
            tables[place] = tables[place][:, np.argsort(mapping)]
        return kept, tables[kept]

    def _merged(self, rows: Array, k: int) -> Array:
        """Which cluster each output of a single network belongs to, (n_outputs, k): more outputs are merged to k."""
        n_outputs = self.tables_.shape[1]
        if n_outputs == k:
            return np.eye(k)
        scaled, module, total = self._scaled(rows), self._module(), torch.zeros(())
        cosine = self.divergence == "kl-cosine"
        parts = list(slices(len(rows), _MERGED_TOGETHER))
        for part in parts:
            with torch.inference_mode():
                hidden, scores = hidden_and_scores(module, self._on_device(scaled[part]))
                K = hidden_kernel(hidden, width_at(self.width, int(self.max_iter)), cosine=cosine)
                total = total + overlaps(K, torch.softmax(scores, dim=1)) / len(parts)
        distances = np.clip(1 - total.cpu().numpy(), 0, 1)
        from scipy.cluster.hierarchy import linkage  # slow to import

        tree = linkage(distances[np.triu_indices(n_outputs, 1)], "average")
        return np.eye(k)[cut(tree, k)]

    # What the parameters mean ------------------------------------------------------------------------------

    def _checked_settings(self) -> tuple[Settings, dict[str, str]]:
        check_choice(self, "combine", ("best", "vote", "consensus"))
        check_width(self.width)
        options = {
            "orthogonality": check_choice(self, "orthogonality", REDUCTIONS),
            "pair_normalization": check_choice(self, "pair_normalization", PAIR_NORMALIZATIONS),
            "divergence": check_choice(self, "divergence", DIVERGENCES),
        }
        self._weights_of_terms()
        rate: Any = self.learning_rate
        if isinstance(rate, str):
            one_of(rate, "learning_rate", ("auto",))
            long = whole(self.max_iter, "max_iter", least=0) >= _PUBLISHED_STEPS
            rate = 1e-5 if long and self.image_shape is None else 1e-3
        else:
            rate = real(rate, "learning_rate", above=0)
        return self._settings(learning_rate=rate, batches="passes"), options

    def _checked_counts(self, n_samples: int) -> tuple[int, int]:
        """The number of clusters, and of the network's outputs."""
        k = whole(self.n_clusters, "n_clusters")
        n_outputs = k if self.n_parts is None else whole(self.n_parts, "n_parts", least=k)
        name = "n_clusters" if self.n_parts is None else "n_parts"
        if n_outputs > n_samples:
            raise ValueError(f"{name}={n_outputs} is more than the {n_samples} samples; pass {name} <= {n_samples}")
        if self.batch_size < 2 * n_outputs:
            raise ValueError(
                f"batch_size={self.batch_size} is too small for {name}={n_outputs}: a batch must hold several rows of "
                f"each cluster; pass batch_size >= {2 * n_outputs}, better {10 * n_outputs}"
            )
        return k, n_outputs

    def _weights_of_terms(self) -> list[float]:
        found = np.asarray(self.term_weights, dtype=object)
        if found.shape != (3,) or not all(is_real(w) and 0 <= w < np.inf for w in found) or not any(found):
            raise ValueError(f"term_weights={self.term_weights!r} must be three numbers >= 0, not all of them 0")
        return [float(weight) for weight in found]

    def _scaling(self, rows: Array, shape: list[int] | None) -> Scaling:
        if shape is None:
            return standard_scaling(rows)
        least, most = float(rows.min()), float(rows.max())
        if least < 0 or most > _MOST_GREY:
            warnings.warn(
                f"the pixels of X go from {least:g} to {most:g}, which are no grey values; they are scaled to [0, 1]",
                UserWarning,
                stacklevel=3,
            )
        return unit_scaling(rows)

    def _network(self, shape: list[int] | None, d: int, n_outputs: int) -> tuple[Description, nn.Module | None]:
        """The description of the network, and the user's own module."""
        sizes = check_sizes(self.hidden_layer_sizes, least=1)
        if isinstance(self.network, nn.Module):
            return {"kind": GIVEN, "class": type(self.network).__name__}, self.network
        if isinstance(self.network, dict):
            return dict(self.network), None
        one_of(self.network, "network", ("auto",))
        if shape is None:
            layers = [d, *sizes, n_outputs]
            return {"kind": "mlp", "sizes": layers, "batch_norm": [len(sizes) - 1], "init": "he"}, None
        side = 5 if min(shape[1:]) >= _LARGE_IMAGE else 3
        return {"kind": "cnn", "image_shape": shape, "filter_size": side, "outputs": n_outputs}, None

    def _init_labels(self, scaled: Array, n_outputs: int, rng: np.random.Generator) -> Array:
        if not isinstance(self.init, str):
            return given_labels(self.init, len(scaled), n_outputs)
        if one_of(self.init, "init", ("spectral", "random")) == "random":
            return np.full(len(scaled), -1)
        return spectral_labels(scaled, n_outputs, rng)

    def _partners(self, scaled: Array, shape: list[int] | None) -> Partners:
        kind = self.consistency
        if callable(kind):
            return Partners("given", function=kind)
        kind = one_of(kind, "consistency", ("auto", "augment", "neighbors", None))
        if kind == "auto":
            kind = None if shape is None else "augment"
        if kind == "augment":
            if shape is None:
                raise ValueError("consistency='augment' moves images; pass their image_shape, or 'neighbors' for rows")
            return Partners("augment", image_shape=shape)
        return Partners() if kind is None else Partners("neighbors", neighbors=nearest_rows(scaled))

    def _build(self, description: Description) -> nn.Module:
        if description["kind"] == "parts":
            return nn.ModuleDict({name: self._build(part) for name, part in description["modules"].items()})
        return deepcopy(self.network) if description["kind"] == GIVEN else build(description)

    # Answers -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Cluster of each row.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        labels : ndarray (n,)
            Of the largest probability; with ``combine="vote"`` that of most networks.
        """
        rows = self._check_new(X)
        k = self.tables_.shape[2]
        outputs = self._outputs(rows).reshape(len(rows), len(self.tables_), -1)
        if self.combine == "vote":
            votes = [np.argmax(outputs[:, r] @ table, axis=1) for r, table in enumerate(self.tables_)]
            return majority(np.array(votes))
        return np.argmax(self._shares(outputs, k), axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each cluster, the mean over the kept networks.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        probabilities : ndarray (n, n_clusters)
        """
        rows = self._check_new(X)
        outputs = self._outputs(rows).reshape(len(rows), len(self.tables_), -1)
        return self._shares(outputs, self.tables_.shape[2]).astype(rows.dtype, copy=False)

    def _shares(self, outputs: Array, k: int) -> Array:
        shares = (
            np.einsum("nro,rok->nk", outputs, self.tables_)
            if len(self.tables_) > 1
            else outputs[:, 0] @ self.tables_[0]
        )
        return shares / shares.sum(axis=1, keepdims=True)

    def transform(self, X: Any) -> Array:
        """Last hidden layer of the best network.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        Z : ndarray (n, units)
        """
        rows = self._check_new(X)
        return self._hidden(rows).astype(rows.dtype, copy=False)

    def kernel(self, X: Any, Y: Any = None) -> Array:
        """Kernel of the last hidden layer between rows, with the width of the fitted rows.

        Parameters
        ----------
        X : array-like (n, d)
        Y : array-like (m, d), optional
            X by default.

        Returns
        -------
        K : ndarray (n, m)
        """
        rows = self._check_new(X)
        Z = self._hidden(rows)
        other = Z if Y is None else self._hidden(self._check_new(Y))
        if self.divergence == "kl-cosine":
            return cosine_similarity(Z, other).astype(rows.dtype) / 2 + rows.dtype.type(0.5)
        if np.isnan(self.width_):
            raise ValueError("kernel has no width while the network is trained; ask for it after fit")
        found: Array = RBF(self.width_).fit(Z)(Z, other)
        return found.astype(rows.dtype, copy=False)

    def top_ranked(self, X: Any, n: int = 10) -> Array:
        """The rows that belong to each cluster most clearly.

        Parameters
        ----------
        X : array-like (n_samples, d)
        n : int, default 10
            Rows per cluster; all of them where there are fewer.

        Returns
        -------
        rows : ndarray of int (n_clusters, n)
            Numbers of the rows of the highest probability for the cluster, highest first.
        """
        whole(n, "n")
        shares = self.predict_proba(X)
        order = np.argsort(-shares, axis=0, kind="stable")[:n]
        return order.T

    def saliency(self, X: Any, target: Any = None) -> Array:
        """Which columns, or pixels, speak for the cluster of each row, by guided back-propagation in the best network.

        Parameters
        ----------
        X : array-like (n, d)
        target : int or array-like of int (n,), optional
            The cluster to speak for; by default that of each row.

        Returns
        -------
        S : ndarray (n, d)
            Positive where a larger value raises the cluster's score before the softmax.
        """
        rows = self._check_new(X)
        k = self.tables_.shape[2]
        targets = self.predict(X) if target is None else np.asarray(target)
        if (
            targets.dtype.kind not in "iu"
            or targets.shape not in ((), (len(rows),))
            or not np.all((targets >= 0) & (targets < k))
        ):
            raise ValueError(
                f"target={target!r} must be one cluster from 0 to {k - 1}, or one for each of {len(rows)} rows"
            )
        targets = np.broadcast_to(targets, len(rows))
        logs = torch.log(torch.tensor(self.tables_[0]))
        scaled, network = self._scaled(rows), self._networks(self._module())[0]
        found = np.empty(scaled.shape)
        for part in slices(len(rows), _SALIENCY_ROWS):
            chosen = torch.tensor(targets[part].astype(np.int64))

            def score(values: Any, chosen: Any = chosen) -> Any:
                scores = hidden_and_scores(network, values)[1]
                # Outputs that make up the cluster together speak together.
                return torch.logsumexp(scores + logs[:, chosen].T.to(scores), dim=1)

            found[part] = guided_gradient(network, score, self._on_device(scaled[part])).cpu().numpy()
        return (found / self.scaling_["scale"]).astype(rows.dtype, copy=False)

    def term_values(self, X: Any) -> dict[str, float]:
        """The loss and its three terms for some rows, as training sees them.

        Parameters
        ----------
        X : array-like (n, d)
            Cut into batches of ``batch_size``, an incomplete last one left out; normalised over the batch.

        Returns
        -------
        values : dict
            Means of ``"separation"``, ``"orthogonality"`` and ``"corners"``, and of ``"loss"``, their weighted sum.
        """
        rows = self._check_new(X)
        if len(rows) < 2:
            raise ValueError("X has one row, but the terms compare pairs of rows; pass at least two rows")
        scaled, network = self._scaled(rows), deepcopy(self._networks(self._module())[0]).train()
        size = min(self.batch_size, len(rows))
        options = {name: getattr(self, name) for name in ("orthogonality", "pair_normalization", "divergence")}
        sums = np.zeros(3)
        starts = range(0, len(rows) - size + 1, size)
        for start in starts:
            with torch.inference_mode():
                hidden, scores = hidden_and_scores(network, self._on_device(scaled[start : start + size]))
                width = width_at(self.width, self._last_step())
                terms = divergence_terms(hidden, torch.softmax(scores, dim=1), width=width, **options)
            sums += [term.item() for term in terms]
        means = sums / len(starts)
        total = float(np.dot(means, self._weights_of_terms()))
        return {"loss": total} | dict(zip(TERMS, means.tolist(), strict=True))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the loss of some rows, see :meth:`term_values`; larger is better.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored
        """
        return -self.term_values(X)["loss"]

    def _outputs(self, rows: Array) -> Array:
        """Softmax outputs of all kept networks side by side, in double precision."""

        def outputs(module: nn.Module, chunk: Any) -> Any:
            parts = [torch.softmax(hidden_and_scores(part, chunk)[1], dim=1) for part in self._networks(module)]
            return torch.cat(parts, dim=1)

        return self._answer(outputs, self._scaled(rows))

    def _hidden(self, rows: Array) -> Array:
        return self._answer(
            lambda module, chunk: hidden_and_scores(self._networks(module)[0], chunk)[0], self._scaled(rows)
        )

    def _networks(self, module: nn.Module) -> list[nn.Module]:
        return list(module.values()) if self.architecture_["kind"] == "parts" else [module]

    def _kernel_width(self, rows: Array, step: int, rng: np.random.Generator) -> float:
        """σ by the width rule over the fitted rows, or 2,000 of them."""
        part = rows if len(rows) <= _WIDTH_ROWS else rows[rng.choice(len(rows), _WIDTH_ROWS, replace=False)]
        square = width_square(squared_distances(torch.tensor(self._hidden(part))), width_at(self.width, step))
        return float(np.sqrt(float(square)))

    @property
    def _n_features_out(self) -> int:
        if hasattr(self, "n_units_"):
            return self.n_units_
        return int(self._hidden(np.zeros((1, self.n_features_in_))).shape[1])  # of the copy that a callback gets

    def _last_step(self) -> int:
        return getattr(self, "n_iter_", int(self.max_iter))

    def _on_device(self, values: Array) -> Any:
        device = next((p.device for p in self._module().parameters()), torch.device("cpu"))
        return torch.tensor(values, dtype=torch.float64).to(device)
