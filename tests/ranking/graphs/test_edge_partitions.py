"""PageRank of edges in partitions, against the same graph in one matrix."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from gramian import personalized_pagerank

dd = pytest.importorskip("dask.dataframe")


@pytest.fixture
def edges():
    """A directed graph with weights, edges that occur twice, and nodes that no edge leaves."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"source": rng.integers(0, 40, 300), "target": rng.integers(0, 60, 300)})
    table.loc[0, "target"] = 59
    return table.assign(weight=rng.uniform(0.0, 3.0, 300))


def matrix_of(edges):
    return csr_array((edges["weight"], (edges["source"], edges["target"])), shape=(60, 60))


@pytest.mark.parametrize("dangling", ["uniform", "seeds", "self"])
@pytest.mark.parametrize("n_parts", [1, 3, 17])
def test_scores_are_those_of_the_matrix(edges, n_parts, dangling):
    found = personalized_pagerank(dd.from_pandas(edges, npartitions=n_parts), [3, 5], dangling=dangling, tol=1e-10)
    expected = personalized_pagerank(matrix_of(edges), [3, 5], dangling=dangling, method="direct")
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10)


def test_many_seeds_normalised_and_empty_partitions(edges):
    parted = dd.from_pandas(edges, npartitions=5)
    parted = parted[(parted["source"] != 7)]
    empty = parted.map_partitions(lambda part: part.iloc[:0])
    parted = dd.concat([empty, parted])
    seeds = np.random.default_rng(1).uniform(size=(60, 3))
    found = personalized_pagerank(parted, seeds, normalize="sqrt_degree", tol=1e-10)
    expected = personalized_pagerank(matrix_of(edges[edges["source"] != 7]), seeds, normalize="sqrt_degree", tol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10)


def test_without_weights_all_edges_are_alike(edges):
    plain = edges[["source", "target"]]
    found = personalized_pagerank(dd.from_pandas(plain, npartitions=2), 1, tol=1e-10)
    expected = personalized_pagerank(matrix_of(plain.assign(weight=1.0)), 1, tol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10)


def test_workers_of_a_cluster_give_the_same(edges, cluster):
    found = personalized_pagerank(dd.from_pandas(edges, npartitions=4), 1, tol=1e-10)
    np.testing.assert_allclose(found, personalized_pagerank(matrix_of(edges), 1, tol=1e-12), rtol=0, atol=2e-10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": -1.0}, r"partition \d of graph: graph has the weight -1"),
        ({"weight": np.nan}, r"partition \d of graph: graph has weights that are NaN"),
        ({"source": -1}, r"partition \d of graph: column 'source' has the node -1"),
        ({"target": 0.5}, r"partition \d of graph: column 'target' is of type float64"),
    ],
)
def test_bad_edges_name_their_partition(edges, change, message):
    with pytest.raises(ValueError, match=message):
        personalized_pagerank(dd.from_pandas(edges.assign(**change), npartitions=2), 1)


def test_bad_tables_are_refused(edges):
    parted = dd.from_pandas(edges, npartitions=2)
    with pytest.raises(ValueError, match="without a column 'source'"):
        personalized_pagerank(parted.rename(columns={"source": "from"}), 1)
    with pytest.raises(ValueError, match="needs the whole graph in one memory"):
        personalized_pagerank(parted, 1, method="direct")
    with pytest.raises(ValueError, match="no edges in any"):
        personalized_pagerank(parted[parted["source"] > 1000], 1)


def test_edges_that_weigh_nothing_leave_all_nodes_dangling():
    plain = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [0.0, 0.0]})
    found = personalized_pagerank(dd.from_pandas(plain, npartitions=2), 0)
    expected = personalized_pagerank(csr_array((3, 3)), 0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("weights", [[1e-310, 1e-310], [1e-300, 1e300], [1e-160, 1e150]])
def test_weights_out_of_range_are_those_of_the_matrix(weights):
    """Refused in the same words, not answered by NaN."""
    plain = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": weights})
    graph = csr_array((plain["weight"], (plain["source"], plain["target"])), shape=(3, 3))
    try:
        expected = personalized_pagerank(graph, 0)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            personalized_pagerank(dd.from_pandas(plain, npartitions=2), 0)
        return
    found = personalized_pagerank(dd.from_pandas(plain, npartitions=2), 0)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_numbers_with_large_gaps_are_refused():
    plain = pd.DataFrame({"source": [0, 10**15], "target": [1, 2]})
    with pytest.raises(MemoryError, match="number the nodes from 0"):
        personalized_pagerank(dd.from_pandas(plain, npartitions=2), 0)
