"""Rows and summary of clustered images are those of the album."""

import numpy as np

from albums.conftest import album
from albums.digits import digits
from gramian.albums import read_images
from gramian.report import album_rows, album_summary, placed_images

__all__ = ["album"]


def test_rows_are_images_with_clusters_from_one(album):
    found, model = album
    rows = album_rows(found)
    assert list(rows) == ["image", "cluster", "probability"]
    assert rows["image"].tolist() == found.names
    assert set(rows["cluster"]) == {1, 2, 3}
    np.testing.assert_allclose(rows["probability"], found.probability, atol=5e-5)
    placed = placed_images(model, read_images(digits()[0], shape=model.shape, levels=model.levels))
    assert placed["cluster"].tolist() == rows["cluster"].tolist()


def test_the_summary_tells_clusters(album):
    found, _ = album
    told = album_summary(found)
    assert (told["images"], told["image_shape"]) == (120, [1, 8, 8])
    assert [cluster["size"] for cluster in told["clusters"]] == [cluster.size for cluster in found.clusters]
    assert told["clusters"][0]["clearest"][0] == found.names[found.clusters[0].clear[0]]
