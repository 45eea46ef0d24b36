"""What every estimator with a network does alike: check, train, keep the weights as arrays, answer.

A fitted estimator holds ``architecture_`` (a plain dict) and ``weights_`` (name to array) and no torch object, so that
it is saved, copied and compared as any other. The torch module is built from the two when an answer needs it and kept
beside the estimator, not in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from gramian.checks import check_samples, one_of, real, remember_columns, whole
from gramian.deep.architecture import Description, build
from gramian.deep.scaling import Scaling
from gramian.deep.training import Settings
from gramian.diagram import Estimator
from gramian.grams.tiles import slices
from gramian.partitions import DistributedAnswers
from gramian.typing import Array, RandomState

CHUNK = 2048  # rows that are answered together
IMAGES = 64  # of them, where a convolution makes each many times larger: new memory costs as much as the answer
TRAINING_DTYPE = torch.float32
_FLOATS = [np.float64, np.float32]
_modules: WeakKeyDictionary[Any, tuple[Any, nn.Module]] = WeakKeyDictionary()


class CodeTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Of the estimators whose ``transform`` gives codes: columns named after the class, in the dtype of the rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class NetworkEstimator(DistributedAnswers, Estimator):
    """Base of the estimators of :mod:`gramian.deep`.

    A ``fit`` calls :meth:`_check_rows` and :meth:`_settings`, scales the rows, builds a module from a description,
    trains it with :func:`gramian.deep.training.train`, and ends with :meth:`_keep`; nothing is set before that. The
    answers call :meth:`_check_new` and :meth:`_answer`.

    Attributes
    ----------
    architecture_ : dict
        Plain description of the network.
    weights_ : dict of str to ndarray
        The weights, by the names that torch gives them.
    """

    max_iter: int
    batch_size: int
    learning_rate: float | str
    callbacks: Callable[..., Any] | Sequence[Callable[..., Any]] | None
    device: str
    random_state: RandomState
    verbose: int
    image_shape: Sequence[int] | None = None
    early_stopping: bool | str = False
    validation_fraction: float = 0.15
    n_iter_no_change: int = 10

    architecture_: Description
    weights_: dict[str, Array]
    scaling_: dict[str, Array]

    # For fit -----------------------------------------------------------------------------------------------

    def _check_rows(self, X: Any, *, min_samples: int = 2, allow_nan: bool = False) -> Array:
        """X as a float array; nothing of the estimator changes."""
        finite = "allow-nan" if allow_nan else True
        rows: Array = check_samples(self, X, dtype=_FLOATS, ensure_min_samples=min_samples, ensure_all_finite=finite)
        return rows

    def _settings(self, **changes: Any) -> Settings:
        """The parameters of training, checked; ``changes`` take their place, for instance an automatic rate."""
        early = one_of(self.early_stopping, "early_stopping", (False, True, "interruptible"))
        verbose = self.verbose
        given = {
            "batch_size": whole(self.batch_size, "batch_size", least=2),
            "early_stopping": bool(early),
            "keep_on_interrupt": early == "interruptible",
            "validation_fraction": real(self.validation_fraction, "validation_fraction", above=0, below=1),
            "n_iter_no_change": whole(self.n_iter_no_change, "n_iter_no_change"),
            "label": f"Training {type(self).__name__}",
            "verbose": int(verbose) if isinstance(verbose, bool) else whole(verbose, "verbose", least=0),
        }
        if "max_iter" not in changes:
            given["max_iter"] = whole(self.max_iter, "max_iter", least=0)
        if "learning_rate" not in changes:
            given["learning_rate"] = real(self.learning_rate, "learning_rate", above=0)
        check_callbacks(self.callbacks)
        find_device(self.device)
        return Settings(**(given | changes))

    def _tensor(self, X: Array, scaling: Scaling | None = None) -> Any:
        """Rows, scaled, as a tensor on the device in the precision of training."""
        values = X if scaling is None else scaling.apply(X)
        tensor = torch.tensor(np.ascontiguousarray(values, dtype=np.float64)).to(TRAINING_DTYPE)
        if not torch.isfinite(tensor).all() and np.isfinite(values).all():
            raise ValueError(
                f"X overflows single precision, its largest magnitude is {np.abs(X).max():.1e}; scale its columns, for "
                "instance with StandardScaler"
            )
        return tensor.to(find_device(self.device))

    def _on_step(
        self,
        module: nn.Module,
        X: Any,
        description: Description,
        solve: Callable[[], dict[str, Any]] | None = None,
        **learned: Any,
    ) -> Callable[[int, dict[str, float]], bool] | None:
        """What calls the callbacks after a step, with a fitted copy of the estimator; None where there are none.

        Parameters
        ----------
        module, X, description, **learned
            As for :meth:`_keep`.
        solve : callable, optional
            Further attributes that follow from the weights, found anew for every call.
        """
        watchers = check_callbacks(self.callbacks)
        if not watchers:
            return None

        def tell(step: int, terms: dict[str, float]) -> bool:
            seen = copy(self)
            seen._keep(module, X, description, **learned, **(solve() if solve else {}))
            wishes = [bool(watcher(step, terms, seen)) for watcher in watchers]  # all of them are called
            return any(wishes)

        return tell

    def _keep(self, module: nn.Module, X: Any, description: Description, **learned: Any) -> None:
        """Hold what was learned, when all else has succeeded.

        Parameters
        ----------
        module : torch.nn.Module
            Trained.
        X : array-like
            As it was passed to ``fit``: its columns may have names.
        description : dict
            What builds the module again.
        **learned
            Further attributes, with their underscores.
        """
        self.architecture_, self.weights_ = description, weights_of(module)
        for name, value in learned.items():
            setattr(self, name, value)
        remember_columns(self, X)

    # For answers -------------------------------------------------------------------------------------------

    def _check_new(self, X: Any, *, allow_nan: bool = False) -> Array:
        """New rows, checked against what ``fit`` saw."""
        check_is_fitted(self, "weights_")
        finite = "allow-nan" if allow_nan else True
        rows: Array = validate_data(self, X, reset=False, dtype=_FLOATS, ensure_all_finite=finite)
        return rows

    def _module(self) -> nn.Module:
        """The network in double precision and evaluation mode, built again only when the weights are others."""
        kept = _modules.get(self)
        if kept is None or kept[0] is not self.weights_:
            module = self._build(self.architecture_)
            load_weights(module, self.weights_)
            device = find_device(self.device)
            module = module.double().to("cpu" if device.type == "mps" else device).eval()  # which has no doubles
            kept = (self.weights_, module)
            _modules[self] = kept
        return kept[1]

    def _build(self, description: Description) -> nn.Module:
        """The module without its weights; for estimators that take a module of the user's."""
        return build(description)

    def _answer(self, function: Callable[[Any, Any], Any], X: Array) -> Array:
        """``function(module, rows)`` over chunks of rows, computed in double precision, in the dtype of X."""
        module = self._module()
        device = next((p.device for p in module.parameters()), torch.device("cpu"))
        found = np.empty(0)
        with torch.inference_mode():
            for rows in slices(len(X), CHUNK if self.image_shape is None else IMAGES):
                chunk = torch.tensor(np.ascontiguousarray(X[rows], dtype=np.float64)).to(device)
                part = function(module, chunk).cpu().numpy()
                if not found.size:  # small arrays kept between large ones would hold the memory of every chunk
                    found = np.empty((len(X), *part.shape[1:]), X.dtype)
                found[rows] = part
        return found

    def _scaled(self, X: Array) -> Array:
        """New rows scaled as those of ``fit``, in double precision."""
        return Scaling(**self.scaling_).apply(X)

    def export_weights(self, path: str | os.PathLike[str]) -> None:
        """Write the weights to a safetensors file, for use without gramian.

        Parameters
        ----------
        path : str or path-like
            Where to write; ``.safetensors`` is the usual ending. The description of the network is in the file's
            metadata, as JSON.
        """
        check_is_fitted(self, "weights_")
        from safetensors.numpy import save_file

        arrays = {name: np.ascontiguousarray(value) for name, value in self.weights_.items()}
        save_file(arrays, os.fspath(path), metadata={"architecture": json.dumps(self.architecture_)})


