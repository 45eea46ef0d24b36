"""Sums, products and multiples of kernels, their parameters, and the Gram a kernel chooses."""

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian.grams import DenseGram, FeatureGram, LazyGram
from gramian.kernels import RBF, TL1, Cosine, FunctionKernel, Laplacian, Linear, Polynomial, Product, Scaled, Sum, Tanh


def rows(n=23, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def value(kernel, x, y):
    """A combination evaluated by its definition, one pair at a time."""
    if isinstance(kernel, Sum):
        return value(kernel.first, x, y) + value(kernel.second, x, y)
    if isinstance(kernel, Product):
        return value(kernel.first, x, y) * value(kernel.second, x, y)
    if isinstance(kernel, Scaled):
        return kernel.factor * value(kernel.kernel, x, y)
    return kernel(x[None], y[None])[0, 0]


COMBINATIONS = [
    RBF(1.0) + Linear(),
    RBF(1.0) * Linear(),
    2.0 * RBF(1.0),
    RBF(1.0) * 3,
    0.0 * RBF(1.0),
    np.float64(0.5) * Laplacian(1.0),
    (RBF(1.0) + Linear()) * (0.5 * Polynomial(2) + Cosine()),
    2.0 * (3.0 * (Linear() + 0.1 * Cosine())),
    RBF(1.0) + RBF(2.0) + RBF(3.0) * RBF(0.5),
    FunctionKernel(lambda X, Y: X @ Y.T) + Tanh(),
]


@pytest.mark.parametrize("kernel", COMBINATIONS, ids=range(len(COMBINATIONS)))
def test_combinations(kernel):
    """A combination is the combination of its values, symmetric to the bit, with the diagonal and precision kept."""
    X, Y = rows(9), rows(5, seed=1)
    expected = np.array([[value(kernel, x, y) for y in np.vstack([X, Y])] for x in X])
    for fitted in (kernel, clone(kernel).fit(X)):
        K = fitted(X)
        np.testing.assert_allclose(K, expected[:, :9], atol=1e-11)
        np.testing.assert_allclose(fitted(X, Y), expected[:, 9:], atol=1e-11)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(np.diag(K), fitted.diagonal(X))
        assert fitted(X.astype(np.float32)).dtype == np.float32
        V = np.random.default_rng(2).standard_normal((5, 2))
        np.testing.assert_allclose(fitted.product(X, Y, V), fitted(X, Y) @ V, atol=1e-10)
        np.testing.assert_allclose(fitted.gram(X) @ np.eye(len(X)), K, atol=1e-10)


def test_rules_inside_combinations_are_resolved():
    """fit resolves the widths of parts on copies and leaves the parts as they were."""
    X = rows()
    kernel = RBF() + 2.0 * (Laplacian("median20") * RBF("silverman"))
    kernel.fit(X)
    assert kernel.first_.width_ == RBF().fit(X).width_
    assert kernel.second_.kernel_.first_.width_ == Laplacian("median20").fit(X).width_
    assert not hasattr(kernel.first, "width_")
    assert not hasattr(kernel.second.kernel.second, "width_")
    expected = RBF().fit(X)(X) + 2 * Laplacian("median20").fit(X)(X) * RBF("silverman").fit(X)(X)
    np.testing.assert_allclose(kernel(X), expected, atol=1e-13)


def test_parameters_have_nested_names():
    """get_params, set_params and clone reach into parts, as grid searches need."""
    kernel = RBF(1.0) + 2.0 * Polynomial(3)
    names = kernel.get_params()
    assert names["first__width"] == 1.0
    assert names["second__kernel__degree"] == 3
    kernel.set_params(first__width=0.25, second__factor=0.5, second__kernel__degree=2)
    X = rows()
    np.testing.assert_allclose(kernel(X), RBF(0.25)(X) + 0.5 * Polynomial(2)(X), atol=1e-12)
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.first is not kernel.first
    assert repr(copy) == repr(kernel)


def test_cone_is_positive():
    """Sums, products and non-negative multiples of definite kernels are definite; one indefinite part spoils it."""
    X = rows(40)
    for kernel in (RBF(1.0) + Linear(), RBF(1.0) * Linear(), 2.0 * Laplacian(1.0), Cosine() * (Linear() + RBF(0.5))):
        assert kernel.definite
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] > -1e-12 * values[-1]
    for kernel in (RBF(1.0) + Tanh(), TL1(1.0) * Linear(), 2.0 * Tanh()):
        assert not kernel.definite


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
def test_bad_factors(factor):
    """A negative or infinite multiple is refused at fit by name."""
    with pytest.raises(ValueError, match=r"factor=.* must be a finite number >= 0"):
        (factor * RBF(1.0)).fit(rows())


