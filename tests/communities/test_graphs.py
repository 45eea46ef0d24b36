"""Matrices and graphs of other libraries give the edges that a file of the same network gives."""

import io

import igraph
import networkx
import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array

from communities.clubs import clubs, written
from gramian.communities import UnreadableEdges, read_edges


@pytest.fixture(scope="module")
def listed():
    return read_edges(io.StringIO(written(clubs())))


def named(edges):
    """Weight of every pair of names."""
    entries = coo_array(edges.adjacency)
    return {
        (edges.nodes[i], edges.nodes[j]): weight for i, j, weight in zip(*entries.coords, entries.data, strict=True)
    }


def test_networkx_igraph_and_graphml(listed, tmp_path):
    graph = networkx.Graph(clubs())
    networkx.write_graphml(graph, tmp_path / "clubs.graphml")
    for source in (graph, igraph.Graph.TupleList(clubs()), tmp_path / "clubs.graphml", networkx.DiGraph(clubs())):
        assert named(read_edges(source)) == named(listed)


def test_weights_and_labels_of_graphs(tmp_path):
    graph = networkx.MultiDiGraph()
    graph.add_node(0, label="anna")
    graph.add_node(1, label="ben")
    graph.add_edge(0, 1, weight=2)
    graph.add_edge(1, 0)
    graph.add_edge(0, 1, weight=0.5)
    networkx.write_graphml(graph, tmp_path / "g.xml")
    assert named(read_edges(graph)) == {("0", "1"): 3.5, ("1", "0"): 3.5}
    assert named(read_edges(tmp_path / "g.xml")) == {("anna", "ben"): 3.5, ("ben", "anna"): 3.5}
    weighted = igraph.Graph([(0, 1)], edge_attrs={"weight": [4]})
    assert named(read_edges(weighted))["0", "1"] == 4
    assert named(read_edges(weighted, weighted=False))["0", "1"] == 1


def test_matrices(listed):
    for matrix in (listed.adjacency, csc_array(listed.adjacency), listed.adjacency.toarray()):
        edges = read_edges(matrix)
        assert (edges.adjacency != listed.adjacency).nnz == 0
        assert not edges.weighted
    asymmetric = np.array([[0, 3, 0], [1, 5, 0], [0, 0, 0]])
    edges = read_edges(asymmetric)
    assert edges.adjacency.toarray().tolist() == [[0, 4, 0], [4, 0, 0], [0, 0, 0]]
    assert (edges.nodes, edges.remarks()[1]) == (["0", "1", "2"], "1 self loop does not count.")


def test_what_is_no_graph_is_refused(tmp_path):
    with pytest.raises(UnreadableEdges, match="has shape"):
        read_edges(np.ones((2, 3)))
    with pytest.raises(UnreadableEdges, match="weight -1 is negative"):
        read_edges(np.array([[0, -1], [-1, 0]]))
    with pytest.raises(TypeError, match="edges is a dict; pass a path"):
        read_edges({"a": "b"})
    with pytest.raises(UnreadableEdges, match="same name as text"):
        read_edges(networkx.Graph([(1, "1")]))
    (tmp_path / "torn.graphml").write_text("<graphml><node")
    with pytest.raises(UnreadableEdges, match=r"torn.graphml is no GraphML that networkx reads"):
        read_edges(tmp_path / "torn.graphml")
