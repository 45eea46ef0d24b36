"""Random recurrent matrices: their spectral radius, their connections, and that seeds repeat."""

import numpy as np
import pytest
from scipy.sparse import issparse

from gramian.reservoir import _weights
from gramian.reservoir._weights import check_connectivity, recurrent_weights, uniform_weights


def full(W):
    return W.toarray() if issparse(W) else W


@pytest.mark.parametrize("connectivity", [10, 3, 0.1, 0.25, 1.0])
def test_the_largest_eigenvalue_has_the_size_asked_for(connectivity):
    W = full(recurrent_weights(80, connectivity, 1.22, 5))
    assert abs(np.abs(np.linalg.eigvals(W)).max() - 1.22) < 1e-8


def test_arnoldi_finds_the_radius_that_all_eigenvalues_give(monkeypatch):
    exact = [_weights._radius.__wrapped__(300, 10, seed, 0) for seed in range(5)]
    monkeypatch.setattr(_weights, "_LARGE", 100)
    np.testing.assert_allclose([_weights._radius.__wrapped__(300, 10, s, 0) for s in range(5)], exact, rtol=1e-10)


def test_a_whole_number_counts_the_connections_into_each_unit():
    W = recurrent_weights(300, 10, 0.9, 0)
    assert np.array_equal(np.diff(W.indptr), np.full(300, 10))
    assert all(len(set(row)) == 10 for row in W.indices.reshape(300, 10))
    assert recurrent_weights(4, 10, 0.9, 0).shape == (4, 4)  # no more connections than units


@pytest.mark.parametrize("density", [0.1, 0.25])
def test_a_share_is_within_three_binomial_deviations(density):
    n = 200
    count = np.count_nonzero(full(recurrent_weights(n, density, 0.9, 1)))
    assert abs(count - density * n**2) < 3 * np.sqrt(n**2 * density * (1 - density))


def test_many_connections_are_kept_in_full():
    assert issparse(recurrent_weights(100, 0.1, 0.9, 0))
    assert not issparse(recurrent_weights(100, 0.25, 0.9, 0))


def test_seeds_repeat_and_differ():
    first, again, other = (full(recurrent_weights(50, 5, 0.9, seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(first != 0, full(recurrent_weights(50, 5, 0.3, 1)) != 0)
    weights = uniform_weights((1000,), 3)
    assert -1 <= weights.min() < -0.9
    assert 0.9 < weights.max() < 1


def test_a_radius_of_zero_gives_no_memory():
    assert not full(recurrent_weights(20, 5, 0.0, 0)).any()


def test_a_matrix_without_loops_is_refused():
    with pytest.raises(ValueError, match=r"connectivity=0\.001 gives n_units=3 no loop"):
        recurrent_weights(3, 0.001, 0.9, 0)


@pytest.mark.parametrize("connectivity", [0, -1, 1.5, 0.0, "many", True, np.nan])
def test_connectivity_without_meaning_is_refused(connectivity):
    with pytest.raises(ValueError, match="connectivity"):
        check_connectivity(connectivity)
