"""Stacked autoencoders: compress rows into codes and bring codes back to rows.

The network is in :mod:`gramian.deep.autoencoder_network`. :mod:`gramian.deep.kernel_autoencoder` adds a similarity that
the codes are to follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.checks import one_of, real, whole
from gramian.deep.architecture import ACTIVATIONS, build, check_activation, check_sizes
from gramian.deep.autoencoder_network import CodeLoss, layer_loss, principal_axes, whole_loss
from gramian.deep.base import CodeTransformer, NetworkEstimator
from gramian.deep.holes import Cells, column_means, with_mask
from gramian.deep.scaling import Scaling, in_unit_interval, no_scaling, standard_scaling, unit_scaling
from gramian.deep.training import History, Settings, torch_generator, train, warn_if_unsettled
from gramian.randomness import spawn
from gramian.typing import Array, RandomState

_HIDDEN = 0.2  # part of the observed cells of rows with holes that is hidden at every step


class BaseAutoencoder(CodeTransformer, NetworkEstimator):
    """What autoencoders do alike; a subclass may add a term to the loss of the codes."""

    n_components: int
    hidden_layer_sizes: Sequence[int]
    activation: str
    code_activation: str | None
    output_activation: str
    tied_weights: bool
    corruption: float | str
    pretrain_iter: int
    cool_down: float

    # Training ----------------------------------------------------------------------------------------------

    def _settings(self, **changes: Any) -> Settings:
        return super()._settings(cool_down=real(self.cool_down, "cool_down", least=0, most=1), **changes)

    def _learn(self, X: Any, rows: Array, settings: Settings, code_loss: CodeLoss | None, weight: float, **more: Any):  # type: ignore[no-untyped-def]
        """Train on checked rows and keep all: loss (1 − weight) · error + weight · code_loss."""
        rng = spawn(self.random_state, 1)[0]
        holes = np.isnan(rows)
        masked = bool(holes.any())
        if masked and (empty := np.flatnonzero(holes.all(axis=0))).size:
            warnings.warn(
                f"columns {empty.tolist()} of X have no observed value, so what impute puts there means nothing; drop "
                "them",
                UserWarning,
                stacklevel=3,
            )
        description, scaling = self._describe(rows, masked)
        rate = self._corruption(masked)
        pretrain_iter = whole(self.pretrain_iter, "pretrain_iter", least=0)
        module = build(description, torch_generator(rng)).to(self._tensor(rows[:1]).device)
        values = self._tensor(rows, scaling)
        fill = column_means(scaling.apply(rows))
        cells = Cells(values, torch.tensor(fill, dtype=values.dtype, device=values.device), masked)
        module.to(values.dtype)
        noise = torch_generator(rng)
        for place in range(module.n_layers if pretrain_iter else 0):
            of_code = code_loss if place == module.n_layers - 1 else None
            loss = layer_loss(module, place, cells, rate, noise, of_code, weight)
            label = f"Pre-training layer {place + 1}"
            told = settings.but(max_iter=pretrain_iter, early_stopping=False, cool_down=0.0, label=label)
            train(module, loss, len(rows), told, rng, parameters=module.layer(place))
        learned = {"scaling_": scaling.arrays, "fill_": fill, **more}
        watch = self._on_step(module, X, description, **learned)
        loss = whole_loss(module, cells, rate, noise, code_loss, weight)
        history = train(module, loss, len(rows), settings, rng, on_step=watch)
        mean, axes, alive = principal_axes(module, cells)
        if not alive:
            warn_if_unsettled(
                "all codes are zero for every row of X, so they say nothing; pass activation='tanh' or "
                "code_activation='identity', or a lower learning_rate"
            )
        self._keep(module, X, description, **learned, **_curves(history), code_mean_=mean, code_axes_=axes)
        return self

    def _describe(self, rows: Array, masked: bool) -> tuple[dict[str, Any], Scaling]:
        """The description of the network, and the scaling that suits its output."""
        d = rows.shape[1]
        hidden = check_activation(self.activation, "activation")
        code = hidden if self.code_activation is None else check_activation(self.code_activation, "code_activation")
        known = ("auto", *ACTIVATIONS)
        output = one_of(self.output_activation, "output_activation", known)
        unit = in_unit_interval(rows) if not np.isnan(rows).all() else True
        if output == "auto":
            output = "sigmoid" if unit else "identity"
        if output == "sigmoid":
            scaling = unit_scaling(rows) if not unit else no_scaling(d)
            if not unit:
                warnings.warn(
                    f"the values of X go from {np.nanmin(rows):.3g} to {np.nanmax(rows):.3g}, and those of a sigmoid "
                    "from 0 to 1, so X is scaled by one factor and reconstructions are scaled back; pass "
                    "output_activation='identity' for columns of different units",
                    UserWarning,
                    stacklevel=4,
                )
        else:
            scaling = no_scaling(d) if unit else standard_scaling(rows)
        sizes = [d, *check_sizes(self.hidden_layer_sizes), whole(self.n_components, "n_components")]
        description = {
            "kind": "autoencoder",
            "sizes": sizes,
            "activation": hidden,
            "code_activation": code,
            "output_activation": output,
            "tied": bool(one_of(self.tied_weights, "tied_weights", (True, False))),
            "masked": masked,
        }
        return description, scaling

    def _corruption(self, masked: bool) -> float:
        if isinstance(self.corruption, str) and self.corruption == "auto":
            return _HIDDEN if masked else 0.0
        return real(self.corruption, "corruption", least=0, below=1, instead="'auto'")

    # Answers -----------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Codes of rows.

        Parameters
        ----------
        X : array-like (n, d)
            May have holes (NaN) if those of ``fit`` had some.

        Returns
        -------
        Z : ndarray (n, n_components)
        """
        rows = self._rows_to_encode(X)
        return self._codes(rows)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows of codes, by the decoder.

        Parameters
        ----------
        Z : array-like (n, n_components)

        Returns
        -------
        X : ndarray (n, d)
            On the scale of the rows of ``fit``.
        """
        check_is_fitted(self, "weights_")
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        if Z.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z has {Z.shape[1]} columns but the codes have {self._n_features_out}; pass what transform returns"
            )
        decoded = self._answer(lambda module, z: module.decode(z), Z.astype(np.float64))
        return Scaling(**self.scaling_).undo(decoded).astype(Z.dtype)

    def reconstruct(self, X: Any) -> Array:
        """Rows encoded and decoded again.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        X_back : ndarray (n, d)
            ``inverse_transform(transform(X))``, without holes.
        """
        return self.inverse_transform(self._codes(self._rows_to_encode(X)))

    def impute(self, X: Any) -> Array:
        """Fill the holes of rows with what the decoder puts there; observed cells stay as they are.

        Parameters
        ----------
        X : array-like (n, d)
            With holes (NaN), if those of ``fit`` had some.

        Returns
        -------
        X_filled : ndarray (n, d)
        """
        rows = self._rows_to_encode(X)
        return np.where(np.isnan(rows), self.inverse_transform(self._codes(rows)), rows)

    def denoise(self, X: Any, n_components: int = 32) -> Array:
        """Rows whose codes are projected on the main directions of the codes of ``fit``, and decoded.

        Parameters
        ----------
        X : array-like (n, d)
        n_components : int
            Principal components of the codes of ``fit`` that are kept.

        Returns
        -------
        X_clean : ndarray (n, d)
        """
        rows = self._rows_to_encode(X)
        k = whole(n_components, "n_components", most=len(self.code_axes_))
        axes = self.code_axes_[:k]
        Z = self._codes(rows.astype(np.float64))
        projected = self.code_mean_ + (Z - self.code_mean_) @ axes.T @ axes
        return self.inverse_transform(projected).astype(rows.dtype)

    def interpolate(self, z0: Any, z1: Any, n_steps: int = 10) -> Array:
        """Rows on the straight way from one code to another.

        Parameters
        ----------
        z0, z1 : array-like (n_components,)
            Codes, for instance two rows of ``transform(X)`` or two centres of clusters of codes.
        n_steps : int
            Rows to return, both ends included.

        Returns
        -------
        X : ndarray (n_steps, d)
            Decoded (1 − t) z0 + t z1 for t from 0 to 1.
        """
        check_is_fitted(self, "weights_")
        count = whole(n_steps, "n_steps", least=2)
        ends = []
        for name, z in (("z0", z0), ("z1", z1)):
            end = check_array(z, ensure_2d=False, dtype=[np.float64, np.float32], input_name=name)
            if end.shape != (self._n_features_out,):
                raise ValueError(f"{name} has shape {end.shape}; pass one code of {self._n_features_out} numbers")
            ends.append(end)
        t = np.linspace(0, 1, count, dtype=np.result_type(*ends))[:, None]
        return self.inverse_transform((1 - t) * ends[0] + t * ends[1])

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared error of the reconstruction, over the observed cells, in units of the scaled columns.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored

        Returns
        -------
        score : float
            The higher the better.
        """
        rows = self._rows_to_encode(X)
        return -self._error(rows)

    def _error(self, rows: Array) -> float:
        rows = rows.astype(np.float64)
        decoded = self._answer(lambda module, x: module.decode(module.encode(x)), self._seen(rows))
        observed = ~np.isnan(rows)
        return float(np.mean((decoded - self._scaled(rows))[observed] ** 2)) if observed.any() else 0.0

    def _rows_to_encode(self, X: Any) -> Array:
        """New rows; holes are refused by name if ``fit`` saw none."""
        rows = self._check_new(X, allow_nan=True)
        holes = np.isnan(rows)
        if holes.any() and not self.architecture_["masked"]:
            raise ValueError(
                f"X contains NaN in {int(holes.any(axis=1).sum())} of {len(rows)} rows, but the rows of fit had "
                "none, so the network has no input for missing values; fit on rows with NaN, or fill the NaN first"
            )
        return rows

    def _codes(self, rows: Array) -> Array:
        codes = self._answer(lambda module, x: module.encode(x), self._seen(rows.astype(np.float64)))
        return codes.astype(rows.dtype, copy=False)

    def _seen(self, rows: Array) -> Array:
        """Rows as the network takes them, in double precision."""
        scaled = self._scaled(rows)
        if not self.architecture_["masked"]:
            return scaled
        observed = (~np.isnan(scaled)).astype(np.float64)
        return with_mask(torch.tensor(scaled), torch.tensor(observed), torch.tensor(self.fill_)).numpy()

    @property
    def _n_features_out(self) -> int:
        return int(self.architecture_["sizes"][-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        return tags


class StackedAutoencoder(BaseAutoencoder):
    """Compress rows into codes and back, with a network trained layer by layer and then as a whole.

    The encoder h_l = γ(W_l h_{l−1} + b_l) ends in the code z; the decoder runs back through the transposed matrices.
    Each layer is first trained alone to reproduce what comes from the one below, then all of them minimise the mean
    squared error of the reconstruction. Rows may have holes: see below.

    Codes of an autoencoder follow no similarity in particular. If they should, use :class:`KernelAutoencoder`; if a
    linear compression is enough, PCA of the digits to 20 components takes 1.3 milliseconds.

    Parameters
    ----------
    n_components : int, default 200
        Units of the code.
    hidden_layer_sizes : tuple of int, default (500, 500, 2000)
        Units of the layers between the rows and the code.
    activation : str, default "relu"
        Of the hidden layers: "relu", "leaky_relu", "elu", "softplus", "tanh", "sigmoid" or "identity".
    code_activation : str, optional
        Of the code; that of the hidden layers by default.
    output_activation : str, default "auto"
        Of the reconstruction. "auto" is "sigmoid" for rows in [0, 1], which are taken as they are, and "identity" for
        others, whose columns are standardised. "sigmoid" scales other rows to [0, 1] by one factor and says so.
        Answers are on the scale of the rows.
    tied_weights : bool, default True
        Let the decoder use the transposed matrices of the encoder.
    corruption : float or "auto", default "auto"
        Part of the cells that are hidden at every step while all are to be reconstructed: masking noise, which makes it
        a denoising autoencoder (0.2 is usual). "auto" is 0 for complete rows and 0.2 for rows with holes.
    max_iter : int, default 1500
        Steps of the optimiser (Adam) for the whole network.
    pretrain_iter : int, default 150
        Steps for each layer before that; 0 leaves the layer-wise training out.
    batch_size : int, default 200
        Rows of a step, drawn anew each time.
    learning_rate : float, default 1e-3
    cool_down : float, default 0.3
        Part of the ``max_iter`` steps, at the end, over which the rate falls linearly to zero, so that the weights
        settle instead of following the rows of each batch. Where few steps leave much to learn, 0 learns more of it.
    early_stopping : {False, True, "interruptible"}, default False
        Hold a part of the rows back and keep the weights with the lowest loss on it. "interruptible" also keeps them
        when training is interrupted from the keyboard, which otherwise leaves the estimator unfitted.
    validation_fraction : float, default 0.15
        The part held back.
    n_iter_no_change : int, default 10
        Passes over the rows without a better loss before training stops.
    callbacks : callable or list of callables, optional
        Called after every step with its number, the terms of the loss and a fitted copy of the estimator; training ends
        when one returns True.
    device : str, default "auto"
        Where to compute: "cpu", "cuda", … "auto" takes a CUDA device where there is one.
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows progress bars.

    Attributes
    ----------
    weights_ : dict of str to ndarray
    architecture_ : dict
        Description of the network; ``"masked"`` tells whether it takes rows with holes.
    scaling_ : dict
        ``center`` and ``scale`` of the columns.
    fill_ : ndarray (d,)
        What stands in a hole, in units of the scaled columns: the mean of the observed cells.
    loss_curve_, reconstruction_curve_ : ndarray (n_iter_,)
        Loss and mean squared error at every step, on the rows of the step.
    validation_curve_ : ndarray (checks, 2)
        Step and loss on the rows held back.
    n_iter_ : int
        Steps for the whole network.
    code_mean_, code_axes_ : ndarray (n_components,), (k, n_components)
        Mean and principal directions of the codes of ``fit``, for ``denoise``.

    Notes
    -----
    If X has holes (NaN) in ``fit``, the network also sees which cells are observed, reconstructs the observed ones
    and fills the others: :meth:`impute`. Without holes in ``fit`` it is the plain network, and later holes are refused.

    References
    ----------
    G. E. Hinton, R. R. Salakhutdinov, "Reducing the dimensionality of data with neural networks" (2006).
    P. Vincent et al., "Stacked denoising autoencoders" (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import StackedAutoencoder
    >>> t = np.random.default_rng(0).uniform(0, 1, size=(200, 1))
    >>> X = np.hstack([t, t**2, 1 - t])
    >>> net = StackedAutoencoder(2, hidden_layer_sizes=(20,), activation="tanh", random_state=0).fit(X)
    >>> net.transform(X).shape
    (200, 2)
    >>> bool(-net.score(X) < 0.01 * X.var())
    True
    """

    def __init__(
        self,
        n_components: int = 200,
        *,
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

    def fit(self, X: Any, y: Any = None) -> StackedAutoencoder:
        """Train the network.

        Parameters
        ----------
        X : array-like (n, d)
            Rows, which may have holes (NaN).
        y : ignored

        Returns
        -------
        self
        """
        rows = self._check_rows(X, allow_nan=True)
        self._learn(X, rows, self._settings(), None, 0.0)
        return self


def _curves(history: History) -> dict[str, Any]:
    """The attributes that tell of the training."""
    found = {
        "loss_curve_": history.curves.get("loss", np.empty(0)),
        "reconstruction_curve_": history.curves.get("reconstruction", np.empty(0)),
        "validation_curve_": history.validation,
        "n_iter_": history.n_iter,
    }
    if "alignment" in history.curves:
        found["alignment_curve_"] = history.curves["alignment"]
    return found
