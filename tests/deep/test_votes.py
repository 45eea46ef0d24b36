"""Matched clusters, votes and consensus of runs."""

import numpy as np
import pytest

from gramian.deep import align_labels, vote_labels
from gramian.deep.votes import consensus_tables
from gramian.metrics import clustering_accuracy


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_alignment_agrees_as_much_as_accuracy_counts(rng):
    """Aligned labels agree with the reference as far as the clustering accuracy says, and are a renaming."""
    reference, labels = rng.integers(4, size=50), rng.integers(4, size=50)
    aligned, mapping = align_labels(reference, labels, return_mapping=True)
    assert np.mean(aligned == reference) == pytest.approx(clustering_accuracy(reference, labels))
    np.testing.assert_array_equal(np.sort(mapping), np.arange(4))
    np.testing.assert_array_equal(mapping[labels], aligned)


def test_alignment_undoes_a_permutation(rng):
    """Permuted labels come back as they were, also where a cluster is empty."""
    labels = rng.choice([0, 1, 3], size=30)
    permuted = np.array([2, 0, 3, 1])[labels]
    np.testing.assert_array_equal(align_labels(labels, permuted, n_clusters=4), labels)


def test_vote_of_three():
    """The majority wins; three different votes leave the label of the first run."""
    runs = np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2, 0, 0, 1], [0, 0, 1, 1, 1, 1, 2, 2, 1]])
    # In the numbering of the first run the last column is 2, 0, 1: a tie.
    np.testing.assert_array_equal(vote_labels(runs), runs[0])


def test_consensus_of_equal_runs(rng):
    """Runs that agree but for the numbers of their clusters have that partition for their consensus."""
    labels = np.repeat([0, 1, 2], 20)
    partitions = np.array([labels, (labels + 1) % 3, 2 - labels])
    tables = consensus_tables(partitions, 4, 3, rng)
    assert tables.shape == (3, 4, 3)
    found = np.argmax(sum(tables[run][partitions[run]] for run in range(3)), axis=1)
    assert clustering_accuracy(labels, found) == 1.0


@pytest.mark.parametrize("bad", [[], [0.5, 1.0], [-1, 0], [[0, 1]]])
def test_bad_labels(bad):
    """Labels must be whole numbers from 0, one per row."""
    with pytest.raises(ValueError, match="whole numbers >= 0"):
        align_labels([0, 1], bad)


def test_bad_arguments():
    """Unequal lengths, too few clusters and no runs are refused."""
    with pytest.raises(ValueError, match="same rows"):
        align_labels([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="n_clusters=1"):
        align_labels([0, 1], [0, 1], n_clusters=1)
    with pytest.raises(ValueError, match="runs is empty"):
        vote_labels([])
