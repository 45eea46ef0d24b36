"""NetworkKSC: what it promises on planted, published and awkward networks."""

import itertools
import os
import warnings
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from clustering.networks.small_graphs import cliques, karate
from gramian import MultilevelKSC, NetworkKSC
from gramian.clustering.networks.adjacency import with_loops
from gramian.datasets import make_planted_graph, read_edgelist
from gramian.metrics import adjusted_rand, conductance, modularity

DATA = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
NETWORKS = DATA / "networks"
LEIDEN = {"football": 0.605, "polbooks": 0.527, "polblogs": 0.427}
"""Modularity of igraph's Leiden, run to convergence."""


@pytest.fixture(scope="module")
def planted():
    return make_planted_graph(1500, 5, degree=16, inside=0.8, random_state=5)


@pytest.fixture(scope="module")
def fitted(planted):
    return NetworkKSC().fit(planted[0])


def test_the_published_benchmark_graph():
    """On the LFR graph of the specification the 11 communities are found, the modularity is that of the truth."""
    graph = nx.LFR_benchmark_graph(
        2000, 3, 1.5, 0.1, average_degree=15, max_degree=50, min_community=100, max_community=400, seed=1
    )
    graph.remove_edges_from(nx.selfloop_edges(graph))
    truth = {frozenset(graph.nodes[node]["community"]) for node in graph}
    y = np.empty(2000, int)
    for number, nodes in enumerate(truth):
        y[list(nodes)] = number
    model = NetworkKSC().fit(graph)
    assert model.n_clusters_ == 11
    assert adjusted_rand(y, model.labels_) >= 0.98
    np.testing.assert_allclose(model.modularity_, 0.748, atol=0.002)
    # Published figures of the plain model with k given: adjusted Rand index 1.00.
    assert adjusted_rand(y, NetworkKSC(11, refine=False).fit(graph).labels_) >= 0.97


def test_planted_communities(planted, fitted):
    """The planted number is found by every criterion, and the attributes fit each other."""
    adjacency, y = planted
    assert adjusted_rand(y, fitted.labels_) > 0.99
    np.testing.assert_allclose(fitted.modularity_, modularity(adjacency, fitted.labels_))
    np.testing.assert_allclose(fitted.conductance_, conductance(adjacency, fitted.labels_))
    assert fitted.train_size_ == len(fitted.train_indices_) == len(fitted.dual_coef_)
    assert fitted.prototypes_.shape == (5, 4)
    assert fitted.selection_["n_clusters"][np.argmax(fitted.selection_["modularity"])] == 5
    for criterion in ("gap", "baf"):
        assert NetworkKSC(criterion=criterion).fit(adjacency).n_clusters_ == 5


def test_communities_are_numbered_by_their_first_nodes(planted, fitted):
    firsts = [int(np.argmax(fitted.labels_ == c)) for c in range(5)]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("self_loops", [True, False])
def test_predict_of_the_rows_of_the_adjacency(planted, self_loops):
    """Rows of the adjacency with the self loops that were trained with have the labels before refinement."""
    adjacency, _ = planted
    model = NetworkKSC(5, self_loops=self_loops).fit(adjacency)
    rows = with_loops(adjacency) if self_loops else adjacency
    np.testing.assert_array_equal(model.predict(rows), model.model_labels_)
    np.testing.assert_array_equal(model.predict(rows.toarray()[:50]), model.model_labels_[:50])


def test_numbers_of_predict_mean_the_communities_of_labels(fitted):
    """A node joined to many nodes of a community is placed there."""
    for c in range(5):
        row = np.zeros((1, 1500))
        row[0, np.flatnonzero(fitted.labels_ == c)[:8]] = 1
        assert fitted.predict(row) == [c]


def test_memberships(planted, fitted):
    """Memberships sum to one, are largest for the predicted community, and all alike where nothing is known."""
    rows = with_loops(planted[0])
    found = fitted.predict_proba(rows)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), fitted.predict(rows))
    assert fitted.decision_function(rows).shape == (1500, 4)
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((1, 1500))), 0.2)


