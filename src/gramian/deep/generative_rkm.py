"""The generative restricted kernel machine with networks for feature maps: several views share hidden features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from gramian.checks import reals, whole
from gramian.deep.architecture import Description, build, check_activation, check_sizes
from gramian.deep.base import CodeTransformer, NetworkEstimator
from gramian.deep.kernel_net_alternation import embed
from gramian.deep.scaling import standard_scaling
from gramian.deep.training import torch_generator, train
from gramian.grams import FeatureGram
from gramian.lssvm.views import view_columns
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_CUT = 1e-10  # of the largest eigenvalue: directions that count nothing


class GenerativeRKM(CodeTransformer, NetworkEstimator):
    """Learn hidden features that several views share, with networks that generate each view from them (Gen-RKM).

    View v has an encoder φ_v and a decoder ψ_v. With centred features Φ_v the hidden features H, HᵀH = I, are the
    leading eigenvectors, and the views have the maps U_v:

        (Σ_v Φ_v Φ_vᵀ / η_v) H = H Λ,   U_v = Φ_vᵀ H / η_v .

    A row has h = Λ⁻¹ Σ_v U_vᵀ φ_v(x_v), and h generates the view ψ_v(η_v U_v h + mean). The networks are trained to
    return the rows of a batch through the hidden features of the batch. The published loss also holds the energy J and
    its square; J is zero at every solution H, whatever the networks, so that it has no gradient to add. (The published
    generation leaves η_v out and misses the scale where η ≠ 1.)

    With ``hidden_layer_sizes=()`` the features are the scaled columns, nothing is trained, and H is kernel PCA of the
    columns of all views. :class:`gramian.lssvm.GenerativeKernelMachine` is the form with kernels, without networks.

    Parameters
    ----------
    n_components : int, default 10
        Hidden features.
    views : list of column groups, optional
        As in :class:`gramian.MultiViewLSSVMRegressor`; None is one view of all columns.
    eta : float or array-like (V,), default 1.0
        η of every view; smaller counts more.
    hidden_layer_sizes : tuple of int, default (64,)
        Hidden layers of the encoders; decoders mirror them. Empty for features that are the columns themselves.
    n_features : int, default 32
        Features of every view, the outputs of its encoder.
    activation : str, default "elu"
    n_modes : int, default 10
        Components of the Gaussian mixture that hidden features are sampled from.
    max_iter : int, default 1000
        Steps of Adam.
    batch_size : int, default 200
    learning_rate : float, default 1e-3
    callbacks : callable or list of callables, optional
        Called after each step with its number, the terms and a copy of the estimator that can do all but ``sample``.
    device : str, default "auto"
    random_state : int, Generator, RandomState or None, default None
    verbose : int, default 0

    Attributes
    ----------
    hidden_ : ndarray (n, n_components)
        H.
    eigenvalues_ : ndarray (n_components,)
        Λ.
    maps_ : list of ndarray (n_features, n_components)
        U_v.
    means_ : list of ndarray (n_features,)
        Mean features of the views.
    columns_ : list of ndarray
        The column numbers of every view.
    loss_curve_ : ndarray (n_iter_,)
    n_iter_ : int

    References
    ----------
    Pandey, Schreurs, Suykens (2021). Generative restricted kernel machines: a framework for multi-view generation and
    disentangled feature learning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.deep import GenerativeRKM
    >>> X = load_iris().data
    >>> model = GenerativeRKM(3, views=[[0, 1], [2, 3]], max_iter=50, random_state=0).fit(X)
    >>> model.sample(5).shape, model.predict_view(X[:5, :2], given=0, target=1).shape
    ((5, 4), (5, 2))
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        views: Sequence[Any] | None = None,
        eta: float | Sequence[float] = 1.0,
        hidden_layer_sizes: Any = (64,),
        n_features: int = 32,
        activation: str = "elu",
        n_modes: int = 10,
        max_iter: int = 1000,
        batch_size: int = 200,
        learning_rate: float = 1e-3,
        callbacks: Any = None,
        device: str = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.eta = eta
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_features = n_features
        self.activation = activation
        self.n_modes = n_modes
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any = None) -> GenerativeRKM:
        """Train the feature maps and find the hidden features.

        Parameters
        ----------
        X : array-like (n, d)
            All views side by side. Labels are a view too, one column of 0 and 1 for each.
        y : ignored

        Returns
        -------
        self : GenerativeRKM
        """
        rows, settings = self._check_rows(X), self._settings()
        size = whole(self.n_components, "n_components", most=len(rows))
        modes = min(whole(self.n_modes, "n_modes"), len(rows))
        columns = view_columns(self.views, rows.shape[1], getattr(X, "columns", None))
        eta = reals(self.eta, "eta", (len(columns),), above=0) * np.ones(len(columns))
        rng = generator(self.random_state)
        scaling = standard_scaling(rows)
        described = self._description([len(part) for part in columns])
        module = build(described, torch_generator(rng))
        values = self._tensor(rows, scaling)
        module.to(values.device)
        learned: dict[str, Any] = {"scaling_": scaling.arrays, "columns_": columns, "eta_": eta}

        def loss(batch: Any) -> dict[str, Any]:
            seen = values[batch.to(values.device)]
            return {"loss": returned_error(module, [seen[:, part.tolist()] for part in columns], eta, size)}

        def solve() -> dict[str, Any]:
            scaled = scaling.apply(rows)
            features = [embed(module[f"encoder{v}"], scaled[:, part]) for v, part in enumerate(columns)]
            return _solved(features, eta, size)

        curve = np.empty(0)
        if any(True for _ in module.parameters()):
            watch = self._on_step(module, X, described, solve, **learned)
            curve = train(module, loss, len(rows), settings, rng, on_step=watch).curves.get("loss", curve)
        learned |= solve()
        seed = int(rng.integers(2**31))
        mixture = GaussianMixture(modes, random_state=seed, reg_covar=1e-4)
        learned["modes_"] = mixture.fit(learned["hidden_"] * np.sqrt(len(rows)))
        learned |= {"loss_curve_": curve, "n_iter_": len(curve)}
        self._keep(module, X, described, **learned)
        return self

    def transform(self, X: Matrix) -> Array:
        """Hidden features of rows with all views.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        hidden : ndarray (n_new, n_components)
        """
        return self._hidden(X)

    def reconstruct(self, X: Matrix) -> Array:
        """Rows as their hidden features show them.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        X : ndarray (n_new, d)
        """
        rows = self._check_new(X)
        return self._generated(self._hidden(rows).astype(np.float64)).astype(rows.dtype)

    def predict_view(self, X: Matrix, *, given: int = 0, target: int = 1) -> Array:
        """One view of rows, generated from another alone.

        With the target unknown, h = (η U_gᵀU_g)⁺ U_gᵀ φ_g(x).

        Parameters
        ----------
        X : array-like (n_new, d_given)
            The columns of the given view, in the order of ``columns_[given]``.
        given, target : int, default 0 and 1
            Numbers of the views.

        Returns
        -------
        X : ndarray (n_new, d_target)
        """
        check_is_fitted(self, "weights_")
        last = len(self.columns_) - 1
        if last < 1:
            raise ValueError("there is one view only; pass views=[[...], [...]] to the constructor")
        given, target = (whole(v, n, least=0, most=last) for v, n in ((given, "given"), (target, "target")))
        rows = check_array(X, dtype=[np.float64, np.float32])
        part = self.columns_[given]
        if rows.shape[1] != len(part):
            raise ValueError(f"X has {rows.shape[1]} columns but view {given} has {len(part)}; pass those of the view")
        scaled = (rows - self.scaling_["center"][part]) / self.scaling_["scale"][part]
        features = embed(self._module()[f"encoder{given}"], scaled) - self.means_[given]
        U = self.maps_[given]
        inverse = np.linalg.pinv(self.eta_[given] * (U.T @ U), rcond=_CUT, hermitian=True)
        return self._view(features @ U @ inverse, target).astype(rows.dtype)

    def sample(self, n_samples: int = 1) -> Array:
        """Draw new rows: hidden features from a Gaussian mixture, and all views generated from them.

        Parameters
        ----------
        n_samples : int, default 1
            As in scikit-learn's mixtures every call starts from the same seed, so that a second one with the same
            number repeats the rows; ask for all rows at once.

        Returns
        -------
        X : ndarray (n_samples, d)
            Columns of no view are zero.
        """
        check_is_fitted(self, "weights_")
        drawn, _ = self.modes_.sample(whole(n_samples, "n_samples"))
        return self._generated(drawn / np.sqrt(len(self.hidden_)))

    def _hidden(self, X: Matrix) -> Array:
        rows = self._check_new(X)
        columns = [part.tolist() for part in self.columns_]
        maps = [torch.tensor(U / self.eigenvalues_) for U in self.maps_]
        means = [torch.tensor(mean) for mean in self.means_]

        def hidden(module: Any, chunk: Any) -> Any:
            parts = [module[f"encoder{v}"](chunk[:, part]) for v, part in enumerate(columns)]
            return sum((f - m.to(f)) @ U.to(f) for f, m, U in zip(parts, means, maps, strict=True))

        return self._answer(hidden, self._scaled(rows)).astype(rows.dtype, copy=False)

    def _generated(self, hidden: Array) -> Array:
        """All columns, from hidden features."""
        out = np.zeros((len(hidden), len(self.scaling_["center"])))
        for v, part in enumerate(self.columns_):
            out[:, part] = self._view(hidden, v)
        return out

    def _view(self, hidden: Array, v: int) -> Array:
        """ψ_v(η_v U_v h + mean), on the scale of the data."""
        features = self.eta_[v] * (hidden @ self.maps_[v].T) + self.means_[v]
        part = self.columns_[v]
        decoded = embed(self._module()[f"decoder{v}"], features)
        return np.asarray(decoded * self.scaling_["scale"][part] + self.scaling_["center"][part])

    def _description(self, widths: list[int]) -> Description:
        check_activation(self.activation, "activation")
        hidden = check_sizes(self.hidden_layer_sizes)
        features = whole(self.n_features, "n_features")
        modules = {}
        for v, width in enumerate(widths):
            sizes = [width, *hidden, features] if hidden else [width]
            for name, order in (("encoder", sizes), ("decoder", sizes[::-1])):
                modules[f"{name}{v}"] = {"kind": "mlp", "sizes": order, "activation": self.activation}
        return {"kind": "parts", "modules": modules}

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)


