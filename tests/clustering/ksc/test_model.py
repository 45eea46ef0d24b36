"""The eigenproblem of kernel spectral clustering against its non-symmetric definition, for every kind of Gram."""

import numpy as np
import pytest
from scipy.linalg import block_diag, eig
from scipy.sparse import csr_array

from gramian import Nystroem
from gramian.clustering.ksc import Degrees, Eigenproblem
from gramian.grams import DenseGram, FeatureGram, LazyGram, SparseGram
from gramian.kernels import RBF, TL1, NeighborGraph


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def X(rng):
    return np.vstack([rng.normal(size=(40, 2)) * 0.7 + center for center in ((0, 0), (4, 0), (2, 4))])


def grams(X):
    rbf = RBF(1.0)
    dense = rbf.gram(X)
    graph = NeighborGraph(8).fit(X).gram(X)
    few = Nystroem(30, kernel=rbf, random_state=0).fit(X)
    krein = Nystroem(60, kernel=TL1(3.0), random_state=0).fit(X)
    return {
        "dense": dense,
        "indefinite": TL1(3.0).gram(X),
        "lazy": LazyGram(rbf, X),
        "sparse": graph,
        "features": few.gram(X),
        "krein": krein.gram(X),
        "negative": DenseGram(np.tanh(X @ X.T / 5)),
    }


KINDS = ("dense", "indefinite", "lazy", "sparse", "features", "krein", "negative")


@pytest.mark.parametrize("kind", KINDS)
def test_solves_the_definition(kind, X):
    """D⁻¹ M_D K α = λ α to 1e-10, 1ᵀα = 0, αᵀ D α = I, e = λ d α, and b is the weighted mean with a minus."""
    gram = grams(X)[kind]
    problem = Eigenproblem.of(gram, 2, Degrees.of(gram, quiet=True))
    K, d, alpha, values = gram.dense(), problem.degrees.values, problem.coefficients, problem.values
    assert (d > 0).all()
    n = len(d)
    M = np.eye(n) - np.outer(np.ones(n), 1 / d) / (1 / d).sum()
    residual = (M @ K @ alpha) / d[:, None] - values * alpha
    assert np.abs(residual).max() < 1e-9
    assert np.abs(alpha.sum(axis=0)).max() < 1e-12
    np.testing.assert_allclose((alpha.T * d) @ alpha, np.eye(2), atol=1e-8)
    e = K @ alpha + problem.intercept
    np.testing.assert_allclose(e, values * d[:, None] * alpha, atol=1e-7 * np.abs(e).max())
    np.testing.assert_allclose((1 / d) @ e, 0, atol=1e-10)
    np.testing.assert_allclose(problem.scores(), e, atol=1e-7 * np.abs(e).max())


@pytest.mark.parametrize("kind", ["dense", "indefinite"])
def test_largest_algebraic_eigenvalues(kind, X):
    """The values are the largest ones of a general eigenvalue solver, not those of largest magnitude."""
    gram = grams(X)[kind]
    K = gram.dense()
    d = K.sum(axis=1)
    M = np.eye(len(d)) - np.outer(np.ones(len(d)), 1 / d) / (1 / d).sum()
    found = np.sort(eig((M @ K) / d[:, None])[0].real)[::-1][:4]
    np.testing.assert_allclose(Eigenproblem.of(gram, 4).values, found, atol=1e-10)


