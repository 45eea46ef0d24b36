"""Rows with holes as a network takes them, and noise on them.

Of complete rows the network sees the values. Of rows with holes it sees the values, with the columns' means in the
holes, and beside them a 1 for every observed cell and a 0 for every hole; the error of a reconstruction counts the
observed cells alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from gramian.typing import Array


@dataclass(frozen=True)
class Cells:
    """The rows to train on, as tensors on one device.

    Attributes
    ----------
    values : tensor (n, d)
        Scaled; NaN in the holes.
    fill : tensor (d,)
        What stands in the holes.
    masked : bool
        Whether the network is told which cells are holes.
    """

    values: Any
    fill: Any
    masked: bool

    def take(self, batch: Any) -> Any:
        """The values of some rows."""
        return self.values[batch.to(self.values.device)]

    def shown(self, x: Any, rate: float = 0.0, generator: torch.Generator | None = None) -> Any:
        """What the network sees of values: some of them hidden, with probability ``rate``.

        Of complete rows a hidden value is 0 (masking noise); of rows with holes it looks as a hole does.
        """
        kept = None
        if rate:
            kept = torch.empty(x.shape, dtype=x.dtype).bernoulli_(1 - rate, generator=generator).to(x.device)
        if not self.masked:
            return x if kept is None else x * kept
        observed = (~torch.isnan(x)).to(x.dtype)
        observed = observed if kept is None else observed * kept
        return with_mask(x, observed, self.fill)

    def error(self, found: Any, x: Any) -> Any:
        """Mean squared error over the observed cells."""
        if not self.masked:
            return ((found - x) ** 2).mean()
        observed = ~torch.isnan(x)
        squares = torch.where(observed, (found - torch.where(observed, x, found.detach())) ** 2, 0.0)
        return squares.sum() / observed.sum().clamp_min(1)


def with_mask(x: Any, observed: Any, fill: Any) -> Any:
    """Values with ``fill`` where they are not observed, and the mask beside them: (n, 2 d)."""
    return torch.cat([torch.where(observed > 0, x, fill), observed], dim=1)


def column_means(X: Array) -> Array:
    """Means of the observed cells of each column; 0 where there are none."""
    observed = ~np.isnan(X)
    total: Array = np.where(observed, X, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return total
