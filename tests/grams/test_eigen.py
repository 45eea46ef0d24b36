"""The eigen-solver on matrices that are hard for it: low rank, equal or clustered eigenvalues, tiny gaps."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning

import gramian
from gramian.grams import DenseGram, FeatureGram, SparseGram, eigen
from gramian.grams.eigen import block_krylov, fix_signs, order, orthonormalize


def rotation(n, seed=0):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


def with_spectrum(values, seed=0):
    """A dense symmetric matrix with the given eigenvalues."""
    Q = rotation(len(values), seed)
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


def assert_solved(K, pairs, expected, close=1e-9, loose=1e-6):
    """Eigenvalues as expected, orthonormal vectors, small residuals, all relative to ‖K‖."""
    values, vectors = pairs
    size = np.abs(K).sum(axis=1).max() + 1e-300
    np.testing.assert_allclose(values, expected, rtol=0, atol=close * size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(expected)), rtol=0, atol=loose)
    np.testing.assert_allclose(K @ vectors, vectors * values, rtol=0, atol=loose * size)


HARD = {
    "zero": np.zeros(300),
    "identity": np.ones(300),
    "rank one": np.r_[5.0, np.zeros(299)],
    "rank three": np.r_[5.0, 3.0, 1.0, np.zeros(297)],
    "clustered": np.r_[1 + 1e-6 * np.arange(6), np.linspace(0.5, 0, 294)],
    "geometric": 0.8 ** np.arange(300),
    "one outlier": np.r_[50.0, np.linspace(1, 0, 299)],
    "huge": 1e150 * np.linspace(1, 0, 300) ** 4,
    "tiny": 1e-150 * np.linspace(1, 0, 300) ** 4,
    "indefinite": np.linspace(-2, 1.5, 300) ** 3,
    "pairs ±": np.repeat(np.linspace(1, 0, 150) ** 2, 2) * np.tile([1, -1], 150),
}


@pytest.mark.parametrize("which", ["largest", "magnitude"])
@pytest.mark.parametrize("name", HARD)
def test_hard_spectra(name, which):
    """The iteration finds the leading eigenpairs of every kind of spectrum."""
    K = with_spectrum(HARD[name])
    expected = HARD[name][order(HARD[name], which)][:6]
    pairs = block_krylov(DenseGram(K), 6, which)
    if name == "pairs ±" and which == "magnitude":  # which of ± comes first is a matter of rounding
        pairs, expected = (np.abs(pairs[0]), pairs[1] * 0), np.abs(expected)
        np.testing.assert_allclose(pairs[0], expected, atol=1e-8)
        return
    assert_solved(K, pairs, expected)


@pytest.mark.parametrize("name", ["identity", "indefinite", "pairs ±", "zero"])
def test_smallest(name):
    """The iteration finds the lower end too."""
    K = with_spectrum(HARD[name])
    assert_solved(K, block_krylov(DenseGram(K), 5, "smallest"), np.sort(HARD[name])[:5])


def test_large_dense_against_lapack():
    """At a size where "auto" iterates, twenty eigenpairs of a Gaussian Gram agree with LAPACK to 1e-10."""
    X = np.random.default_rng(0).standard_normal((700, 4))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2)
    assert_solved(K, DenseGram(K).eigenpairs(20), np.linalg.eigvalsh(K)[::-1][:20], close=1e-10)
    values = DenseGram(K.astype(np.float32)).eigenpairs(20)[0]
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:20], atol=1e-5 * values[0])


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_tolerance(tol):
    """The residual is below the tolerance asked for, and a looser one costs fewer products."""
    K = with_spectrum(np.linspace(1, 0, 300) ** 2)
    count = [0]

    class Counting(DenseGram):
        def _product(self, V):
            count[0] += 1
            return super()._product(V)

    values, vectors = Counting(K).eigenpairs(5, tol=tol, method="krylov")
    used = count[0]
    assert np.linalg.norm(K @ vectors - vectors * values, axis=0).max() <= 2 * tol
    count[0] = 0
    Counting(K).eigenpairs(5, tol=tol / 100, method="krylov")
    assert used < count[0]


def test_path_graph():
    """The gaps of a path are tiny; the eigenvalues agree with the closed form and cost no more than ARPACK's."""
    n = 400
    path = SparseGram(diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tocsr())
    values, vectors = path.eigenpairs(3, method="krylov")
    np.testing.assert_allclose(values, 2 * np.cos(np.pi * np.arange(1, 4) / (n + 1)), atol=1e-9)
    np.testing.assert_allclose(path.matrix @ vectors, vectors * values, atol=1e-6)


