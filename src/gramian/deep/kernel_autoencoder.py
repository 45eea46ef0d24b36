"""The deep kernelized autoencoder: codes whose inner products follow a similarity that the user chooses."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from gramian.checks import check_choice, check_classes, real
from gramian.configuration import require_memory
from gramian.deep.architecture import NONNEGATIVE
from gramian.deep.autoencoder import BaseAutoencoder
from gramian.deep.losses import alignment_distance, code_distance
from gramian.deep.prior import Prior, prior_of_features, prior_of_kernel, prior_of_labels, prior_of_matrix
from gramian.estimator import _seeded
from gramian.grams.tiles import slices
from gramian.kernels import Kernel, as_kernel
from gramian.typing import Array, RandomState

_WITHOUT_KERNEL = ("precomputed", "ideal")


class KernelAutoencoder(BaseAutoencoder):
    """Learn codes whose inner products follow a kernel of your choice, with a way back from codes to rows (dkAE).

    A kernel says how alike rows are, but has no map back, and needs the training rows to answer for new ones. This
    network learns both: the encoder E gives codes with E(x)·E(y) ∝ k(x, y), and the decoder brings codes, and whatever
    is done with them, back to rows. With C = Z Zᵀ of the codes of a batch and P the prior's similarities of the same
    rows, every step lowers

        (1 − λ) · mean squared error of the reconstruction  +  λ · ‖ C/‖C‖ − P/‖P‖ ‖.

    The scale of the similarity is free: both matrices are scaled to norm one. Rows may have holes if the kernel takes
    them, as the default does.

    Parameters
    ----------
    n_components : int, default 200
        Units of the code.
    kernel : Kernel, str or callable, default "cluster"
        The prior: any kernel of gramian, "precomputed" for similarities passed to ``fit`` as ``prior`` or
        ``prior_features``, or "ideal" for the labels passed as ``y`` (supervised).
    alignment_weight : float, default 0.1
        λ, from 0 (a :class:`StackedAutoencoder`) to 1 (the decoder learns nothing). The error is a mean over cells and
        far smaller than the distance of the kernels, so 0.1 already follows the prior closely.
    alignment : {"distance", "squared", "centered"}, default "distance"
        The distance above, its square, or the distance of both matrices centred.
    hidden_layer_sizes : tuple of int, default (500, 500, 2000)
        Units of the layers between the rows and the code.
    activation : str, default "relu"
        Of the hidden layers.
    code_activation : str, optional
        Of the code; that of the hidden layers by default. Codes that are never negative cannot follow a prior with
        negative similarities: "identity" or "tanh" can.
    output_activation : str, default "auto"
        Of the reconstruction: "sigmoid" for rows in [0, 1], else "identity" and standardised columns.
    tied_weights : bool, default True
    corruption : float or "auto", default "auto"
        Part of the cells hidden at every step; "auto" is 0 for complete rows and 0.2 for rows with holes.
    max_iter : int, default 1500
        Steps of the optimiser for the whole network.
    pretrain_iter : int, default 150
        Steps for each layer before that; the code's layer also follows the prior.
    batch_size : int, default 200
        Rows of a step, drawn anew each time. Only similarities within a batch are compared.
    learning_rate : float, default 1e-3
    cool_down : float, default 0.3
    early_stopping : {False, True, "interruptible"}, default False
    validation_fraction : float, default 0.15
    n_iter_no_change : int, default 10
    callbacks : callable or list of callables, optional
    device : str, default "auto"
    random_state : int, Generator or None, default None
    verbose : int, default 0
        All as in :class:`StackedAutoencoder`.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted prior; absent for "precomputed", "ideal" and λ = 0.
    alignment_curve_, reconstruction_curve_, loss_curve_ : ndarray (n_iter_,)
        Terms and loss at every step, on the rows of the step.
    weights_, architecture_, scaling_, fill_, validation_curve_, n_iter_, code_mean_, code_axes_
        As in :class:`StackedAutoencoder`.

    Notes
    -----
    Kernel PCA gives the best codes of its rank for the training rows: no network of m codes aligns better than m
    components. On the digits, with a cluster kernel and new rows, ten components come to a distance of 0.119 in 0.3
    seconds, 200 codes of a network to 0.148 in 12, and those of a plain autoencoder to 0.702 (means of five
    splits). The network is worth its time if the codes must go back to rows, if new rows come in large numbers, or
    if the prior cannot be evaluated on new rows.

    The publication trains 30 and 100 epochs of (n/B)² steps with 2,000 codes: :meth:`published`.

    References
    ----------
    M. Kampffmeyer, S. Løkse, F. M. Bianchi, R. Jenssen, L. Livi, "The deep kernelized autoencoder", Applied Soft
    Computing (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import KernelAutoencoder, alignment_distance
    >>> from gramian.kernels import RBF
    >>> X = np.random.default_rng(0).uniform(size=(150, 4))
    >>> net = KernelAutoencoder(
    ...     20, kernel=RBF(1.0), hidden_layer_sizes=(50,), activation="tanh", max_iter=400, random_state=0
    ... ).fit(X[:100])
    >>> net.inverse_transform(net.transform(X[100:])).shape
    (50, 4)
    >>> bool(alignment_distance(net.code_kernel(X[100:]), net.kernel_(X[100:])) < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 200,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "cluster",
        alignment_weight: float = 0.1,
        alignment: str = "distance",
        hidden_layer_sizes: Sequence[int] = (500, 500, 2000),
        activation: str = "relu",
        code_activation: str | None = None,
        output_activation: str = "auto",
        tied_weights: bool = True,
        corruption: float | str = "auto",
        max_iter: int = 1500,
        pretrain_iter: int = 150,
        batch_size: int = 200,
        learning_rate: float = 1e-3,
        cool_down: float = 0.3,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.15,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        device: str = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alignment_weight = alignment_weight
        self.alignment = alignment
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.code_activation = code_activation
        self.output_activation = output_activation
        self.tied_weights = tied_weights
        self.corruption = corruption
        self.max_iter = max_iter
        self.pretrain_iter = pretrain_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.cool_down = cool_down
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def published(cls, n_samples: int = 14_000, **changes: Any) -> Self:
        """The settings of the publication, its constant learning rate too: hours on two cores.

        Parameters
        ----------
        n_samples : int
            Rows of the training set, 14,000 in the publication: its epochs have (n/200)² steps.
        **changes
            Other parameters.

        Returns
        -------
        model : KernelAutoencoder
            Unfitted: 2,000 codes, 30 epochs for each layer and 100 for the whole network, λ = 0.1.
        """
        epoch = math.ceil(n_samples / 200) ** 2
        settings = {"n_components": 2000, "max_iter": 100 * epoch, "pretrain_iter": 30 * epoch, "cool_down": 0.0}
        return cls(**(settings | changes))

    def fit(self, X: Any, y: Any = None, *, prior: Any = None, prior_features: Any = None) -> KernelAutoencoder:
        """Train the network.

        Parameters
        ----------
        X : array-like (n, d)
            Rows; with holes (NaN) if the kernel takes them, or for "precomputed" and "ideal".
        y : array-like (n,), optional
            Labels, for ``kernel="ideal"``; not used otherwise.
        prior : array-like, sparse matrix or Gram (n, n), optional
            Similarities of the rows, for ``kernel="precomputed"``. An array is not copied; it may be mapped from a
            file.
        prior_features : array-like or sparse matrix (n, m), optional
            Instead of ``prior``: Φ with prior = Φ Φᵀ.

        Returns
        -------
        self
        """
        weight = real(self.alignment_weight, "alignment_weight", least=0, most=1)
        check_choice(self, "alignment", ("distance", "squared", "centered"))
        settings = self._settings()
        kernel = None if self._has_no_kernel() else self._seeded_prior()
        rows = self._check_rows(X, allow_nan=kernel is None or bool(kernel._nan_in_some_columns))
        self._describe_only(rows)
        if prior is not None or prior_features is not None:
            self._check_unused(prior, prior_features)
        if weight == 0:
            self._learn(X, rows, settings, None, 0.0)
            return self
        if weight == 1:
            warnings.warn(
                "alignment_weight=1 leaves the decoder untrained, so codes have no way back; pass less than 1 if you "
                "need inverse_transform, reconstruct, denoise or impute",
                UserWarning,
                stacklevel=2,
            )
        found, what = self._prior(kernel, rows, y, prior, prior_features)
        code = self.activation if self.code_activation is None else self.code_activation
        found.look(what, nonnegative_codes=code in NONNEGATIVE, centered=self.alignment == "centered")
        more = {} if kernel is None else {"kernel_": kernel}
        self._learn(X, rows, settings, self._code_loss(found), weight, **more)
        return self

    def code_kernel(self, X: Any, Y: Any = None) -> Array:
        """The learned kernel: inner products of codes, E(x)·E(y).

        Parameters
        ----------
        X : array-like (n, d)
        Y : array-like (m, d), optional
            X itself by default.

        Returns
        -------
        C : ndarray (n, m)
        """
        Z = self._codes(self._rows_to_encode(X))
        other = Z if Y is None else self._codes(self._rows_to_encode(Y))
        n_bytes = float(len(Z)) * len(other) * Z.itemsize
        require_memory(n_bytes, f"the {len(Z)}×{len(other)} kernel block", "use transform and multiply codes in parts")
        return np.asarray(Z @ other.T)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the loss of new rows, in batches of ``batch_size``; the higher the better.

        Without a kernel that can be evaluated on new rows ("precomputed", "ideal", λ = 0) minus the mean squared error
        of the reconstruction.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored

        Returns
        -------
        score : float
        """
        rows = self._rows_to_encode(X)
        error = self._error(rows)
        if not hasattr(self, "kernel_"):
            return -error
        Z = self._codes(rows.astype(np.float64))
        squared, centered = self.alignment == "squared", self.alignment == "centered"
        total = 0.0
        for part in slices(len(rows), max(int(self.batch_size), 2)):
            P = self.kernel_(rows[part])
            P = P.toarray() if hasattr(P, "toarray") else P
            distance = alignment_distance(Z[part] @ Z[part].T, P, centered=centered, squared=squared)
            total += distance * (part.stop - part.start) / len(rows)
        return -((1 - self.alignment_weight) * error + self.alignment_weight * total)

    # Steps of fit ------------------------------------------------------------------------------------------

    def _keep(self, module: Any, X: Any, description: Any, **learned: Any) -> None:
        for name in {"kernel_", "alignment_curve_"} - set(learned):
            self.__dict__.pop(name, None)  # of an earlier fit with another prior
        super()._keep(module, X, description, **learned)

    def _has_no_kernel(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in _WITHOUT_KERNEL

    def _seeded_prior(self) -> Kernel:
        kernel = _seeded(as_kernel(self.kernel), self.random_state)
        if kernel.pairwise:
            raise ValueError(
                "kernel takes similarities instead of rows; pass kernel='precomputed' and fit(X, prior=...)"
            )
        return kernel

    def _describe_only(self, rows: Array) -> None:
        """Check the parameters of the network before the prior is computed, which may take long."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the network is built
            self._describe(rows, False)
        self._corruption(False)

    def _check_unused(self, prior: Any, prior_features: Any) -> None:
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            raise ValueError(f"prior is for kernel='precomputed', but kernel={self.kernel!r}; pass one of the two")
        if prior is not None and prior_features is not None:
            raise ValueError("prior and prior_features are two ways to say the same; pass one of them")

    def _prior(self, kernel: Kernel | None, rows: Array, y: Any, prior: Any, features: Any) -> tuple[Prior, str]:
        """The prior on the rows, and how messages name it."""
        n = len(rows)
        if kernel is not None:
            kernel._fitted(rows)
            return prior_of_kernel(kernel, rows), f"kernel={type(kernel).__name__}"
        if isinstance(self.kernel, str) and self.kernel == "ideal":
            return prior_of_labels(check_classes(y, n)[1]), "kernel='ideal'"
        if prior is None and features is None:
            raise ValueError("kernel='precomputed' needs the similarities of X; pass fit(X, prior=P) of shape (n, n)")
        return (prior_of_matrix(prior, n) if features is None else prior_of_features(features, n)), "prior"

    def _code_loss(self, prior: Prior) -> Callable[[Any, Any], Any]:
        squared, centered = self.alignment == "squared", self.alignment == "centered"

        def distance(Z: Any, batch: Any) -> Any:
            return code_distance(Z, prior.tensor(batch, Z.device), squared=squared, centered=centered)

        return distance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.kernel, str) and self.kernel == "ideal"
        try:
            tags.input_tags.allow_nan = self._has_no_kernel() or bool(as_kernel(self.kernel).accepts_nan)
        except ValueError:  # an unknown name is reported by fit
            tags.input_tags.allow_nan = False
        return tags
