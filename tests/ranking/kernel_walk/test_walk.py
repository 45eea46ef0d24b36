"""The walk on a Gram: exact scores by every solver against a dense inverse, and what defines no walk."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import KernelDensity

from gramian.grams import DenseGram, FeatureGram, SparseGram
from gramian.kernels import RBF
from gramian.ranking import best_first
from gramian.ranking.kernel_walk.components import decompose
from gramian.ranking.kernel_walk.walk import Walk, exact_scores


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def inverse_scores(K, S, restart):
    """β D ((1 + β) D − K)^-1 s, the unnormalised closed form, and β D^½ ((1 + β) I − K_n)^-1 D^-½ s, the other."""
    beta, d = restart / (1 - restart), K.sum(axis=1)
    plain = beta * np.diag(d) @ np.linalg.inv((1 + beta) * np.diag(d) - K) @ S
    root = np.sqrt(d)
    Kn = K / np.outer(root, root)
    other = beta * root[:, None] * (np.linalg.inv((1 + beta) * np.eye(len(K)) - Kn) @ (S / root[:, None]))
    np.testing.assert_allclose(plain, other, atol=1e-11)
    return plain


@pytest.mark.parametrize("restart", [0.01, 0.15, 0.8])
@pytest.mark.parametrize("solver", ["auto", "cg", "cholesky", "woodbury"])
def test_solvers_agree(solver, restart, rng):
    """All solvers give both closed forms, for batches, on features, and with known eigenvectors to start from."""
    F = rng.random((300, 12))
    walk = Walk(FeatureGram(F))
    S = rng.random((300, 5))
    S /= S.sum(axis=0)
    expected = inverse_scores(F @ F.T, S, restart)
    np.testing.assert_allclose(exact_scores(walk, S, restart, solver=solver), expected, atol=1e-10)
    spectrum = decompose(walk, 4, 0.01, definite=True)
    found = exact_scores(walk, csr_array(S), restart, solver=solver, spectrum=spectrum)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_one_step_matrix(rng):
    """β D G_β is left stochastic, keeps the stationary distribution and is in detailed balance with it."""
    K = RBF(1.0)(rng.standard_normal((40, 2)))
    walk = Walk(DenseGram(K))
    P = exact_scores(walk, np.eye(40), 0.15)
    np.testing.assert_allclose(P.sum(axis=0), 1, atol=1e-10)
    assert P.min() >= -1e-15
    np.testing.assert_allclose(P @ walk.base_scores, walk.base_scores, atol=1e-10)
    flow = P * walk.base_scores
    np.testing.assert_allclose(flow, flow.T, atol=1e-10)
    # Scores over degrees put the query first.
    assert np.all(best_first(P / walk.degrees[:, None], 1)[0] == np.arange(40))


def test_base_scores_are_a_density(rng):
    """Under the RBF kernel base scores are proportional to the Parzen density."""
    X = rng.standard_normal((50, 2))
    density = np.exp(KernelDensity(kernel="gaussian", bandwidth=0.7).fit(X).score_samples(X))
    walk = Walk(RBF(0.7).gram(X))
    np.testing.assert_allclose(walk.base_scores, density / density.sum(), rtol=1e-10)


def test_unknown_or_impossible_solvers_are_refused():
    """A solver that is not known, or needs features that are not there, is refused."""
    walk = Walk(DenseGram(np.ones((3, 3))))
    with pytest.raises(ValueError, match="solver='lu' is not known"):
        exact_scores(walk, np.eye(3), 0.1, solver="lu")
    with pytest.raises(ValueError, match=r"solver='woodbury' needs.*use solver='cg'"):
        exact_scores(walk, np.eye(3), 0.1, solver="woodbury")


@pytest.mark.parametrize("form", [csr_array, np.asarray])
def test_one_negative_similarity_among_many_is_seen(form):
    """Every similarity that is held is looked at, however many samples there are."""
    n = 8200
    W = csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n)).tolil()
    W[101, 202] = W[202, 101] = -0.5
    gram = SparseGram(csr_array(W)) if form is csr_array else DenseGram(W.toarray().astype(np.float32))
    with pytest.raises(ValueError, match="negative similarities"):
        Walk(gram)


def test_only_approximations_may_dip_below_zero(rng):
    """A share of negative entries that landmarks leave is a mistake of an exact kernel."""
    F = np.abs(rng.standard_normal((400, 3))) + 1
    F[7] = [2.6, -1.2, -1.0]
    gram = FeatureGram(F)
    assert (F @ F.T).min() < -0.1
    with pytest.raises(ValueError, match="negative similarities"):
        Walk(gram)
    assert Walk(gram, approximate=True).volume > 0
