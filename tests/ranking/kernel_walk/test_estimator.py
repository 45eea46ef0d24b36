"""What both kernel rankings share: reading seeds and queries, the first step of a new row, saved models."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian import KernelPageRank, RankedClustering
from gramian.kernels import RBF, Linear
from gramian.landmarks import Nystroem


@pytest.fixture
def X():
    return np.random.default_rng(6).standard_normal((50, 3))


@pytest.fixture(params=[KernelPageRank, RankedClustering])
def model(request, X):
    options = {"n_components": 4} if request.param is KernelPageRank else {"n_clusters": 3, "random_state": 0}
    return request.param(kernel=RBF(1.2), restart=0.15, **options).fit(X)


def one_step(K, block, restart=0.15):
    """Scores for a restart at a new row: (1 − α) π(s) with s its similarities to the fitted rows, over their sum."""
    P = K / K.sum(axis=1, keepdims=True)
    first = (block / block.sum(axis=1, keepdims=True)).T
    return (1 - restart) * restart * np.linalg.solve(np.eye(len(K)) - (1 - restart) * P.T, first)


def scores(model, query):
    return model.scores(query=query, **({"method": "one_step"} if isinstance(model, KernelPageRank) else {}))


def test_new_rows_take_their_first_step(model, X):
    """One row or several, as a row or a table, restart at their neighbours among the fitted samples."""
    new = np.array([[0.1, 0.2, 0.3], [1.0, -1.0, 0.5]])
    expected = one_step(RBF(1.2)(X), RBF(1.2)(new, X))
    np.testing.assert_allclose(scores(model, new), expected, atol=1e-12)
    assert scores(model, new[0]).shape == (50,)
    np.testing.assert_allclose(scores(model, new[0]), expected[:, 0], atol=1e-12)
    with pytest.raises(ValueError, match="either seeds, fitted samples, or query"):
        model.scores(3, query=new[0])


def test_a_row_like_nothing_ranks_by_base_scores(model):
    """Its first step leads nowhere, so the stationary distribution stands in, with a warning."""
    with pytest.warns(UserWarning, match="1 new sample is similar to no fitted one and rank by base scores"):
        found = scores(model, np.full((1, 3), 1e4))
    np.testing.assert_allclose(found[:, 0], 0.85 * model.base_scores_, atol=1e-12)


def test_sparse_queries():
    """Sparse rows are several queries, even if it is one row."""
    X = csr_array(np.random.default_rng(1).random((30, 5)))
    model = KernelPageRank(kernel=Linear(), n_components=2).fit(X)
    found = model.scores(query=X[[4]])
    assert found.shape == (30, 1)
    np.testing.assert_allclose(found[:, 0], model.scores(4), atol=1e-10)


def test_a_copy_without_its_gram_answers_alike(model, X):
    """A pickled model leaves the Gram behind and computes it again when it is asked for."""
    again = pickle.loads(pickle.dumps(model))
    assert getattr(again, "_walk", None) is None
    np.testing.assert_allclose(scores(again, X[:2] + 0.1), scores(model, X[:2] + 0.1), atol=1e-12)
    assert again._walk is not None


def test_embedding_and_its_names(model, X):
    """fit_transform gives the embedding, with one name for each of its columns."""
    np.testing.assert_allclose(model.fit_transform(X), model.embedding_)
    names = model.get_feature_names_out()
    assert len(names) == model.embedding_.shape[1]
    assert names[0] == f"{type(model).__name__.lower()}0"
    assert model.fit_transform(X.astype(np.float32)).dtype == np.float32


def test_approximations_may_dip_below_zero(X):
    """A kernel that says it is approximate is let through, the same values given as they are are not."""
    kernel = Nystroem(8, kernel=RBF(0.8), random_state=0).fit(X)
    assert kernel.approximate
    assert not RBF().approximate
    K = kernel(X)
    assert K.min() < -1e-6
    share = -np.minimum(K, 0).sum() / np.abs(K).sum()
    assert share < 0.01
    KernelPageRank(kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="negative similarities"):
        KernelPageRank(kernel="precomputed").fit(K)
