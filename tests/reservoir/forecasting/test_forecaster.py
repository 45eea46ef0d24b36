"""The forecaster: exact where exactness is possible, the same in pieces or at once, clear where it refuses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import gramian
from gramian import EchoStateForecaster, NextGenerationReservoir
from gramian.reservoir import Reservoir

STEPS = np.arange(260)
EXACT = {
    "constant": np.full(260, 3.7),
    "line": 5 - 0.3 * STEPS,
    "season": np.tile([1.0, 5, 2, 8, 3, 3, 1], 38)[:260],
    "line and season": 0.5 * STEPS + np.tile([1.0, 5, 2, 8, 2], 52),
}


def small(horizon=3, **changes):
    settings = {"n_networks": 2, "reservoir": Reservoir(20), "lags": 8, "random_state": 0} | changes
    return EchoStateForecaster(horizon, **settings)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(3)
    return 20 + 3 * np.sin(2 * np.pi * np.arange(400) / 12) + rng.normal(size=400)


# Exactness -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:y does not vary")
@pytest.mark.parametrize("safeguard", [True, False])
@pytest.mark.parametrize("name", EXACT)
def test_forecasts_of_exact_series_are_exact(name, safeguard):
    """A constant, a line and a season go on, directly and from their own forecasts, with bands of no width."""
    y = EXACT[name]
    model = small(5, safeguard=safeguard).fit(y[:240])
    np.testing.assert_allclose(model.predict(20), y[240:], rtol=1e-6)
    assert np.ptp(model.predict_interval(20), axis=1).max() < 1e-6 * np.abs(y).max()


def test_a_constant_series_is_said_to_be_one():
    """The forecast is the constant, and a warning tells."""
    with pytest.warns(UserWarning, match="does not vary"):
        model = small().fit(np.ones(100))
    assert model.chosen_ == "naive"


def test_networks_are_chosen_where_they_win_and_rules_where_they_do():
    """A chaotic map goes to the networks, a random walk to the last value."""
    x = np.empty(600)
    x[0] = 0.3
    for t in range(1, 600):
        x[t] = 3.9 * x[t - 1] * (1 - x[t - 1])
    assert small(2, reservoir=None).fit(x).chosen_ == "networks"
    walk = np.cumsum(np.random.default_rng(0).normal(size=600))
    assert small(5).fit(walk).chosen_ == "naive"
    assert small(5, safeguard=False).fit(walk).chosen_ == "networks"


# In pieces or at once --------------------------------------------------------------------------------------


@pytest.mark.parametrize("safeguard", [True, False])
def test_update_in_pieces_is_update_at_once(noisy, safeguard):
    """Ten steps at once, or one after another with a hole among them: the same forecasts and bands."""
    y = noisy.copy()
    y[[50, 51, 354]] = np.nan
    once = small(safeguard=safeguard).fit(y[:350]).update(y[350:360])
    pieces = small(safeguard=safeguard).fit(y[:350])
    for t in range(350, 360):
        pieces.update(y[t : t + 1])
    np.testing.assert_allclose(once.predict(7), pieces.predict(7), atol=1e-9)
    np.testing.assert_allclose(once.predict_interval(), pieces.predict_interval(), atol=1e-9)
    assert once.n_steps_ == 360
    assert once.n_missing_ == 3


def test_beyond_the_horizon_forecasts_go_on_from_forecasts(noisy):
    """Steps beyond the horizon are those of a model that took the first ones for values."""
    model = small(safeguard=False).fit(noisy)
    far = model.predict(7)
    again = small(safeguard=False).fit(noisy)
    again.update(again.predict(3))
    np.testing.assert_allclose(far[3:6], again.predict(3), atol=1e-9)


def test_bands_beyond_the_horizon_add_up_as_errors_of_independent_parts(noisy):
    """√(w_h² + k w_H²) for step h of the k-th block, whatever rule forecasts."""
    model = small(3).fit(noisy - 100)  # negative, so that no logarithm bends them
    halves = np.diff(model.predict_interval(9), axis=1)[:, 0] / 2
    for k in (1, 2):
        expected = np.sqrt(halves[:3] ** 2 + k * halves[2] ** 2)
        np.testing.assert_allclose(halves[3 * k : 3 * k + 3], expected)


def test_bands_hold_fresh_noise():
    """On exchangeable noise nine of ten values of the future are inside, within three standard errors."""
    rng = np.random.default_rng(5)
    inside = []
    for seed in range(8):
        y = rng.normal(size=700)
        found = small(1, n_networks=1, random_state=seed).backtest(y, n_origins=1000)
        name = next(row["model"] for row in found.rows if row["chosen"])
        inside.append((found.lower[name] <= found.truth) & (found.truth <= found.upper[name]))
    assert abs(np.mean(inside) - 0.9) < 3 * np.sqrt(0.09 / np.size(inside)) + 0.01


# Forms -----------------------------------------------------------------------------------------------------


def test_frames_in_frames_out(noisy):
    """pandas and polars get the numbers of arrays, at the times that follow."""
    y, index = noisy[:200], pd.date_range("2020-01-01", periods=200, freq="D", name="day")
    series = pd.Series(y, index, name="a")
    found = small().fit(series).predict()
    assert list(found.index) == list(pd.date_range("2020-07-19", periods=3, freq="D"))
    assert found.name == "a"
    bands = small().fit(series).predict_interval()
    assert list(bands.columns) == ["lower", "upper"]
    frame = pl.DataFrame({"day": index.to_numpy(), "a": y})
    other = small().fit(frame).predict()
    assert other.columns == ["day", "a"]
    np.testing.assert_allclose(other["a"].to_numpy(), found.to_numpy())
    assert small().fit(y.astype(np.float32)).predict().dtype == np.float32


def test_columns_keep_the_names_that_pandas_gives_them(noisy, tmp_path):
    """Numbers stay numbers, and a series without a name has none; also of a model that was saved."""
    frame = pd.DataFrame({0: noisy[:200], 7: 2 * noisy[:200]})
    model = small().fit(frame)
    gramian.save(model, tmp_path / "model.gramian")
    for one in (model, gramian.load(tmp_path / "model.gramian")):
        assert one.predict().columns.tolist() == [0, 7]
    assert list(model.predict_interval().columns) == ["0 lower", "0 upper", "7 lower", "7 upper"]
    assert small().fit(frame[7]).predict().name == 7
    assert small().fit(pd.Series(noisy[:200])).predict().name is None


def test_several_columns_and_other_columns(noisy):
    """Several series are forecast together; a column that leads helps, whether known in advance or not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=401)
    y = np.column_stack([3 * x[1:] + 0.1 * rng.normal(size=400), noisy])
    X = x[1:, None]
    model = small().fit(y[:390], X[:390])
    found = model.predict(3, X=X[390:393])
    assert found.shape == (3, 2)
    assert np.abs(found[:, 0] - y[390:393, 0]).max() < 1
    assert model.predict_interval(3, X=X[390:393]).shape == (3, 2, 2)
    unknown = small().fit(y[:390], X[:390], known=())
    assert unknown.predict(3).shape == (3, 2)
    with pytest.raises(ValueError, match="columns 0 are needed for the next 3 steps"):
        model.predict(3)
    with pytest.raises(ValueError, match="X has 2 rows"):
        model.predict(3, X=X[:2])
    with pytest.raises(ValueError, match="not a column of X"):
        small().fit(y, X, known=["heat"])
    with pytest.raises(ValueError, match="X was not passed"):
        small().fit(y, known=["heat"])


