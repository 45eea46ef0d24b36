"""What the page unpacks is what the table holds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.exploration.result import Level
from gramian.report.data import first_view, label_places, pack, pack_column, shown_rows
from report.decoder import inflate, merge, read_column, read_embedding
from report.sample import make_exploration


def round_trip(values, kind, **options):
    how, block = pack_column(pd.Series(values), kind, **options)
    return how, read_column(how, inflate(block), len(values))


@given(
    st.integers(0, 4),
    st.lists(st.one_of(st.none(), st.integers(-20_000, 20_000)), min_size=1, max_size=50),
    st.integers(-(10**9), 10**9),
)
@settings(max_examples=60, deadline=None)
def test_numbers_on_a_decimal_grid_are_exact(decimals, steps, offset):
    """13.24 stays 13.24, wherever the column lies."""
    values = np.array([np.nan if step is None else (offset + step) / 10**decimals for step in steps])
    how, read = round_trip(values, "number")
    assert how["exact"]
    np.testing.assert_allclose(read, values, rtol=1e-12, atol=0)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-200, 1e-12, 1e-8, 1.0, 1e9]), st.sampled_from([65_534, 1_022]))
@settings(max_examples=40, deadline=None)
def test_other_numbers_are_at_most_half_a_step_off(seed, size, steps):
    values = size * np.random.default_rng(seed).standard_normal(300)
    values[::7] = np.nan
    how, read = round_trip(values, "number", most_steps=steps)
    assert how["scale"] == "linear"
    np.testing.assert_array_equal(np.isnan(read), np.isnan(values))
    assert np.nanmax(np.abs(read - values)) <= 0.5001 * (np.nanmax(values) - np.nanmin(values)) / steps


def test_heavy_tails_do_not_spoil_the_rest():
    """Errors stay below a thousandth of the middle half's width, or of the distance to the middle if that is more."""
    values = np.exp(3 * np.random.default_rng(0).standard_normal(2000))
    values[0] = 1e9 * np.pi
    how, read = round_trip(values, "number")
    assert how["scale"] == "curved"
    width = np.subtract(*np.quantile(values, [0.75, 0.25]))
    assert np.max(np.abs(read - values) / np.maximum(width, np.abs(values - np.median(values)))) < 1e-3


@pytest.mark.parametrize(
    "values",
    [
        [np.nan, np.nan],
        [5.0],
        [np.pi, np.pi],
        [1e20, 1e20],
        [np.inf, 1.5, -np.inf],
        [1e300, -1e300, 0.3],
        [5e-324, 1e-323],
    ],
)
def test_strange_numbers_are_read_or_missing(values):
    _, read = round_trip(np.array(values), "number")
    known = np.isfinite(values)
    assert np.isnan(read[~known]).all()
    spread = np.ptp(np.array(values)[known]) if known.any() else 0
    np.testing.assert_allclose(read[known], np.array(values)[known], atol=spread / 1000)


def test_a_column_wider_than_any_float_is_packed():
    how, _ = pack_column(pd.Series([0.3, 0.3, 0.3, 0.3, -1.7e308, 1.7e308]), "number")
    assert how["step"] == pytest.approx(2 * (1.7e308 / 65_534))


def test_dates_are_exact_to_the_second():
    moments = pd.Series(pd.to_datetime(["1969-12-31 23:59:59", None, "2024-02-29 12:30:01"]))
    how, read = round_trip(moments, "date")
    assert how["step"] == 1
    np.testing.assert_array_equal(read, [-1, np.nan, 1709209801])
    how, read = round_trip(moments, "date", most_steps=1_022)
    np.testing.assert_array_equal(read, [-86400, np.nan, 1709164800])
    assert how["step"] == 86_400


def test_dates_with_a_zone_are_shown_on_their_own_clock():
    moments = pd.Series(pd.to_datetime(["2024-01-01 23:30"])).dt.tz_localize("Asia/Tokyo")
    _, read = round_trip(moments, "date")
    assert pd.Timestamp(read[0], unit="s") == pd.Timestamp("2024-01-01 23:30")


def test_levels_come_most_frequent_first():
    how, read = round_trip(["b", None, "a", "b", "é🙂", np.nan], "category")
    assert read == ["b", None, "a", "b", "é🙂", None]
    assert how["levels"] == 3
    _, read = round_trip(pd.Series([True, False, None], dtype="boolean"), "boolean")
    assert read == ["yes", "no", None]
    _, read = round_trip(pd.Series(["x", None, "y"], dtype="category"), "category")
    assert read == ["x", None, "y"]
    _, read = round_trip([[1, 2], {"a": 1}, None], "text")
    assert read == ["[1, 2]", "{'a': 1}", None]


def test_columns_in_the_page_are_those_of_the_table(customers, page):
    facts = page.facts
    assert facts["left_out"] == []
    assert {fact["name"] for fact in facts["columns"]} == set(customers.frame.columns)
    assert facts["columns"][0]["name"] == customers.importances[0].column
    for fact in facts["columns"]:
        read = read_column(fact, page.block(fact["block"]), facts["rows"])
        series = customers.frame[fact["name"]]
        if fact["kind"] == "number":
            known = series.astype(float).to_numpy()
            np.testing.assert_allclose(read, known, atol=np.nanmax(np.abs(known)) / 50_000)
        elif fact["kind"] == "date":
            back = pd.to_datetime(pd.Series(read), unit="s")
            assert ((back == series) | (back.isna() & series.isna())).all()
        elif fact["kind"] == "category":
            assert read == [None if pd.isna(value) else value for value in series]


