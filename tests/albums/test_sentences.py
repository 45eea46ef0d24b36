"""Sentences tell the sizes, how sure the network is, and what it changed."""

from dataclasses import replace

import numpy as np

from gramian.albums.sentences import overview


def test_sizes_and_shares_are_those_of_the_album(album):
    found, _ = album
    told = " ".join(overview(found))
    assert "120 images of the array fall into 3 clusters." in told
    assert f"The largest holds {found.clusters[0].size} images" in told
    assert "stayed in the cluster that spectral clustering" in told


def test_one_image_is_no_images(album):
    found, _ = album
    pair = [replace(cluster, size=1) for cluster in found.clusters[:2]]
    assert "The largest holds 1 image (" in " ".join(overview(replace(found, clusters=pair)))


def test_empty_clusters_and_doubt_are_said(album):
    found, _ = album
    empty = replace(found.clusters[-1], size=0, clear=[], doubtful=[])
    doubtful = replace(found, clusters=[*found.clusters[:2], empty], probability=np.full(120, 0.4), kept=float("nan"))
    told = " ".join(overview(doubtful))
    assert "1 cluster of the 3 asked for is empty" in told
    assert "That is little" in told
    assert "spectral" not in told
