"""The cluster kernel: what holds for every ensemble, with and without holes, fitted rows and new ones."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import SVC

import gramian
from gramian import Nystroem, SpectralClustering
from gramian.datasets import load_table
from gramian.grams import DenseGram, FeatureGram
from gramian.grams.features import KernelFactor, MatrixFactor
from gramian.kernels import ClusterKernel, Linear
from gramian.metrics import clustering_accuracy
from gramian.mixture import mcar


def small(**changes):
    """An ensemble that is quick to fit."""
    return ClusterKernel(**{"n_restarts": 5, "max_components": 6, "random_state": 0, **changes})


@pytest.fixture
def holes():
    X, _ = make_blobs(90, centers=3, n_features=4, random_state=0)
    return mcar(X, 0.3, random_state=1)[0]


def posteriors_one_by_one(kernel, X):
    """γ of every mixture by Bayes' rule and SciPy's densities, from the fitted attributes alone."""
    Z = (X[:, kernel.columns_] - kernel.center_) / kernel.scale_
    begin = 0
    for size in kernel.sizes_:
        own = slice(begin, begin + size)
        begin += size
        densities = norm.logpdf(Z[:, None], kernel.means_[own], np.sqrt(kernel.covariances_[own]))
        logs = np.log(kernel.weights_[own]) + np.nansum(densities, axis=2)
        yield np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])


# The formula ------------------------------------------------------------------------------------------------


def test_kernel_is_the_mean_dot_product_of_posteriors(holes):
    """k(x, y) = 1/M Σ γ(x)·γ(y), recomputed mixture by mixture."""
    kernel = small(threshold=0).fit(holes)
    expected = np.mean([gamma @ gamma.T for gamma in posteriors_one_by_one(kernel, holes)], axis=0)
    assert len(kernel.sizes_) == 5 * 5
    assert_allclose(kernel(holes), expected, atol=1e-12)


@pytest.mark.parametrize("threshold", [0, 1e-6])
@pytest.mark.parametrize("options", [{}, {"normalize": "cosine"}, {"hard": True}, {"covariance_type": "spherical"}])
def test_block_features_gram_and_diagonal_say_the_same(holes, options, threshold):
    """Four ways to ask for the kernel agree, on fitted rows and between fitted and new ones."""
    kernel = small(threshold=threshold, **options).fit(holes)
    K, F = kernel(holes), kernel.features(holes)
    dense = F.toarray() if issparse(F) else F
    assert issparse(F) == (threshold > 0 or "hard" in options)
    assert_allclose(dense @ dense.T, K, atol=1e-12)
    assert_allclose(kernel.gram(holes).dense(), K, atol=1e-12)
    assert_allclose(kernel.diagonal(holes), np.diagonal(K), atol=1e-12)
    assert_allclose(kernel(holes[:7], holes), K[:7], atol=1e-12)
    assert_allclose(kernel.product(holes[:7], holes, np.eye(len(holes))), K[:7], atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"normalize": "cosine"}, {"hard": True}])
def test_a_definite_kernel_between_zero_and_one(holes, options):
    """Symmetric to the bit, no negative eigenvalue, entries in [0, 1] and bounded by the diagonal."""
    K = small(**options).fit(holes)(holes)
    assert_array_equal(K, K.T)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-10 * values[-1]
    assert K.min() >= 0
    assert K.max() <= 1 + 1e-12
    diagonal = np.diagonal(K)
    assert (np.sqrt(np.outer(diagonal, diagonal)) + 1e-12 >= K).all()
    if options:
        assert_allclose(diagonal, 1)
    else:
        # A posterior over g components has a squared length of at least 1/g.
        assert diagonal.min() >= np.mean(1 / np.arange(2, 7)) - 1e-12


def test_posteriors_sum_to_one(holes):
    """The features of a row sum to √M."""
    sums = small(threshold=0).fit(holes).features(holes).sum(axis=1)
    assert_allclose(sums, np.sqrt(25), rtol=1e-12)


@pytest.mark.parametrize("threshold", [1e-6, 1e-4, 1e-2])
def test_threshold_lowers_the_kernel_by_less_than_twice_itself(holes, threshold):
    """Dropped posteriors cost at most 2·threshold, whichever pair of rows."""
    exact, dropped = (small(threshold=value).fit(holes) for value in (0, threshold))
    error = exact(holes) - dropped(holes)
    assert error.min() >= -1e-15
    assert error.max() <= 2 * threshold
    assert dropped.features(holes).nnz < exact.features(holes).size


def test_hard_kernel_counts_shared_components(holes):
    """With hard memberships k is the share of mixtures whose most probable components coincide."""
    kernel = small(hard=True).fit(holes)
    winners = [gamma.argmax(axis=1) for gamma in posteriors_one_by_one(kernel, holes)]
    expected = np.mean([own[:, None] == own for own in winners], axis=0)
    assert_allclose(kernel(holes), expected, atol=1e-12)


def test_worked_example_of_the_paper():
    """γ = (.80, .15, .05) and (.91, .05, .04) have similarity .7375; with the second's first two swapped .1785."""
    x, y, z = np.array([0.80, 0.15, 0.05]), np.array([0.91, 0.05, 0.04]), np.array([0.05, 0.91, 0.04])
    kernel = ClusterKernel(1, 3, min_components=3, threshold=0, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]])
    kernel.means_, kernel.covariances_ = np.zeros((3, 1)), np.ones((3, 1))

    def blank(weights):  # a row without values has the weights as posteriors
        kernel.weights_ = weights
        return kernel.features([[np.nan]])[0]

    assert_allclose(blank(x) @ blank(y), 0.7375)
    assert_allclose(blank(x) @ blank(z), 0.1785)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_full_covariances_are_those_of_the_mixtures(holes, covariance):
    """k from SciPy's densities of the observed cells under the stored covariances; fitted rows and new ones alike."""
    kernel = small(n_restarts=2, max_components=3, covariance_type=covariance, threshold=0).fit(holes)
    Z = (holes - kernel.center_) / kernel.scale_
    begin, blocks = 0, []
    for m, size in enumerate(kernel.sizes_):
        logs = np.empty((len(Z), size))
        for k in range(begin, begin + size):
            S = kernel.covariances_[k if covariance == "full" else m]
            for i, z in enumerate(Z):
                o = ~np.isnan(z)
                density = multivariate_normal.logpdf(z[o], kernel.means_[k, o], S[np.ix_(o, o)])
                logs[i, k - begin] = np.log(kernel.weights_[k]) + density
        begin += size
        gamma = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        blocks.append(gamma @ gamma.T)
    assert_allclose(kernel(holes), np.mean(blocks, axis=0), atol=1e-9)
    assert_allclose(kernel.features(holes) @ kernel.features(holes[:5]).T, kernel(holes, holes[:5]), atol=1e-9)
    assert small(covariance_type=covariance).fit(holes[:40]).features(holes).nnz > 0