@pytest.mark.parametrize("other", ["rbf", None, [1.0]])
def test_only_kernels_and_numbers_combine(other):
    """Adding or multiplying anything else is a TypeError."""
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF(1.0) + other
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        RBF(1.0) * other


@pytest.mark.parametrize("part", ["rbf", RBF, None])
def test_parts_must_be_kernels(part):
    """A part that is not a kernel object is refused by name."""
    for kernel, name in (
        (Sum(part, RBF(1.0)), "first"),
        (Product(RBF(1.0), part), "second"),
        (Scaled(2, part), "kernel"),
    ):
        with pytest.raises(ValueError, match=f"{name}=.* must be a kernel object such as RBF"):
            kernel.fit(rows())


def test_attributes_of_combinations():
    """Sparse input and features are there only if all parts have them."""
    assert (Linear() + RBF(1.0)).accepts_sparse
    assert not (Linear() + Laplacian(1.0)).accepts_sparse
    assert (2.0 * Linear() + Cosine()).has_features
    assert not (Linear() * Linear()).has_features
    assert not (Linear() + RBF(1.0)).has_features


# The Gram a kernel chooses ---------------------------------------------------------------------------------


def test_gram_of_features():
    """A kernel with fewer features than samples gives a FeatureGram, otherwise the smaller dense matrix."""
    assert isinstance(Linear().gram(rows(20, 3)), FeatureGram)
    assert isinstance(Linear().gram(rows(4, 9)), DenseGram)
    assert isinstance((Linear() + Cosine()).gram(rows(20, 3)), FeatureGram)


def test_gram_of_others_follows_the_budget():
    """Other kernels give a DenseGram while it fits the memory budget, a LazyGram beyond."""
    X = rows(50)
    assert isinstance(RBF(1.0).gram(X), DenseGram)
    with gramian.config(memory_budget=50 * 50 * 8):
        assert isinstance(RBF(1.0).gram(X), DenseGram)
    with gramian.config(memory_budget=50 * 50 * 8 - 1):
        gram = RBF(1.0).gram(X)
        assert isinstance(gram, LazyGram)
        assert isinstance(RBF(1.0).gram(X.astype(np.float32)), DenseGram)
    np.testing.assert_allclose(gram @ np.eye(50), RBF(1.0)(X), atol=1e-13)


def test_features_beyond_the_budget_are_recomputed():
    """Features that exceed the budget are never held whole, and the products are the same."""
    X = rows(60, 5)
    expected = Cosine()(X)
    with gramian.config(memory_budget=60 * 5 * 8 // 4):
        gram = Cosine().gram(X)
        assert isinstance(gram, FeatureGram)
        assert gram.factor.chunk_length < 60
        np.testing.assert_allclose(gram @ np.eye(60), expected, atol=1e-13)
        np.testing.assert_allclose(Cosine().product(X, X[:9], np.eye(9)), expected[:, :9], atol=1e-13)


def test_blocks_above_the_budget_are_refused():
    """kernel(X, Y) above the budget says how large it is and what to use instead."""
    X = rows(50)
    with gramian.config(memory_budget=50 * 50 * 8 - 1):
        with pytest.raises(gramian.MemoryBudgetError, match=r"the 50×50 kernel block .* use gram\(X\)"):
            RBF(1.0)(X)
        RBF(1.0)(X, X[:49])
