"""The prior, block by block."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from gramian.deep import prior as module
from gramian.deep.prior import prior_of_features, prior_of_kernel, prior_of_labels, prior_of_matrix
from gramian.grams.features import FeatureGram
from gramian.kernels import RBF, ClusterKernel, Linear, NeighborGraph


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture(params=["held", "blockwise"])
def size(request, monkeypatch):
    """A prior that is held as a matrix, or asked for each block."""
    if request.param == "blockwise":
        monkeypatch.setattr(module, "HELD_BYTES", 0)
    return request.param


INDEX = np.array([5, 39, 0, 12])


@pytest.mark.parametrize(
    "kernel", [RBF(), Linear(), ClusterKernel(3, 5, random_state=0), NeighborGraph(5), RBF() + Linear()], ids=str
)
def test_blocks_of_a_kernel_are_its_values(X, size, kernel):
    K = kernel.fit(X).gram(X).dense()
    block = prior_of_kernel(kernel, X).block(INDEX)
    np.testing.assert_allclose(block, K[np.ix_(INDEX, INDEX)], atol=1e-5)


def test_blocks_of_matrices_and_features_are_their_entries(X, size):
    P = X @ X.T
    expected = P[np.ix_(INDEX, INDEX)]
    for found in (
        prior_of_matrix(P, 40),
        prior_of_matrix(csr_array(P), 40),
        prior_of_matrix(P.tolist(), 40),
        prior_of_matrix(FeatureGram(X), 40),
        prior_of_features(X, 40),
        prior_of_features(csr_array(X), 40),
    ):
        np.testing.assert_allclose(found.block(INDEX), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_sparse_links_are_numbers(X, size, dtype):
    links = np.abs(X @ X.T) > 1
    for prior in (prior_of_matrix(csr_array(links.astype(dtype)), 40), prior_of_matrix(links.astype(dtype), 40)):
        np.testing.assert_array_equal(prior.block(INDEX), links[np.ix_(INDEX, INDEX)])
    groups = np.eye(4, dtype=dtype)[np.arange(40) % 4]
    np.testing.assert_array_equal(
        prior_of_features(csr_array(groups), 40).block(INDEX), (groups @ groups.T)[np.ix_(INDEX, INDEX)]
    )


def test_a_matrix_on_disk_is_not_copied(X, tmp_path):
    mapped = np.memmap(tmp_path / "prior", np.float64, "w+", shape=(40, 40))
    mapped[:] = X @ X.T
    prior = prior_of_matrix(mapped, 40)
    assert np.shares_memory(prior._gram.matrix, mapped)
    np.testing.assert_array_equal(prior.block(INDEX), (X @ X.T)[np.ix_(INDEX, INDEX)])


def test_labels_give_the_ideal_kernel(size):
    y = np.array([0, 1, 1, 2, 0])
    np.testing.assert_array_equal(prior_of_labels(y).block(np.arange(5)), np.equal.outer(y, y))


def test_no_double_matrix_is_made_for_many_rows(X, monkeypatch):
    """Above the limit a kernel of rows is asked in single precision; only blocks are ever made."""
    monkeypatch.setattr(module, "HELD_BYTES", 1000)
    prior = prior_of_kernel(RBF(1.0).fit(X), X)
    assert prior._gram.dtype == np.float32
    assert not prior._gram.held
    far = X * 1e60  # which single precision cannot hold
    assert prior_of_kernel(RBF(1e60).fit(far), far)._gram.dtype == np.float64


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (np.ones((3, 4)), r"prior has shape \(3, 4\) but X has 40 rows"),
        (np.triu(np.ones((40, 40))), "prior is not symmetric: .* differ by 1; pass"),
        (np.full((40, 40), np.nan), "prior contains NaN"),
        (np.full((40, 40), "a"), "prior must be a matrix of numbers"),
        ([[1], [1, 2]], "prior must be a matrix of numbers"),
    ],
)
def test_bad_matrices_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        prior_of_matrix(prior, 40)


def test_bad_features_are_refused(X):
    with pytest.raises(ValueError, match=r"prior_features has shape \(40, 3\) but X has 39 rows"):
        prior_of_features(X, 39)
    with pytest.raises(ValueError, match="prior_features contains NaN"):
        prior_of_features(X * np.nan, 40)
    with pytest.raises(ValueError, match="prior must be a matrix of numbers"):
        prior_of_features([["a"]] * 40, 40)


def test_a_look_refuses_zeros_and_warns(X):
    with pytest.raises(ValueError, match="prior gives only zeros for X"):
        prior_of_matrix(np.zeros((40, 40)), 40).look("prior", nonnegative_codes=False)
    with pytest.warns(UserWarning, match="prior has negative similarities, down to .*code_activation='identity'"):
        prior_of_features(X, 40).look("prior", nonnegative_codes=True)
    prior_of_features(X, 40).look("prior", nonnegative_codes=False)
    prior_of_features(abs(X), 40).look("prior", nonnegative_codes=True)
    indefinite = np.ones((40, 40)) - np.eye(40)
    with pytest.warns(UserWarning, match="prior is not positive semi-definite"):
        prior_of_matrix(indefinite, 40).look("prior", nonnegative_codes=True)


def test_sparse_features_stay_sparse(monkeypatch):
    monkeypatch.setattr(module, "HELD_BYTES", 0)
    Phi = csr_array(random_array((40, 500), density=0.02, rng=np.random.default_rng(0)))
    prior = prior_of_features(Phi, 40)
    assert prior._gram.factor.is_sparse
    np.testing.assert_allclose(prior.block(INDEX), (Phi @ Phi.T).toarray()[np.ix_(INDEX, INDEX)])


def test_a_constant_prior_is_zero_after_centring():
    prior = prior_of_matrix(np.ones((40, 40)), 40)
    prior.look("prior", nonnegative_codes=False)
    with pytest.raises(ValueError, match="only zeros for X after centring"):
        prior.look("prior", nonnegative_codes=False, centered=True)
