"""What was found about images: plain data, from which the page and the files are made.

Clusters are counted from 1, the largest first; images are counted from 0 in the order in which they were read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gramian.typing import Array

SURE = 0.9
"""The probability from which an image counts as clearly placed."""


@dataclass(frozen=True)
class Cluster:
    """One cluster of images.

    Attributes
    ----------
    number : int
        From 1.
    size : int
    share : float
        Of all images.
    probability : float
        Mean over its images; NaN for an empty cluster.
    clear, doubtful : list of int
        The images of the highest probability, highest first, and those of the lowest, lowest first; none is in both.
    """

    number: int
    size: int
    share: float
    probability: float
    clear: list[int]
    doubtful: list[int]


@dataclass(frozen=True)
class Album:
    """Images and their clusters.

    Attributes
    ----------
    source : str
        Name of the folder or file.
    names : list of str (n,)
        Names of the image files, or the numbers of the images, from 1.
    shape : (channels, height, width)
        Of the images that the network saw.
    labels : ndarray of int (n,)
        Clusters, from 1.
    probability : ndarray (n,)
        Of the image's own cluster, as the network gives it.
    clusters : list of Cluster
    pictures : dict of int to ndarray of uint8
        The images that clusters name, (height, width) in grey or (height, width, 3) in colour.
    kept : float
        Share of the images that the network left in the cluster of its start, spectral clustering of the pixels; NaN
        without one.
    notes : list of str
        What was done to the images, and what the network warns of.
    sentences : list of str
    made : dict
        Parameters, versions, seconds.
    """

    source: str
    names: list[str]
    shape: tuple[int, int, int]
    labels: Array
    probability: Array
    clusters: list[Cluster]
    pictures: dict[int, Array]
    kept: float
    notes: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
