"""One candidate of the automatic choice, and how it was judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """A way to say how alike rows are, and how it was judged.

    Attributes
    ----------
    name : str
        For files, such as ``"cluster_kernel"``.
    title : str
        For people.
    n_clusters : int
        The number it was tried with.
    stability : float
        Agreement (adjusted Rand index) of clusterings of resampled rows, from 0 to 1.
    separation : float
        The internal criterion, from 0 to 1.
    score : float
        What views are compared by.
    chosen : bool
    """

    name: str
    title: str
    n_clusters: int
    stability: float
    separation: float
    score: float
    chosen: bool = False
