"""From a folder of images to clusters of images, found by a network from their pixels.

The application behind ``gramian.cluster_images`` and ``gramian cluster-images``: it reads images
(:mod:`gramian.albums.reading`), clusters them with :class:`gramian.deep.DivergenceClustering` and says what was found
as plain data, which :mod:`gramian.report` writes. torch is imported when images are clustered.
"""

from gramian.albums.analyse import cluster_album
from gramian.albums.model import AlbumModel, load_album_model
from gramian.albums.reading import Images, read_images
from gramian.albums.result import SURE, Album, Cluster

__all__ = ["SURE", "Album", "AlbumModel", "Cluster", "Images", "cluster_album", "load_album_model", "read_images"]