def test_hidden_nodes_are_placed_as_in_the_full_fit(planted, fitted):
    """A tenth of the nodes left out of the fit and placed by their edges are where the full fit has them."""
    adjacency, _ = planted
    hidden = np.random.default_rng(0).random(1500) < 0.1
    model = NetworkKSC(5).fit(adjacency[~hidden][:, ~hidden])
    placed = model.predict(adjacency[hidden][:, ~hidden])
    both = np.concatenate([model.labels_, placed])
    full = np.concatenate([fitted.labels_[~hidden], fitted.labels_[hidden]])
    table = np.zeros((5, 5))
    np.add.at(table, (both, full), 1)
    assert (np.argmax(table, axis=1)[placed] == fitted.labels_[hidden]).mean() > 0.9


def test_repeats_and_permutations(planted, fitted):
    """A second fit is identical; a fit of permuted nodes finds the same communities."""
    adjacency, _ = planted
    again = NetworkKSC(random_state=1).fit(adjacency)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.dual_coef_, fitted.dual_coef_)
    order = np.random.default_rng(1).permutation(1500)
    other = NetworkKSC().fit(adjacency[order][:, order])
    assert adjusted_rand(fitted.labels_[order], other.labels_) >= 0.98


def test_disconnected_cliques():
    """k cliques: modularity 1 − 1/k and conductance 0, with k given and not."""
    for model in (NetworkKSC(), NetworkKSC(6)):
        model.fit(cliques(6, 12))
        assert model.n_clusters_ == 6
        np.testing.assert_allclose(model.modularity_, 1 - 1 / 6)
        np.testing.assert_allclose(model.conductance_, 0, atol=1e-12)


def test_small_components_and_isolated_nodes(planted):
    """They change nothing for the others, come after the communities of the model, and are placed again."""
    adjacency, _ = planted
    more = csr_array(block_diag([cliques(1, 2), adjacency, cliques(1, 4), csr_array((1, 1))]))
    model, alone = NetworkKSC(5).fit(more), NetworkKSC(5).fit(adjacency)
    np.testing.assert_array_equal(model.labels_[2:-5], alone.labels_)
    np.testing.assert_array_equal(model.labels_[:2], 5)
    np.testing.assert_array_equal(model.labels_[-5:], [6, 6, 6, 6, -1])
    assert model.n_clusters_ == 5
    assert len(model.conductance_) == 7
    with pytest.warns(UserWarning, match="1 node has no edge to a fitted node"):
        np.testing.assert_array_equal(model.predict(with_loops(more)), model.model_labels_)


@pytest.mark.parametrize("kind", [NetworkKSC, MultilevelKSC])
def test_a_component_without_training_nodes_stays_apart(planted, kind):
    """A ring of low degree that no training node is in is a community of its own, and is placed again."""
    adjacency, _ = planted
    ring = csr_array(np.roll(np.eye(30), 1, axis=1) + np.roll(np.eye(30), -1, axis=1))
    both = csr_array(block_diag([ring, adjacency]))
    model = kind(5, max_train=100).fit(both)
    assert len(set(model.labels_[:30])) == 1
    assert model.labels_[0] == model.labels_.max() == model.n_clusters_
    np.testing.assert_array_equal(model.predict(with_loops(both)[:30]), model.labels_[:30])


def test_graphs_of_other_libraries_give_the_same(planted):
    """networkx, igraph, dense and COO: one answer."""
    expected = NetworkKSC(4).fit(karate()).labels_
    graph = nx.karate_club_graph()
    nx.set_edge_attributes(graph, 1, "weight")
    for given in (graph, igraph.Graph.Famous("Zachary"), karate().toarray(), karate().tocoo()):
        np.testing.assert_array_equal(NetworkKSC(4).fit(given).labels_, expected)


def test_directed_and_weighted_networks(planted):
    """Half of the edges given in one direction only: still the communities; units do not matter."""
    adjacency, y = planted
    one_way = csr_array(np.triu(adjacency.toarray()) * 250.0)
    model = NetworkKSC(5).fit(one_way)
    assert model.directed_
    assert adjusted_rand(y, model.labels_) > 0.99
    np.testing.assert_array_equal(NetworkKSC(5).fit(adjacency * 1e-30).labels_, NetworkKSC(5).fit(adjacency).labels_)


def test_single_precision(planted):
    model = NetworkKSC(5).fit(planted[0].astype(np.float32))
    assert model.decision_function(planted[0][:3].astype(np.float32)).dtype == np.float32


