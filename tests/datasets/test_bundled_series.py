"""The series that come with the package: the published counts, and the licence told."""

from importlib import resources

import numpy as np
import pytest

from gramian.datasets import Series, list_series, load_series

PUBLISHED = {
    # steps, columns, missing, first and last time
    "beijing_pm25": (17520, 4, 181, "2013-01-01T00:00", "2014-12-31T23:00"),
    "melbourne_temperature": (3650, 2, 0, "1981-01-01T00:00", "1990-12-31T00:00"),
    "santafe_laser": (10093, 1, 0, "0", "10092"),
    "seattle_weather": (1461, 4, 0, "2012-01-01T00:00", "2015-12-31T00:00"),
    "sunspots_yearly": (309, 1, 0, "1700", "2008"),
}


def test_every_series_is_listed_and_all_together_are_small():
    files = [f for f in (resources.files("gramian.datasets") / "data" / "series").iterdir() if f.name.endswith(".gz")]
    assert list_series() == sorted(f.name.removesuffix(".csv.gz") for f in files) == sorted(PUBLISHED)
    assert sum(len(f.read_bytes()) for f in files) < 300_000


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name):
    steps, columns, missing, first, last = PUBLISHED[name]
    series = load_series(name)
    assert isinstance(series, Series)
    assert series.values.shape == (steps, columns) == (len(series.time), len(series.names))
    assert int(np.isnan(series.values).sum()) == missing
    assert (str(series.time[0]), str(series.time[-1])) == (first, last)
    assert (np.diff(series.time) > np.zeros(1, np.diff(series.time).dtype)).all()
    assert "Licence: " in series.description
    assert list(series.frame.columns) == ["time", *series.names]
    assert repr(series).startswith(f"Series '{name}': {steps} steps")


def test_hours_are_evenly_spaced():
    assert set(np.diff(load_series("beijing_pm25").time).astype(int)) == {60}


def test_known_values():
    np.testing.assert_array_equal(load_series("santafe_laser").values[:5, 0], [86, 141, 95, 41, 22])
    assert load_series("melbourne_temperature").values[0].tolist() == [20.7, 38.1]


@pytest.mark.parametrize("name", ["sunspots", 3])
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match=r"not a bundled series; pass one of beijing_pm25"):
        load_series(name)
