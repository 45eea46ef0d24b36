"""The number of communities."""

import numpy as np
import pytest

from gramian.clustering.networks.adjacency import with_loops
from gramian.clustering.networks.selection import Selection, by_gap, by_partitions, tried
from gramian.clustering.networks.subgraph import solved
from gramian.clustering.networks.training import training_set
from gramian.datasets import make_planted_graph
from gramian.metrics import balanced_angular_fit


@pytest.fixture(scope="module")
def parts():
    graph, _ = make_planted_graph(600, 6, degree=20, inside=0.8, random_state=3)
    looped = with_loops(graph)
    training = training_set(graph, looped, 0.3, 2, None)
    return graph, looped, training, *solved(training, 12, 1e-6)


def test_every_number_up_to_forty_then_larger_steps():
    assert tried(5) == [2, 3, 4, 5]
    counts = tried(150)
    assert counts[:39] == list(range(2, 41))
    assert counts[-1] == 150
    assert len(counts) < 80


def test_gap_is_that_of_the_eigenvalues(parts):
    """(λ_{k−1} − λ_k) / (1 − λ_k)^½ with the eigenvalues of the model, largest at the planted number."""
    problem = parts[4]
    found = by_gap(problem, 12)
    values = np.append(problem.values, 0)
    expected = (values[:11] - values[1:12]) / np.sqrt(1 - values[1:12])
    np.testing.assert_allclose(found.gap, expected, rtol=1e-6)
    assert found.best("gap") == 6


@pytest.mark.parametrize("criterion", ["modularity", "baf"])
def test_partitions_find_the_planted_number(parts, criterion):
    """Modularity of refined partitions and angles both choose six; the table has what it promises."""
    graph, looped, training, model, problem = parts
    found, decoders = by_partitions(graph, looped, model, problem, training.nodes, 12, criterion, True)
    assert found.best(criterion) == 6
    assert set(decoders) == set(found.counts.tolist()) == set(range(2, 13))
    assert np.isnan(found.modularity).all() == (criterion == "baf")
    others = np.setdiff1d(np.arange(600), training.nodes)
    scores = model.scores(looped)[others][:, :5]
    labels = decoders[6].labels(scores)
    np.testing.assert_allclose(found.baf[4], balanced_angular_fit(scores, labels, balance=0.0), atol=0.01)


def test_ties_go_to_fewer_communities():
    found = Selection(np.array([2, 3, 4]), np.array([0.1, 0.5, 0.5]), np.full(3, np.nan), np.full(3, np.nan))
    assert found.best("gap") == 3
    assert list(found.table()) == ["n_clusters", "gap", "baf", "modularity"]
