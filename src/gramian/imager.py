"""``gramian.cluster_images``: one call from images to clusters of images, a report and a model for images to come.

Beside :mod:`gramian.explorer` and :mod:`gramian.forecaster`: it reads and clusters (:mod:`gramian.albums`) and writes
(:mod:`gramian.report`). Clustering needs the extra ``deep``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramian.albums import Album, AlbumModel, Images, cluster_album, read_images
from gramian.outcome import Outcome
from gramian.report import album_rows, album_summary, placed_images, write_album_folder, write_album_report

__all__ = ["ClusteredImages", "cluster_images"]


@dataclass(frozen=True, repr=False)
class ClusteredImages(Outcome):
    """What :func:`cluster_images` found about images.

    Attributes
    ----------
    found : Album
        Everything, as plain data.
    model : AlbumModel
        For images to come; ``gramian.save(model, path)`` keeps it, and ``gramian assign`` reads it.
    """

    found: Album
    model: AlbumModel

    @property
    def rows(self) -> Any:
        """One row per image: its name, cluster and probability; a pandas DataFrame."""
        return album_rows(self.found)

    def assign(self, source: Any) -> Any:
        """The clusters of other images, brought to the same size; a pandas DataFrame.

        Parameters
        ----------
        source : what :func:`cluster_images` reads
        """
        return placed_images(self.model, read_images(source, shape=self.model.shape, levels=self.model.levels))

    def summary(self) -> dict[str, Any]:
        """The findings without the single images, ready for JSON."""
        return album_summary(self.found)

    def _write_report(self, path: Path) -> Path:
        return write_album_report(self.found, path)

    def _write_folder(self, folder: Path, *, force: bool) -> None:
        write_album_folder(self.found, self.model, folder, force=force)


def cluster_images(
    source: Any,
    n_clusters: int = 10,
    *,
    size: int | None = None,
    max_iter: int = 1000,
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> ClusteredImages:
    """Cluster images from their pixels with a network, and show what each cluster contains.

    It is for many small images of which each shows one thing, such as signs, letters or pieces of clothing, and for
    clusters of roughly equal size. Photographs that are told apart by what they mean, not by how they look, are beyond
    it.

    Parameters
    ----------
    source : path, array or Images
        A folder or a .zip of PNG and JPEG files, an .npz file with an array of images, or such an array:
        (n, height, width), (n, height, width, channels) or (n, pixels) of squares.
    n_clusters : int, default 10
    size : int, optional
        Width and height that the images get. By default their own, if they all have the same and no side is longer
        than 32, else 28.
    max_iter : int, default 1000
        Steps of the network's optimiser.
    random_state : int, default 0
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    clustered : ClusteredImages

    See Also
    --------
    gramian.deep.DivergenceClustering : The method, with all its parameters.

    Examples
    --------
    >>> import gramian
    >>> from sklearn.datasets import load_digits
    >>> found = gramian.cluster_images(load_digits(n_class=3).images[:150], 3, max_iter=40)
    >>> list(found.rows), len(found.found.clusters)
    (['image', 'cluster', 'probability'], 3)
    """
    images = source if isinstance(source, Images) else read_images(source, size=size)
    return ClusteredImages(
        *cluster_album(images, n_clusters, max_iter=max_iter, random_state=random_state, notify=notify)
    )
