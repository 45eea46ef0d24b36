"""Regression on several views of one table with a network for each view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.base import MultiOutputMixin, RegressorMixin
from torch import nn

from gramian.checks import check_targets, one_of, reals
from gramian.deep.architecture import Description, build, check_activation, check_sizes
from gramian.deep.base import NetworkEstimator
from gramian.deep.scaling import Scaling, standard_scaling
from gramian.deep.training import Settings, torch_generator, train
from gramian.lssvm.views import check_coupling, view_columns
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState


class MultiViewNetworkRegressor(MultiOutputMixin, RegressorMixin, NetworkEstimator):
    """Regression with a network for each view of the samples, whose errors are coupled.

    Late fusion: view v has a network h_v and a linear output f_v = w_v·h_v + b_v. With e_v = y − f_v the errors,

        ½ Σ_v s_v (‖w_v‖² + γ_v mean(e_v²)) + Σ_{v<u} ρ_vu √(s_v s_u) mean(e_v e_u)

    is minimised: the loss of :class:`gramian.MultiViewLSSVMRegressor` with networks in place of kernels and means in
    place of sums. ``regularization`` is γ, ``coupling`` ρ and ``view_weights`` s. Early fusion: the networks of the
    views are joined by another one with one output, and half the mean squared error plus ½ ‖w‖² / γ of the output is
    minimised. Columns and targets are scaled to mean 0 and deviation 1.

    On a few hundred rows late fusion is no better than the LS-SVM, which has one solution: on scikit-learn's diabetes
    table (442 rows, four and six columns as views) R² was .412 after 1.8 s, the LS-SVM's .418 after 0.01 s; on
    Friedman's first problem (400 rows, three and seven columns), .599 and
    .603. There early fusion with ``early_stopping`` reached .875, and one LS-SVM of all columns .737; on diabetes the
    two had .403 and .436. (Default settings, means over five splits with 30 % held out.)

    Parameters
    ----------
    views : list of column groups, optional
        As in :class:`gramian.MultiViewLSSVMRegressor`; None is one view of all columns.
    fusion : {"late", "early"}, default "late"
    hidden_layer_sizes : tuple of int, default (32, 16)
        Units of the hidden layers of every view; an empty tuple leaves the columns as they are.
    joint_layer_sizes : tuple of int, default (16,)
        Hidden layers after early fusion.
    activation : str, default "tanh"
    regularization : float or array-like (V,), default 1000.0
        γ of every view; larger fits harder. One number for early fusion.
    coupling : float or array-like (V, V), default 0.0
        ρ, of late fusion. With γ on its diagonal it must have no negative eigenvalue, or the errors could grow without
        end.
    view_weights : None, "validation" or array-like (V,), default None
        s > 0, of late fusion. "validation": every view is trained alone first, and s_v = exp(−its mean squared error on
        the rows held back), targets in standard deviations.
    combine : {"mean", "weighted"}, default "mean"
        How late fusion averages the views: alike, or by s.
    max_iter : int, default 2000
        Steps of Adam; as many again for every view alone with "validation".
    batch_size : int, default 64
    learning_rate : float, default 1e-3
    early_stopping, validation_fraction, n_iter_no_change
        Hold back that part of the rows and stop when that many passes bring no better loss on them.
    callbacks : callable or list of callables, optional
        Called after each step with its number, the terms and a fitted copy of the estimator.
    device : str, default "auto"
    random_state : int, Generator, RandomState or None, default None
    verbose : int, default 0

    Attributes
    ----------
    columns_ : list of ndarray
        The column numbers of every view.
    view_weights_ : ndarray (V,)
    coupling_ : ndarray (V, V)
        γ on the diagonal and ρ beside it, scaled by √(s_v s_u).
    loss_curve_ : ndarray (n_iter_,)
    n_iter_ : int

    References
    ----------
    Karevan, Houthuys, Suykens (2018). Multi-view deep and weighted LS-SVM models for black-box forecasting. The layers
    of early fusion are ours; the source shows a diagram.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import MultiViewNetworkRegressor
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=200)
    >>> X = signal[:, None] + 0.5 * rng.normal(size=(200, 4))  # two sensors of two channels
    >>> model = MultiViewNetworkRegressor([[0, 1], [2, 3]], max_iter=300, random_state=0).fit(X[:150], signal[:150])
    >>> bool(model.score(X[150:], signal[150:]) > 0.85)
    True
    """

    def __init__(
        self,
        views: Sequence[Any] | None = None,
        *,
        fusion: str = "late",
        hidden_layer_sizes: Any = (32, 16),
        joint_layer_sizes: Any = (16,),
        activation: str = "tanh",
        regularization: float | Sequence[float] = 1000.0,
        coupling: float | Sequence[Sequence[float]] = 0.0,
        view_weights: str | Sequence[float] | None = None,
        combine: str = "mean",
        max_iter: int = 2000,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.15,
        n_iter_no_change: int = 50,
        callbacks: Any = None,
        device: str = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.views = views
        self.fusion = fusion
        self.hidden_layer_sizes = hidden_layer_sizes
        self.joint_layer_sizes = joint_layer_sizes
        self.activation = activation
        self.regularization = regularization
        self.coupling = coupling
        self.view_weights = view_weights
        self.combine = combine
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any) -> MultiViewNetworkRegressor:
        """Train the networks of all views together.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,) or (n, q)

        Returns
        -------
        self : MultiViewNetworkRegressor
        """
        one_of(self.combine, "combine", ("mean", "weighted"))
        late = one_of(self.fusion, "fusion", ("late", "early")) == "late"
        rows, settings = self._check_rows(X), self._settings()
        given = check_targets(y, len(rows))
        columns = view_columns(self.views, rows.shape[1], getattr(X, "columns", None))
        G = check_coupling(self.regularization, self.coupling, len(columns))
        if not late:
            self._check_joined(G)
        wanted = given.reshape(len(rows), -1).astype(np.float64)
        scaling, units = standard_scaling(rows), standard_scaling(wanted)
        described = self._description([len(part) for part in columns], wanted.shape[1], late)
        # One generator per view and one for all: what a view draws does not depend on the views beside it.
        rng, *own = spawn(self.random_state, 1 + len(columns))
        module = _built(described, own, rng)
        values = self._tensor(rows, scaling)
        module.to(values.device)
        targets = torch.tensor(units.apply(wanted)).to(values)
        s = self._weights(described, own, values, targets, columns, np.diagonal(G), settings)
        coupling = G * np.sqrt(np.outer(s, s))
        learned: dict[str, Any] = {
            "columns_": columns,
            "scaling_": scaling.arrays,
            "target_scaling_": units.arrays,
            "single_output_": given.ndim == 1,
            "view_weights_": s,
            "coupling_": coupling,
        }

        def loss(batch: Any) -> dict[str, Any]:
            batch = batch.to(values.device)
            seen = [values[batch][:, part.tolist()] for part in columns]
            if late:
                return fused_loss(module, seen, targets[batch], coupling, s)
            return joined_loss(module, seen, targets[batch], float(G[0, 0]))

        watch = self._on_step(module, X, described, **learned)
        history = train(module, loss, len(rows), settings, rng, on_step=watch)
        learned |= {"loss_curve_": history.curves.get("loss", np.empty(0)), "n_iter_": history.n_iter}
        self._keep(module, X, described, **learned)
        return self

    def predict_views(self, X: Matrix) -> Array:
        """What every view predicts, after late fusion.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        predictions : ndarray (n_new, V) or (n_new, V, q)
            Where views are coupled they compensate each other's errors, and one alone is no prediction to be used.
        """
        found = self._views(X)
        if "joint" in self.architecture_["modules"]:
            raise ValueError("fusion='early' has one output for all views; pass fusion='late', or use predict")
        return found[:, :, 0] if self.single_output_ else found

    def predict(self, X: Matrix) -> Array:
        """The prediction of all views together.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        y : ndarray (n_new,) or (n_new, q)
        """
        each = self._views(X)
        shares = self.view_weights_ if self.combine == "weighted" and each.shape[1] > 1 else np.ones(each.shape[1])
        found = np.average(each, axis=1, weights=shares).astype(each.dtype)
        return np.asarray(found[:, 0] if self.single_output_ else found)

    def _views(self, X: Matrix) -> Array:
        """Predictions of every view, or the one of all: (n, V or 1, q)."""
        rows = self._check_new(X)
        columns = [part.tolist() for part in self.columns_]

        def outputs(module: Any, chunk: Any) -> Any:
            return predictions(module, [chunk[:, part] for part in columns])

        found = Scaling(**self.target_scaling_).undo(self._answer(outputs, self._scaled(rows)))
        return found.astype(rows.dtype)

    def _check_joined(self, G: Array) -> None:
        """Refuse what early fusion, with one error for all views, has no use for."""
        if np.any(G - np.diag(np.diagonal(G))):
            raise ValueError("coupling is for fusion='late'; with fusion='early' pass coupling=0")
        if self.view_weights is not None:
            raise ValueError(f"view_weights={self.view_weights!r} is for fusion='late'; pass None")
        if np.ptp(np.diagonal(G)):
            raise ValueError(f"regularization={self.regularization!r} has several values; pass one for fusion='early'")

    def _description(self, widths: list[int], n_outputs: int, late: bool) -> Description:
        """One network per view, and outputs for each or for all."""
        check_activation(self.activation, "activation")
        hidden = check_sizes(self.hidden_layer_sizes)
        joint = check_sizes(self.joint_layer_sizes, "joint_layer_sizes")
        last = self.activation if hidden else "identity"
        modules: dict[str, Description] = {}
        for v, width in enumerate(widths):
            sizes = [width, *hidden]
            modules[f"view{v}"] = _network(sizes, self.activation, last)
            if late:
                modules[f"output{v}"] = _network([sizes[-1], n_outputs], "identity", "identity")
        if not late:
            width = len(widths) * hidden[-1] if hidden else sum(widths)
            modules["joint"] = _network([width, *joint], self.activation, self.activation if joint else "identity")
            modules["output"] = _network([[width, *joint][-1], n_outputs], "identity", "identity")
        return {"kind": "parts", "modules": modules}

    def _weights(
        self,
        described: Description,
        own: list[np.random.Generator],
        values: Any,
        targets: Any,
        columns: list[Array],
        gammas: Array,
        settings: Settings,
    ) -> Array:
        """s: as given, 1, or exp(−mean squared error) of every view alone on the same rows held back."""
        asked = self.view_weights
        if asked is None:
            return np.ones(len(columns))
        if not isinstance(asked, str):
            return reals(asked, "view_weights", (len(columns),), above=0) * np.ones(len(columns))
        one_of(asked, "view_weights", ("validation", None))
        n = len(values)
        held = np.sort(own[0].permutation(n)[: min(max(1, round(settings.validation_fraction * n)), n - 1)])
        kept = np.setdiff1d(np.arange(n), held)
        errors = []
        for v, part in enumerate(columns):
            alone = {name: described["modules"][f"{name}{v}"] for name in ("view", "output")}
            names = {"kind": "parts", "modules": {f"{name}0": module for name, module in alone.items()}}
            rng = own[v].spawn(1)[0]
            module = build(names, torch_generator(rng)).to(values.device)
            seen = values[:, part.tolist()]

            def loss(batch: Any, module: Any = module, seen: Any = seen, v: int = v) -> dict[str, Any]:
                batch = batch.to(values.device)
                return fused_loss(module, [seen[batch]], targets[batch], gammas[v : v + 1, None], np.ones(1))

            train(module, loss, kept, settings.but(early_stopping=False, verbose=0), rng)
            with torch.no_grad():
                missed = targets[held] - predictions(module, [seen[held]])[:, 0]
            errors.append(torch.sum(missed**2).item() / len(held))
        return np.exp(-np.array(errors))


def predictions(module: Any, views: Sequence[Any]) -> Any:
    """Outputs of every view (late fusion), or the one output of all (early), as a tensor (b, V or 1, q)."""
    hidden = [module[f"view{v}"](view) for v, view in enumerate(views)]
    if "joint" in module:
        return module["output"](module["joint"](torch.cat(hidden, dim=1)))[:, None]
    return torch.stack([module[f"output{v}"](h) for v, h in enumerate(hidden)], dim=1)


def fused_loss(module: Any, views: Sequence[Any], y: Any, coupling: Array, s: Array) -> dict[str, Any]:
    """½ Σ_v s_v ‖w_v‖² + ½ mean(eᵀ G e), in which G holds each pair of views twice, so that it counts once.

    Parameters
    ----------
    module : ModuleDict
        With ``view0``, ``output0``, …
    views : list of tensors (b, d_v)
    y : tensor (b, q)
    coupling : ndarray (V, V)
        G, already scaled by √(s_v s_u).
    s : ndarray (V,)
    """
    errors = y[:, None] - predictions(module, views)
    G = torch.tensor(coupling).to(errors)
    fit = 0.5 * torch.einsum("bvq,vu,buq->", errors, G, errors) / len(y)
    penalty = 0.5 * sum(
        float(weight) * torch.sum(module[f"output{v}"][-1][0].weight ** 2) for v, weight in enumerate(s)
    )
    return {"loss": fit + penalty, "fit": fit, "penalty": penalty}


def joined_loss(module: Any, views: Sequence[Any], y: Any, gamma: float) -> dict[str, Any]:
    """½ mean squared error of early fusion, plus ½ ‖w‖² / γ of its output."""
    errors = y - predictions(module, views)[:, 0]
    fit = 0.5 * torch.sum(errors**2) / len(y)
    penalty = 0.5 / gamma * torch.sum(module["output"][-1][0].weight ** 2)
    return {"loss": fit + penalty, "fit": fit, "penalty": penalty}


def _network(sizes: list[int], activation: str, last: str) -> Description:
    return {"kind": "mlp", "sizes": sizes, "activation": activation, "output_activation": last}


def _built(described: Description, own: list[np.random.Generator], rng: np.random.Generator) -> nn.ModuleDict:
    """The networks of each view with weights from its own generator, what joins them from the common one."""
    draws = [torch_generator(view) for view in own]
    common = torch_generator(rng)
    made = {}
    for name, module in described["modules"].items():
        number = name.removeprefix("view").removeprefix("output")
        made[name] = build(module, draws[int(number)] if number.isdigit() else common)
    return nn.ModuleDict(made)
