"""MultilevelKSC: levels are nested, and some level is right."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.sparse import block_diag, csr_array

from clustering.networks.small_graphs import cliques, karate
from gramian import MultilevelKSC
from gramian.clustering.networks.adjacency import with_loops
from gramian.datasets import make_block_graph
from gramian.kernels import RBF
from gramian.metrics import adjusted_rand, modularity


@pytest.fixture(scope="module")
def nested():
    return make_block_graph([60] * 16, 0.4, 0.005, nested=(4, 0.08), random_state=0)


@pytest.fixture(scope="module")
def rows():
    """Two pairs of round clusters."""
    y = np.repeat(np.arange(4), 40)
    centers = np.array([(0, 0), (0, 3), (15, 0), (15, 3)])
    return centers[y] + 0.3 * np.random.default_rng(0).normal(size=(160, 2)), y


def is_nested(levels):
    """Every community of a level is within one of the next."""
    return all(len(set(zip(fine, coarse, strict=True))) == len(set(fine)) for fine, coarse in pairwise(levels))


@pytest.mark.parametrize("refine", [True, False])
def test_nested_blocks(nested, refine):
    """A fine level is near the 16 blocks, some level is the 4 super blocks, and levels are nested."""
    adjacency, y = nested
    model = MultilevelKSC(refine=refine).fit(adjacency)
    assert adjusted_rand(y, model.levels_[0]) > 0.94
    assert max(adjusted_rand(y // 4, level) for level in model.levels_) == 1
    assert is_nested(model.levels_)
    assert model.n_clusters_per_level_ == [len(set(level)) for level in model.levels_]
    assert is_valid_linkage(model.linkage_)
    assert len(model.linkage_) == model.n_clusters_per_level_[0] - 1
    np.testing.assert_allclose(model.modularity_, [modularity(adjacency, level) for level in model.levels_])
    np.testing.assert_array_equal(model.labels_, model.levels_[np.argmax(model.modularity_)])
    assert adjusted_rand(y // 4, model.labels_) == 1


def test_new_nodes_on_every_level(nested):
    """Rows of the adjacency with self loops are placed as they were before refinement; levels follow each other."""
    adjacency, _ = nested
    model = MultilevelKSC(refine=False).fit(adjacency)
    looped = with_loops(adjacency)
    for level in range(len(model.levels_)):
        np.testing.assert_array_equal(model.predict(looped, level=level), model.labels_at(level))
    np.testing.assert_array_equal(model.predict(looped), model.labels_)
    np.testing.assert_array_equal(model.labels_at(-1), model.levels_[-1])


def test_small_components(nested):
    """They are communities of their own on all levels; a node without edges has none."""
    adjacency, _ = nested
    model = MultilevelKSC().fit(csr_array(block_diag([adjacency, cliques(1, 3), csr_array((1, 1))])))
    for level, count in zip(model.levels_, model.n_clusters_per_level_, strict=True):
        np.testing.assert_array_equal(level[-4:], [count, count, count, -1])
    row = np.zeros((1, 964))
    row[0, 961] = 1
    assert model.predict(row, level=-1) == [model.n_clusters_per_level_[-1]]


def test_fewer_validation_nodes(nested):
    """Levels of a part of the nodes serve for all."""
    adjacency, y = nested
    model = MultilevelKSC(n_validation=300).fit(adjacency)
    assert max(adjusted_rand(y // 4, level) for level in model.levels_) > 0.98
    assert is_nested(model.levels_)


def test_rows(rows):
    """With a kernel the levels are those of rows: four clusters and two pairs of them."""
    X, y = rows
    model = MultilevelKSC(kernel=RBF(1.0)).fit(X)
    assert max(adjusted_rand(y, level) for level in model.levels_) == 1
    assert max(adjusted_rand(y // 2, level) for level in model.levels_) == 1
    assert is_nested(model.levels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X + 1e-6, level=0), model.levels_[0])


def test_repeats(nested):
    first, second = (MultilevelKSC().fit(nested[0]) for _ in range(2))
    np.testing.assert_array_equal(first.levels_, second.levels_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_clusters": 1}, "max_clusters"),
        ({"threshold": 0}, "threshold"),
        ({"max_levels": 0}, "max_levels"),
        ({"n_validation": 1}, "n_validation"),
        ({"max_train": 1}, "max_train"),
        ({"refine": 2}, "refine"),
        ({"kernel": "networks"}, "kernel"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        MultilevelKSC(**options).fit(karate())


def test_levels_that_are_not_there(nested):
    model = MultilevelKSC().fit(karate())
    with pytest.raises(ValueError, match="level"):
        model.labels_at(99)
    with pytest.raises(ValueError, match="level"):
        model.predict(karate(), level=99)


def test_everyone_joined_to_everyone_has_no_levels():
    with pytest.raises(
        ValueError, match="all nodes are joined to each other with the same weight, so there are no levels"
    ):
        MultilevelKSC().fit(np.ones((12, 12)))


def test_a_new_node_without_edges_is_told_in_words_of_networks():
    adjacency, _ = make_block_graph([40] * 4, 0.4, 0.02, random_state=0)
    model = MultilevelKSC().fit(adjacency)
    with pytest.warns(UserWarning, match="1 node has no edge to a fitted node"):
        assert model.predict(np.zeros((1, 160))).tolist() == [-1]
