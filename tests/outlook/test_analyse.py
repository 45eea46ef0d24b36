"""The application says what the forecaster says, and going on is what predicting from a longer series is."""

import re

import numpy as np
import pandas as pd
import pytest

from gramian import EchoStateForecaster
from gramian.outlook import foresee, go_on, read_series
from gramian.report.forecast_page import render_forecast
from outlook.shop import shop


def test_the_forecast_is_that_of_the_forecaster(outlook):
    found, _ = outlook
    frame = shop()
    frame.loc[30:33, "sold"] = None
    y = frame.set_index("day")["sold"]
    model = EchoStateForecaster(7, random_state=0).fit(y)
    np.testing.assert_allclose(found.forecast, model.predict())
    bands = model.predict_interval()
    np.testing.assert_allclose(found.lower, bands["lower"])
    np.testing.assert_allclose(found.upper, bands["upper"])
    assert (found.n_steps, found.n_missing, found.chosen) == (260, 4, model.chosen_)
    assert found.next_labels[0] == "2024-09-17"
    rows = {row["model"]: row for row in model.backtest(y).rows}
    assert {rival.rule: rival.mase for rival in found.rivals} == {name: row["mase"] for name, row in rows.items()}
    assert len(found.errors) == 7


def test_going_on_is_updating(outlook):
    frame = shop(270)
    frame.loc[30:33, "sold"] = None
    _, model = foresee(read_series(frame.iloc[:260], "sold"), 7)
    later, model = go_on(model, read_series(frame.iloc[255:], "sold"))
    assert any("5 rows were known already" in note for note in later.notes)
    direct = EchoStateForecaster(7, random_state=0).fit(frame.set_index("day")["sold"].iloc[:260])
    direct.update(frame.set_index("day")["sold"].iloc[260:])
    np.testing.assert_allclose(later.forecast, direct.predict())
    assert later.next_labels[0] == "2024-09-27"
    assert (later.rivals, later.n_steps) == ([], 270)
    with pytest.raises(ValueError, match="no row after 2024-09-26"):
        go_on(model, read_series(frame, "sold"))


def test_rows_without_dates_go_on_too():
    frame = shop(200)[["sold"]]
    found, model = foresee(read_series(frame.iloc[:190], "sold"), 3)
    assert (found.time, found.labels[0], found.next_labels) == (None, "1", ["191", "192", "193"])
    later, _ = go_on(model, read_series(frame.iloc[190:], "sold"), 2)
    assert later.next_labels == ["201", "202"]
    np.testing.assert_allclose(later.values, frame["sold"])


def test_known_columns_need_their_coming_values():
    frame = shop(200, ahead=7)
    found, _ = foresee(read_series(frame, "sold", known=["price"]), 7)
    truth = shop(207)["sold"].iloc[-7:]
    assert np.abs(found.forecast - truth).mean() < 4
    with pytest.raises(ValueError, match=r"the next 8 values of price are needed, but .* has 7 rows"):
        foresee(read_series(frame, "sold", known=["price"]), 8)


def test_short_series_have_no_look_back():
    found, _ = foresee(read_series(shop(25), "sold"), 10)
    assert (found.rivals, len(found.errors)) == ([], 0)


def test_gaps_in_time_are_noted():
    found, _ = foresee(read_series(shop(200).drop(index=[50, 51]), "sold"), 3)
    assert "2 steps are missing, the first after 2024-02-19, and treated as holes." in found.notes
    assert found.n_missing == 2


def test_a_series_that_does_not_vary_is_said_to():
    found, _ = foresee(read_series(shop(60).assign(sold=5.0), "sold"), 3)
    assert any(note.startswith("The series does not vary") for note in found.notes)
    assert found.forecast.tolist() == found.lower.tolist() == found.upper.tolist() == [5.0] * 3


