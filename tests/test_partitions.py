"""Rows on a Dask cluster get the answers that rows in memory get."""

import pickle

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone

from gramian import (
    AutoClustering,
    DependenceReduction,
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    FourierFeatures,
    KernelCCA,
    KernelECA,
    KernelKMeans,
    KernelPageRank,
    KernelPCA,
    KernelSpectralClustering,
    LSSVMClassifier,
    Nystroem,
    RankedClustering,
    SpectralClustering,
    angular_kmeans,
    hsic,
    network,
)
from gramian import partitions as module
from gramian.dependence.projection import reduction
from gramian.kernels import RBF, ClusterKernel, Linear
from gramian.lssvm import basis
from gramian.partitions import DistributedRows, beside, is_distributed

PARTITIONS = [(500,), (200, 100, 200), (30,) * 16 + (20,), (0, 1, 499, 0)]


@pytest.fixture(scope="module", autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(500, 4)) * [1, 2, 3, 4] + 5


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("kernel", [Nystroem(40, random_state=0), FourierFeatures(60, random_state=0), Linear()])
@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_is_that_of_one_process(X, partitions, kernel, center):
    """Eigenvalues, scores and answers for new rows do not depend on where the rows are."""
    alone = KernelPCA(3, kernel=kernel, center=center).fit(X)
    apart = KernelPCA(3, kernel=kernel, center=center).fit(da.from_array(X, chunks=(partitions, (4,))))
    assert_allclose(apart.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
    assert_allclose(apart.explained_variance_ratio_, alone.explained_variance_ratio_, rtol=1e-8)
    assert apart.embedding_.chunks[0] == partitions
    assert_allclose(apart.embedding_.compute(), alone.embedding_, atol=1e-8 * np.abs(alone.embedding_).max())
    assert_allclose(apart.transform(X[:7] + 1), alone.transform(X[:7] + 1), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("kernel", [Nystroem(40, random_state=0), ClusterKernel(4, 5, random_state=0)])
def test_entropy_axes_are_those_of_one_process(X, partitions, kernel):
    """The same axes lead in entropy, with the same contributions and scores."""
    X[:250] += 10
    alone = KernelECA(3, kernel=kernel).fit(X)
    apart = KernelECA(3, kernel=kernel).fit(da.from_array(X, chunks=(partitions, (4,))))
    assert_array_equal(apart.component_indices_, alone.component_indices_)
    assert_allclose(apart.entropies_, alone.entropies_, rtol=1e-8)
    assert_allclose(apart.eigenvalues_, alone.eigenvalues_, rtol=1e-8)
    assert apart.embedding_.chunks[0] == partitions
    assert_allclose(apart.embedding_.compute(), alone.embedding_, atol=1e-8 * np.abs(alone.embedding_).max())
    assert_allclose(apart.transform(X[:7] + 1), alone.transform(X[:7] + 1), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (KernelKMeans(3, random_state=0), "predict"),
        (AutoClustering(3, random_state=0), "predict_proba"),
        (LSSVMClassifier(), "decision_function"),
        (KernelPCA(2), "transform"),
    ],
)
def test_fitted_models_answer_partition_by_partition(X, model, answer):
    """A map over the partitions gives what one call gives, aligned with the input, also with empty partitions."""
    y = (X[:, 0] > 5).astype(int)
    model = model.fit(X[:200], y[:200])
    given = da.from_array(X, chunks=((0, 123, 377), (2, 2)))
    found = getattr(model, answer)(given)
    expected = getattr(model, answer)(X)
    assert is_distributed(found)
    assert found.chunks[0] == (0, 123, 377)
    assert found.dtype == expected.dtype
    assert_allclose(found.compute(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize(
    "model",
    [
        KernelKMeans(3, random_state=0),
        SpectralClustering(3, random_state=0),
        AutoClustering(3, random_state=0),
        KernelSpectralClustering(3, kernel=RBF(20.0), reduction="cholesky", n_prototypes=40, random_state=0),
    ],
)
def test_clusters_are_those_of_a_sample_in_memory(X, partitions, model, monkeypatch):
    """Rows of the sample are drawn by number, so partitions do not change the clusters; all rows have a label."""
    monkeypatch.setattr(module, "CLUSTERED", 200)
    X[:250] += 30
    X[400:] -= 30
    sample = X[np.sort(np.random.default_rng(0).choice(500, 200, replace=False))]
    alone = clone(model).fit(sample)
    apart = clone(model).fit(da.from_array(X, chunks=(partitions, (4,))))
    assert apart.labels_.chunks[0] == partitions
    assert_array_equal(apart.labels_.compute(), alone.predict(X))
    assert apart.n_clusters_ == alone.n_clusters_
    if hasattr(alone, "embedding_"):
        assert_allclose(apart.embedding_.compute(), alone.transform(X), atol=1e-8)


@pytest.fixture
def sample(monkeypatch):
    """Numbers of the rows that a model is fitted to, fewer than by default."""
    for name in ("CLUSTERED", "SAMPLE"):
        monkeypatch.setattr(module, name, 200)
    monkeypatch.setattr(reduction, "SAMPLE", 200)
    return np.sort(np.random.default_rng(0).choice(500, 200, replace=False))


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize(
    "kernel", [Nystroem(30, kernel=RBF(15.0), random_state=0), ClusterKernel(4, 5, random_state=0)]
)
def test_rankings_are_those_of_a_sample_in_memory(X, partitions, kernel, sample):
    """Scores of all rows, for seeds of the sample and for a new row, are Dask arrays."""
    X[:250] += 20
    given = da.from_array(X, chunks=(partitions, (4,)))
    alone, apart = (KernelPageRank(kernel=kernel, random_state=0).fit(rows) for rows in (X[sample], given))
    assert_array_equal(apart.sample_indices_, sample)
    assert_array_equal(apart.rank(3, top=9), alone.rank(3, top=9))
    for asked in ({"seeds": [3, 5]}, {"query": X[1] + 0.1}, {"query": X[:2], "method": "one_step"}):
        found = apart.score_samples(given, **asked)
        assert is_distributed(found)
        assert found.chunks[0] == partitions
        assert_allclose(found.compute(), alone.score_samples(X, **asked), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_ranked_clusters_are_those_of_a_sample_in_memory(X, partitions, sample):
    """Labels, memberships and base scores are of all rows; rankings count the fitted ones."""
    X[:250] += 20
    given = da.from_array(X, chunks=(partitions, (4,)))
    model = RankedClustering(2, kernel=Nystroem(30, kernel=RBF(15.0), random_state=0), random_state=0)
    alone, apart = clone(model).fit(X[sample]), clone(model).fit(given)
    assert apart.labels_.chunks[0] == partitions
    assert_array_equal(apart.labels_.compute(), alone.predict(X))
    assert_array_equal(apart.labels_.compute()[apart.sample_indices_], apart.fitted_labels_)
    assert_allclose(apart.embedding_.compute(), alone.transform(X), rtol=1e-8, atol=1e-10)
    assert_allclose(apart.memberships_.compute(), alone.predict_proba(X), rtol=1e-8)
    assert_allclose(apart.base_scores_.compute(), alone.score_samples(X), rtol=1e-8)
    for cluster in range(2):
        assert_array_equal(apart.rank(cluster, top=5), alone.rank(cluster, top=5))
    assert_array_equal(apart.query(X[0], top=5), alone.query(X[0], top=5))


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("supervised", [True, False])
def test_projections_are_those_of_a_sample_in_memory(X, partitions, supervised, sample):
    """Targets are drawn with their rows, and all rows are projected."""
    X[:250] += 20
    y = (X[:, 0] > X[:, 1]).astype(int) if supervised else None
    given = da.from_array(X, chunks=(partitions, (4,)))
    model = DependenceReduction(2, n_clusters=2, approximation="nystroem", n_features=30, random_state=0)
    alone = clone(model).fit(X[sample], None if y is None else y[sample])
    apart = clone(model).fit(given, None if y is None else da.from_array(y, chunks=90))
    assert_allclose(apart.components_, alone.components_, rtol=1e-8, atol=1e-10)
    found = apart.transform(given)
    assert found.chunks[0] == partitions
    assert_allclose(found.compute(), alone.transform(X), rtol=1e-8, atol=1e-10)
    if not supervised:
        assert_array_equal(apart.labels_.compute(), alone.predict(X))


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("kernel", [Nystroem(20, random_state=0), FourierFeatures(20, random_state=0), Linear(), RBF()])
def test_kernels_learn_from_a_sample_and_map_features(X, partitions, kernel):
    """Fit, features, transform and gram of a kernel itself."""
    given = da.from_array(X, chunks=(partitions, (4,)))
    alone, apart = clone(kernel).fit(X), clone(kernel).fit(given)
    assert_allclose(apart(X[:5]), alone(X[:5]), rtol=1e-10)
    if not kernel.has_features:
        for call in (apart.features, apart.gram):
            with pytest.raises(TypeError, match="Nystroem"):
                call(given)
        return
    F = apart.features(given)
    assert F.chunks[0] == partitions
    assert_allclose(F.compute(), alone.features(X), rtol=1e-10, atol=1e-12)
    assert_allclose(apart.gram(given).degrees().compute(), alone.gram(X).degrees(), rtol=1e-9)
    with pytest.raises(ValueError, match="3 features"):
        apart.features(given[:, :3])
    with pytest.raises(TypeError, match="rows in memory"):
        apart(given)


@pytest.mark.parametrize("kernel", [Nystroem(20, random_state=0), FourierFeatures(20, random_state=0), Linear()])
def test_kernels_compare_the_names_of_columns(X, kernel):
    """Columns in another order are other features, as they are in memory."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    given = dd.from_pandas(frame, npartitions=3)
    kernel = clone(kernel).fit(given)
    assert_allclose(kernel.features(given).compute(), kernel.features(frame), rtol=1e-10, atol=1e-12)
    calls = [kernel.features, kernel.gram]
    if hasattr(kernel, "transform"):
        calls.append(kernel.transform)
    for call in calls:
        with pytest.raises(ValueError, match="same order"):
            call(given[list("dcba")])


@pytest.mark.parametrize("model", [KernelKMeans(2, random_state=0), AutoClustering(2, random_state=0)])
def test_a_fit_in_memory_forgets_the_sample(X, sample, model):
    model = clone(model).fit(da.from_array(X, chunks=(100, 4)))
    assert_array_equal(model.sample_indices_, sample)
    assert not hasattr(model.fit(X), "sample_indices_")


def test_similarities_on_workers_are_refused(X):
    """A sample of the rows of a matrix of similarities is none."""
    given = da.from_array(X @ X.T, chunks=(100, 500))
    for model in (KernelKMeans(2, kernel="precomputed"), RankedClustering(kernel="precomputed")):
        with pytest.raises(TypeError, match="pass rows and a kernel"):
            model.fit(given)


def test_clusters_of_a_data_frame_with_holes(X):
    """Names go with the sample, and a frame of numbers may have holes."""
    X[:250] += 30
    X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    apart = AutoClustering(2, random_state=0).fit(dd.from_pandas(frame, npartitions=3))
    assert_array_equal(apart.labels_.compute(), AutoClustering(2, random_state=0).fit(frame).predict(frame))


def test_targets_come_in_the_partitions_of_the_rows(X):
    rows = DistributedRows(da.from_array(X, chunks=((0, 123, 377), (4,))))
    y = np.arange(500)
    series = dd.from_pandas(pd.Series(y), npartitions=4)
    for given in (y, y.tolist(), da.from_array(y, chunks=100), series[series >= 0], X):
        found = beside(given, rows)
        assert found.chunks[0] == (0, 123, 377)
        assert_array_equal(found.compute(), X if given is X else y)
    with pytest.raises(ValueError, match="y is None"):
        beside(None, rows)
    for short in (y[:-1], da.from_array(y[:-1], chunks=100)):
        with pytest.raises(ValueError, match="X has 500 rows"):
            beside(short, rows)


def test_data_frames_with_unknown_lengths_are_taken(X):
    """A filtered frame does not know how many rows it has."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    given = dd.from_pandas(frame, npartitions=3)
    given = given[given["a"] > 5]
    kept = frame[frame["a"] > 5]
    apart = KernelPCA(2, kernel=Linear()).fit(given)
    assert_array_equal(apart.feature_names_in_, list("abcd"))
    assert_allclose(apart.eigenvalues_, KernelPCA(2, kernel=Linear()).fit(kept).eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_rows_by_number_do_not_depend_on_partitions(X, partitions):
    """Samples are drawn by global row number."""
    rows = DistributedRows(da.from_array(X, chunks=(partitions, (4,))))
    wanted = np.array([499, 0, 201, 201])
    assert_array_equal(rows[wanted], X[wanted])
    for some in (slice(None), slice(490, None), slice(-3, None, 2)):
        assert_array_equal(rows[some], X[some])
    assert_array_equal(rows.sample(50), X[np.sort(np.random.default_rng(0).choice(500, 50, replace=False))])
    assert_array_equal(rows.sample(), X)


def test_columns_that_are_no_floats_are_those_of_memory(X):
    """Truth values beside floats, and pandas' numbers that may be NA, of which Dask makes objects."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    nullable = frame.round().astype({"a": "Int64", "b": "Float64"}).assign(c=pd.array(X[:, 2] > 5, dtype="boolean"))
    for table, dtype in (
        (frame.assign(a=frame["a"] > 5), np.float64),
        (frame.astype(np.float32).assign(a=frame["a"] > 5), np.float32),
        (nullable, np.float64),
    ):
        alone, apart = (KernelPCA(2, kernel=Linear()).fit(one) for one in (table, dd.from_pandas(table, npartitions=3)))
        assert_allclose(apart.eigenvalues_, alone.eigenvalues_, rtol=1e-8 if dtype == np.float64 else 1e-5)
        assert apart.embedding_.dtype == alone.embedding_.dtype == dtype
    nullable.loc[3, "a"] = pd.NA
    given = DistributedRows(dd.from_pandas(nullable, npartitions=3), ensure_all_finite="allow-nan")
    assert np.isnan(given.array[3, 0].compute())


@pytest.mark.parametrize(
    "words", [["u", "v"], pd.Categorical(["u", "v"]), pd.to_datetime(["2020-01-01", "2020-01-02"])]
)
def test_columns_without_numbers_are_named(words):
    table = pd.DataFrame({"a": [1.0, 2.0], "b": words})
    with pytest.raises(ValueError, match=r"X has a column 'b' of type .*X.drop\(columns=\['b'\]\)"):
        AutoClustering(2).fit(dd.from_pandas(table, npartitions=1))


@pytest.mark.parametrize("model", [KernelPCA(2, kernel=Linear()), Nystroem(20), DependenceReduction(1, random_state=0)])
def test_answers_are_not_collected_for_a_data_frame(X, model):
    """scikit-learn would make a data frame of all rows in this process."""
    given = da.from_array(X, chunks=(100, 4))
    model = clone(model).fit(X, X[:, 0] > 5)
    assert is_distributed(model.transform(given))
    model.set_output(transform="pandas")
    assert isinstance(model.transform(X), pd.DataFrame)
    with pytest.raises(TypeError, match=r"set_output\(transform='default'\)"):
        model.transform(given)
    with config_context(transform_output="pandas"), pytest.raises(TypeError, match="transform='pandas'"):
        clone(model).fit_transform(given, X[:, 0] > 5)


@pytest.mark.parametrize("model", [SpectralClustering(2, random_state=0), KernelPCA(2, kernel=Linear())])
def test_fits_do_not_ask_how_features_are_held(X, model):
    """``embedding_`` is no answer of ``transform``, so data frames that were asked for everywhere hinder no fit."""
    given = da.from_array(X, chunks=(100, 4))
    expected = clone(model).fit(given).embedding_.compute()
    with config_context(transform_output="pandas"):
        found = clone(model).fit(given).embedding_
        assert is_distributed(found)
        assert_array_equal(found.compute(), expected)


@pytest.mark.parametrize("model", [KernelKMeans(2, random_state=0), KernelECA(2, kernel=Linear())])
def test_models_are_pickled_with_their_answers(X, model):
    """What waits to be computed goes with the model."""
    model.fit(da.from_array(X, chunks=(100, 4)))
    again = pickle.loads(pickle.dumps(model))
    name = "labels_" if hasattr(model, "labels_") else "embedding_"
    assert_array_equal(getattr(again, name).compute(), getattr(model, name).compute())


def test_partitions_of_a_data_frame_are_counted_once(X):
    """A fit counts them, and gives its answers in partitions of these lengths."""
    counted = []

    def count(part):
        counted.append(len(part))
        return part

    frame = pd.DataFrame(X, columns=list("abcd"))
    given = dd.from_pandas(frame, npartitions=3).map_partitions(count, meta=frame)
    model = SpectralClustering(2, random_state=0)
    model.fit(given)
    assert len(counted) == 6  # once for the lengths, once for the sample
    assert sum(model.labels_.chunks[0]) == len(model.embedding_) == 500


def test_parameters_are_checked_before_any_work(X):
    given = da.from_array(X, chunks=(100, 4)).map_blocks(_unread, meta=np.empty((0, 0)))
    for model in (
        SpectralClustering(2, embedding="none"),
        KernelKMeans(2, n_init=0),
        AutoClustering(max_clusters=1),
        RankedClustering(2, restart=2.0),
        KernelPageRank(restart=2.0),
    ):
        with pytest.raises(ValueError, match=r"embedding=|n_init=|max_clusters=|restart="):
            model.fit(given)


def _unread(part):
    raise AssertionError("a partition was computed")


def test_what_stands_beside_rows_is_not_collected(X):
    """The other view of a pair would be brought here for each partition."""
    model = KernelCCA(1).fit(X[:, :2], X[:, 2:])
    given = da.from_array(X, chunks=(100, 2))
    assert is_distributed(model.transform(given[:, :2]))
    with pytest.raises(TypeError, match=r"KernelCCA\.transform beside X takes rows in memory"):
        model.transform(given[:, :2], given[:, 2:])


def test_columns_of_unknown_number_are_counted(X):
    given = da.from_delayed(dask.delayed(X), (500, np.nan), float)
    assert KernelPCA(2, kernel=Linear()).fit(given).n_features_in_ == 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [3.0, 0.1, 1e6])
def test_rows_that_are_all_alike_have_no_components(value, dtype):
    """The rounding of their mean is none."""
    given = da.full((500, 4), value, dtype=dtype, chunks=(100, 4))
    for kernel in (Linear(), FourierFeatures(20, kernel=RBF(1.0), random_state=0)):
        with pytest.raises(ValueError, match="all samples are alike"):
            KernelPCA(1, kernel=kernel).fit(given)


def test_what_tells_no_rows_is_refused(X):
    """Other collections of Dask, and vectors."""
    model = KernelPCA(2, kernel=Linear()).fit(X)
    for given in (dask.delayed(np.asarray)(X), db.from_sequence([1, 2])):
        for call in (clone(model).fit, model.transform, AutoClustering(2).fit):
            with pytest.raises(TypeError, match=r"X is a Dask .*pass a Dask array or data frame"):
                call(given)
    with pytest.raises(ValueError, match=r"X has 1 dimensions; .*X.to_frame\(\)"):
        model.transform(dd.from_pandas(pd.Series(X[:, 0]), npartitions=2))


def test_missing_values_are_refused_with_their_partition(X):
    """The error is the one of rows in memory, and says where to look."""
    X[321, 1] = np.nan
    given = da.from_array(X, chunks=(100, 4))
    with pytest.raises(ValueError, match="partition 3 of X"):
        KernelPCA(2, kernel=Nystroem(20, random_state=0)).fit(given)


def test_what_cannot_be_distributed_is_refused_before_any_work(X):
    """The alternative is named, and no partition is computed."""

    def fail(part):
        raise AssertionError("a partition was computed")

    given = da.from_array(X, chunks=(100, 4)).map_blocks(fail, meta=np.empty((0, 0)))
    with pytest.raises(TypeError, match="X\\[:100_000\\]"):
        LSSVMClassifier().fit(given, np.arange(500) % 2)
    with pytest.raises(TypeError, match="Nystroem"):
        KernelECA(2).fit(given)
    with pytest.raises(TypeError, match="sample_weight"):
        KernelPCA(2, kernel=Linear()).fit(given, sample_weight=np.ones(500))
    with pytest.raises(ValueError, match="3 features"):
        KernelPCA(2).fit(X).transform(given[:, :3])


def test_a_kernel_without_features_names_landmarks(X):
    with pytest.raises(TypeError, match="Nystroem"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(X, chunks=(100, 4)))


@pytest.mark.parametrize("rows", [slice(0, 500), slice(499, 500)])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_products_that_overflow_are_refused(X, rows, sample):
    """Whether or not a row of the sample does."""
    X[rows] *= 1e200
    for center in (True, False):
        with pytest.raises(ValueError, match=r"overflow.*scale the columns"):
            KernelPCA(2, kernel=Linear(), center=center).fit(da.from_array(X, chunks=(100, 4)))


def test_functions_do_not_collect_partitions(X):
    for call in (lambda X: angular_kmeans(X, 2), network):
        with pytest.raises(TypeError, match="rows in memory here"):
            call(da.from_array(X, chunks=(100, 4)))


def test_no_rows_and_text_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        DistributedRows(da.zeros((0, 3)))
    with pytest.raises(ValueError, match="pass numbers"):
        DistributedRows(da.from_array(np.array([["a", "b"]]), chunks=1))
    with pytest.raises(ValueError, match="dimensions"):
        DistributedRows(da.zeros(5))


def test_partitions_of_other_columns_or_types_are_named(X):
    """What the partitions hold is known when they are read; the error says which one is odd."""

    def parts(change):
        return [
            dask.delayed(change if place == 2 else np.asarray)(X[100 * place : 100 * (place + 1)]) for place in range(5)
        ]

    for change, said in (
        (lambda part: part[:, :3], r"\(100, 3\) instead of \(100, 4\)"),
        (lambda part: part[:50], r"\(50, 4\) instead of \(100, 4\)"),
        (lambda part: np.full(part.shape, "a", object), "could not convert"),
    ):
        blocks = [da.from_delayed(part, (100, 4), float) for part in parts(change)]
        with pytest.raises(ValueError, match=rf"partition 2 of X: .*{said}"):
            KernelPCA(2, kernel=Linear()).fit(da.concatenate(blocks))


def test_answers_name_the_partition_that_they_cannot_give(X):
    """Missing values among new rows, which a kernel does not take."""
    model = KernelPCA(2, kernel=Linear()).fit(X)
    X[321, 1] = np.nan
    with pytest.raises(ValueError, match="partition 3 of X"):
        model.transform(da.from_array(X, chunks=(100, 4))).compute()


def test_sparse_dask_arrays_are_refused(X):
    given = da.from_array(X, chunks=(100, 4)).map_blocks(csr_array)
    for model in (KernelPCA(2, kernel=Linear()), KernelKMeans(2), Nystroem(10)):
        with pytest.raises(TypeError, match="densify"):
            model.fit(given)


def test_an_old_dask_is_refused_with_the_extra_named(X, monkeypatch):
    given = da.from_array(X, chunks=(100, 4))
    monkeypatch.setattr(dask, "__version__", "2023.9.1")
    with pytest.raises(ImportError, match=r"dask 2023.9.1 is older than 2024.12; run pip install 'gramian\[scale\]'"):
        KernelPCA(2, kernel=Linear()).fit(given)


# Fixed-size machines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize(
    "options", [{}, {"kernel": RBF(4.0)}, {"kernel": Linear()}, {"regularization": 2.0}, {"n_prototypes": "auto"}]
)
def test_fixed_size_regression_is_that_of_one_process(X, partitions, options, monkeypatch):
    """Folds, prototypes and widths are drawn by row number, so all that is chosen is the same."""
    monkeypatch.setattr(basis, "STRIP", 16)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1] * X[:, 2] + 100
    setting = {"n_prototypes": 30, "random_state": 0} | options
    # Similarities among hundreds of prototypes of 500 rows are nearly singular: rounding of the scales shows.
    many = 1e-5 if options == {"n_prototypes": "auto"} else 0
    alone = FixedSizeLSSVMRegressor(**setting).fit(X, y)
    apart = FixedSizeLSSVMRegressor(**setting).fit(da.from_array(X, chunks=(partitions, (4,))), y)
    assert_allclose(apart.regularization_, alone.regularization_, rtol=1e-8)
    for name in ("errors", "widths", "width_errors", "sizes", "size_errors"):
        assert_allclose(apart.tuning_.get(name, 0), alone.tuning_.get(name, 0), rtol=many or 1e-7)
    assert_allclose(apart.predict(X), alone.predict(X), rtol=many or 1e-8)
    if alone.prototypes_ is not None:
        assert_array_equal(apart.prototype_indices_, alone.prototype_indices_)
        assert_allclose(apart.prototypes_, alone.prototypes_, rtol=1e-10)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "category", "Float64"])
def test_labels_of_the_types_of_pandas_are_taken(X, dtype):
    y = pd.Series((X[:, 0] > 5).astype(int)).astype(dtype)
    alone = FixedSizeLSSVMClassifier(30, random_state=0).fit(X, np.asarray(y, float if dtype == "Float64" else int))
    apart = FixedSizeLSSVMClassifier(30, random_state=0).fit(
        da.from_array(X, chunks=90), dd.from_pandas(y, npartitions=3)
    )
    assert apart.classes_.tolist() == alone.classes_.tolist()
    assert_array_equal(apart.predict(X), alone.predict(X))


@pytest.mark.parametrize("labels", [pd.Series(["u", "v"] * 250), pd.Series([1, 2] * 250, dtype="Int64")])
def test_missing_labels_are_refused_with_their_partition(X, labels):
    labels[303] = None
    given = dd.from_pandas(labels, npartitions=5)
    with pytest.raises(ValueError, match="partition 3 of y: y contains NaN"):
        FixedSizeLSSVMClassifier(30).fit(da.from_array(X, chunks=100), given)
    with pytest.raises(ValueError, match="partition 3 of Y: Y has missing labels"):
        hsic(da.from_array(X, chunks=100), given, kernel_x="linear", kernel_y="labels")


def test_dependence_on_words_is_that_of_one_process(X):
    """Without Dask's warning about the text of pandas, whichever side lies in partitions."""
    labels = pd.Series(np.array(["u", "v", "w"])[np.arange(500) % 3])
    expected = hsic(X, labels, kernel_x="linear", kernel_y="labels")
    given = dd.from_pandas(labels, npartitions=3)
    for rows in (X, da.from_array(X, chunks=100)):
        assert_allclose(hsic(rows, given, kernel_x="linear", kernel_y="labels"), expected, rtol=1e-10)


def test_frames_of_the_types_of_pandas_are_taken_beside_rows(X):
    """As one of two samples, and as targets."""
    frame = pd.DataFrame({"a": pd.array([1, 2] * 250, dtype="Int64"), "b": X[:, 0] > 5})
    given, rows = dd.from_pandas(frame, npartitions=3), da.from_array(X, chunks=100)
    expected = hsic(X, frame, kernel_x="linear", kernel_y="linear")
    assert_allclose(hsic(rows, given, kernel_x="linear", kernel_y="linear"), expected, rtol=1e-10)
    alone = FixedSizeLSSVMRegressor(30, random_state=0).fit(X, frame.astype(float))
    apart = FixedSizeLSSVMRegressor(30, random_state=0).fit(rows, given)
    assert_allclose(apart.predict(X[:9]), alone.predict(X[:9]), rtol=1e-8)


@pytest.mark.parametrize("names", [["no", "yes"], [3, 1, 2]])
def test_fixed_size_classes_are_those_of_one_process(X, names):
    """Also where a partition lacks a class."""
    X = X[np.argsort(X[:, 0])]
    y = np.array(names)[np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, len(names)) / len(names)))]
    alone = FixedSizeLSSVMClassifier(30, random_state=0).fit(X, y)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    apart = FixedSizeLSSVMClassifier(30, random_state=0).fit(frame, dd.from_pandas(pd.Series(y), npartitions=3))
    assert_array_equal(apart.classes_, alone.classes_)
    assert_array_equal(apart.feature_names_in_, list("abcd"))
    found = apart.decision_function(frame).compute()
    assert_allclose(found, alone.decision_function(X), rtol=1e-8, atol=1e-8)
    labels = apart.predict(frame)
    assert is_distributed(labels)
    assert_array_equal(labels.compute(), alone.predict(X))


def test_several_targets_are_those_of_one_process(X):
    Y = np.column_stack([X[:, 0] * 1e3, np.cos(X[:, 1])])
    alone = FixedSizeLSSVMRegressor(30, random_state=0).fit(X, Y)
    apart = FixedSizeLSSVMRegressor(30, random_state=0).fit(da.from_array(X, chunks=100), da.from_array(Y, chunks=70))
    assert_allclose(apart.predict(X), alone.predict(X), rtol=1e-8)


def test_bad_targets_are_refused(X):
    given, y = da.from_array(X, chunks=100), X[:, 0].copy()
    y[250] = np.nan
    with pytest.raises(ValueError, match="partition 2 of y"):
        FixedSizeLSSVMRegressor(30).fit(given, y)
    with pytest.raises(ValueError, match="one class only"):
        FixedSizeLSSVMClassifier(30).fit(given, np.ones(500, int))
    with pytest.raises(ValueError, match="2 dimensions"):
        FixedSizeLSSVMClassifier(30).fit(given, np.ones((500, 2), int))
    with pytest.raises(TypeError, match="class_weight"):
        FixedSizeLSSVMClassifier(30, class_weight="balanced").fit(given, (X[:, 0] > 5))