def weights_of(module: nn.Module) -> dict[str, Array]:
    """The weights and buffers of a module as arrays of their own."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_weights(module: nn.Module, weights: dict[str, Array]) -> None:
    """Copy arrays into a module of the same architecture."""
    module.load_state_dict({name: torch.tensor(np.asarray(value)) for name, value in weights.items()})


def find_device(device: Any) -> torch.device:
    """The torch device that a ``device`` parameter means: "auto" is a CUDA device where there is one, else the CPU."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device) if isinstance(device, str) else None
    except RuntimeError:
        found = None
    if found is None:
        raise ValueError(f"device={device!r} is not known; pass 'auto', 'cpu' or 'cuda'")
    there = {
        "cpu": lambda: True,
        "cuda": lambda: (found.index or 0) < torch.cuda.device_count(),
        "mps": torch.backends.mps.is_available,
    }
    if not there.get(found.type, lambda: False)():
        raise ValueError(f"device={device!r} is not available on this machine; pass 'auto' or 'cpu'")
    return found


def check_callbacks(callbacks: Any) -> list[Callable[..., Any]]:
    """``callbacks`` as a list: None, one callable, or a sequence of them."""
    if callbacks is None:
        return []
    found = [callbacks] if callable(callbacks) else callbacks
    if not isinstance(found, list | tuple) or not all(callable(item) for item in found):
        raise ValueError(f"callbacks={callbacks!r} must be None, a function (step, terms, estimator) or a list of them")
    return list(found)
