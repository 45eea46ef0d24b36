"""What is kept of clustered images to place images that come later."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.albums.reading import Images
from gramian.persistence import load_whole
from gramian.typing import Array


class AlbumModel(BaseEstimator):
    """A fitted clustering of images, with the size and the grey values that it expects.

    Made by :func:`gramian.albums.cluster_album` and saved as ``model.gramian``.

    Parameters
    ----------
    clustering : DivergenceClustering
        Fitted.
    shape : (channels, height, width)
        Of the images.
    levels : (black, white)
        Values of black and white in the arrays that it was fitted to.

    Attributes
    ----------
    order_ : ndarray of int (n_clusters,)
        The network's own number of each cluster, the largest first.
    """

    def __init__(
        self, clustering: Any = None, shape: Sequence[int] | None = None, levels: Sequence[float] | None = None
    ) -> None:
        self.clustering = clustering
        self.shape = shape
        self.levels = levels

    def place(self, images: Images) -> tuple[Array, Array]:
        """The cluster of each image, from 1, and its probability.

        Parameters
        ----------
        images : Images
            Read with the shape and levels of this model.

        Returns
        -------
        labels, probability : ndarray (n,)
        """
        shares = self.clustering.predict_proba(images.rows)[:, self.order_]
        labels = np.argmax(shares, axis=1)
        return labels + 1, shares[np.arange(len(labels)), labels]

    def facts(self) -> dict[str, Any]:
        """What ``gramian info`` says of it."""
        channels, height, width = self.shape or ()
        size = f"{width} x {height}" + (f", {channels} channels" if channels > 1 else "")
        return {"clusters": len(self.order_), "image size": size}

    def check(self) -> None:
        """Raise an error if a part is missing or does not fit the others: place a black image."""
        from gramian.deep import DivergenceClustering

        if not isinstance(self.clustering, DivergenceClustering):
            raise TypeError("the clustering is of another kind")
        if self.shape is None or self.levels is None:
            raise TypeError("the shape or the levels of its images are missing")
        if sorted(self.order_) != list(range(self.clustering.n_clusters_)):
            raise ValueError("the order of its clusters does not fit their number")
        channels, height, width = self.shape
        self.place(Images("black", ["1"], np.zeros((1, channels, height, width), np.float32), (0.0, 1.0), []))


def load_album_model(path: str | os.PathLike[str]) -> AlbumModel:
    """Read the model of clustered images, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
        A ``model.gramian``.

    Returns
    -------
    model : AlbumModel

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    return load_whole(path, AlbumModel, writer="cluster-images", again="cluster the images again")
