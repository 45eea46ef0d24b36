"""Every estimator takes a Dask input where its rows lie, or says at once what to do; none collects it in silence."""

import dask
import dask.array as da
import numpy as np
import pytest

from compliance.construct import build, data
from gramian.discovery import all_estimators
from gramian.kernels.base import Kernel
from gramian.partitions import ANSWERS, TOGETHER, is_distributed

# Fitted to rows of a Dask input, or to some of them; all others refuse it.
TAKES = {
    "AutoClustering",
    "DependenceReduction",
    "FixedSizeLSSVMClassifier",
    "FixedSizeLSSVMRegressor",
    "KernelKMeans",
    "KernelPageRank",
    "KernelSpectralClustering",
    "RankedClustering",
    "SpectralClustering",
}
WITH_FEATURES = {"KernelECA", "KernelPCA"}  # with a kernel of finite features


METHODS = (*ANSWERS, *TOGETHER, "features", "diagonal", "gram", "__call__", "second_order")


class Computed(Exception):
    """A partition was asked for."""


def _asked(part):
    raise Computed


def _unread(X):
    """A Dask array of which no partition may be computed."""
    return da.from_array(X, chunks=(13, X.shape[1])).map_blocks(_asked, meta=np.empty((0, 0)))


ESTIMATORS = [(name, cls) for name, cls in all_estimators() if hasattr(cls, "fit")]


@pytest.fixture(scope="module", autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize(("name", "cls"), ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
def test_dask_inputs_are_taken_or_refused_before_any_work(name, cls):
    """The error is a TypeError that names what to do instead."""
    model = build(cls)
    X, y = data(model)
    if name in TAKES or (issubclass(cls, Kernel) and not model.pairwise):
        given = da.from_array(X, chunks=(13, X.shape[1]))
        model.fit(given, y)
        assert model.n_features_in_ == X.shape[1]
        labels = getattr(model, "labels_", None)
        assert labels is None or is_distributed(labels)
        return
    with pytest.raises(TypeError, match=r"rows in memory here.*X\[:100_000\]|kernel=gramian\.Nystroem"):
        model.fit(_unread(X), y)


@pytest.mark.parametrize("name", sorted(WITH_FEATURES))
def test_kernels_with_features_are_taken(name):
    cls = dict(all_estimators())[name]
    model = build(cls, kernel="linear")
    X, _ = data(model)
    assert is_distributed(model.fit(da.from_array(X, chunks=(13, 3))).embedding_)


def test_the_lists_name_estimators():
    names = {name for name, _ in ESTIMATORS}
    assert names >= (TAKES | WITH_FEATURES)


@pytest.mark.parametrize(("name", "cls"), ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
def test_answers_stay_in_partitions_or_are_refused(name, cls):
    """A method of a fitted model gives what is computed later, or a TypeError; no partition is read for it."""
    model = build(cls)
    X, y = data(model)
    model.fit(X, y)
    given = _unread(X)
    for method in METHODS:
        found = getattr(model, method, None)
        if found is None:
            continue
        answer = _told(found, given, *(() if y is None or method != "score" else (y,)))
        if isinstance(answer, TypeError):
            assert "rows in memory here" in str(answer) or "gramian.Nystroem" in str(answer)
        else:
            assert is_distributed(answer) or answer.on_workers


def _told(call, *given):
    """What a call gives, or the TypeError that it raises."""
    try:
        return call(*given)
    except TypeError as error:
        return error