def test_full_covariance_follows_slanted_groups():
    """Two parallel, thin, slanted groups are apart for full covariances and mixed up for diagonal ones."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(200, 1))
    y = np.repeat([0, 1], 100)
    X = np.hstack([t, t]) + 0.05 * rng.normal(size=(200, 2)) + 0.4 * np.outer(y, [1, -1])
    contrast = {}
    for covariance in ("diag", "full"):
        K = ClusterKernel(10, 3, covariance_type=covariance, max_iter=40, random_state=0).fit(X)(X)
        same = y[:, None] == y
        contrast[covariance] = K[same].mean() / K[~same].mean()
    assert contrast["full"] > 1.5 * contrast["diag"]


# Invariance ------------------------------------------------------------------------------------------------


def test_order_unit_and_origin_of_columns_do_not_matter(holes):
    """Columns in another order, in other units and shifted give the same kernel, if standardised."""
    K = small().fit(holes)(holes)
    permuted = holes[:, [2, 0, 3, 1]]
    rescaled = holes * [1e3, -1e-3, 7.0, 1.0] + [5e3, 0, -1, 2]
    for other in (permuted, rescaled):
        assert_allclose(small().fit(other)(other), K, atol=1e-8)


def test_without_standardising_units_do_not_matter_either(holes):
    """Multiplying the whole table changes nothing where columns share a unit."""
    kernel = small(standardize=False)
    assert_allclose(kernel.fit(holes)(holes), kernel.fit(255 * holes)(255 * holes), atol=1e-8)
    assert np.abs(kernel.fit(holes)(holes) - small().fit(holes)(holes)).max() > 0.01


def test_n_jobs_and_batches_do_not_change_the_result(holes):
    """One thread, two threads, rows together or one by one: the same kernel, to the bit for the fit."""
    X, _ = make_blobs(4000, centers=4, n_features=5, random_state=0)
    one, two = (small(n_jobs=jobs).fit(X) for jobs in (1, 2))
    for name in ("weights_", "means_", "covariances_"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    F = one.features(X)[:1500]
    pieces = np.vstack([two.features(X[rows : min(rows + 37, 1500)]).toarray() for rows in range(0, 1500, 37)])
    assert_allclose(F.toarray(), pieces, atol=1e-12)


def test_random_state_repeats_and_restarts_extend(holes):
    """The same seed gives the same kernel, and more restarts keep the first ones."""
    assert_array_equal(small().fit(holes)(holes), small().fit(holes)(holes))
    per_restart = 20
    means = small().fit(holes).means_
    assert np.abs(means[:per_restart] - means[per_restart : 2 * per_restart]).max() > 1e-3  # restarts differ
    few, many = small(n_restarts=2).fit(holes), small(n_restarts=3).fit(holes)
    assert_array_equal(few.means_, many.means_[: len(few.means_)])
    assert np.abs(small(random_state=1).fit(holes)(holes) - small().fit(holes)(holes)).max() > 1e-3


def test_duplicated_rows_have_equal_similarities(holes):
    """Copies of a row are as alike as the row is to itself, and equally like all others."""
    twice = np.vstack([holes, holes[:10]])
    K = small().fit(twice)(twice)
    assert_allclose(K[:10], K[-10:], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(holes, dtype):
    """float32 stays float32, and says nearly the same as float64 from the same mixtures."""
    kernel = small().fit(holes.astype(dtype))
    assert kernel(holes.astype(dtype)).dtype == kernel.features(holes.astype(dtype)).dtype == dtype
    assert kernel.means_.dtype == dtype
    precise = small().fit(holes)
    assert_allclose(precise(holes.astype(np.float32)), precise(holes), atol=1e-4)


def test_a_data_frame_gives_the_same(holes):
    """pandas in, names kept."""
    frame = pd.DataFrame(holes, columns=list("abcd"))
    kernel = small().fit(frame)
    assert_allclose(kernel(frame), small().fit(holes)(holes), atol=1e-10)
    assert list(kernel.feature_names_in_) == list("abcd")


# Holes, and rows that come later -----------------------------------------------------------------------------


def test_complete_training_incomplete_later():
    """Mixtures of complete rows place new rows with any pattern of holes."""
    X, y = make_blobs(200, centers=3, n_features=6, random_state=3)
    kernel = small().fit(X)
    new = mcar(X, 0.5, random_state=0)[0]
    nearest = y[kernel(new, X).argmax(axis=1)]
    assert np.mean(nearest == y) > 0.95


def test_a_row_without_values_is_as_like_as_chance(holes):
    """Its memberships are the weights of the components; the fit warns."""
    blank = np.vstack([holes, np.full((1, 4), np.nan)])
    with pytest.warns(UserWarning, match="1 row has no observed value"):
        kernel = small(threshold=0).fit(blank)
    weights = np.split(kernel.weights_, np.cumsum(kernel.sizes_)[:-1])
    assert_allclose(kernel([[np.nan] * 4])[0, 0], np.mean([w @ w for w in weights]))


def test_columns_that_say_nothing_are_left_out(holes):
    """Constant columns and columns without any value change nothing, and may hold anything later."""
    extended = np.column_stack([np.full(len(holes), 7.0), holes, np.full(len(holes), np.nan)])
    kernel = small().fit(extended)
    assert kernel.columns_.tolist() == [False, True, True, True, True, False]
    assert_allclose(kernel(extended), small().fit(holes)(holes), atol=1e-12)
    changed = extended.copy()
    changed[:, 0], changed[:, -1] = -3.0, 1.0
    assert_array_equal(kernel(changed), kernel(extended))


def test_rows_from_far_away_stay_finite(holes):
    """Values that square to infinity belong to some component like any other."""
    for dtype in (np.float32, np.float64):
        kernel = small().fit(holes.astype(dtype))
        far = np.full((2, 4), [[1e30], [-1e30]], dtype)
        K = kernel(far, holes.astype(dtype))
        assert np.isfinite(K).all()
        assert_allclose(kernel.diagonal(far).min(), kernel.diagonal(far).max(), atol=0.5)


def test_nearly_constant_columns_meet_the_floor():
    """A column that varies in a handful of rows is constant in most subsets; nothing degenerates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[:, 2] = 0.5
    X[:2, 2] = 1.0
    K = small().fit(X)(X)
    assert np.isfinite(K).all()


