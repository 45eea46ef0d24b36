"""Partners of rows that belong to the same cluster: a moved copy of an image, or a near row.

A network that clusters a row and its partner alike has learned what may change without changing the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.neighbors import NearestNeighbors
from torch.nn.functional import affine_grid, grid_sample

from gramian.typing import Array

ANGLE = 15.0  # degrees
SCALE, SHIFT, SHEAR = 0.1, 0.1, 0.2  # relative to the image
N_NEIGHBORS = 5


@dataclass(frozen=True)
class Partners:
    """How to find the partners of some rows.

    Attributes
    ----------
    kind : str
        ``"none"``, ``"augment"``, ``"neighbors"`` or ``"given"``.
    image_shape : list of int or None
        Of the images that are moved.
    neighbors : ndarray of int (n, N_NEIGHBORS) or None
    function : callable or None
        From rows, as a tensor, and a NumPy generator to partners of the same shape.
    """

    kind: str = "none"
    image_shape: Sequence[int] | None = None
    neighbors: Array | None = None
    function: Callable[..., Any] | None = None

    def __bool__(self) -> bool:
        return self.kind != "none"

    def of(self, X: Any, batch: Any, rng: np.random.Generator) -> Any:
        """Partners of the rows X[batch], for a tensor X on the scale of the network."""
        rows = X[batch]
        if self.kind == "augment":
            assert self.image_shape is not None
            return move_images(rows, self.image_shape, rng)
        if self.kind == "neighbors":
            assert self.neighbors is not None
            mine = self.neighbors[batch.cpu().numpy()]
            drawn = mine[np.arange(len(mine)), rng.integers(mine.shape[1], size=len(mine))]
            return X[torch.from_numpy(drawn).to(X.device)]
        assert self.function is not None
        found = torch.as_tensor(
            np.asarray(self.function(rows.cpu().numpy(), rng)), dtype=rows.dtype, device=rows.device
        )
        if found.shape != rows.shape:
            raise ValueError(
                f"consistency: the function made partners of shape {tuple(found.shape)} of rows of shape "
                f"{tuple(rows.shape)}; return rows of the same shape"
            )
        return found


def move_images(rows: Any, image_shape: Sequence[int], rng: np.random.Generator) -> Any:
    """Images rotated, scaled, shifted and sheared at random, each by its own draw; never flipped.

    Parameters
    ----------
    rows : tensor (n, channels · height · width)
    image_shape : (channels, height, width)
    rng : numpy.random.Generator

    Returns
    -------
    moved : tensor of the same shape
        By bilinear interpolation; what comes in from outside is zero.
    """
    n = len(rows)
    angle = np.deg2rad(rng.uniform(-ANGLE, ANGLE, n))
    scale = rng.uniform(1 - SCALE, 1 + SCALE, n)
    shear = rng.uniform(-SHEAR, SHEAR, n)
    # The image spans two units, from −1 to 1.
    shift = 2 * rng.uniform(-SHIFT, SHIFT, (n, 2))
    maps = np.empty((n, 2, 3))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1).reshape(n, 2, 2)
    maps[:, :, :2] = turn * scale[:, None, None]
    maps[:, :, 1] += maps[:, :, 0] * shear[:, None]
    maps[:, :, 2] = shift
    images = rows.reshape(n, *image_shape)
    grid = affine_grid(
        torch.as_tensor(maps, dtype=rows.dtype, device=rows.device), list(images.shape), align_corners=False
    )
    return grid_sample(images, grid, align_corners=False).reshape(n, -1)


def nearest_rows(X: Array) -> Array:
    """The numbers of the few nearest other rows of each row, (n, min(N_NEIGHBORS, n − 1))."""
    count = min(N_NEIGHBORS, len(X) - 1)
    found: Array = NearestNeighbors(n_neighbors=count).fit(X).kneighbors(return_distance=False)
    return found
