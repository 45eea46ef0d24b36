"""A forecast is drawn with its band, behind its history."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import plot


@pytest.fixture(scope="module")
def series():
    return np.sin(np.arange(260) / 3) + 0.1 * np.random.default_rng(0).normal(size=260)


@pytest.fixture(scope="module")
def model(series):
    return gramian.EchoStateForecaster(5, random_state=0).fit(series)


def line(ax, label):
    return next(found for found in ax.lines if found.get_label() == label)


def test_history_forecast_and_band_are_the_models(series, model):
    ax = plot.forecast(model, series)
    past, ahead = line(ax, "history"), line(ax, "forecast")
    np.testing.assert_allclose(past.get_xydata(), np.column_stack([np.arange(200, 260), series[200:]]))
    np.testing.assert_allclose(ahead.get_ydata(), model.predict())
    np.testing.assert_array_equal(ahead.get_xdata(), np.arange(260, 265))
    corners = ax.collections[0].get_paths()[0].vertices
    band = model.predict_interval()
    assert {round(v, 9) for v in band.ravel()} <= {round(v, 9) for v in corners[:, 1]}
    assert ax.collections[0].get_label() == "90 % band"


def test_coverage_horizon_history_and_what_came(series, model):
    ax = plot.forecast(model, series, horizon=3, coverage=0.5, history=10, actual=[1.0, 2.0])
    assert len(line(ax, "history").get_xdata()) == 10
    np.testing.assert_array_equal(line(ax, "what came").get_xydata(), [[260, 1.0], [261, 2.0]])
    assert len(line(ax, "forecast").get_xdata()) == 3
    assert ax.collections[0].get_label() == "50 % band"


def test_without_the_series_only_the_forecast_is_drawn(model):
    ax = plot.forecast(model)
    assert [found.get_label() for found in ax.lines] == ["forecast"]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(260, 265))


def test_dates_stay_dates(series):
    dated = pd.Series(series, pd.date_range("2020-01-01", periods=260, freq="D"), name="level")
    model = gramian.EchoStateForecaster(5, random_state=0).fit(dated)
    ax = plot.forecast(model, dated)
    ahead = line(ax, "forecast").get_xdata()
    np.testing.assert_array_equal(ahead.astype("datetime64[D]"), pd.date_range("2020-09-17", periods=5).to_numpy())
    assert ax.get_ylabel() == "level"


def test_what_forecast_returns_is_drawn(series):
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=260, freq="D"), "level": series})
    outcome = gramian.forecast(frame, horizon=4)
    ax = plot.forecast(outcome)
    np.testing.assert_allclose(line(ax, "forecast").get_ydata(), outcome.found.forecast)
    assert line(ax, "forecast").get_xdata()[0].astype("datetime64[D]") == np.datetime64("2020-09-17")


def test_a_history_that_cannot_be_is_refused(series, model):
    with pytest.raises(ValueError, match="y has 261 steps and the model has seen 260"):
        plot.forecast(model, np.append(series, 0.0))
    with pytest.raises(ValueError, match="history=-3 must be a whole number >= 0"):
        plot.forecast(model, series, history=-3)


def test_several_series_are_refused(series):
    model = gramian.EchoStateForecaster(2, random_state=0).fit(np.column_stack([series, series**2]))
    with pytest.raises(ValueError, match=r"the model forecasts 2 series; plot.forecast draws one"):
        plot.forecast(model)