def test_gaps_in_times_are_holes(noisy):
    """Rows that are left out of a dated series are filled, as NaN would be."""
    index = pd.date_range("2020-01-01", periods=300, freq="h")
    whole = pd.Series(noisy[:300], index)
    holed = whole.copy()
    holed.iloc[100:110] = np.nan
    with pytest.warns(UserWarning, match="10 steps are missing"):
        gaps = small().fit(whole.drop(whole.index[100:110]))
    np.testing.assert_allclose(gaps.predict(), small().fit(holed).predict())
    with pytest.warns(UserWarning, match="not in order"):
        mixed = small().fit(holed.iloc[::-1])
    np.testing.assert_allclose(mixed.predict(), gaps.predict())
    with pytest.raises(ValueError, match="not after the last one seen"):
        gaps.update(whole.iloc[-2:])


def test_holes_anywhere(noisy):
    """NaN at the start are passed over, those at the end are forecast through."""
    y = noisy.copy()
    y[:5] = y[-4:] = np.nan
    model = small().fit(y)
    np.testing.assert_allclose(model.predict(2), small().fit(y[5:]).predict(2))
    assert np.isfinite(model.predict()).all()
    assert model.n_steps_ == 395


# Conventions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reservoir", [None, NextGenerationReservoir(3)])
def test_saved_models_go_on_alike(noisy, reservoir, tmp_path):
    """A loaded model forecasts, and updates, as the saved one."""
    model = small(reservoir=reservoir, safeguard=False).fit(pd.Series(noisy[:300], name="load"))
    gramian.save(model, tmp_path / "model.gramian")
    loaded = gramian.load(tmp_path / "model.gramian")
    pd.testing.assert_series_equal(loaded.predict(), model.predict())
    np.testing.assert_array_equal(
        loaded.update(noisy[300:310]).predict_interval(), model.update(noisy[300:310]).predict_interval()
    )


