"""What all kernel estimators share: the kernel parameter, checks of data, counts, choices and weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils import get_tags

from gramian.estimator import KernelEstimator, _seeded
from gramian.grams import DenseGram, FeatureGram, SparseGram
from gramian.kernels import RBF, ClusterKernel, Laplacian, Linear, NeighborGraph, Precomputed


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


def test_linear_features_are_the_rows(X):
    """A kernel with features gives a Gram that holds them, not an n×n matrix."""
    gram = Task(Linear()).fit(X).gram_
    np.testing.assert_array_equal(gram.factor.chunk_of(slice(0, 12)), X)


class TestSeeds:
    """Kernels that draw random numbers follow the estimator, if they have no seed of their own."""

    def test_unset_seeds_are_set_and_given_ones_kept(self):
        """Also one level down, and for a kernel given by name."""
        by_name = _seeded(NeighborGraph(3, kernel="cluster"), 0)
        assert isinstance(by_name.kernel.random_state, int)
        assert by_name.kernel.random_state == _seeded(NeighborGraph(3, kernel="cluster"), 0).kernel.random_state
        assert by_name.kernel.random_state != _seeded(NeighborGraph(3, kernel="cluster"), 1).kernel.random_state
        assert _seeded(ClusterKernel(random_state=5), 0).random_state == 5
        assert _seeded(ClusterKernel(), None).random_state is None
