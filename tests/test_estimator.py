"""What all kernel estimators share: the kernel parameter, checks of data, counts, choices and weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils import get_tags

from gramian.checks import check_choice, check_count, check_positive, check_weights, check_whole
from gramian.estimator import KernelEstimator
from gramian.grams import DenseGram, FeatureGram, SparseGram
from gramian.kernels import RBF, Laplacian, Linear, NeighborGraph, Precomputed


class Task(KernelEstimator):
    """The smallest estimator with a kernel."""

    def __init__(self, kernel="rbf"):
        self.kernel = kernel

    def fit(self, X, y=None):
        self.X_, kernel, self.gram_ = self._fit_kernel(X)
        self._keep(kernel, X)
        return self


@pytest.fixture
def X():
    return np.random.default_rng(2).standard_normal((12, 3))


class TestKernel:
    @pytest.mark.parametrize(
        ("kernel", "kind"),
        [("linear", FeatureGram), (RBF(1.0), DenseGram), ("neighbors", SparseGram), (lambda A, B: A @ B.T, DenseGram)],
        ids=["name", "object", "graph", "function"],
    )
    def test_any_way_to_name_a_kernel_gives_its_gram(self, kernel, kind, X):
        """A name, an object or a function gives the Gram of the rows."""
        task = Task(kernel).fit(X)
        assert isinstance(task.gram_, kind)
        expected = task.kernel_(X)
        np.testing.assert_allclose(task.gram_.dense(), expected.toarray() if issparse(expected) else expected)

    def test_the_parameter_is_kept_and_a_copy_is_fitted(self, X):
        """``kernel`` stays what was passed; ``kernel_`` is another, fitted one."""
        kernel = RBF("median")
        task = Task(kernel).fit(X)
        assert task.kernel is kernel
        assert not hasattr(kernel, "width_")
        assert task.kernel_.width_ == pytest.approx(RBF("median").fit(X).width_)

    def test_the_kernel_is_not_held_before_the_rest_has_succeeded(self, X):
        """Fitting the kernel leaves the estimator as it was, so a ``fit`` refused later leaves nothing behind."""
        task = Task()
        _, kernel, _ = task._fit_kernel(X)
        assert kernel.width_ > 0
        assert not hasattr(task, "kernel_")

    def test_nested_parameters_can_be_searched(self, X):
        """``kernel__width`` reaches the kernel, as a grid search needs."""
        task = clone(Task(RBF(1.0))).set_params(kernel__width=3.0).fit(X)
        assert task.kernel_.width_ == 3.0

    def test_an_unknown_name_is_refused_by_fit_not_by_tags(self, X):
        """Tags of an estimator with a bad kernel can be read; ``fit`` lists what is allowed."""
        assert not get_tags(Task("gauss")).input_tags.pairwise
        with pytest.raises(ValueError, match=r"kernel='gauss'.*'rbf'"):
            Task("gauss").fit(X)

    @pytest.mark.parametrize(
        ("kernel", "sparse", "pairwise"),
        [
            ("rbf", True, False),
            (Laplacian(1.0), False, False),
            ("precomputed", True, True),
            (NeighborGraph(), False, False),
        ],
        ids=str,
    )
    def test_tags_are_those_of_the_kernel(self, kernel, sparse, pairwise):
        """What the estimator takes is what its kernel takes."""
        tags = get_tags(Task(kernel)).input_tags
        assert (tags.sparse, tags.pairwise, tags.allow_nan) == (sparse, pairwise, False)


class TestData:
    def test_rows_are_checked_and_counted(self, X):
        """Lists become float arrays; new rows must have as many columns."""
        task = Task().fit(X.tolist())
        assert task.n_features_in_ == 3
        assert task._check_new(X.tolist()).dtype == np.float64
        with pytest.raises(ValueError, match=r"2 features.*3 features"):
            task._check_new(X[:, :2])

    def test_precision_is_kept(self, X):
        """float32 stays, integers become float64."""
        assert Task().fit(X.astype(np.float32)).X_.dtype == np.float32
        assert Task().fit(X.round().astype(int)).X_.dtype == np.float64

    def test_sparse_rows_only_where_the_kernel_takes_them(self, X):
        """CSR passes through for the linear kernel and is refused for the Laplacian one."""
        assert issparse(Task("linear").fit(csr_array(X)).X_)
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            Task("laplacian").fit(csr_array(X))

    def test_too_few_rows_are_refused(self):
        """An estimator may ask for more rows than one."""
        with pytest.raises(ValueError, match="minimum of 2 is required"):
            Task()._fit_kernel(np.ones((1, 2)), min_samples=2)

    def test_similarities_must_be_square(self, X):
        """Rows given where similarities are due are refused."""
        with pytest.raises(ValueError, match="square"):
            Task(Precomputed()).fit(X)


class TestCounts:
    @pytest.mark.parametrize("value", [1, 7, np.int32(7), 10])
    def test_whole_numbers_up_to_the_samples_pass(self, value):
        """A count within range comes back as an int."""
        result = check_count(SimpleNamespace(size=value), "size", 10)
        assert result == value
        assert type(result) is int

    @pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "3", True, np.nan, [3], None])
    def test_other_values_are_refused(self, value):
        """What is not a whole number of at least one is refused with name and value."""
        with pytest.raises(ValueError, match=r"size=.* must be a whole number >= 1$"):
            check_count(SimpleNamespace(size=value), "size", 10)

    def test_none_where_allowed(self):
        """None passes where it has a meaning, and the message then mentions it."""
        assert check_count(SimpleNamespace(size=None), "size", 10, none_allowed=True) is None
        with pytest.raises(ValueError, match="or None"):
            check_count(SimpleNamespace(size=0), "size", 10, none_allowed=True)

    def test_more_than_the_samples_are_refused(self):
        """The message has the value, the number of samples and what to pass."""
        with pytest.raises(ValueError, match="size=11 is more than the n_samples=10; pass size <= 10"):
            check_count(SimpleNamespace(size=11), "size", 10)


class TestNumbers:
    @pytest.mark.parametrize("value", [1e-9, 3, np.float32(0.5), np.int64(2)])
    def test_positive_numbers_pass(self, value):
        """Any real type above zero is a positive number; None where it has a meaning."""
        check_positive(SimpleNamespace(tol=value), "tol")
        check_positive(SimpleNamespace(tol=None), "tol", none_allowed=True)

    @pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1", True, None, 1j, [1.0]])
    def test_others_are_refused(self, value):
        """Zero, negative, infinite or no number at all is refused with name and value."""
        with pytest.raises(ValueError, match=r"tol=.* must be a positive number$"):
            check_positive(SimpleNamespace(tol=value), "tol")

    def test_whole_numbers_from_the_least_pass(self):
        """Several parameters are checked at once against the least value."""
        check_whole(SimpleNamespace(starts=1, steps=np.int32(7)), "starts", "steps")
        check_whole(SimpleNamespace(verbose=0), "verbose", least=0)

    @pytest.mark.parametrize("value", [0, -3, 1.0, 2.5, "2", True, None, np.nan])
    def test_what_is_not_whole_is_refused(self, value):
        """Fractions, words and numbers below the least are refused with name and value."""
        with pytest.raises(ValueError, match=r"starts=.* must be a whole number >= 1$"):
            check_whole(SimpleNamespace(starts=value), "starts")


class TestChoices:
    @pytest.mark.parametrize("value", ["a", "b", None])
    def test_listed_values_pass(self, value):
        """A value of the list comes back."""
        assert check_choice(SimpleNamespace(mode=value), "mode", ("a", "b", None)) is value

    @pytest.mark.parametrize("value", ["c", 0, "A", np.array(["a", "b"]), ["a"]], ids=str)
    def test_others_are_refused(self, value):
        """A value that is not listed, array or not, is refused with all that are."""
        with pytest.raises(ValueError, match=r"mode=.*'a', 'b'"):
            check_choice(SimpleNamespace(mode=value), "mode", ("a", "b"))


class TestWeights:
    def test_weights_take_the_dtype(self):
        """Integers become the floats of the Gram."""
        weights = check_weights([1, 0, 3], 3, np.float32)
        assert weights.dtype == np.float32
        np.testing.assert_array_equal(weights, [1, 0, 3])

    @pytest.mark.parametrize(
        "weights", [[1, 2], [[1, 2, 3]], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1]], ids=str
    )
    def test_bad_weights_are_refused(self, weights):
        """Wrong shapes, negative, infinite or all zero weights are refused by name."""
        with pytest.raises(ValueError, match="sample_weight"):
            check_weights(weights, 3, np.float64)


def test_linear_features_are_the_rows(X):
    """A kernel with features gives a Gram that holds them, not an n×n matrix."""
    gram = Task(Linear()).fit(X).gram_
    np.testing.assert_array_equal(gram.factor.chunk_of(slice(0, 12)), X)
