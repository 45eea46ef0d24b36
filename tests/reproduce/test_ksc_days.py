"""Days of particulate matter: the script runs in small on made-up files."""

import gzip

import numpy as np

from reproduce import ksc_days
from reproduce.table import Options


def made_up(seed=0):
    """Two years of hours: two kinds of day, every tenth hour of a few days not measured."""
    hours = np.arange("2010-01-01", "2012-01-01", dtype="datetime64[h]")
    rng, day = np.random.default_rng(seed), (hours - hours[0]).astype(int) // 24
    level = np.where(rng.random(day.max() + 1) < 0.5, 2.5, 5.0)[day] + 0.2 * rng.normal(size=len(hours))
    values = np.expm1(level)
    values[rng.random(len(hours)) < 0.05] = np.nan
    return hours, values


def test_days_are_rows_of_24_hours_and_those_without_any_are_left_out():
    hours, values = made_up()
    values[24:48] = np.nan
    days, rows = ksc_days.by_day(hours, values)
    assert rows.shape == (729, 24)
    assert days[1] == np.datetime64("2010-01-03")
    np.testing.assert_allclose(rows[0], np.log1p(values[:24]))
    np.testing.assert_allclose(rows[-1], np.log1p(values[-24:]))


def test_both_files_are_read_and_the_clusters_found_again(tmp_path, capsys):
    hours, values = made_up()
    cells = ["" if np.isnan(value) else f"{value:.6g}" for value in values]
    (tmp_path / "series").mkdir()
    with gzip.open(tmp_path / "series" / "beijing_pm25.csv.gz", "wt") as file:
        parts = (
            f"{str(hour)[:4]},{int(str(hour)[5:7])},{int(str(hour)[8:10])},{int(str(hour)[11:13])}" for hour in hours
        )
        file.write("\n".join(["year,month,day,hour,pm2.5", *(f"{a},{b}" for a, b in zip(parts, cells, strict=True))]))
    with gzip.open(tmp_path / "series" / "london_air_pm10.csv.gz", "wt") as file:
        file.write("\n".join(["date,pm10", *(f"{hour}:00,{cell}" for hour, cell in zip(hours, cells, strict=True))]))
    for name in ksc_days.SERIES:
        when, what = ksc_days.load(name, tmp_path)
        assert np.array_equal(when, hours)
        np.testing.assert_allclose(what, values, rtol=1e-5)
    (tmp_path / "series" / "london_air_pm10.csv.gz").unlink()
    records, report = ksc_days.EXPERIMENT.run(Options(restarts=4, components=4, data=tmp_path))
    assert "London PM10 left out: series/london_air_pm10.csv.gz is not in the folder" in capsys.readouterr().err
    assert len(records) == 3 * 3 * 2
    chosen = [record for record in records if record["n_clusters"] == "chosen"]
    assert all(record["found"] == 2 and record["events"] == 0 for record in chosen)
    assert min(record["kept"] for record in chosen if record["kept"] is not None) > 0.99
    assert "| Beijing PM2.5, chosen clusters, memory 0.3 | 2 2 | 0.000 |" in report