@pytest.mark.parametrize("covariance", ["diag", "spherical", "full"])
def test_no_component_is_narrower_than_half_a_step(covariance):
    """Ratings that repeat leave every component at least half a step of spread, beside continuous columns too."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 6, (200, 3)).astype(float), rng.normal(size=200)])
    kernel = small(n_restarts=2, covariance_type=covariance).fit(X)
    variances = kernel.covariances_ if covariance != "full" else np.diagonal(kernel.covariances_, axis1=1, axis2=2)
    least = np.sqrt(variances.min(axis=0)) * kernel.scale_
    assert (least[:3] > 0.499).all() if covariance != "spherical" else (least > 0.3).all()


def test_equal_ratings_do_not_take_over():
    """Half the rows equal, half spread: the second eigenvector tells the two apart, not one heap of copies."""
    X, y = load_table("breast_w").X, load_table("breast_w").y
    for embedding, least in (("kpca", 0.5), ("sym", 0.65), ("rw", 0.75)):
        model = SpectralClustering(2, kernel="cluster", embedding=embedding, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) > least
    assert adjusted_rand_score(y, SpectralClustering(2, random_state=0).fit(X).labels_) > 0.5


@pytest.mark.parametrize("value", [1e3, 1e4, 1e6])
def test_one_row_far_away_does_not_blur_the_others(value):
    """A single wild row leaves the similarities of all others as they were, nearly."""
    X, y = make_blobs(200, centers=3, n_features=4, random_state=0)
    X[0] = value
    K = ClusterKernel(10, 12, random_state=0).fit(X)(X)[1:, 1:]
    same = y[1:, None] == y[1:]
    assert K[same].mean() > 5 * K[~same].mean()


@pytest.mark.parametrize("size", [1e160, 1e-170])
@pytest.mark.parametrize("standardize", [True, False])
def test_units_whose_squares_are_no_numbers(holes, size, standardize):
    """Very large and very small units give the same kernel."""
    kernel = small(standardize=standardize)
    assert_allclose(kernel.fit(holes * size)(holes * size), kernel.fit(holes)(holes), atol=1e-8)


def test_a_few_deviations_are_not_cut_off(holes):
    """Rows ten deviations out are told from rows seven out."""
    kernel = small(max_components=3).fit(np.vstack([holes, np.full((20, 4), 60.0), np.full((20, 4), 90.0)]))
    assert kernel([[60.0] * 4], [[90.0] * 4])[0, 0] < kernel.diagonal([[60.0] * 4])[0] - 0.05


# Sizes ----------------------------------------------------------------------------------------------------


def test_many_rows_are_held_by_features():
    """Above a thousand rows no n×n matrix is made; products and degrees are those of the block."""
    X, _ = make_blobs(1200, centers=4, n_features=3, random_state=0)
    kernel = small().fit(X)
    gram = kernel.gram(X)
    assert isinstance(gram, FeatureGram)
    assert isinstance(kernel.gram(X[:100]), DenseGram)
    K = kernel(X)
    assert_allclose(gram.degrees(), K.sum(axis=1), rtol=1e-10)
    values, _ = gram.eigenpairs(3)
    assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-8)


@pytest.mark.parametrize("options", [{}, {"normalize": "cosine"}, {"hard": True}, {"threshold": 0}])
def test_streamed_products_are_those_of_the_features(options):
    """Memberships times weights, mixture by mixture, are the features times the weights."""
    X, _ = make_blobs(700, centers=3, n_features=3, random_state=0)
    X[::5, 1] = np.nan
    kernel = small(**options).fit(X)
    F = kernel.features(X)
    W = np.random.default_rng(0).normal(size=(F.shape[1], 4))
    assert_allclose(kernel._streamed(X).product(W), F @ W, atol=1e-12)
    assert kernel._streamed(X.astype(np.float32)).product(W).dtype == np.float32


@pytest.mark.parametrize("threshold", [0, 1e-6])
def test_features_beyond_the_budget_are_streamed(threshold):
    """When even the features do not fit, they are recomputed in chunks, with the same products."""
    X, _ = make_blobs(1100, centers=3, n_features=3, random_state=0)
    kernel = small(threshold=threshold).fit(X)
    V = np.random.default_rng(0).normal(size=(len(X), 2))
    held = kernel.gram(X)
    with gramian.config(memory_budget="300kB"):
        streamed = kernel.gram(X)
        assert isinstance(streamed.factor, KernelFactor)
        assert isinstance(held.factor, MatrixFactor)
        assert_allclose(streamed @ V, held @ V, rtol=1e-9)
        for ask in (kernel.transform, kernel.features):
            with pytest.raises(gramian.MemoryBudgetError, match="features"):
                ask(X)


def test_rows_per_restart_are_limited():
    """``max_samples`` bounds the cost of a fit, ``subsample`` the share; never fewer than two rows per component."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    masses = {}
    for options in ({"max_samples": 50}, {"subsample": 0.01}, {"subsample": 1.0}):
        kernel = small(max_iter=0, **options).fit(X)
        # At the start weights are counts of rows, so their smallest step tells how many rows there were.
        masses[str(options)] = round(1 / np.gcd.reduce(np.round(kernel.weights_ * 1_663_200).astype(int)) * 1_663_200)
    assert masses == {"{'max_samples': 50}": 50, "{'subsample': 0.01}": 12, "{'subsample': 1.0}": 400}


