"""Every column of a table weighs alike in the matrix, and later rows are treated as the first ones were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import gramian
from gramian.tables.prepare import Preparation
from gramian.tables.table import Column, Table


def as_table(columns: dict[str, tuple[str, Any]]) -> Table:
    """A table of columns given as kind and values."""
    types = {"number": "float64", "category": "category", "boolean": "boolean", "date": "datetime64[us]"}
    frame = pd.DataFrame({name: pd.Series(values).astype(types[kind]) for name, (kind, values) in columns.items()})
    return Table(frame, [Column(name, kind, 0.0) for name, (kind, _) in columns.items()], "test")


def one(kind: str, values: Any) -> np.ndarray:
    return Preparation().fit_transform(as_table({"x": (kind, values)}))


@pytest.fixture
def mixed() -> Table:
    rng = np.random.default_rng(0)
    n = 500
    levels = rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05])
    return as_table(
        {
            "normal": ("number", np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 9, n))),
            "heavy": ("number", rng.standard_cauchy(n)),
            "skewed": ("number", rng.lognormal(3, 1.5, n)),
            "often zero": ("number", np.where(rng.random(n) < 0.8, 0, rng.lognormal(8, 1, n))),
            "rating": ("number", rng.integers(1, 6, n)),
            "flag": ("boolean", pd.array(rng.random(n) < 0.3, dtype="boolean")),
            "two": ("category", rng.choice(["x", "y"], n)),
            "level": ("category", np.where(rng.random(n) < 0.1, None, levels)),
            "city": ("category", [f"{'AB'[i % 2]}ville {i}" for i in rng.integers(0, 300, n)]),
            "when": ("date", pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000 * 24, n), unit="h")),
        }
    )


def test_features_of_every_column_have_mean_zero_and_total_variance_one(mixed: Table) -> None:
    preparation = Preparation()
    X = preparation.fit_transform(mixed)
    assert X.shape == (500, len(preparation.feature_names_))
    assert X.dtype == np.float64
    owners = np.array(preparation.feature_columns_)
    assert list(dict.fromkeys(owners)) == list(mixed.frame)
    np.testing.assert_allclose(np.nanmean(X, axis=0), 0, atol=1e-9)
    for name in mixed.frame:
        total = np.nanvar(X[:, owners == name], axis=0).sum()
        assert total == pytest.approx(1, abs=1e-9), name


def test_missing_stays_missing_and_nothing_else_is(mixed: Table) -> None:
    preparation = Preparation()
    X = preparation.fit_transform(mixed)
    gaps = mixed.frame.isna().to_numpy()[:, [list(mixed.frame).index(name) for name in preparation.feature_columns_]]
    np.testing.assert_array_equal(np.isnan(X), gaps)


def test_names(mixed: Table) -> None:
    preparation = Preparation().fit(mixed)
    names = preparation.feature_names_
    assert len(set(names)) == len(names)
    assert [name for name in names if name.startswith("level")] == [f"level = {level}" for level in "abcd"]
    assert [name for name in names if name.startswith("two")] == ["two = y"]
    assert sum(name.startswith("city by letters") for name in names) == 8
    assert names[-7:] == ["when", *(f"when {p} {w}" for p in ("hour", "weekday", "month") for w in ("sine", "cosine"))]
    assert preparation.kinds_ == {column.name: column.kind for column in mixed.columns}


def test_a_well_behaved_number_is_only_standardised() -> None:
    values = np.random.default_rng(0).normal(50, 9, 1000)
    np.testing.assert_allclose(one("number", values)[:, 0], stats.zscore(values), rtol=1e-9)
    ratings = np.random.default_rng(0).integers(1, 6, 1000).astype(float)
    np.testing.assert_allclose(one("number", ratings)[:, 0], stats.zscore(ratings), rtol=1e-9)


def test_log_normal_values_become_nearly_normal() -> None:
    z = np.random.default_rng(0).normal(size=4000)
    for values in (np.exp(1.5 * z), 7 - np.exp(1.5 * z)):
        X = one("number", values)[:, 0]
        assert abs(np.corrcoef(X, np.sign(values[0] - values[1]) * np.sign(z[0] - z[1]) * z)[0, 1]) > 0.995
        assert abs(stats.skew(X)) < 0.3
    assert stats.skew(np.exp(1.5 * z)) > 5


def test_no_single_value_stretches_a_column() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    wild = values.copy()
    wild[0] = 1e9
    X, Y = one("number", values)[1:, 0], one("number", wild)[1:, 0]
    assert Y.std() > 0.7 * X.std()
    assert one("number", np.random.default_rng(0).standard_cauchy(10_000)).max() < 10


def test_a_column_of_mostly_zeros_keeps_both_parts_apart() -> None:
    rng = np.random.default_rng(0)
    values = np.where(rng.random(1000) < 0.9, 0, rng.lognormal(8, 1, 1000))
    X = one("number", values)[:, 0]
    assert np.ptp(X[values == 0]) == 0
    assert np.abs(X[values > 0]).max() < 12
    assert X[values > 0].min() > X[values == 0].max()


numbers = st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=5, max_size=60)


@given(values=numbers, shift=st.floats(-100, 100), factor=st.floats(0.01, 100))
@settings(max_examples=80, deadline=None)
def test_units_do_not_matter(values: list[float], shift: float, factor: float) -> None:
    """A positive affine map of a number leaves its feature as it is."""
    x = np.array(values)
    if len(np.unique(x)) < 2:
        return
    # Powers of two and whole shifts map exactly, so that ties stay ties.
    factor, shift = 2.0 ** round(np.log2(factor)), float(round(shift))
    mapped = x * factor + shift
    if not np.array_equal((mapped - shift) / factor, x):
        return
    np.testing.assert_allclose(one("number", mapped), one("number", x), rtol=1e-6, atol=1e-6)


@given(values=numbers)
@settings(max_examples=80, deadline=None)
def test_larger_values_stay_larger(values: list[float]) -> None:
    preparation = Preparation().fit(as_table({"x": ("number", values)}))
    grid = np.linspace(-2e3, 2e3, 301)
    assert np.all(np.diff(preparation.transform(pd.DataFrame({"x": grid}))[:, 0]) > 0)


def test_the_order_of_rows_does_not_matter(mixed: Table) -> None:
    order = np.random.default_rng(1).permutation(500)
    shuffled = Table(mixed.frame.iloc[order].reset_index(drop=True), mixed.columns, "test")
    np.testing.assert_allclose(
        Preparation().fit_transform(shuffled), Preparation().fit_transform(mixed)[order], atol=1e-9
    )


def test_indicators_against_their_definition() -> None:
    levels = np.array(["a"] * 5 + ["b"] * 3 + ["c"] * 2)
    shares = np.array([0.5, 0.3, 0.2])
    indicators = (levels[:, None] == ["a", "b", "c"]).astype(float)
    expected = (indicators - shares) / np.sqrt(1 - np.sum(shares**2))
    np.testing.assert_allclose(one("category", levels), expected)
    flags = np.array([True] * 3 + [False] * 7)
    np.testing.assert_allclose(one("boolean", flags)[:, 0], (flags - 0.3) / np.sqrt(0.21))
    np.testing.assert_allclose(one("category", np.where(flags, "y", "n")), one("boolean", flags))


def test_a_rare_value_weighs_less_than_a_column() -> None:
    flags = np.zeros(1000, bool)
    flags[0] = True
    X = one("boolean", flags)
    assert X.var() < 0.1
    assert np.ptp(X) == pytest.approx(1 / np.sqrt(0.05 * 0.95))
    assert np.ptp(one("category", np.where(flags, "y", "n"))) == pytest.approx(np.ptp(X))


def test_rare_levels_share_an_indicator() -> None:
    values = ["a"] * 500 + ["b"] * 490 + [f"rare {i}" for i in range(10)]
    preparation = Preparation().fit(as_table({"x": ("category", values)}))
    assert preparation.feature_names_ == ["x = a", "x = b", "x = other"]
    new = preparation.transform(pd.DataFrame({"x": ["never seen", "rare 3", None]}))
    np.testing.assert_array_equal(new[0], new[1])
    assert np.isnan(new[2]).all()


def test_many_levels_lie_near_those_they_share_letters_with() -> None:
    values = [f"{kind} {i:03d}" for i in range(200) for kind in ("engineer", "nurse", "teacher")] * 2
    X = one("category", values)
    kinds = np.array([text.split()[0] for text in values])
    assert X.shape[1] == 8
    centers = np.array([X[kinds == kind].mean(axis=0) for kind in ("engineer", "nurse", "teacher")])
    nearest = np.argmin(((X[:, None] - centers) ** 2).sum(axis=2), axis=1)
    assert np.mean(nearest == np.searchsorted(["engineer", "nurse", "teacher"], kinds)) == 1


def test_dates_have_cycles_only_where_they_run_over_enough_of_them() -> None:
    def names(dates: Any) -> list[str]:
        return Preparation().fit(as_table({"x": ("date", dates)})).feature_names_

    assert names(pd.date_range("2020-01-01", periods=10, freq="D")) == ["x"]
    assert names(pd.date_range("2020-01-01", periods=100, freq="D")) == ["x", "x weekday sine", "x weekday cosine"]
    assert names(pd.date_range("2020-01-06", periods=100, freq="7D")) == ["x"]
    assert names(pd.date_range("2010-01-01", periods=100, freq="MS")) == ["x", "x month sine", "x month cosine"]
    assert names(pd.date_range("2020-01-01", periods=100, freq="h")) == ["x", "x hour sine", "x hour cosine"]


def test_the_same_hour_of_another_day_is_at_the_same_place_of_the_cycle() -> None:
    dates = pd.date_range("2020-01-01", periods=400, freq="h")
    X = one("date", dates)
    hours = dates.hour.to_numpy()
    names = Preparation().fit(as_table({"x": ("date", dates)})).feature_names_
    assert names == ["x", "x hour sine", "x hour cosine"]
    np.testing.assert_allclose(X[hours == 5, 1:] - X[hours == 5, 1:][0], 0, atol=1e-9)


def test_new_rows(mixed: Table) -> None:
    preparation = Preparation()
    X = preparation.fit_transform(mixed)
    few = mixed.frame.iloc[::-1].head(7).assign(extra=1)[["extra", *list(mixed.frame)[::-1]]]
    np.testing.assert_array_equal(preparation.transform(few), X[::-1][:7])
    few["level"] = "never seen"
    assert np.isnan(preparation.transform(few)[:, np.array(preparation.feature_columns_) == "level"]).all()
    with pytest.raises(ValueError, match="the rows have no column 'heavy', 'two'; add it, empty where it is not known"):
        preparation.transform(few.drop(columns=["two", "heavy"]))
    for name, kind in (("normal", "number"), ("flag", "boolean"), ("when", "date")):
        wrong = few.astype({name: object})
        wrong.iloc[2, wrong.columns.get_loc(name)] = "what"
        with pytest.raises(ValueError, match=f"^row 2, column '{name}': 'what' is not a {kind}; correct the cell"):
            preparation.transform(wrong)


def test_saved_and_loaded(mixed: Table, tmp_path: Path) -> None:
    preparation = Preparation().fit(mixed)
    gramian.save(preparation, tmp_path / "preparation.gramian")
    loaded = gramian.load(tmp_path / "preparation.gramian")
    np.testing.assert_array_equal(loaded.transform(mixed), preparation.transform(mixed))
    assert loaded.feature_names_ == preparation.feature_names_
    assert loaded.kinds_ == preparation.kinds_


def test_a_table_without_anything_to_use_is_refused() -> None:
    table = Table(pd.DataFrame({"id": [1, 2]}), [Column("id", "identifier", 0.0)], "ids.csv")
    with pytest.raises(ValueError, match=r"^ids\.csv has no column that tells rows apart; it needs numbers"):
        Preparation().fit(table)


def test_columns_learned_again_are_as_if_learned_from_all_rows():
    """From statistics of parts that keep every value, the recipes are those of the whole table."""
    import io

    from exploration.conftest import customers
    from gramian.tables import ColumnStatistics, read_table
    from gramian.tables.prepare import prepared_column

    frame, _ = customers(300)
    frame["member"] = np.where(np.arange(300) % 3, "yes", "no")
    text = frame.to_csv(index=False).encode()
    table = read_table("all.csv", stream=io.BytesIO(text))
    whole = Preparation().fit(table)
    statistics = {}
    for name, kind in whole.kinds_.items():
        parts = []
        for rows in (slice(0, 90), slice(90, 300)):
            values = prepared_column(table.frame[name].iloc[rows], name, kind)
            if kind == "category":
                parts.append(ColumnStatistics.of_levels(list(values.categories), np.asarray(values.codes)))
            else:
                parts.append(ColumnStatistics.of_numbers(values))
        statistics[name] = ColumnStatistics.merged(parts)
    sample = read_table("some.csv", stream=io.BytesIO(b"\n".join(text.split(b"\n")[:121])), like=whole)
    again = Preparation().fit(sample).learn_again(statistics)
    assert again.feature_names_ == whole.feature_names_
    assert again.feature_columns_ == whole.feature_columns_
    np.testing.assert_allclose(again.transform(table), whole.transform(table), atol=1e-12)
