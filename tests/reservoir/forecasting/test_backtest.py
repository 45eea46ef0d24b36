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


def test_series_that_do_not_vary_have_no_errors_to_compare(forecaster, series):
    """A constant beside a series leaves the table as it is; an exact season has no unit for MASE, and no rounding."""
    alone = forecaster.backtest(series, n_origins=5)
    naive = next(row for row in alone.rows if row["model"] == "naive")
    both = forecaster.backtest(np.column_stack([series, np.full(400, 7.3)]), n_origins=5)
    beside = next(row for row in both.rows if row["model"] == "naive")
    assert (beside["mase"], beside["nrmse"]) == pytest.approx((naive["mase"], naive["nrmse"]))
    exact = forecaster.backtest(100 + np.sin(2 * np.pi * np.arange(300) / 10), n_origins=5)
    assert exact.scale.tolist() == [0.0]
    assert (exact.repeated.tolist(), both.repeated[0]) == ([10], 10)
    assert all(np.isnan(row["mase"]) for row in exact.rows)


def test_a_forecaster_is_not_changed_by_its_backtest(forecaster, series):
    """A clone is fitted."""
    forecaster.backtest(series, n_origins=3)
    assert not hasattr(forecaster, "chosen_")
    with pytest.raises(ValueError, match="too long for a backtest"):
        forecaster.backtest(series[:10], horizon=5)


def test_what_comes_after_an_origin_does_not_change_its_forecast():
    """No choice (season, logarithm, leak, units of y and X, penalty) and no band sees a step after the origin."""
    rng = np.random.default_rng(1)
    t = np.arange(360)
    X = rng.normal(size=(360, 2))
    y = 20 + 3 * np.sin(2 * np.pi * t / 12) + X[:, 0] + rng.normal(size=360)
    y[100:108] = np.nan
    X[50:55, 1] = np.nan
    model = EchoStateForecaster(4, n_networks=1, random_state=0)
    before = model.backtest(y, X, n_origins=30, known=[0])
    place = 12
    later = before.origins[place] + 1
    changed, others = y.copy(), X.copy()
    # Another level, season and scale, holes, and negative values that forbid logarithms.
    changed[later:] = -1000 * np.sin(2 * np.pi * t[later:] / 7) * rng.random(360 - later)
    changed[later + 3 : later + 6] = np.nan
    others[later:, 1] = 1e4
    others[later + 4 :, 0] = -1e4  # a column known in advance is seen as far as the horizon
    after = model.backtest(changed, others, n_origins=30, known=[0])
    assert {row["model"] for row in after.rows} == {row["model"] for row in before.rows}
    assert [row["model"] for row in after.rows if row["chosen"]] == [
        row["model"] for row in before.rows if row["chosen"]
    ]
    for name in before.forecasts:
        for old, new in ((before.forecasts, after.forecasts), (before.lower, after.lower), (before.upper, after.upper)):
            np.testing.assert_allclose(new[name][: place + 1], old[name][: place + 1], rtol=1e-9)
        assert not np.allclose(after.forecasts[name][place + 1 :], before.forecasts[name][place + 1 :])


def test_figures_are_those_of_the_textbook(forecaster, series):
    """MASE, NRMSE and coverage recomputed, step by step, with holes."""
    y = series.copy()
    y[[330, 331, 350]] = np.nan
    found = forecaster.backtest(y, n_origins=20)
    repeated = [abs(y[t] - y[t - 10]) for t in range(10, 320)]
    for row in found.rows:
        errors, truths, held = [], [], []
        for k, origin in enumerate(found.origins):
            for h in range(3):
                truth = y[origin + 1 + h]
                if not np.isnan(truth):
                    truths.append(truth)
                    errors.append(truth - found.forecasts[row["model"]][k, h, 0])
                    held.append(found.lower[row["model"]][k, h, 0] <= truth <= found.upper[row["model"]][k, h, 0])
        assert row["mase"] == pytest.approx(np.mean(np.abs(errors)) / np.mean(repeated))
        assert row["nrmse"] == pytest.approx(np.sqrt(np.mean(np.square(errors)) / np.var(truths)))
        assert row["coverage"] == pytest.approx(np.mean(held))


def test_an_unknown_end_is_named(forecaster, series):
    y = series.copy()
    y[300:] = np.nan
    with pytest.raises(ValueError, match="none of the last 80 values of y is known"):
        forecaster.backtest(y)


def test_a_unit_that_was_never_known_is_none():
    """Every other value is missing, so that no value ever followed another."""
    y = np.random.default_rng(0).normal(size=120).cumsum()
    y[1::2] = np.nan
    found = EchoStateForecaster(2, n_networks=1, period=None, random_state=0).backtest(y, n_origins=10)
    assert (found.scale.tolist(), found.repeated.tolist()) == ([0.0], [1])
    assert all(np.isnan(row["mase"]) and np.isfinite(row["nrmse"]) for row in found.rows)


def test_values_at_the_end_of_a_band_are_inside_but_for_rounding():
    """Errors of a series of 0 and 1 are 0 or 1, and so are the bands: all values are inside, the level narrows."""
    y = (np.random.default_rng(0).random(240) < 0.3).astype(float)
    found = EchoStateForecaster(5, n_networks=1, period=None, random_state=0).backtest(y)
    row = next(row for row in found.rows if row["model"] == "naive")
    assert set(np.round(found.upper["naive"] - found.forecasts["naive"], 9).ravel().tolist()) == {1.0}
    assert row["coverage"] == 1.0
