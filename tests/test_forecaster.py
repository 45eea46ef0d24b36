"""gramian.forecast takes frames, paths and files, and its result goes on and writes what the command line writes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian.forecaster import Forecasted
from outlook.shop import shop


@pytest.fixture(scope="module")
def forecasted():
    return gramian.forecast(shop(), "sold", horizon=7)


def test_files_and_frames_give_the_same(forecasted):
    assert isinstance(forecasted, Forecasted)
    again = gramian.forecast(io.StringIO(shop().to_csv(index=False)), "sold", horizon=7)
    pd.testing.assert_frame_equal(again.steps, forecasted.steps)
    assert list(forecasted.steps) == ["day", "forecast", "lower", "upper"]
    assert "echo state networks" in forecasted.rules.index
    assert repr(forecasted).startswith("The next 7 values of sold")


def test_an_update_leaves_the_first_forecast_as_it_was(forecasted):
    before = forecasted.model.forecaster.predict()
    later = forecasted.update(shop(265).iloc[260:])
    assert later.steps["day"].iloc[0] == "2024-09-22"
    np.testing.assert_array_equal(forecasted.model.forecaster.predict(), before)


def test_the_folder_holds_everything(forecasted, tmp_path):
    folder = forecasted.save(tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == {"report.html", "forecast.csv", "summary.json", "model.gramian"}
    told = json.loads((folder / "summary.json").read_text("utf-8"))
    written = pd.read_csv(folder / "forecast.csv")
    assert told["forecast"] == written.to_dict("records")
    assert told == forecasted.summary()
    assert forecasted.report(tmp_path / "page.html").read_text("utf-8") == (folder / "report.html").read_text("utf-8")
