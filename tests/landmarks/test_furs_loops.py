"""The compiled selection against the one with arrays."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.landmarks._furs_loops import select
from gramian.landmarks.furs import by_rounds


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_select", [1, 17, 200])
def test_select(index, n_select):
    """Same nodes for indices of either length, of a part of the candidates or all."""
    rng = np.random.default_rng(4)
    A = rng.random((60, 60)) < 0.1
    graph = csr_array((A | A.T).astype(float))
    graph.indices, graph.indptr = graph.indices.astype(index), graph.indptr.astype(index)
    order = rng.permutation(60)[:50]
    state = np.zeros(60, np.int8)
    state[order] = 1
    found = select(graph.indptr, graph.indices, order, state, n_select)
    np.testing.assert_array_equal(found, by_rounds(graph, order, n_select))
