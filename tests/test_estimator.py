"""What all kernel estimators share: the kernel parameter, checks of data, counts, choices and weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils import get_tags, validation
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from gramian import checks
from gramian.checks import check_classes, check_targets
from gramian.clustering import KernelKMeans, SpectralClustering
from gramian.embedding import KernelECA, KernelPCA
from gramian.estimator import KernelEstimator, _seeded
from gramian.grams import DenseGram, FeatureGram, SparseGram
from gramian.kernels import RBF, ClusterKernel, Columns, Expansion, Laplacian, Linear, NeighborGraph, Precomputed
from gramian.landmarks import FourierFeatures, Nystroem


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


class Ridge(RegressorMixin, KernelEstimator):
    """Weighted kernel ridge regression without an offset, as short as a supervised estimator can be."""

    def __init__(self, kernel="rbf"):
        self.kernel = kernel

    def fit(self, X, y, sample_weight=None):
        samples = X
        X = self._check_rows(X)
        y = self._targets(y, X.shape[0])
        weights = self._check_weights(sample_weight, X)
        kernel, gram = self._fit_on(X, weights)
        used = np.ones(X.shape[0], bool) if weights is None else weights > 0
        ridge = np.ones(used.sum()) if weights is None else 1 / weights[used]
        solution = np.linalg.solve(gram.dense()[np.ix_(used, used)] + np.diag(ridge), y[used])
        coefficients = np.zeros((X.shape[0], *y.shape[1:]))
        coefficients[used] = solution
        self.shape_ = y.shape[1:]
        self.expansion_ = Expansion(kernel, X, coefficients.reshape(X.shape[0], -1), gram=gram)
        self._keep(kernel, samples)
        return self

    def _targets(self, y, n):
        return check_targets(y, n)

    def predict(self, X):
        check_is_fitted(self, "expansion_")
        values = self.expansion_.unchecked(self._check_new(X))
        return values.reshape(len(values), *self.shape_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True
        return tags


class Classes(ClassifierMixin, Ridge):
    """The class with the largest of the regressions on class indicators."""

    def _targets(self, y, n):
        self.classes_, codes = check_classes(y, n)
        return np.eye(len(self.classes_))[codes]

    def predict(self, X):
        scores = super().predict(X)
        return self.classes_[scores.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.estimator_type = "classifier"
        tags.regressor_tags = None
        return tags


class TestSupervised:
    """What an estimator with targets and weights is built of."""

    @pytest.mark.parametrize("shape", [(), (1,), (2,)])
    def test_one_target_or_several(self, shape, X):
        """Predictions have the shape of the targets and equal scikit-learn's kernel ridge regression."""
        y = np.random.default_rng(0).standard_normal((12, *shape))
        model = Ridge(RBF(1.5)).fit(X, y)
        peer = KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / (2 * 1.5**2)).fit(X, y)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-10)

    def test_weights_are_repetitions(self, X):
        """Weighted rows are repeated rows, in the width of the kernel too."""
        y, weights = X[:, 0] ** 2, np.arange(12) % 3
        weighted = Ridge().fit(X, y, sample_weight=weights)
        repeated = Ridge().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.kernel_.width_ == pytest.approx(repeated.kernel_.width_)
        assert weighted.kernel_.width_ != pytest.approx(Ridge().fit(X, y).kernel_.width_)
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)

    def test_weights_take_the_precision_of_the_rows(self, X):
        """Checked weights have the dtype of X; none are None; bad ones are refused by name."""
        assert Task()._check_weights([1] * 12, X.astype(np.float32)).dtype == np.float32
        assert Task()._check_weights(None, X) is None
        with pytest.raises(ValueError, match="sample_weight has shape"):
            Task()._check_weights([1.0], X)

    def test_classes(self, X):
        """Labels of any kind are learned and given back."""
        y = np.where(X[:, 0] > 0, "yes", "no")
        np.testing.assert_array_equal(Classes(RBF(0.2)).fit(X, y).predict(X), y)

    @pytest.mark.parametrize("estimator", [Ridge(), Classes()], ids=["regressor", "classifier"])
    def test_scikit_learn_checks(self, estimator):
        """An estimator of these parts passes scikit-learn's checks, weights among them."""
        check_estimator(estimator, on_skip=None)


@pytest.fixture
def checked(monkeypatch):
    """The arrays that scikit-learn was asked to check, in order."""
    seen = []
    original = validation.check_array

    def counted(array, *arguments, **options):
        seen.append(array)
        return original(array, *arguments, **options)

    for module in (validation, checks):
        monkeypatch.setattr(module, "check_array", counted)
    return seen


ONE_CHECK = [
    KernelPCA(),
    KernelPCA(kernel="linear"),
    KernelPCA(kernel=0.5 * RBF() + Linear() * Laplacian()),
    KernelPCA(kernel=Columns(RBF(), [0, 2])),
    KernelPCA(kernel=Nystroem(5, random_state=0)),
    KernelPCA(kernel=FourierFeatures(5, random_state=0)),
    KernelPCA(kernel=ClusterKernel(2, 3, random_state=0)),
    KernelECA(),
    KernelKMeans(2, n_init=1, random_state=0),
]


class TestOneCheck:
    """Rows are checked once on their way, whatever kernel they pass through."""

    @pytest.mark.parametrize("estimator", ONE_CHECK, ids=str)
    def test_fit_checks_the_rows_once(self, estimator, X, checked):
        """Neither the kernel's fit, nor its Gram, checks the rows again."""
        clone(estimator).fit(X)
        assert sum(array.shape == X.shape for array in checked) == 1

    @pytest.mark.parametrize("estimator", ONE_CHECK, ids=str)
    def test_new_rows_are_checked_once(self, estimator, X, checked):
        """Nor does the kernel's product with the fitted rows."""
        model = clone(estimator).fit(X)
        checked.clear()
        model.transform(X[:5]) if hasattr(model, "transform") else model.predict(X[:5])
        assert sum(array.shape in (X.shape, (5, 3)) for array in checked) == 1

    def test_spectral_clustering(self, X, checked):
        """Spectral clustering checks the rows once; k-means checks its embedding."""
        SpectralClustering(2, kernel="rbf", random_state=0).fit(X)
        assert sum(array.shape == X.shape for array in checked) == 1
