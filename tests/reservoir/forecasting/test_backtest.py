"""The backtest against forecasts made by hand."""

import numpy as np
import pytest

from gramian import EchoStateForecaster
from gramian.metrics import mase, nrmse
from gramian.reservoir import Reservoir


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    return np.sin(2 * np.pi * np.arange(400) / 10) + 0.3 * rng.normal(size=400)


@pytest.fixture(scope="module")
def forecaster():
    return EchoStateForecaster(3, n_networks=1, reservoir=Reservoir(20), lags=10, random_state=0)


def test_table_is_that_of_update_and_predict(forecaster, series):
    """Every forecast of the table is that of a forecaster fitted before and moved on to its origin."""
    found = forecaster.backtest(series, n_origins=5)
    chosen = next(row for row in found.rows if row["chosen"])
    model = EchoStateForecaster(3, n_networks=1, reservoir=Reservoir(20), lags=10, random_state=0).fit(series[:320])
    assert model.chosen_ == chosen["model"]
    seen = 320
    for k, origin in enumerate(found.origins):
        model.update(series[seen : origin + 1])
        seen = origin + 1
        np.testing.assert_allclose(model.predict(), found.forecasts[model.chosen_][k, :, 0], atol=1e-9)
        bands = model.predict_interval()
        np.testing.assert_allclose(bands[:, 0], found.lower[model.chosen_][k, :, 0], atol=1e-9)
        np.testing.assert_allclose(found.truth[k, :, 0], series[origin + 1 : origin + 4])


def test_columns_are_the_metrics_of_the_library(forecaster, series):
    """MASE and NRMSE are those of gramian.metrics over all origins and horizons."""
    found = forecaster.backtest(series, n_origins=20)
    for row in found.rows:
        truth, forecast = found.truth.ravel(), found.forecasts[row["model"]].ravel()
        assert row["mase"] == pytest.approx(mase(truth, forecast, series[:320], period=10))
        assert row["nrmse"] == pytest.approx(nrmse(truth, forecast))
    assert {row["model"] for row in found.rows} == {"naive", "seasonal_naive", "lags", "networks"}
    assert list(found.frame["model"]) == [row["model"] for row in found.rows]
    assert "networks" in repr(found)


def test_a_forecaster_is_not_changed_by_its_backtest(forecaster, series):
    """A clone is fitted."""
    forecaster.backtest(series, n_origins=3)
    assert not hasattr(forecaster, "chosen_")
    with pytest.raises(ValueError, match="too long for a backtest"):
        forecaster.backtest(series[:10], horizon=5)
