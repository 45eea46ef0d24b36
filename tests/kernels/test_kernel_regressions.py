"""Kernels in cases that once went wrong."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import gramian
from gramian.kernels import (
    RBF,
    Cosine,
    Expansion,
    FunctionKernel,
    NeighborGraph,
    Precomputed,
    SquaredDistance,
    as_kernel,
    resolve_width,
)


def gaussian(X, width=1.0):
    """exp(−‖x−y‖²/(2 width²)) from the differences, in float64."""
    X = X.astype(np.float64)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * width**2))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_cosine_at_any_scale(scale):
    """The cosine of rows whose squares leave the range of floats is still the cosine."""
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(Cosine()(X * scale), Cosine()(X), atol=1e-12)


@pytest.mark.parametrize(("scale", "dtype"), [(1e-170, np.float64), (1e160, np.float64), (1e-21, np.float32)])
def test_extreme_widths(scale, dtype):
    """A width whose square leaves the range gives the kernel or an error about the width, never NaN or ZeroDivision."""
    X = np.array([[1.0], [2.0], [0.0]])
    try:
        K = RBF(scale)((X * scale).astype(dtype))
    except ValueError:
        return
    np.testing.assert_allclose(K, gaussian(X), atol=1e-4)


@pytest.mark.parametrize("mutual", [False, True])
def test_graphs_with_negative_weights(mutual):
    """A weighting kernel of negative values keeps the edges that the rule asks for."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    plain = NeighborGraph(2, mutual=mutual).fit(X)(X).toarray() > 0
    weighted = NeighborGraph(2, mutual=mutual, kernel=SquaredDistance()).fit(X)(X).toarray() != 0
    np.testing.assert_array_equal(weighted, plain)


def test_graph_takes_kernel_names():
    """kernel="rbf" means RBF in a neighbour graph as it does everywhere."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    expected = NeighborGraph(2, kernel=RBF()).fit(X)(X).toarray()
    np.testing.assert_array_equal(NeighborGraph(2, kernel="rbf").fit(X)(X).toarray(), expected)


def test_radius_graph_respects_the_budget():
    """A radius that connects everything is refused above the budget, before it is built."""
    X = np.random.default_rng(0).standard_normal((1000, 2))
    with gramian.config(memory_budget="1MB"), pytest.raises(gramian.MemoryBudgetError, match="radius"):
        NeighborGraph(radius=100.0).fit(X).gram(X)


def test_silverman_far_from_the_origin():
    """The variance is not lost for data at 1e8."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    assert resolve_width("silverman", X + 1e8) == pytest.approx(resolve_width("silverman", X), rel=1e-6)


def test_silverman_uses_all_rows():
    """n in Silverman's rule is the number of rows, not of the sample."""
    X = np.random.default_rng(0).standard_normal((50000, 2))
    expected = np.sqrt(X.var(axis=0).mean()) * (4 / (4 * 50000)) ** (1 / 6)
    assert resolve_width("silverman", X) == pytest.approx(expected, rel=0.02)


def test_silverman_of_equal_rows():
    """Equal rows are refused by every rule."""
    with pytest.raises(ValueError, match="all rows are equal"):
        resolve_width("silverman", np.full((50, 3), 0.1))


def test_mean_knn_uses_all_rows():
    """Distances to the nearest neighbours are those in the data, not in a thinner sample."""
    from scipy.spatial import cKDTree

    X = np.random.default_rng(0).standard_normal((20000, 2))
    expected = cKDTree(X).query(X, k=11)[0][:, 1:].mean()
    assert resolve_width("mean_knn", X) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("rule", ["range", "spectroscopy", "mean_knn"])
def test_messages_do_not_claim_equal_rows(rule):
    """Where a rule finds zero although rows differ, it falls back or says so truthfully."""
    X = np.array([[0.0], [1.0]]) if rule == "range" else np.repeat([[0.0], [1.0]], 20, axis=0)
    message = ""
    try:
        assert resolve_width(rule, X) > 0
    except ValueError as error:
        message = str(error)
    assert "all rows are equal" not in message


def test_asymmetric_functions_are_refused():
    """A function that is not symmetric is refused or averaged, but not cut together tile by tile."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    A = np.array([[1.0, 2.0], [0.0, 1.0]])
    kernel = FunctionKernel(lambda L, R: L @ A @ R.T)
    try:
        with gramian.config(threads=1):
            one = kernel(X)
        with gramian.config(threads=4):
            four = kernel(X)
    except ValueError:
        return
    np.testing.assert_allclose(one, four, atol=1e-12)
    np.testing.assert_allclose(one, X @ (A + A.T) @ X.T / 2, atol=1e-12)


def test_functions_keep_their_arrays():
    """A multiple of a function kernel does not write into what the function returned."""
    stored = np.ones((5, 4))
    kernel = 2.0 * FunctionKernel(lambda L, R: stored[: len(L), : len(R)])
    X = np.ones((5, 1))
    kernel.product(X, X[:4], np.ones((4, 1)))
    np.testing.assert_array_equal(stored, 1)


@pytest.mark.parametrize("rows", [9, 5])
def test_coefficients_must_match(rows):
    """Coefficients for another number of samples are refused by name, whatever the kernel."""
    X = np.random.default_rng(0).standard_normal((6, 2))
    for kernel in (RBF(1.0), gramian.kernels.Linear()):
        with pytest.raises(ValueError, match="6"):
            kernel.product(X, X, np.ones((rows, 1)))
        with pytest.raises(ValueError, match="6"):
            Expansion(kernel, X, np.ones((rows, 1)))(X)


def test_product_with_a_vector():
    """kernel.product takes a vector as K @ v does."""
    X = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(RBF(1.0).product(X, X, np.ones(6)), RBF(1.0)(X).sum(axis=1), atol=1e-12)


def test_kernel_classes_are_not_functions():
    """A class in place of a kernel object is refused with a hint."""
    with pytest.raises(ValueError, match="RBF"):
        as_kernel(RBF)


def test_float32_similarities_do_not_warn():
    """Asymmetry at the rounding of single precision is silent."""
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    K = rbf_kernel(X, gamma=0.3)
    K += np.triu(np.full_like(K, 6e-8), 1)
    held = Precomputed().fit(K).gram(K).dense()
    np.testing.assert_array_equal(held, (K + K.T) / 2)


def test_diagonal_of_new_similarities_is_unknown():
    """Rows of similarities to the fitted samples have no diagonal; asking is an error."""
    kernel = Precomputed().fit(np.eye(4))
    with pytest.raises(ValueError, match="square"):
        kernel.diagonal(np.ones((2, 4)))


def test_a_failed_fit_leaves_nothing():
    """After a refused fit the kernel is as unfitted as before."""
    kernel = RBF(width=-1.0)
    with pytest.raises(ValueError, match="width"):
        kernel.fit(np.eye(3))
    assert not [name for name in vars(kernel) if name.endswith("_")]


@pytest.mark.parametrize("bad", [float("inf"), "1.2.3GB", [1], 0.5, True])
def test_bad_budgets(bad):
    """Every budget that is not a positive size is refused with the remedy, and threads are ints of any kind."""
    with gramian.config(), pytest.raises(ValueError, match="memory_budget="):
        gramian.config(memory_budget=bad)
    with gramian.config(threads=np.int64(2)) as settings:
        assert settings.threads == 2
