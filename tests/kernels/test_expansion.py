"""Functions f(x) = Σ k(x, x_i) a_i for new rows, for every kind of kernel."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import gramian
from gramian.grams import tiles
from gramian.kernels import (
    RBF,
    Cosine,
    Expansion,
    FunctionKernel,
    Laplacian,
    Linear,
    NeighborGraph,
    Polynomial,
    Precomputed,
    Tanh,
)

KERNELS = [
    RBF(),
    Laplacian(),
    Polynomial(3),
    Tanh(),
    Linear(),
    Cosine(),
    2.0 * Linear() + Cosine(),
    RBF() * Linear() + 0.5 * Laplacian(),
    FunctionKernel(lambda A, B: A @ B.T),
    NeighborGraph(3),
    NeighborGraph(3, kernel=RBF()),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=range(len(KERNELS)))


def data(dtype=np.float64):
    """Fitted rows, new rows and coefficients."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal(shape).astype(dtype) for shape in ((31, 4), (13, 4), (31, 3)))


@every_kernel
def test_expansion(kernel):
    """An expansion is K(X_new, X) A, and so is kernel.product."""
    X, new, A = data()
    kernel.fit(X)
    block = kernel(new, X)
    np.testing.assert_allclose(Expansion(kernel, X, A)(new), block @ A, atol=1e-11)
    np.testing.assert_allclose(kernel.product(new, X, A), block @ A, atol=1e-11)


@every_kernel
@pytest.mark.parametrize("centred", [False, True])
def test_columns_of_an_expansion(kernel, centred):
    """Some of the functions are those columns of all."""
    X, new, A = data()
    kernel.fit(X)
    A = A - A.mean(axis=0)
    whole = Expansion(kernel, X, A, center=np.full(len(X), 1 / len(X)) if centred else None)
    np.testing.assert_allclose(whole.columns([2, 0])(new), whole(new)[:, [2, 0]], atol=1e-11)


@every_kernel
def test_expansion_in_tiles(kernel, monkeypatch):
    """Many small tiles on threads give the same values."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 5 * 5 * 8)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    X, new, A = data()
    kernel.fit(X)
    with gramian.config(threads=3):
        np.testing.assert_allclose(kernel.product(new, X, A), kernel(new, X) @ A, atol=1e-11)


@every_kernel
def test_expansion_float32(kernel):
    """Single precision in, single precision out."""
    X, new, A = data(np.float32)
    kernel.fit(X)
    out = Expansion(kernel, X, A)(new)
    assert out.dtype == np.float32
    expected = kernel(new, X) @ A
    np.testing.assert_allclose(out, expected, atol=1e-4 * np.abs(expected).max())


def test_features_replace_the_samples():
    """With finite features the fitted samples are folded into weights and not kept."""
    X, new, A = data()
    expansion = Expansion(Linear().fit(X), X, A)
    assert expansion.points is None
    assert expansion.weights.shape == (4, 3)
    np.testing.assert_allclose(expansion(csr_array(new)), new @ X.T @ A, atol=1e-12)


def test_precomputed_expansion():
    """For precomputed similarities the new rows are the block itself."""
    X, new, A = data()
    kernel = Precomputed().fit(X @ X.T)
    expansion = Expansion(kernel, X @ X.T, A)
    assert expansion.points is None
    np.testing.assert_allclose(expansion(new @ X.T), new @ X.T @ A, atol=1e-12)
    np.testing.assert_allclose(expansion(csr_array(new @ X.T)), new @ X.T @ A, atol=1e-12)


def test_the_block_is_never_stored():
    """An expansion stays within a budget that the block of kernel values would break."""
    X, new, A = data()
    with gramian.config(memory_budget=13 * 31 * 8 - 1):
        kernel = RBF().fit(X)
        with pytest.raises(gramian.MemoryBudgetError, match="use gram"):
            kernel(new, X)
        out = Expansion(kernel, X, A)(new)
    np.testing.assert_allclose(out, kernel(new, X) @ A, atol=1e-12)


@every_kernel
def test_two_expansions_side_by_side(kernel):
    """Their functions joined are those of the coefficients joined."""
    X, new, A = data()
    kernel.fit(X)
    first, second = Expansion(kernel, X, A[:, :1]), Expansion(kernel, X, A[:, 1:])
    np.testing.assert_allclose(first.beside(second)(new), Expansion(kernel, X, A)(new), atol=1e-12)


@pytest.mark.parametrize("kernel", [Linear(), RBF()])
def test_centred_expansions_side_by_side(kernel):
    X, new, A = data()
    kernel.fit(X)
    A, center = A - A.mean(axis=0), np.full(len(X), 1 / len(X))
    first, second, both = (Expansion(kernel, X, part, center=center) for part in (A[:, :1], A[:, 1:], A))
    np.testing.assert_allclose(first.beside(second)(new), both(new), atol=1e-12)
    with pytest.raises(ValueError, match="one of the expansions is centred"):
        first.beside(Expansion(kernel, X, A))
    with pytest.raises(ValueError, match="of the same kernel"):
        first.beside(Expansion(RBF(2.0).fit(X), X, A))