def test_groups_and_shares_of_rows(customers, page):
    n = page.facts["rows"]
    np.testing.assert_array_equal(merge(page.block("group"), n, page.facts["widths"]["group"]) - 1, customers.labels)
    other = merge(page.block("alternative"), n, page.facts["widths"]["alternative"]) - 1
    np.testing.assert_array_equal(other, customers.alternative.labels)
    np.testing.assert_allclose(page.block("oddness") / 255, customers.oddness, atol=0.51 / 255)


def test_the_table_lists_ranks_and_memberships_of_the_first_rows(customers, page):
    listed = page.facts["listed"]
    assert listed == len(customers.labels)
    ranks = np.frombuffer(page.block("rank"), np.uint8).reshape(4, listed).astype(int)
    np.testing.assert_array_equal(ranks.T @ [1, 2**8, 2**16, 2**24], customers.rank)
    shares = np.frombuffer(page.block("membership"), np.uint8) / 255
    np.testing.assert_allclose(shares, customers.membership, atol=0.5 / 255 + 1e-12)


def test_the_map_keeps_its_shape(customers, page):
    """Places are those of the table but for one shift and one scale for both axes."""
    n = page.facts["rows"]
    raw = page.block("map")
    read = np.column_stack([merge(raw, n, 2), merge(raw, n, 2, 2 * n)]).astype(float)
    span = np.ptp(customers.coordinates, axis=0).max()
    expected = (customers.coordinates - customers.coordinates.min(axis=0)) * 65_534 / span
    np.testing.assert_allclose(read, expected, atol=0.51)


def test_likeness_is_the_dot_product_of_rows(customers, page):
    read = read_embedding(page.facts["embedding"], page.block("embedding"), page.facts["rows"])
    true = customers.embedding.astype(float) @ customers.embedding.T.astype(float)
    assert np.abs(read @ read.T - true).max() < 0.02
    # Whom a click names as most alike is right.
    np.fill_diagonal(true, -1)
    guess = read @ read.T
    np.fill_diagonal(guess, -1)
    assert true[np.arange(len(true)), guess.argmax(axis=1)].min() > (true.max(axis=1) - 0.02).min()


def test_less_room_keeps_the_strongest_directions():
    exploration = make_exploration(2000)
    packed = pack(exploration, 120_000)
    how = packed.facts["embedding"]
    assert packed.size <= 120_000
    assert how["width"] == 1
    read = read_embedding(how, inflate(packed.blocks["embedding"]), 2000)
    values = np.linalg.eigvalsh(exploration.embedding.T.astype(float) @ exploration.embedding)[::-1]
    assert how["kept"] == pytest.approx(values[: read.shape[1]].sum() / values.sum(), abs=1e-3)


def test_columns_without_room_are_named_least_important_first():
    exploration = make_exploration(2000)
    packed = pack(exploration, 60_000)
    assert packed.size <= 60_000
    named = packed.facts["left_out"]
    assert named
    held = [fact["name"] for fact in packed.facts["columns"]]
    assert set(named).isdisjoint(held)
    assert exploration.importances[0].column in held


def test_a_sample_holds_every_row_the_page_speaks_of():
    exploration = make_exploration(2000)
    rows = shown_rows(exploration, 100)
    assert len(rows) == 100
    assert (np.diff(rows) > 0).all()
    clusters = exploration.clusters + exploration.alternative.clusters
    spoken = {row for cluster in clusters for row in cluster.typical} | {odd.row for odd in exploration.oddities}
    assert spoken <= set(rows.tolist())
    unshown = [row for row in range(2000) if row not in set(rows.tolist())][:5]
    level = Level(exploration.labels, 1.0, [replace(exploration.clusters[0], typical=unshown)], "Larger groups.")
    assert set(unshown) <= set(shown_rows(replace(exploration, levels=[level]), 100).tolist())


def test_numbers_of_groups_stand_at_medians_and_do_not_overlap():
    rng = np.random.default_rng(0)
    coordinates = rng.uniform(0, 1000, (500, 2))
    apart = np.minimum((coordinates[:, 0] // 250).astype(int), 3)
    medians = [np.median(coordinates[apart == group], axis=0) for group in range(4)]
    np.testing.assert_array_equal(label_places(coordinates, apart), medians)
    mixed = rng.integers(-1, 12, 500)  # all medians near the middle
    places = label_places(coordinates, mixed)
    distances = np.linalg.norm(places[:, None] - places, axis=2) + 1e9 * np.eye(12)
    assert distances.min() > 0.03 * 1000
    assert np.abs(places - 500).max() < 300


def test_the_first_view_leaves_out_far_rows_only():
    places = np.random.default_rng(0).standard_normal((1000, 2))
    assert first_view(places) == (*_edges(places[:, 0]), *_edges(places[:, 1]))
    places[0] = 1000, 0
    assert first_view(places)[1] < 10


def _edges(values):
    return float(values.min()), float(values.max())
