"""Images are clustered, the largest cluster first, and the clearest ones are shown."""

import numpy as np
import pytest

from albums.digits import digits
from gramian.albums import cluster_album, read_images
from gramian.metrics import clustering_accuracy


def test_kinds_of_digits_are_found(album):
    found, _ = album
    assert clustering_accuracy(digits()[1], found.labels - 1) >= 0.95
    assert 0.9 <= found.kept <= 1


def test_clusters_tell_of_their_images(album):
    found, _ = album
    sizes = [cluster.size for cluster in found.clusters]
    assert sizes == sorted(sizes, reverse=True)
    for cluster in found.clusters:
        rows = np.flatnonzero(found.labels == cluster.number)
        own = found.probability[rows]
        assert (cluster.size, cluster.share) == (len(rows), len(rows) / 120)
        assert cluster.probability == pytest.approx(own.mean())
        assert not set(cluster.clear) & set(cluster.doubtful)
        assert {*cluster.clear, *cluster.doubtful} <= set(rows)
        np.testing.assert_array_equal(found.probability[cluster.clear], np.sort(own)[::-1][: len(cluster.clear)])
        np.testing.assert_array_equal(found.probability[cluster.doubtful], np.sort(own)[: len(cluster.doubtful)])
    shown = {row for cluster in found.clusters for row in (*cluster.clear, *cluster.doubtful)}
    assert set(found.pictures) == shown
    row = min(shown)
    np.testing.assert_array_equal(found.pictures[row], np.round(digits()[0][row] / 16 * 255))


def test_stages_are_told_and_the_seed_decides():
    told, images = [], read_images(digits(30)[0])
    first, _ = cluster_album(images, 2, max_iter=4, random_state=1, notify=lambda name, _: told.append(name))
    again, _ = cluster_album(images, 2, max_iter=4, random_state=1)
    assert told == ["learning", "placing", ""]
    np.testing.assert_array_equal(first.probability, again.probability)


def test_warnings_become_notes(album):
    """Images that are all the same cannot be told apart; the network's warning is part of the page."""
    found, _ = cluster_album(read_images(np.zeros((12, 8, 8))), 2, max_iter=4)
    assert len(found.notes) >= 1
    assert all(note.endswith(".") for note in found.notes)


@pytest.mark.parametrize(
    ("n", "k", "why"), [(5, 6, "the 5 images of .* cannot form 6 clusters"), (5, 1, "2 to 5"), (1, 2, "one image")]
)
def test_more_clusters_than_images_are_refused(n, k, why):
    with pytest.raises(ValueError, match=why):
        cluster_album(read_images(digits(n)[0]), k)