def test_neighbor_graph_of_a_ring():
    """The normalised neighbour graph of a noisy ring agrees with ARPACK."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 900)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.05 * rng.standard_normal((900, 2))
    gram = gramian.kernels.NeighborGraph(15).fit(X).gram(X).normalized()
    values = gram.eigenpairs(5)[0]
    scale = 1 / np.sqrt(gram.base.degrees())
    W = diags_array(scale) @ gram.base.matrix @ diags_array(scale)
    expected = np.sort(eigsh(W, 5, which="LA", return_eigenvectors=False))[::-1]
    np.testing.assert_allclose(values, expected, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_matrix_that_is_not_finite_ends(bad):
    """NaN or infinity in the matrix is an error, not an endless loop."""
    K = np.ones((600, 600))
    K[3, 5] = K[5, 3] = bad
    with pytest.raises((np.linalg.LinAlgError, ValueError, FloatingPointError)):
        block_krylov(DenseGram(K), 3)


def test_giving_up_is_said(monkeypatch):
    """When the products run out a warning says how far the iteration came and what to do."""
    monkeypatch.setattr(eigen, "_MAX_PRODUCTS", 3)
    K = with_spectrum(np.linspace(1, 0, 300))
    with pytest.warns(ConvergenceWarning, match=r"stopped after 3 block products .* Raise tol"):
        values, vectors = block_krylov(DenseGram(K), 4)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(values, 1, atol=0.2)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_matrices_smaller_than_a_block(n):
    """The iteration works down to one sample, for every k."""
    K = with_spectrum(np.arange(1.0, n + 1))
    for k in range(1, n + 1):
        assert_solved(K, block_krylov(DenseGram(K), k), np.arange(n, n - k, -1.0))


def test_other_seeds_give_the_same_pairs():
    """Another random start changes the eigenpairs by no more than rounding, signs included."""
    K = with_spectrum(0.7 ** np.arange(300))
    first = block_krylov(DenseGram(K), 5, tol=1e-11, random_state=1)
    second = block_krylov(DenseGram(K), 5, tol=1e-11, random_state=np.random.default_rng(2))
    np.testing.assert_allclose(first[0], second[0], atol=1e-12)
    np.testing.assert_allclose(fix_signs(first[1]), fix_signs(second[1]), atol=1e-8)


# The choice of a method ------------------------------------------------------------------------------------


def chosen(monkeypatch, gram, k, which="largest", known=None):
    """The methods that "auto" calls."""
    calls = []
    for name in ("_lapack", "_dual", "block_krylov"):
        inner = getattr(eigen, name)
        monkeypatch.setattr(eigen, name, lambda *a, _n=name, _f=inner, **o: calls.append(_n) or _f(*a, **o))
    gram.eigenpairs(k, which, known=known)
    return set(calls)


def test_auto_is_lapack_when_small_or_many(monkeypatch):
    """Small matrices and a large share of the spectrum go to LAPACK."""
    assert chosen(monkeypatch, DenseGram(np.eye(50)), 2) == {"_lapack"}
    monkeypatch.undo()
    assert chosen(monkeypatch, DenseGram(np.eye(520)), 100) == {"_lapack"}


def test_auto_iterates_when_large(monkeypatch):
    """A few pairs of a large matrix are iterated, and also many where the matrix would not fit."""
    assert chosen(monkeypatch, DenseGram(np.eye(520)), 3) == {"block_krylov"}
    monkeypatch.undo()
    with gramian.config(memory_budget=520 * 520 * 8):
        assert chosen(monkeypatch, DenseGram(np.eye(520)), 60) == {"block_krylov"}


def test_auto_is_dual_for_few_features(monkeypatch):
    """Features fewer than samples are solved in the dual, unless the smallest are wanted or some are known."""
    F = np.random.default_rng(0).standard_normal((60, 4))
    assert chosen(monkeypatch, FeatureGram(F), 2) == {"_dual"}
    monkeypatch.undo()
    assert chosen(monkeypatch, FeatureGram(F), 2, "smallest") == {"_lapack"}
    monkeypatch.undo()
    assert chosen(monkeypatch, FeatureGram(F), 2, known=np.linalg.eigh(F @ F.T)[1][:, -1:]) == {"_lapack"}
    monkeypatch.undo()
    assert chosen(monkeypatch, FeatureGram(F.T), 2) == {"_lapack"}


# Parts -----------------------------------------------------------------------------------------------------


def test_fix_signs():
    """The entry of largest magnitude becomes positive, the first one on ties, and a zero column stays."""
    V = np.array([[0.6, -0.8, -1.0, 0.0], [-0.8, 0.6, 1.0, 0.0]])
    np.testing.assert_array_equal(fix_signs(V), [[-0.6, 0.8, 1.0, 0.0], [0.8, -0.6, -1.0, 0.0]])


@pytest.mark.parametrize(
    ("which", "expected"), [("largest", [2, 0, 1]), ("magnitude", [1, 2, 0]), ("smallest", [1, 0, 2])]
)
def test_order(which, expected):
    """Values are sorted the way asked, ties by position."""
    assert order(np.array([1.0, -3.0, 2.0]), which).tolist() == expected
    assert order(np.zeros(4), which).tolist() == [0, 1, 2, 3]


def test_orthonormalize():
    """V splits into its parts along the given bases and an orthonormal rest; dependent columns drop out."""
    rng = np.random.default_rng(0)
    A, B = rotation(40)[:, :3], rotation(40)[:, 5:7]
    V = rng.standard_normal((40, 4))
    V[:, 3] = V[:, 0] - V[:, 1] + A[:, 0]
    Q, R, parts = orthonormalize(V, A, B)
    assert Q.shape == (40, 3)
    everything = np.hstack([A, B, Q])
    np.testing.assert_allclose(everything.T @ everything, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(A @ parts[0] + B @ parts[1] + Q @ R, V, atol=1e-12)
    assert orthonormalize(np.zeros((40, 2)))[0].shape == (40, 0)


def test_unit_weights_graph_agrees_with_its_dense_matrix():
    """The same graph, held sparse or dense, has the same eigenvalues through the same door."""
    rng = np.random.default_rng(1)
    A = (rng.random((510, 510)) < 0.02).astype(float)
    A = np.maximum(A, A.T)
    np.testing.assert_allclose(
        SparseGram(csr_array(A)).eigenpairs(4)[0], DenseGram(A).eigenpairs(4)[0], atol=1e-9 * len(A)
    )
