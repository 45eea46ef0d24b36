"""What an exploration holds is plain data."""

from dataclasses import FrozenInstanceError, asdict

import pytest

from gramian.exploration.result import View


def test_a_view_is_written_as_it_is(explored):
    found, _, _ = explored
    names = ["name", "title", "n_clusters", "agreement", "cut", "score", "chosen"]
    assert list(asdict(found.views[0])) == names
    assert found.views[0].chosen
    with pytest.raises(FrozenInstanceError):
        found.views[0].score = 1.0
    assert View("a", "A", 2, 0.5, 0.5, 0.5).chosen is False


def test_the_number_of_clusters_is_that_of_the_groups_described(explored):
    found, _, _ = explored
    assert found.n_clusters == len(found.clusters) == found.labels.max() + 1
    assert sum(cluster.size for cluster in found.clusters) == (found.labels >= 0).sum()