def test_seeds_repeat_and_inputs_stay(noisy):
    """The same seed gives the same forecast; parameters, clones and data are left as they were."""
    y = noisy.copy()
    model = small(reservoir=None)
    before = repr(model)
    first = model.fit(y).predict()
    np.testing.assert_array_equal(first, small(reservoir=None).fit(y).predict())
    np.testing.assert_array_equal(y, noisy)
    assert repr(model) == before == repr(clone(model))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, "horizon=0"),
        ({"period": "daily"}, "period='daily'"),
        ({"n_networks": 1.5}, "n_networks=1.5"),
        ({"reservoir": "big"}, "reservoir='big'"),
        ({"lags": -1}, "lags=-1"),
        ({"coverage": 1.0}, "coverage=1.0"),
        ({"safeguard": "no"}, "safeguard='no'"),
        ({"random_state": "x"}, "random_state='x'"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    """The message has the parameter and its value."""
    with pytest.raises(ValueError, match=message):
        EchoStateForecaster(**changes).fit(np.arange(50.0))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0], "known values"),
        ([], "at least two steps"),
        (np.full(30, np.nan), "0 known values"),
        (["a"] * 30, "'a' in row 0"),
        (np.r_[np.arange(30.0), np.inf], "infinity in row 30"),
        (np.arange(3.0), "horizon=3 is longer"),
        (np.arange(9.0), "period=9 is longer than the series of 9 steps"),
    ],
)
def test_bad_series_are_named(y, message):
    """The message says what is wrong and where."""
    with pytest.raises(ValueError, match=message):
        small(period=9 if "period" in message else "auto").fit(y)


def test_a_refused_fit_leaves_the_model_as_it_was(noisy):
    """After an error the old forecasts are still there; updates of another width are refused."""
    model = small().fit(noisy)
    before = model.predict()
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="2 columns"):
        model.update(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="fit had none"):
        model.update(noisy[:2], X=noisy[:2])
    np.testing.assert_array_equal(model.predict(), before)


def test_short_series_are_forecast_by_rules():
    """A dozen steps are enough for a rule, not for a network that is insisted on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert small().fit(np.arange(12.0) % 5).predict().shape == (3,)
    with pytest.raises(ValueError, match="too few for a network"):
        small(safeguard=False).fit(np.arange(12.0))


@pytest.mark.parametrize("kept", [slice(0, 75), slice(None, None, 40), [5, 60, 140]])
def test_series_of_holes_are_forecast_by_rules(noisy, kept):
    """Where holes leave too little to learn from, a simple rule forecasts, with a band."""
    y = np.full(150, np.nan)
    y[kept] = noisy[:150][kept]
    model = EchoStateForecaster(3, n_networks=1, random_state=0).fit(y)
    assert model.chosen_ in ("naive", "seasonal_naive")
    lower, upper = model.predict_interval().T
    assert (lower < model.predict()).all()
    assert (model.predict() < upper).all()
    with pytest.raises(ValueError, match="too few known values for a network"):
        EchoStateForecaster(3, n_networks=1, safeguard=False).fit(y)


def test_a_few_known_values_are_too_few_for_a_network():
    """31 values in 229 steps: networks would be chosen by the five that judge, with bands of the largest of five."""
    rng = np.random.default_rng(0)
    y = 10 + 3 * np.sin(2 * np.pi * np.arange(240) / 7) + 0.5 * rng.normal(size=240)
    y[rng.random(240) < 0.85] = np.nan
    model = EchoStateForecaster(5, n_networks=1, random_state=0).fit(y)
    assert model.chosen_ in ("naive", "seasonal_naive")
    assert "networks" not in model.errors_
    with pytest.raises(ValueError, match="too few known values for a network"):
        EchoStateForecaster(5, n_networks=1, safeguard=False).fit(y)


def test_columns_that_are_never_known_together_are_forecast():
    """Each has its own last values, and nothing warns."""
    y = np.column_stack([np.arange(60.0) % 5, np.arange(60.0) % 4])
    y[::2, 0] = y[1::2, 1] = np.nan
    y[0] = np.nan
    assert np.isfinite(EchoStateForecaster(3, n_networks=1, random_state=0).fit(y).predict()).all()


def test_two_values_have_a_band():
    model = EchoStateForecaster(1).fit([1.0, 3.0])
    assert model.predict_interval().tolist() == [[1.0, 5.0]]


def test_a_constant_series_with_dates_is_forecast():
    """Days of the week are columns that vary where nothing else does."""
    y = pd.Series(5.0, pd.date_range("2020-01-01", periods=120, freq="D"))
    with pytest.warns(UserWarning, match="y does not vary"):
        model = EchoStateForecaster(3, n_networks=1, random_state=0).fit(y)
    assert model.predict().tolist() == [5.0] * 3