def returned_error(module: Any, views: Sequence[Any], eta: Array, size: int) -> Any:
    """Mean squared error of a batch that went through its own hidden features, summed over the views.

    The hidden features count as constant in the gradient: differentiating eigenvectors fails where eigenvalues meet.
    """
    features = [module[f"encoder{v}"](view) for v, view in enumerate(views)]
    means = [part.mean(dim=0) for part in features]
    centred = [part - mean for part, mean in zip(features, means, strict=True)]
    weighed = [part.detach().cpu().numpy() / root for part, root in zip(centred, np.sqrt(eta), strict=True)]
    joined = np.hstack(weighed).astype(np.float64)
    _, vectors = FeatureGram(joined).eigenpairs(min(size, *joined.shape))
    H = torch.tensor(vectors).to(features[0])
    total = torch.zeros((), dtype=H.dtype, device=H.device)
    for v, (view, part, mean) in enumerate(zip(views, centred, means, strict=True)):
        total = total + torch.mean((module[f"decoder{v}"](H @ (H.T @ part) + mean) - view) ** 2)
    return total


def energy(features: Sequence[Array], H: Array, eigenvalues: Array, eta: Array) -> float:
    """J = Σ_i (−Σ_v φ_v(x_i)ᵀU_v h_i + ½ h_iᵀΛh_i) + ½ Σ_v η_v ‖U_v‖² with U_v = Φ_vᵀH/η_v; zero at a solution."""
    gains = sum(float(np.sum((part.T @ H) ** 2)) / e for part, e in zip(features, eta, strict=True))
    return 0.5 * (float(np.sum(H**2 * eigenvalues)) - gains)


def _solved(features: list[Array], eta: Array, size: int) -> dict[str, Any]:
    """Hidden features of all rows, eigenvalues, maps and mean features."""
    means = [part.mean(axis=0) for part in features]
    centred = [part - mean for part, mean in zip(features, means, strict=True)]
    joined = np.hstack([part / root for part, root in zip(centred, np.sqrt(eta), strict=True)])
    values, H = FeatureGram(joined).eigenpairs(min(size, *joined.shape))
    kept = values > max(_CUT * values.max(initial=0.0), np.finfo(float).tiny)
    if not kept.any():
        raise ValueError("all samples have the same features, so there is nothing to generate from; check X")
    values, H = values[kept], np.ascontiguousarray(H[:, kept])
    maps = [part.T @ H / e for part, e in zip(centred, eta, strict=True)]
    return {"hidden_": H, "eigenvalues_": values, "maps_": maps, "means_": means}
