"""The Stiefel restricted kernel machine: an autoencoder whose code is an orthogonal projection of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted
from torch import nn

from gramian.checks import one_of, real, whole
from gramian.deep.architecture import Description, architecture, build, check_activation, check_sizes
from gramian.deep.base import CodeTransformer, NetworkEstimator
from gramian.deep.kernel_net_alternation import embed
from gramian.deep.scaling import Scaling, no_scaling, standard_scaling
from gramian.deep.training import torch_generator, train
from gramian.grams import DenseGram
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState


class _Basis(nn.Module):
    """U with orthonormal columns."""

    def __init__(self, n_features: int, n_components: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_features, n_components))


@architecture("basis")
def basis(n_features: int, n_components: int, *, generator: torch.Generator | None = None) -> _Basis:
    """Orthonormal columns, drawn by ``generator``."""
    made = _Basis(n_features, n_components)
    if generator is not None:
        with torch.no_grad():
            made.weight.copy_(torch.linalg.qr(torch.randn(n_features, n_components, generator=generator))[0])
    return made


class StiefelRKM(CodeTransformer, NetworkEstimator):
    """An autoencoder whose code is an orthogonal projection of the encoder's features (Stiefel-RKM).

    Encoder φ, decoder ψ and U with UᵀU = I minimise

        c · mean ‖x − ψ(U Uᵀ(φ(x) − m) + m)‖² + mean ‖(I − U Uᵀ)(φ(x) − m)‖² ,

    m the mean features of the batch and c ``reconstruction_weight``. U stays orthonormal by a QR retraction after every
    step of Adam, and is turned at the end so that the components of the code are uncorrelated, the largest variance
    first. With ``hidden_layer_sizes=()`` the features are the columns and U spans the principal components, which
    :class:`sklearn.decomposition.PCA` finds without training.

    Parameters
    ----------
    n_components : int, default 10
        Columns of U.
    hidden_layer_sizes : tuple of int, default (64,)
        Hidden layers of the encoder; the decoder mirrors them. Empty for features that are the columns themselves.
    n_features : int, default 32
        Outputs of the encoder, at least ``n_components``.
    activation : str, default "elu"
    reconstruction_weight : float, default 1.0
        c.
    init : {"pca", "random"}, default "pca"
        U before training: the principal components of the features, or random.
    standardize : bool, default True
        Scale the columns to mean 0 and deviation 1 first.
    max_iter : int, default 1000
        Steps of Adam.
    batch_size : int, default 200
    learning_rate : float, default 1e-3
    callbacks : callable or list of callables, optional
        Called after each step with its number, the terms and a copy of the estimator that can transform.
    device : str, default "auto"
    random_state : int, Generator, RandomState or None, default None
    verbose : int, default 0

    Attributes
    ----------
    components_ : ndarray (n_components, n_features)
        Uᵀ.
    mean_ : ndarray (n_features,)
        Mean features.
    explained_variance_ : ndarray (n_components,)
        Variances of the components of the code.
    loss_curve_ : ndarray (n_iter_,)
    n_iter_ : int

    References
    ----------
    Pandey, Fanuel, Schreurs, Suykens (2022). Disentangled representation learning and generation with manifold
    optimization.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.deep import StiefelRKM
    >>> X = load_iris().data
    >>> model = StiefelRKM(2, max_iter=50, random_state=0).fit(X)
    >>> model.transform(X).shape, model.inverse_transform(model.transform(X)).shape
    ((150, 2), (150, 4))
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        hidden_layer_sizes: Any = (64,),
        n_features: int = 32,
        activation: str = "elu",
        reconstruction_weight: float = 1.0,
        init: str = "pca",
        standardize: bool = True,
        max_iter: int = 1000,
        batch_size: int = 200,
        learning_rate: float = 1e-3,
        callbacks: Any = None,
        device: str = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_features = n_features
        self.activation = activation
        self.reconstruction_weight = reconstruction_weight
        self.init = init
        self.standardize = standardize
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any = None) -> StiefelRKM:
        """Train encoder, decoder and projection.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored

        Returns
        -------
        self : StiefelRKM
        """
        rows, settings = self._check_rows(X), self._settings()
        weight = real(self.reconstruction_weight, "reconstruction_weight", least=0)
        start = one_of(self.init, "init", ("pca", "random"))
        rng = generator(self.random_state)
        scaled = one_of(self.standardize, "standardize", (True, False))
        scaling = standard_scaling(rows) if scaled else no_scaling(rows.shape[1])
        described = self._description(rows.shape[1])
        module = build(described, torch_generator(rng))
        if start == "pca":
            self._set_basis(module, scaling.apply(rows))
        values = self._tensor(rows, scaling)
        module.to(values.device)

        def loss(batch: Any) -> dict[str, Any]:
            return projection_terms(module, values[batch.to(values.device)], weight)

        learned: dict[str, Any] = {"scaling_": scaling.arrays}
        watch = self._on_step(module, X, described, lambda: self._turned(module, scaling.apply(rows)), **learned)
        kept = module["basis"].weight

        def optimizer(parameters: Sequence[Any], rate: float) -> Any:
            return RetractedAdam(parameters, rate, kept)

        history = train(module, loss, len(rows), settings, rng, optimizer=optimizer, on_step=watch)
        learned |= self._turned(module, scaling.apply(rows))
        learned |= {"loss_curve_": history.curves.get("loss", np.empty(0)), "n_iter_": history.n_iter}
        self._keep(module, X, described, **learned)
        return self

    def transform(self, X: Matrix) -> Array:
        """Codes of rows: Uᵀ(φ(x) − m).

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components)
        """
        rows = self._check_new(X)
        mean, U = torch.tensor(self.mean_), torch.tensor(self.components_.T.copy())

        def codes(module: Any, chunk: Any) -> Any:
            features = module["encoder"](chunk)
            return (features - mean.to(features)) @ U.to(features)

        return self._answer(codes, self._scaled(rows)).astype(rows.dtype, copy=False)

    def inverse_transform(self, Z: Any) -> Array:
        """Rows from codes: ψ(U z + m).

        Parameters
        ----------
        Z : array-like (n, n_components)

        Returns
        -------
        X : ndarray (n, d)
        """
        check_is_fitted(self, "weights_")
        codes = check_array(Z, dtype=[np.float64, np.float32])
        if codes.shape[1] != len(self.components_):
            raise ValueError(f"Z has {codes.shape[1]} columns but codes have {len(self.components_)}; pass codes")
        features = np.asarray(codes, np.float64) @ self.components_ + self.mean_
        found = Scaling(**self.scaling_).undo(embed(self._module()["decoder"], features))
        return found.astype(codes.dtype)

    def _description(self, d: int) -> Description:
        check_activation(self.activation, "activation")
        hidden = check_sizes(self.hidden_layer_sizes)
        features = whole(self.n_features, "n_features") if hidden else d
        sizes = [d, *hidden, features] if hidden else [d]
        size = whole(self.n_components, "n_components")
        if size > features:
            source = f"n_features={features}" if hidden else f"the {features} columns of X"
            raise ValueError(f"n_components={size} is more than {source}; pass n_components <= {features}")
        return {
            "kind": "parts",
            "modules": {
                "encoder": {"kind": "mlp", "sizes": sizes, "activation": self.activation},
                "decoder": {"kind": "mlp", "sizes": sizes[::-1], "activation": self.activation},
                "basis": {"kind": "basis", "n_features": features, "n_components": size},
            },
        }

    def _set_basis(self, module: Any, rows: Array) -> None:
        """U as the principal components of the features."""
        features = embed(module["encoder"], rows)
        U = module["basis"].weight
        _, vectors = DenseGram(np.cov(features.T, bias=True).reshape(len(U), len(U))).eigenpairs(U.shape[1])
        with torch.no_grad():
            U.copy_(torch.tensor(vectors))

    def _turned(self, module: Any, rows: Array) -> dict[str, Any]:
        """U turned so that the components of the code are uncorrelated, in the order of their variances."""
        features = embed(module["encoder"], rows)
        mean = features.mean(axis=0)
        U, _ = np.linalg.qr(module["basis"].weight.detach().cpu().double().numpy())
        C = np.cov(((features - mean) @ U).T, bias=True).reshape(U.shape[1], U.shape[1])
        values, turn = DenseGram(C).eigenpairs(len(C))
        return {"components_": (U @ turn).T.copy(), "mean_": mean, "explained_variance_": np.maximum(values, 0)}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def projection_terms(module: Any, x: Any, weight: float) -> dict[str, Any]:
    """The two terms of the loss of a batch, and their sum."""
    features = module["encoder"](x)
    mean = features.mean(dim=0)
    U = module["basis"].weight
    projected = (features - mean) @ U @ U.T
    error = torch.sum((module["decoder"](projected + mean) - x) ** 2) / len(x)
    lost = torch.sum((features - mean - projected) ** 2) / len(x)
    return {"loss": weight * error + lost, "reconstruction": error, "projection": lost}


class RetractedAdam(torch.optim.Adam):
    """Adam that makes the columns of one of the weights orthonormal again after every step, by QR.

    Parameters
    ----------
    parameters : sequence of tensors
    rate : float
    kept : tensor (m, k)
        The weight whose columns are orthonormal.
    """

    def __init__(self, parameters: Sequence[Any], rate: float, kept: Any) -> None:
        super().__init__(parameters, rate)
        self.kept = kept

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of Adam and the retraction."""
        found = super().step(closure)
        with torch.no_grad():
            Q, R = torch.linalg.qr(self.kept)
            self.kept.copy_(Q * torch.where(torch.diagonal(R) < 0, -1.0, 1.0))
        return found