def test_more_components_than_rows_warns_and_works():
    """Mixtures shrink to the number of rows."""
    X = np.arange(8.0).reshape(4, 2)
    with pytest.warns(UserWarning, match="max_components=6 is more than the 4 rows"):
        kernel = small().fit(X)
    assert kernel.sizes_.max() == 4
    assert np.isfinite(kernel(X)).all()


# Use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "accuracy", "contrast"), [(0.3, 0.98, 5), (0.5, 0.94, 5)])
def test_blobs_with_holes_are_found(rate, accuracy, contrast):
    """Three groups in ten columns survive the loss of a third or half of the cells."""
    X, y = make_blobs(300, centers=3, n_features=10, cluster_std=2.0, random_state=0)
    X = mcar(X, rate, random_state=0)[0]
    kernel = ClusterKernel(10, 15, random_state=0)
    model = SpectralClustering(3, kernel=kernel, embedding="kpca", random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= accuracy
    K, same = model.kernel_(X), y[:, None] == y
    assert K[same].mean() > contrast * K[~same].mean()


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_two_ensembles_agree(load):
    """Two fits with different seeds give nearly the same similarities: the average leaves little to chance."""
    X, _ = load(return_X_y=True)
    first, second = (ClusterKernel(random_state=seed).fit(X)(X) for seed in (0, 1))
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] > 0.99


