"""HSIC of rows on the workers of a Dask cluster is that of rows in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gramian import FourierFeatures, Nystroem
from gramian.dependence import center_alignment, hsic, hsic_test
from gramian.kernels import RBF, Linear

PARTITIONS = [(400,), (150, 100, 150), (24,) * 16 + (16,), (0, 1, 399, 0)]


@pytest.fixture(scope="module", autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 2, 3] + 100
    return X, np.column_stack([np.abs(X[:, 0] - 100) + 0.5 * rng.normal(size=400), rng.normal(size=400)])


def cut(X, partitions):
    return da.from_array(X, chunks=(partitions, *((size,) for size in X.shape[1:])))


KERNELS = [
    {"approximation": "nystroem", "n_features": 30},
    {"kernel_x": Linear(), "kernel_y": FourierFeatures(40, random_state=0)},
    {"kernel_x": Nystroem(20, kernel=RBF(2.0), random_state=0), "kernel_y": Linear()},
    {"approximation": "fourier", "n_features": 30},
]


@pytest.mark.parametrize(
    ("partitions", "kernels"),
    [(partitions, KERNELS[0]) for partitions in PARTITIONS] + [(PARTITIONS[1], kernels) for kernels in KERNELS[1:]],
)
def test_values_are_those_of_one_process(pair, partitions, kernels):
    """Biased, unbiased and normalised, in other partitions on the two sides."""
    X, Y = pair
    given = cut(X, partitions), da.from_array(Y, chunks=(170, 1))
    for options in (
        {},
        {"estimator": "unbiased"},
        {"normalized": True},
        {"normalized": True, "estimator": "unbiased"},
    ):
        options = options | kernels | {"random_state": 0}
        assert_allclose(hsic(*given, **options), hsic(X, Y, **options), rtol=1e-8)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_tests_are_those_of_one_process(pair, partitions):
    """The statistic, its moments under independence, and the p-value."""
    X, Y = pair
    for other in (Y, Y[:, 1:]):
        options = KERNELS[0] | {"random_state": 0, "method": "gamma"}
        alone, apart = hsic_test(X, other, **options), hsic_test(cut(X, partitions), other, **options)
        assert apart.n_samples == 400
        for name in ("statistic", "pvalue", "null_mean", "null_variance"):
            assert_allclose(getattr(apart, name), getattr(alone, name), rtol=1e-8)


@pytest.mark.parametrize("labels", [["no", "yes", "perhaps"], [3, 1, 2]])
def test_labels_are_compared_as_such(pair, labels):
    """Also where a partition lacks one; as an array, a series, or in memory."""
    X, _ = pair
    order = np.argsort(X[:, 0])
    X, y = X[order], np.array(labels)[np.arange(400) * 3 // 400]
    alone = hsic(X, y, kernel_x="linear", kernel_y="labels")
    series = dd.from_pandas(pd.Series(y), npartitions=5)
    for given in (y, da.from_array(y, chunks=90), series, y[:, None]):
        assert_allclose(hsic(cut(X, (100, 300)), given, kernel_x="linear", kernel_y="labels"), alone, rtol=1e-8)
    assert_allclose(hsic(X, da.from_array(y, chunks=90), kernel_x="linear", kernel_y="labels"), alone, rtol=1e-8)


def test_frames_and_vectors_are_taken(pair):
    """A filtered frame does not know how many rows it has."""
    X, Y = pair
    frame = pd.DataFrame(np.hstack([X, Y]), columns=list("abcde"))
    given = dd.from_pandas(frame, npartitions=3)
    given, kept = given[given["a"] > 100], frame[frame["a"] > 100]
    alone = center_alignment(kept[["a", "b"]], kept["d"])
    assert_allclose(center_alignment(given[["a", "b"]], given["d"]), alone, rtol=1e-8)


def test_equal_rows_depend_on_nothing(pair):
    _, Y = pair
    constant = cut(np.ones((400, 2)), (200, 200))
    assert hsic(constant, Y, kernel_y="linear", kernel_x="linear") == 0
    assert hsic_test(constant, Y, kernel_x="linear", kernel_y="linear", method="gamma").pvalue == 1


def test_large_features_are_scaled_and_restored(pair):
    X, Y = pair
    alone = hsic(X * 1e9, Y, kernel_x="linear", kernel_y="linear")
    assert_allclose(hsic(cut(X * 1e9, (100, 300)), Y, kernel_x="linear", kernel_y="linear"), alone, rtol=1e-8)


def test_what_cannot_be_summed_is_refused_before_any_work(pair):
    """The error names what can."""
    X, Y = pair

    def fail(part):
        raise AssertionError("a partition was computed")

    given = cut(X, (100, 300)).map_blocks(fail, meta=np.empty((0, 0)))
    for call, match in (
        (lambda: hsic(given, Y), "approximation='nystroem'"),
        (lambda: hsic(given, Y, estimator="block", approximation="nystroem"), "'biased' or 'unbiased'"),
        (lambda: hsic_test(given, Y, approximation="nystroem"), "method='gamma'"),
        (lambda: hsic_test(Y, given, method="block", approximation="nystroem"), "method='gamma'"),
        (lambda: hsic(given, Y @ Y.T, kernel_x="linear", kernel_y="precomputed"), "pass rows"),
    ):
        with pytest.raises(TypeError, match=match):
            call()


def test_bad_inputs_name_their_partition(pair):
    X, Y = pair
    with pytest.raises(ValueError, match=r"Y has .*399.* but X has 400"):
        hsic(cut(X, (100,) * 4), Y[:-1], kernel_x="linear", kernel_y="linear")
    X[320, 1] = np.nan
    with pytest.raises(ValueError, match="partition 3 of X"):
        hsic(cut(X, (100,) * 4), Y, kernel_x="linear", kernel_y="linear")
    with pytest.raises(ValueError, match="400 different labels"):
        hsic(cut(Y, (100,) * 4), np.arange(400), kernel_x="linear", kernel_y="labels")
