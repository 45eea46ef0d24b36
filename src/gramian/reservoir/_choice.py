"""Choose the leak and the bias of a network: those whose ridge forecasts the last fifth of the steps best.

Used by :mod:`gramian.reservoir.network` where ``leak_rate`` or ``bias_scaling`` is "auto". Every candidate takes one
pass over the steps, in which :class:`gramian.reservoir._learning.Learner` judges its penalties.
"""

from __future__ import annotations

import copy
import warnings
from itertools import product
from typing import Any

import numpy as np

from gramian.checks import is_whole
from gramian.randomness import generator
from gramian.reservoir._learning import Learner
from gramian.reservoir.sequences import Sequences
from gramian.typing import Array

CANDIDATES = {"leak_rate": (1.0, 0.3, 0.1), "bias_scaling": (0.0, 0.5)}
"""What "auto" tries of each parameter; among equals the first is taken."""


def is_auto(value: Any) -> bool:
    """Whether a parameter is to be chosen."""
    return isinstance(value, str) and value == "auto"


def open_parameters(network: Any) -> list[str]:
    """The parameters that are to be chosen; none where a reservoir is given, which has its own."""
    return [] if network.reservoir is not None else [name for name in CANDIDATES if is_auto(getattr(network, name))]


def chosen_and_learned(
    network: Any, sequences: Sequences, targets: list[Array], names: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of the parameters ``names``, and what the network with these values knows.

    A readout that judges no penalties is fitted once, with the values that are best for a ridge. All candidates draw
    the same weights, whatever the random state, so that luck does not decide.
    """
    if not is_whole(network.random_state):
        network = _with(network, {"random_state": int(generator(network.random_state).integers(2**31))})
    judges = _judges(network)
    trial = network if judges else _with(network, {"readout": "ridge", "regularization": "auto", "reduction": None})
    best: tuple[float, dict[str, Any], dict[str, Any], list[Any]] | None = None
    for values in product(*(CANDIDATES[name] for name in names)):
        given = dict(zip(names, values, strict=True))
        with warnings.catch_warnings(record=True) as told:  # the chosen one may warn, the others have no reason to
            warnings.simplefilter("always")
            learned = Learner(_with(trial, given), sequences, targets, again=False).learn()
        error = _error(learned, targets)
        if best is None or error < best[0]:
            best = error, given, learned, told
    assert best is not None
    _, given, learned, told = best
    if not judges:
        return given, Learner(_with(network, given), sequences, targets, again=False).learn()
    for warning in told:
        warnings.warn(warning.message, stacklevel=5)
    return given, learned


def _judges(network: Any) -> bool:
    """Whether learning tells the error on the last fifth of the steps."""
    reduced = network.reduction is not None and not (isinstance(network.reduction, str) and network.reduction == "pca")
    ridge = isinstance(network.readout, str) and network.readout == "ridge"
    return ridge and not reduced and is_auto(network.regularization)


def _with(network: Any, values: dict[str, Any]) -> Any:
    trial = copy.copy(network)
    for name, value in values.items():
        setattr(trial, name, value)
    return trial


def _error(learned: dict[str, Any], targets: list[Array]) -> float:
    """The least error of any penalty, in deviations of each target, and the mean of the targets."""
    tuning = learned["tuning_"]
    if tuning is None:
        return 0.0  # too few steps to judge by
    deviation = np.concatenate(targets).std(axis=0)
    return float(np.mean(tuning["error"].min(axis=0) / np.where(deviation > 0, deviation, 1.0)))
