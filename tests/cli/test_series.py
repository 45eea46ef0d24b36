"""``gramian forecast``: a folder from a table, and a model that goes on."""

import json

import pandas as pd
import pytest

from cli.conftest import error_of
from outlook.shop import shop


@pytest.fixture
def table(tmp_path):
    shop(210).to_csv(tmp_path / "shop.csv", index=False)
    shop(215).iloc[210:].to_csv(tmp_path / "new.csv", index=False)
    return "shop.csv"


def test_a_series_becomes_a_folder_and_a_model_goes_on(run, table, tmp_path):
    result = run("forecast", table, "--column", "sold", "--horizon", 7)
    assert result.exit_code == 0, result.output
    assert "The next 7 values of sold" in result.stdout
    assert "shop_forecast/report.html" in result.stdout
    steps = pd.read_csv(tmp_path / "shop_forecast" / "forecast.csv")
    assert list(steps) == ["day", "forecast", "lower", "upper"]
    assert len(steps) == 7
    model = "shop_forecast/model.gramian"
    result = run("forecast", model, "--update", "new.csv", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["forecast"][0]["day"], told["folder"]) == ("2024-08-03", "new_forecast")
    assert run("forecast", model, "--horizon", 2, "--out", "two", "--quiet").stdout == ""
    assert len(pd.read_csv(tmp_path / "two" / "forecast.csv")) == 2
    assert "--force" in error_of(run("forecast", model, "--out", "two"))
    facts = json.loads(run("info", model, "--json").stdout)
    assert (facts["forecasts"], facts["time"], facts["steps seen"], facts["steps ahead"]) == ("sold", "day", 210, 7)


def test_networks_can_be_insisted_on_and_seasons_given(run, table):
    result = run(
        "forecast",
        table,
        "--column",
        "sold",
        "--model",
        "esn",
        "--period",
        7,
        "--horizon",
        3,
        "--coverage",
        0.5,
        "--json",
    )
    told = json.loads(result.stdout)
    assert (told["chosen"], told["seasons"], told["coverage"]) == ("networks", [7], 0.5)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["shop.csv"], "2 columns of numbers, 'sold', 'price'"),
        (["shop.csv", "--column", "sould"], "did you mean 'sold'"),
        (["shop.csv", "--column", "sold", "--update", "new.csv"], "--update goes with a model"),
        (["shop.csv", "--column", "sold", "--model", "arima"], "pass auto or esn"),
        (["shop.csv", "--column", "sold", "--horizon", "900"], "horizon=900 is longer than the series"),
        (["shop.csv", "--column", "sold", "--coverage", "2"], "coverage=2.0"),
        (["shop.csv", "--column", "sold", "--known", "price"], "the next 12 values of price are needed"),
        (["x.gramian", "--column", "sold"], "--column is part of the model already"),
        (["x.gramian", "--model", "esn"], "--model is part of the model already"),
        (["shop.csv", "--column", "sold", "--column", "price"], "--column price: one column is forecast at a time"),
        (["x.gramian"], "x.gramian"),
        (["nothing.csv"], "does not exist"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(run, table, tmp_path, options, why):
    assert why in error_of(run("forecast", *options))
    assert {path.name for path in tmp_path.iterdir()} == {"shop.csv", "new.csv"}


def test_a_model_reads_later_rows_as_the_first_ones_and_takes_another_coverage(run, tmp_path):
    """Days first, a code of missing values, and a band for half of the values."""
    frame = shop(215)
    frame["day"] = frame["day"].dt.strftime("%d/%m/%Y")  # 29 July to 2 August are the later rows
    frame.loc[[3, 213], "sold"] = -999
    frame.iloc[:210].to_csv(tmp_path / "shop.csv", index=False)
    frame.iloc[213:].to_csv(tmp_path / "new.csv", index=False)
    assert run("forecast", "shop.csv", "--column", "sold", "--missing", "-999", "--quiet").exit_code == 0
    options = ("forecast", "shop_forecast/model.gramian", "--json", "--force")
    told = json.loads(run(*options, "--update", "new.csv").stdout)
    assert told["forecast"][0]["day"] == "2024-08-03"
    assert told["missing"] == 1 + 3 + 1
    half = json.loads(run(*options, "--update", "new.csv", "--coverage", 0.5, "--out", "half").stdout)
    assert half["coverage"] == 0.5
    for one, other in zip(half["forecast"], told["forecast"], strict=True):
        assert one["upper"] - one["lower"] < other["upper"] - other["lower"]
