"""Guided back-propagation: which inputs speak for a score of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import autograd, nn


def guided_gradient(module: nn.Module, score: Callable[[Any], Any], rows: Any) -> Any:
    """Gradient of a score by the inputs, where rectified units pass on only what raises it.

    At each rectified linear unit the signal R becomes 1[activation > 0] · 1[R > 0] · R.

    Parameters
    ----------
    module : torch.nn.Module
        In evaluation mode; its units are changed only during the call.
    score : callable
        From rows to one number per row.
    rows : tensor (n, d)

    Returns
    -------
    gradient : tensor (n, d)
        Positive where a larger input raises the score.

    References
    ----------
    J. Springenberg et al., "Striving for simplicity: the all convolutional net" (2015).
    """
    rows = rows.detach().clone().requires_grad_(True)
    with _guided(module):
        return autograd.grad(score(rows).sum(), rows)[0]


@contextmanager
def _guided(module: nn.Module) -> Iterator[None]:
    """Let all rectified linear units of a module hold back negative signals for a while."""

    def hold_back(layer: nn.Module, below: Any, above: Any) -> Any:
        return tuple(signal.clamp_min(0) for signal in below)

    handles = [layer.register_full_backward_hook(hold_back) for layer in module.modules() if isinstance(layer, nn.ReLU)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
