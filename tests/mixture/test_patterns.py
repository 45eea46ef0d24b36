"""Rows sorted by pattern: every row once, in chunks and stacks that agree with the holes."""

import numpy as np
import pytest

from gramian.mixture import patterns
from gramian.mixture.patterns import IncompleteTable


@pytest.mark.parametrize("d", [1, 5, 70, 130])
@pytest.mark.parametrize("limit", [500, 2**20])
def test_every_row_once_and_in_its_place(d, limit, monkeypatch):
    """Chunks cover the rows in order; within them stacks and blocks name exactly the missing columns of each row."""
    monkeypatch.setattr(patterns, "CHUNK_BYTES", limit)
    monkeypatch.setattr(patterns, "_FEWEST_ROWS", 1)
    rng = np.random.default_rng(d)
    kinds = rng.random((9, d)) < 0.4
    X = rng.normal(size=(300, d))
    X[kinds[rng.integers(9, size=300)]] = np.nan
    X[:40][rng.random((40, d)) < 0.3] = np.nan
    table = IncompleteTable(X)
    np.testing.assert_array_equal(np.sort(table.order), np.arange(300))
    np.testing.assert_array_equal(table.observed.T, ~np.isnan(X[table.order]))
    np.testing.assert_array_equal(table.values.T, np.nan_to_num(X[table.order]))
    assert len(table.patterns) == len(np.unique(np.isnan(X), axis=0))
    end = 0
    for chunk in table.chunks(3):
        assert chunk.rows.start == end
        within = 0
        for stack in chunk.stacks:
            assert stack.rows.start == within
            for block in stack.blocks:
                assert block.rows.start == within
                rows = table.order[chunk.rows][block.rows]
                missing = np.repeat(stack.missing[block.patterns], block.each, axis=0)
                assert len(missing) == len(rows)
                for row, columns in zip(rows, missing, strict=True):
                    np.testing.assert_array_equal(np.flatnonzero(np.isnan(X[row])), columns)
                within = block.rows.stop
            assert stack.rows.stop == within
        end = chunk.rows.stop
    assert end == 300


def test_small_chunks_are_small(monkeypatch):
    """One complete pattern of many rows is cut to the size of the cache."""
    monkeypatch.setattr(patterns, "CHUNK_BYTES", 8 * 4 * 10 * 50)
    chunks = IncompleteTable(np.zeros((2000, 10))).chunks(4)
    assert max(chunk.rows.stop - chunk.rows.start for chunk in chunks) == 50


def test_unsorted_puts_rows_back():
    """Sorting and unsorting is the identity."""
    X = np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, 4.0], [5.0, np.nan]])
    table = IncompleteTable(X)
    np.testing.assert_array_equal(table.unsorted(table.values), np.nan_to_num(X))
    np.testing.assert_array_equal(table.unsorted(table.values[0]), np.nan_to_num(X[:, 0]))
