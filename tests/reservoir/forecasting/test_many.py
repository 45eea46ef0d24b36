"""Backtests of many series are those of a loop over them, wherever they run."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

from gramian import EchoStateForecaster
from gramian.reservoir import Reservoir


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    t = np.arange(150)
    columns = {"sea": np.sin(t / 2), "walk": rng.normal(size=150).cumsum(), "noise": rng.normal(size=150)}
    columns["walk"][20:23] = np.nan
    return pd.DataFrame(columns, index=pd.date_range("2020-01-01", periods=150, freq="D"))


@pytest.fixture(scope="module")
def forecaster():
    return EchoStateForecaster(2, n_networks=1, reservoir=Reservoir(10), lags=5, random_state=0)


@pytest.fixture(scope="module")
def by_hand(forecaster, frame):
    return {name: forecaster.backtest(frame[name], n_origins=5) for name in frame}


def assert_same(found, expected):
    assert list(found) == list(expected)
    for one, other in zip(found.values(), expected.values(), strict=True):
        assert one.rows == other.rows
        assert_array_equal(one.origins, other.origins)
        for name in other.forecasts:
            assert_array_equal(one.forecasts[name], other.forecasts[name])


def test_every_form_is_the_loop(forecaster, frame, by_hand):
    """Of a data frame, of partitions of one, of a dict, and where the times are a column."""
    forms = [frame, dict(frame.items()), dd.from_pandas(frame, npartitions=4)]
    forms.append({name: dask.delayed(frame[name].copy)() for name in frame})
    forms.append(dd.from_pandas(frame.reset_index(names="day"), npartitions=3))
    with dask.config.set(scheduler="synchronous"):
        for form in forms:
            assert_same(forecaster.backtest_each(form, n_origins=5), by_hand)


def test_one_series_on_workers_is_refused(forecaster, frame):
    """It is not collected in silence, and many series are asked for by name."""
    for series in (da.from_array(frame["sea"].to_numpy(), chunks=40), dd.from_pandas(frame["sea"], npartitions=3)):
        with pytest.raises(ValueError, match="series is one series"):
            forecaster.backtest_each(series)
        for call in (forecaster.fit, forecaster.backtest):
            with pytest.raises(TypeError, match=r"y takes rows in memory here.*y\.compute\(\).*backtest_each"):
                call(series)


def test_arrays_are_numbered(forecaster, frame):
    """A list of series of any lengths, and columns of an array, in memory or in partitions."""
    values = frame[["sea", "noise"]].to_numpy()
    expected = {j: forecaster.backtest(values[:, j], n_origins=5) for j in range(2)}
    with dask.config.set(scheduler="synchronous"):
        for form in (values, list(values.T), da.from_array(values, chunks=(40, 1))):
            assert_same(forecaster.backtest_each(form, n_origins=5), expected)


def test_series_spread_over_a_cluster(cluster, forecaster, frame, by_hand):
    """Partitions are put together on the workers; joblib's backend sends what is in memory."""
    assert_same(forecaster.backtest_each(dd.from_pandas(frame, npartitions=4), n_origins=5), by_hand)
    with parallel_config(backend="dask"):
        assert_same(forecaster.backtest_each(frame, n_origins=5), by_hand)


def test_errors_name_the_series(forecaster, frame):
    with pytest.raises(ValueError, match=r"series 'short': .*too long for a backtest"):
        forecaster.backtest_each({"sea": frame["sea"], "short": np.arange(5.0)}, n_origins=5)
    with pytest.raises(ValueError, match="at least one series"):
        forecaster.backtest_each([])
    with pytest.raises(ValueError, match="one series"):
        forecaster.backtest_each(np.arange(100.0))