@pytest.mark.parametrize("sizes", [(5, 7, 9), (20, 3, 11, 6)])
@pytest.mark.parametrize("kind", [DenseGram, SparseGram, FeatureGram])
def test_blocks_are_the_ideal_case(sizes, kind, rng):
    """Blocks: λ = 1 k − 1 times, α constant on each to 1e-10, b = 0, and e on rays with negative inner products."""
    blocks = []
    for size in sizes:
        F = rng.uniform(0.5, 1.5, (size, 2))
        blocks.append((F, F @ F.T))
    K = block_diag(*[K for _, K in blocks])
    matrix = {DenseGram: K, SparseGram: csr_array(K), FeatureGram: block_diag(*[F for F, _ in blocks])}[kind]
    k = len(sizes)
    problem = Eigenproblem.of(kind(matrix), k - 1)
    np.testing.assert_allclose(problem.values, 1, atol=1e-10)
    np.testing.assert_allclose(problem.intercept, 0, atol=1e-10)
    labels = np.repeat(range(k), sizes)
    A = np.array([problem.coefficients[labels == p].mean(axis=0) for p in range(k)])
    assert np.abs(problem.coefficients - A[labels]).max() < 1e-10
    inner = A @ A.T
    assert (inner[~np.eye(k, dtype=bool)] < 0).all()
    e = K @ problem.coefficients + problem.intercept
    np.testing.assert_allclose(e, K.sum(axis=1)[:, None] * A[labels], atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "indefinite", "features", "krein", "sparse"])
def test_new_rows_have_the_scores_of_the_fitted(kind, X):
    """The model gives a fitted row its own score, degree included, and slices to fewer scores."""
    gram = grams(X)[kind]
    kernel = {
        "dense": RBF(1.0).fit(X),
        "indefinite": TL1(3.0).fit(X),
        "features": Nystroem(30, kernel=RBF(1.0), random_state=0).fit(X),
        "krein": Nystroem(60, kernel=TL1(3.0), random_state=0).fit(X),
        "sparse": NeighborGraph(8).fit(X),
    }[kind]
    problem = Eigenproblem.of(gram, 3)
    model = problem.model(kernel, X, gram)
    scores, degrees, alone = model(X)
    np.testing.assert_allclose(scores, gram.dense() @ problem.coefficients + problem.intercept, atol=1e-10)
    np.testing.assert_allclose(degrees, gram.degrees(), rtol=1e-10)
    assert not alone.any()
    np.testing.assert_allclose(model.first(2)(X)[0], scores[:, :2], atol=1e-12)
    few, part = problem.first(2), Eigenproblem.of(gram, 2)
    np.testing.assert_allclose(few.values, part.values, atol=1e-9)


def test_far_rows_are_alone(X):
    """A row that the kernel compares with nothing is told, and others do not change by it."""
    kernel = RBF(1.0).fit(X)
    model = Eigenproblem.of(kernel.gram(X), 2).model(kernel, X)
    scores, _, alone = model(np.vstack([X[:5], [[1e3, 1e3]]]))
    assert alone.tolist() == [False] * 5 + [True]
    np.testing.assert_allclose(scores[:5], model(X[:5])[0])


def test_rows_like_nothing_are_left_out(rng, X):
    """Rows beyond all others take no part: the solution is that of the others."""
    kernel = RBF(1.0)
    more = np.vstack([X, [[100.0, 0.0], [200.0, 0.0]]])
    with_them, without = Eigenproblem.of(kernel.gram(more), 2), Eigenproblem.of(kernel.gram(X), 2)
    assert with_them.degrees.inside.sum() == len(X)
    np.testing.assert_allclose(with_them.values, without.values, atol=1e-10)
    assert not with_them.coefficients[-2:].any()
    model = with_them.model(kernel, more, kernel.gram(more))
    assert model(more)[2].tolist() == [False] * len(X) + [True, True]


def test_single_precision(X):
    problem = Eigenproblem.of(RBF(1.0).gram(X.astype(np.float32)), 2)
    exact = Eigenproblem.of(RBF(1.0).gram(X), 2)
    assert problem.coefficients.dtype == problem.values.dtype == problem.scores().dtype == np.float32
    np.testing.assert_allclose(problem.values, exact.values, atol=1e-5)


def test_fewer_solutions_where_fewer_are_positive():
    """Three distinct rows differ in two directions."""
    X = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    assert len(Eigenproblem.of(RBF(1.0).gram(X), 6).values) == 2


@pytest.mark.parametrize(
    ("K", "message"), [(np.ones((6, 6)), "alike"), (np.eye(6), "no sample is similar"), (np.zeros((4, 4)), "no sample")]
)
def test_nothing_to_solve(K, message):
    with pytest.raises(ValueError, match=message):
        Eigenproblem.of(DenseGram(K), 2)
