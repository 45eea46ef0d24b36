"""Cluster images with a network, and pick those that show what each cluster is."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable

import numpy as np

import gramian
from gramian.albums.model import AlbumModel
from gramian.albums.reading import Images
from gramian.albums.result import Album, Cluster
from gramian.albums.sentences import overview
from gramian.exploration.stages import Stages
from gramian.typing import Array

_CLEAR, _DOUBTFUL = 30, 15  # images of a cluster that are shown
_BATCH = 100
_WORK = {"learning": 20.0, "placing": 1.0}


def cluster_album(
    images: Images,
    n_clusters: int,
    *,
    max_iter: int = 1000,
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> tuple[Album, AlbumModel]:
    """Cluster images from their pixels.

    Parameters
    ----------
    images : Images
    n_clusters : int
    max_iter : int
        Steps of the network's optimiser.
    random_state : int
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    album : Album
    model : AlbumModel
    """
    from gramian.deep import DivergenceClustering, align_labels

    n = len(images.names)
    if not 2 <= n_clusters <= n:
        raise ValueError(
            f"the {n:,} images of {images.source} cannot form {n_clusters} clusters; ask for 2 to {n:,} clusters, or "
            "give more images"
            if n >= 2
            else f"{images.source} has one image; give two or more"
        )
    stages, notes = Stages(_WORK, notify), list(images.notes)
    clustering = DivergenceClustering(
        n_clusters,
        image_shape=images.shape,
        max_iter=max_iter,
        batch_size=max(_BATCH, 2 * n_clusters),
        random_state=random_state,
    )
    with stages("learning"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        clustering.fit(images.rows)
    notes.extend(dict.fromkeys(_sentence(str(one.message)) for one in told if issubclass(one.category, UserWarning)))
    with stages("placing"):
        model = AlbumModel(clustering, images.shape, images.levels)
        sizes = np.bincount(clustering.labels_, minlength=n_clusters)
        model.order_ = np.argsort(-sizes, kind="stable")
        labels, probability = model.place(images)
        start = clustering.init_labels_
        known = start >= 0
        kept = float("nan")
        if known.any():
            kept = float(np.mean(align_labels(labels[known] - 1, start[known]) == labels[known] - 1))
        clusters = [_cluster(number, labels, probability) for number in range(1, n_clusters + 1)]
        shown = [row for cluster in clusters for row in (*cluster.clear, *cluster.doubtful)]
        pictures = {row: images.picture(row) for row in shown}
    album = Album(images.source, images.names, images.shape, labels, probability, clusters, pictures, kept, notes)
    album.made.update(
        {
            "parameters": {
                "clusters": n_clusters,
                "steps": max_iter,
                "steps taken": int(clustering.n_iter_),
                "image size": f"{images.shape[2]}×{images.shape[1]}, {'grey' if images.shape[0] == 1 else 'colour'}",
                "seed": random_state,
            },
            "versions": {"gramian": gramian.__version__}
            | {name: importlib.metadata.version(name) for name in ("numpy", "scikit-learn", "torch")},
            "seconds": {name: round(seconds, 1) for name, seconds in stages.seconds.items()},
        }
    )
    album.sentences.extend(overview(album))
    return album, model


def _cluster(number: int, labels: Array, probability: Array) -> Cluster:
    rows = np.flatnonzero(labels == number)
    order = rows[np.argsort(-probability[rows], kind="stable")]
    doubtful = order[_CLEAR:][::-1][:_DOUBTFUL]
    return Cluster(
        number,
        len(rows),
        len(rows) / len(labels),
        float(probability[rows].mean()) if len(rows) else float("nan"),
        order[:_CLEAR].tolist(),
        doubtful.tolist(),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
