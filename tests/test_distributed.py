"""Rows on a Dask cluster get the answers that rows in memory get."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gramian import AutoClustering, FourierFeatures, KernelKMeans, KernelPCA, LSSVMClassifier, Nystroem
from gramian.distributed import DistributedRows, is_distributed
from gramian.kernels import Linear

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
    assert_array_equal(rows.sample(50), X[np.sort(np.random.default_rng(0).choice(500, 50, replace=False))])
    assert_array_equal(rows.sample(), X)


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
        KernelKMeans(2).fit(given)
    with pytest.raises(TypeError, match="sample_weight"):
        KernelPCA(2, kernel=Linear()).fit(given, sample_weight=np.ones(500))
    with pytest.raises(ValueError, match="3 features"):
        KernelPCA(2).fit(X).transform(given[:, :3])


def test_a_kernel_without_features_names_landmarks(X):
    with pytest.raises(TypeError, match="Nystroem"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(X, chunks=(100, 4)))


def test_no_rows_and_text_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        DistributedRows(da.zeros((0, 3)))
    with pytest.raises(ValueError, match="pass numbers"):
        DistributedRows(da.from_array(np.array([["a", "b"]]), chunks=1))
    with pytest.raises(ValueError, match="dimensions"):
        DistributedRows(da.zeros(5))