def test_one_community():
    """k = 1 is the whole network."""
    model = NetworkKSC(1).fit(karate())
    assert not model.labels_.any()
    np.testing.assert_array_equal(model.predict(karate()), 0)
    np.testing.assert_array_equal(model.predict_proba(karate()), 1)


def test_a_model_that_fell_apart_warns():
    """With too few training nodes the kernel is in pieces, and that is said."""
    adjacency, _ = make_planted_graph(20_000, 10, degree=6, random_state=0)
    with pytest.warns(UserWarning, match="is in pieces; raise max_train"):
        NetworkKSC(10, max_train=200).fit(adjacency)


def test_karate_without_refinement_and_with_it():
    """Two factions; moves raise modularity."""
    plain, moved = NetworkKSC(2, refine=False).fit(karate()), NetworkKSC(2).fit(karate())
    np.testing.assert_array_equal(plain.labels_, plain.model_labels_)
    assert moved.modularity_ > plain.modularity_
    clubs = [club == "Mr. Hi" for club in nx.get_node_attributes(nx.karate_club_graph(), "club").values()]
    assert adjusted_rand(clubs, plain.labels_) > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 35}, "n_clusters=35 is more than the 34 nodes"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 5, "max_train": 3}, "max_train"),
        ({"train_fraction": 1.5}, "train_fraction"),
        ({"criterion": "bic"}, "criterion"),
        ({"refine": "yes"}, "refine"),
        ({"min_size": 0}, "min_size"),
        ({"max_clusters": 1}, "max_clusters"),
        ({"random_state": -1}, "random_state"),
    ],
    ids=str,
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        NetworkKSC(**options).fit(karate())


def test_more_communities_than_directions_warn():
    """Of two cliques no ten communities can be told apart by the model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = NetworkKSC(10, refine=False).fit(cliques(2, 12))
    assert model.n_clusters_ < 10
    assert any("n_clusters=10" in str(w.message) for w in caught)


def test_real_networks_reach_the_modularity_of_leiden():
    """Within 0.005 of a converged Leiden run, on the networks that are there."""
    for name, reached in LEIDEN.items():
        if (file := NETWORKS / f"{name}.edgelist.gz").exists():
            assert NetworkKSC().fit(read_edgelist(file).adjacency).modularity_ >= reached - 0.005


@pytest.mark.parametrize("graph", [np.ones((2, 2)), np.ones((20, 20)), 3.0 * (np.ones((15, 15)) - np.eye(15))])
def test_everyone_joined_to_everyone_alike_is_one_community(graph):
    with pytest.warns(
        UserWarning, match="all nodes are joined to each other with the same weight, so they are one community"
    ):
        model = NetworkKSC().fit(graph)
    np.testing.assert_array_equal(model.labels_, 0)
    assert (model.n_clusters_, model.modularity_) == (1, 0)
    np.testing.assert_array_equal(model.predict(graph), 0)
    with pytest.raises(ValueError, match=r"n_clusters=2 but all nodes are joined .* pass n_clusters=1"):
        NetworkKSC(2).fit(graph)


def test_a_star_is_one_community_because_no_division_beats_it():
    """The best of all partitions of a small star, tried one by one, has modularity 0."""
    star = np.zeros((7, 7))
    star[0, 1:] = star[1:, 0] = 1
    partitions = np.array(list(itertools.product(range(3), repeat=7)))
    assert max(modularity(star, labels) for labels in partitions) <= 1e-12
    with pytest.warns(UserWarning, match="no division into communities has a modularity above 0"):
        model = NetworkKSC().fit(star)
    assert (model.n_clusters_, model.modularity_) == (1, 0)
    assert np.nanmax(model.selection_["modularity"]) <= 0


def test_fewer_training_nodes_than_communities_considered_are_enough():
    adjacency, y = make_planted_graph(300, 3, degree=12, inside=0.9, random_state=0)
    model = NetworkKSC(max_train=5).fit(adjacency)
    assert model.selection_["n_clusters"].max() <= 5
    assert adjusted_rand(y, model.labels_) > 0.9


def test_angles_cannot_choose_between_two_communities():
    adjacency, _ = make_planted_graph(300, 3, degree=12, inside=0.9, random_state=0)
    with pytest.raises(ValueError, match="criterion='baf' needs at least 3 clusters"):
        NetworkKSC(max_clusters=2, criterion="baf").fit(adjacency)