def test_it_serves_other_methods():
    """A support vector machine, landmarks and sums of kernels take it as any other."""
    X, y = load_iris(return_X_y=True)
    holes = mcar(X, 0.2, random_state=0)[0]
    kernel = small().fit(holes)
    machine = SVC(kernel="precomputed").fit(kernel(holes), y)
    assert machine.score(kernel(holes), y) > 0.9
    landmarks = Nystroem(40, kernel=small(), random_state=0).fit(holes)
    assert np.abs(landmarks(holes) - landmarks.kernel_(holes)).mean() < 0.05
    both = (small() + 0.1 * Linear()).fit(X)
    assert_allclose(both(X), both.first_(X) + 0.1 * X @ X.T, atol=1e-10)


def test_thin_shapes_are_beyond_it():
    """A documented limit: two moons are not two compact groups, and the uncentred embedding does not separate them."""
    X, y = make_moons(400, noise=0.05, random_state=0)
    kernel = ClusterKernel(10, random_state=0)
    labels = SpectralClustering(2, kernel=kernel, embedding="kpca", random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) < 0.9


# Refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_restarts": 0}, "n_restarts=0"),
        ({"max_components": 1.5}, "max_components=1.5"),
        ({"min_components": 7}, "min_components=7 is more than max_components=6"),
        ({"covariance_type": "round"}, "covariance_type='round'"),
        ({"subsample": 1.5}, "subsample=1.5"),
        ({"subsample": 0}, "subsample=0"),
        ({"max_samples": 1}, "max_samples=1"),
        ({"reg_covar": 0}, "reg_covar=0"),
        ({"threshold": 0.5}, "threshold=0.5"),
        ({"threshold": -1}, "threshold=-1"),
        ({"m_step": "both"}, "m_step='both'"),
        ({"m_step": "observed", "covariance_type": "full"}, "m_step='observed' is for"),
        ({"normalize": None}, "normalize=None"),
        ({"hard": 1}, "hard=1"),
        ({"standardize": "yes"}, "standardize='yes'"),
        ({"max_iter": -1}, "max_iter=-1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"verbose": "x"}, "verbose='x'"),
    ],
)
def test_bad_parameters_are_named(holes, options, message):
    """An error tells the parameter and its value, and leaves the kernel unfitted."""
    kernel = small(**options)
    with pytest.raises(ValueError, match=message):
        kernel.fit(holes)
    assert not hasattr(kernel, "sizes_")