def test_a_column_of_numbers_is_a_time_to_go_on_from():
    """Years, say: the model keeps them as numbers and leaves out those that it knows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"year": np.arange(1900, 1985), "v": rng.normal(size=85).cumsum()})
    _, model = foresee(read_series(frame.iloc[:80], "v", time="year"), 2)
    later, _ = go_on(model, read_series(frame.iloc[78:], "v", time="year"))
    assert later.labels[-1] == "1984"
    assert later.next_labels == ["1985", "1986"]
    assert later.notes == ["2 rows were known already and left out."]


def test_a_series_that_begins_with_holes_is_forecast_without_a_look_back():
    """The last values are enough to forecast from, those before the last fifth are none."""
    frame = shop(100)
    frame.loc[:94, "sold"] = None
    found, _ = foresee(read_series(frame, "sold"), 3)
    assert (found.rivals, found.origins, len(found.forecast)) == ([], 0, 3)


def test_coming_values_are_taken_by_their_times():
    """A missing row among the coming ones is named, and not replaced by the next one."""
    frame = shop(200)
    frame["price"] = np.arange(200) % 5.0
    frame.loc[190:, "sold"] = None
    with pytest.raises(ValueError, match="X has no row for 2024-07-10"):
        foresee(read_series(frame.drop(index=191), "sold", known=["price"]), 3)


def test_many_rows_of_few_days_are_a_short_series():
    """A backtest is for steps: twenty readings of each of five days are five of them."""
    frame = pd.DataFrame({"day": np.repeat(pd.date_range("2024-01-01", periods=5), 20), "sold": np.arange(100.0)})
    found, _ = foresee(read_series(frame, "sold"), 2)
    assert (found.n_steps, found.rivals) == (5, [])


def test_a_model_goes_on_with_new_values_of_what_is_known_in_advance():
    """Without later values of the series, with some of both, and with another coverage."""
    frame = shop(200, ahead=20)
    whole = shop(220)
    found, model = foresee(read_series(frame.iloc[:207], "sold", known=["price"]), 7)
    other = frame.iloc[200:].assign(price=9 - frame["price"])
    changed, model = go_on(model, read_series(other, "sold", known=["price"], like=model), 7, 0.5)
    assert changed.next_labels == found.next_labels
    assert np.abs(changed.forecast - found.forecast).max() > 5
    assert changed.coverage == 0.5
    assert (changed.upper - changed.lower < found.upper - found.lower).all()
    assert changed.n_steps == 200
    later = pd.concat([whole.iloc[195:205], frame.iloc[205:]])
    moved, _ = go_on(model, read_series(later, "sold", known=["price"], like=model), 7)
    assert moved.next_labels[0] == str(frame["day"].iloc[205].date())
    assert moved.notes[0] == "5 rows were known already and left out."
    direct = EchoStateForecaster(7, random_state=0).fit(
        whole.set_index("day")["sold"].iloc[:200], whole.set_index("day")[["price"]].iloc[:200]
    )
    timed = whole.set_index("day")
    direct.update(timed["sold"].iloc[200:205], timed[["price"]].iloc[200:205])
    np.testing.assert_allclose(moved.forecast, direct.predict(X=timed[["price"]].iloc[205:212]))
    with pytest.raises(ValueError, match="the next 7 values of price are needed, but there are none"):
        go_on(model, None)


def test_a_step_that_the_look_back_never_saw_has_no_error():
    """One origin, and a hole among its steps: the others are told, the page is made, nothing warns."""
    frame = shop(40)
    frame.loc[36, "sold"] = np.nan
    found, _ = foresee(read_series(frame, "sold"), 12, period=None)
    assert found.origins == 1
    assert np.isnan(found.errors).sum() == 1
    text = render_forecast(found)
    assert "nan" not in re.sub("<style>.*</style>", "", text, flags=re.DOTALL).lower()
    assert "How errors grow" in text


def test_the_unit_of_errors_is_named():
    """Where no season was found, the last value is repeated and not a season."""
    rng = np.random.default_rng(0)
    walk = pd.DataFrame({"v": rng.normal(size=120).cumsum()})
    found, _ = foresee(read_series(walk, "v"), 3)
    assert (found.periods, found.repeated) == ([], 1)
    assert any("the error of repeating the last value" in text for text in found.sentences)
    seasonal, _ = foresee(read_series(shop(120), "sold"), 3)
    assert seasonal.repeated == 7
    assert any("the error of repeating the last season" in text for text in seasonal.sentences)
    for one in (found, seasonal):
        assert one.repeating in render_forecast(one)
        assert next(rival for rival in one.rivals if rival.rule == one.chosen).mase > 0
