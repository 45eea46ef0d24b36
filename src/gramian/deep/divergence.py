"""Clustering with a network whose loss is a kernel divergence between the clusters: parameters and training.

What a fitted model answers is in :mod:`gramian.deep.divergence_model`, one training run in ``divergence_run``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import nn

from gramian.checks import check_choice, one_of, real, whole
from gramian.deep.architecture import Description, check_image_shape, check_sizes
from gramian.deep.cluster_losses import DIVERGENCES, PAIR_NORMALIZATIONS, REDUCTIONS
from gramian.deep.divergence_model import DivergenceModel
from gramian.deep.divergence_run import (
    GIVEN,
    N_LOOKS,
    Task,
    build_described,
    check_batch,
    check_network,
    check_term_weights,
    check_width,
    run_or_fail,
)
from gramian.deep.partners import Partners, nearest_rows
from gramian.deep.restarts import run_restarts
from gramian.deep.scaling import Scaling, standard_scaling, unit_scaling
from gramian.deep.training import Settings, warn_if_unsettled
from gramian.deep.warm_start import given_labels, spectral_labels
from gramian.randomness import spawn
from gramian.typing import Array, RandomState

_MOST_WARM_UP = 250
_PUBLISHED_STEPS = 20_000  # from here on learning_rate="auto" is that of the paper
_LARGE_IMAGE = 14  # pixels of a side from which filters are 5×5, as in the paper; below they are 3×3
_MOST_GREY = 255


class DivergenceClustering(DivergenceModel):
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
        "spectral": the first steps, at most a quarter of ``max_iter`` and 250, learn the labels of
        :class:`~gramian.SpectralClustering` by cross-entropy, of 10,000 random rows where there are more. Three times
        on the way the labels are found anew from the hidden layer; they are given up again where the clusters have
        become clearly less even. Your own labels take their place, −1 for rows without one, and are not found anew.
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
        Labels that the training started from; −1 for rows that had none.
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
            check_term_weights(self.term_weights),
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

    # What the parameters mean ------------------------------------------------------------------------------

    def _checked_settings(self) -> tuple[Settings, dict[str, str]]:
        check_choice(self, "combine", ("best", "vote", "consensus"))
        check_width(self.width)
        options = {
            "orthogonality": check_choice(self, "orthogonality", REDUCTIONS),
            "pair_normalization": check_choice(self, "pair_normalization", PAIR_NORMALIZATIONS),
            "divergence": check_choice(self, "divergence", DIVERGENCES),
        }
        check_term_weights(self.term_weights)
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
        check_batch(self.batch_size, name, n_outputs)
        return k, n_outputs

    def _scaling(self, rows: Array, shape: list[int] | None) -> Scaling:
        if shape is None:
            return standard_scaling(rows)
        least, most = float(rows.min()), float(rows.max())
        if least < 0 or most > _MOST_GREY:
            warnings.warn(
                f"the pixels of X go from {least:g} to {most:g}, which are not grey values; they are scaled to [0, 1]",
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
        if not isinstance(self.network, str) or self.network != "auto":
            raise ValueError(
                f"network={self.network!r} is not known; pass 'auto', a description as a dict, or a torch module"
            )
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
