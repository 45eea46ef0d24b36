"""What the base of all kernels does: the Gram it chooses, blocks within memory, and rows that are checked once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import gramian
from gramian.grams import DenseGram, FeatureGram, LazyGram
from gramian.kernels import (
    RBF,
    ClusterKernel,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    as_kernel,
    base,
)
from gramian.kernels.base import FeatureKernel


def rows(n=23, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


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


def test_features_above_the_budget_are_refused():
    """features(X) above the budget says how large it is and what to do."""
    X = rows(50)
    with gramian.config(memory_budget=50 * 3 * 8 - 1):
        with pytest.raises(gramian.MemoryBudgetError, match=r"the 50×3 array of features .* a part of the rows"):
            Cosine().features(X)
        Cosine().features(X[:49])


def test_values_that_overflow():
    """A value beyond the range of floats is an error that names the kernel and the remedy, in blocks and Grams."""
    X = 1e200 * rows()
    for ask in (Polynomial(2), Polynomial(2).gram, Polynomial(2).diagonal, Linear().gram):
        with pytest.raises(ValueError, match=r"overflows float64 .* scale the columns"):
            ask(X)


def test_product_needs_a_row_for_each_column():
    """V must have as many rows as Y."""
    with pytest.raises(ValueError, match=r"V has shape \(4, 2\) but Y has 5 rows; pass V of shape \(5, b\)"):
        RBF(1.0).product(rows(9), rows(5), np.ones((4, 2)))


def test_a_kernel_of_features():
    """A kernel that writes its features and nothing else has blocks, a diagonal, products and a Gram."""

    class Signs(FeatureKernel):
        def _features(self, X):
            return np.sign(X)

    X, Y = rows(), rows(5, seed=1)
    kernel = Signs().fit(X)
    S = np.sign(X)
    np.testing.assert_array_equal(kernel(X), S @ S.T)
    np.testing.assert_array_equal(kernel.diagonal(X), np.full(23, 3.0))
    np.testing.assert_array_equal(kernel.product(X, Y, np.eye(5)), S @ np.sign(Y).T)
    assert isinstance(kernel.gram(X), FeatureGram)


def test_tags():
    """Tags say what the kernel takes."""
    tags = get_tags(ClusterKernel()).input_tags
    assert (tags.allow_nan, tags.sparse, tags.pairwise) == (True, False, False)
    tags = get_tags(Precomputed()).input_tags
    assert (tags.allow_nan, tags.sparse, tags.pairwise) == (False, True, True)
    assert get_tags(RBF()).input_tags.sparse


def test_names_of_columns():
    """A data frame's columns are remembered, and another order is refused."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows(), columns=["a", "b", "c"])
    kernel = RBF().fit(X)
    assert list(kernel.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        kernel(X[["b", "a", "c"]])


# Rows that are checked already -----------------------------------------------------------------------------


class Doubled(RBF):
    """A kernel of a user who writes public methods over again."""

    def fit(self, X, y=None):
        self.fitted_ = len(X)
        return super().fit(X, y)

    def gram(self, X):
        return DenseGram(2 * super().gram(X).dense())

    def product(self, X, Y, V):
        return 2 * super().product(X, Y, V)


def test_hooks_are_used_unless_the_method_is_written_over_again():
    """Without checks a kernel answers as with them; a subclass's own public methods are not passed over."""
    X = rows()
    for kernel, factor in ((RBF(1.0), 1), (Doubled(1.0), 2)):
        kernel._fitted(X)
        K = RBF(1.0)(X)
        np.testing.assert_allclose(kernel._unchecked("gram")(X).dense(), factor * K, atol=1e-14)
        np.testing.assert_allclose(kernel._unchecked("product")(X, X, np.eye(23)), factor * K, atol=1e-14)
        assert kernel.n_features_in_ == 3
        assert kernel.width_ == 1.0
    assert kernel.fitted_ == 23
    assert RBF()._unchecked("gram").__name__ == "_gram"
    assert Doubled()._unchecked("gram").__name__ == "gram"


def test_weights_reach_the_rule_without_checks():
    """``_fitted`` counts weights as ``fit`` does."""
    X, weights = rows(), np.arange(23.0)
    assert RBF()._fitted(X, weights).width_ == RBF().fit(X, sample_weight=weights).width_ != RBF().fit(X).width_


def test_a_kernel_must_say_how():
    """The base has no values of its own."""
    with pytest.raises(NotImplementedError):
        Kernel().diagonal(rows())
    with pytest.raises(TypeError, match="Laplacian has no finite features"):
        Laplacian(1.0).features(rows())


def test_a_name_belongs_to_one_class():
    """Another class cannot take the name of a kernel; the same class may be defined anew, as in a notebook."""
    with pytest.raises(ValueError, match="name='rbf' belongs to RBF; give Thief another one"):

        class Thief(Linear, name="rbf"):
            pass

    assert type(as_kernel("rbf")) is RBF

    def define():
        class Mine(Linear, name="mine"):
            pass

        return Mine

    try:
        define()
        second = define()
        assert type(as_kernel("mine")) is second
    finally:
        base._NAMED.pop("mine")


def test_a_frozen_kernel_keeps_what_it_learned():
    X, other = rows(), 3 * rows(seed=1)
    kernel = RBF("median").fit(X)
    kept = kernel.frozen()
    assert kept.fit(other) is kept
    assert kept.width_ == kernel.width_ != RBF("median").fit(other).width_
    assert clone(kept) is kept
    assert clone(kernel) is not kernel
    model = gramian.KernelPCA(kernel=kept).fit(other)
    np.testing.assert_array_equal(model.embedding_, gramian.KernelPCA(kernel=RBF(kernel.width_)).fit(other).embedding_)
    assert kernel.fit(other).width_ != kept.width_  # the original goes on learning


def test_a_frozen_kernel_draws_no_mixtures_again():
    X = rows(60)
    kernel = ClusterKernel(4, 5, random_state=0).fit(X)
    model = gramian.KernelPageRank(kernel=kernel.frozen(), random_state=1).fit(X)
    assert model.kernel_.means_ is kernel.means_
    np.testing.assert_allclose(model.degrees_, kernel(X).sum(axis=1))


def test_a_kernel_of_its_own_fit_can_be_frozen(monkeypatch):
    calls = []
    monkeypatch.setattr(Doubled, "fit", lambda self, X, y=None: calls.append(len(X)) or RBF.fit(self, X), raising=False)
    kernel = Doubled("median").fit(rows()).frozen()
    gramian.KernelPCA(kernel=kernel).fit(rows(seed=2))
    assert calls == [23]


def test_only_a_fitted_kernel_can_be_frozen():
    with pytest.raises(NotFittedError):
        RBF("median").frozen()