def test_tables_without_information_are_refused():
    """One row, all rows alike, and infinite values."""
    with pytest.raises(ValueError, match="n_samples=1"):
        small().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="no column with two different observed values"):
        small().fit([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="infinity"):
        small().fit([[1.0, np.inf], [1.0, 2.0]])


def test_quiet_on_ordinary_tables(holes):
    """Nothing to warn about, nothing said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = small().fit(holes)
    assert kernel.columns_.all()


# Categorical columns ------------------------------------------------------------------------------------------


@pytest.fixture
def mixed():
    """Three groups in two numbers and two codes of categories, a fifth of the entries missing, and their labels."""
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(3), 40)
    numbers = rng.normal(size=(120, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[labels]
    codes = np.where(rng.random((120, 2)) < 0.85, labels[:, None], rng.integers(3, size=(120, 2)))
    X = np.column_stack([codes[:, 0] * 7.0 - 3, numbers, codes[:, 1]])
    return np.where(rng.random(X.shape) < 0.2, np.nan, X), labels


def mixed_posteriors(kernel, X):
    """γ of every mixture, entry by entry, from the fitted attributes alone."""
    numbers = np.flatnonzero(kernel.columns_ & ~kernel.is_categorical_)
    Z = (X[:, numbers] - kernel.center_) / kernel.scale_
    logs = np.zeros((len(X), len(kernel.weights_)))
    begin = 0
    for j, known in zip(np.flatnonzero(kernel.is_categorical_), kernel.categories_, strict=True):
        for i, value in enumerate(X[:, j]):
            if value in known:
                logs[i] += np.log(kernel.levels_[:, begin + known.tolist().index(value)])
        begin += len(known)
    models = np.repeat(np.arange(len(kernel.sizes_)), kernel.sizes_)
    for k, mean in enumerate(kernel.means_):
        covariance = kernel.covariances_[k if len(kernel.covariances_) == len(kernel.weights_) else models[k]]
        S = np.diag(covariance) if covariance.ndim == 1 else covariance
        for i, z in enumerate(Z):
            o = ~np.isnan(z)
            if o.any():
                logs[i, k] += multivariate_normal(mean[o], S[np.ix_(o, o)]).logpdf(z[o])
    logs += np.log(kernel.weights_)
    for m in range(len(kernel.sizes_)):
        own = logs[:, models == m]
        yield np.exp(own - np.logaddexp.reduce(own, axis=1)[:, None])


@pytest.mark.parametrize("kind", ["diag", "spherical", "full", "tied"])
def test_categories_count_by_the_probabilities_of_their_levels(mixed, kind):
    X, _ = mixed
    kernel = small(categorical_features=[0, 3], covariance_type=kind, threshold=0, n_restarts=2).fit(X)
    new = X[:30].copy()
    new[0, 3], new[1, 0] = 9, 0.5  # levels that were never seen
    new[2] = [np.nan, np.nan, np.nan, 1]
    features = np.hstack(list(mixed_posteriors(kernel, new))) / np.sqrt(len(kernel.sizes_))
    assert_allclose(kernel.features(new), features, atol=1e-9)
    ends = np.cumsum([0, *map(len, kernel.categories_)])
    for a, b in itertools.pairwise(ends):
        assert_allclose(kernel.levels_[:, a:b].sum(axis=1), 1)


def test_codes_are_names(mixed):
    """Other codes for the same categories, in another order, change nothing but the order of levels."""
    X, _ = mixed
    renamed = X.copy()
    renamed[:, 3] = np.array([50.0, -2.0, 7.0])[np.nan_to_num(X[:, 3]).astype(int)]
    renamed[np.isnan(X[:, 3]), 3] = np.nan
    one = small(categorical_features=[0, 3]).fit(X)
    other = small(categorical_features=np.array([True, False, False, True])).fit(renamed)
    assert_allclose(one(X), other(renamed), atol=1e-8)


def test_groups_of_a_mixed_table_are_found(mixed):
    X, labels = mixed
    kernel = small(categorical_features=[0, 3], max_components=10)
    found = SpectralClustering(3, kernel=kernel, random_state=0).fit_predict(X)
    assert adjusted_rand_score(labels, found) > 0.7


def test_a_table_of_categories_alone(mixed, tmp_path):
    X = mixed[0][:, [0, 3]]
    X = X[~np.isnan(X).all(axis=1)]
    for kind in ("diag", "spherical", "full"):
        kernel = small(categorical_features=[0, 1], covariance_type=kind, standardize=False).fit(X)
        K = kernel(X)
        assert K.min() >= 0
        assert K.max() <= 1 + 1e-9
        alike = (X[:, None] == X[None]).all(axis=2)
        assert K[alike].min() > K[~alike & ~np.isnan(X).any(axis=1)[:, None]].mean()
    gramian.save(kernel, tmp_path / "kernel.gramian")
    assert_array_equal(gramian.load(tmp_path / "kernel.gramian")(X), K)


def test_categories_in_single_precision(mixed):
    X = mixed[0].astype(np.float32)
    single, double = (small(categorical_features=[0, 3]).fit(rows) for rows in (X, X.astype(float)))
    assert single(X).dtype == np.float32
    assert_allclose(single(X), double(X.astype(float)), atol=0.05)


@pytest.mark.parametrize("given", ["from_dtype", [4], [True], [0.5]])
def test_categorical_features_that_are_no_columns_are_refused(mixed, given):
    with pytest.raises(ValueError, match="categorical_features"):
        small(categorical_features=given).fit(mixed[0])
