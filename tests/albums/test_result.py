"""What is said of images is plain data that fits together."""

import numpy as np


def test_every_image_is_in_one_cluster(album):
    found, _ = album
    n = len(found.names)
    assert found.labels.shape == found.probability.shape == (n,)
    assert sum(cluster.size for cluster in found.clusters) == n
    assert [cluster.number for cluster in found.clusters] == [1, 2, 3]
    assert np.all((found.probability >= 1 / 3) & (found.probability <= 1))
    assert found.shape == (1, 8, 8)
    assert set(found.made) == {"parameters", "versions", "seconds"}
