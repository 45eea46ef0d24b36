"""Searching neighbours among known rows, against all pairs."""

import itertools

import numpy as np
import pytest

from gramian.kernels import Laplacian
from gramian.kernels import _neighbors as neighbors
from gramian.kernels._neighbors import KnownRows, first_occurrences, most_similar, pair_values, row_hashes, within


def rows(n=40, d=2, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def distances(X, Y):
    """Euclidean distances from the differences."""
    return np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))


def dense(values, index, indptr, n_columns):
    """The listed entries as a dense matrix, zero elsewhere."""
    out = np.zeros((len(indptr) - 1, n_columns))
    for i, (start, stop) in enumerate(itertools.pairwise(indptr)):
        out[i, index[start:stop]] = values[start:stop]
    return out


@pytest.mark.parametrize("d", [2, 20])
def test_nearest_and_reached(d):
    """The nearest known rows, and those whose bound a row is within, are those of all distances."""
    Y, X = rows(d=d), rows(9, d, seed=1)
    known, D = KnownRows(Y), distances(rows(9, d, seed=1), rows(d=d))
    found = dense(*known.nearest(X, 3), 40)
    np.testing.assert_allclose(found, np.where(np.sort(D)[:, 2:3] >= D, D, 0))
    known.bound = np.random.default_rng(2).uniform(0, D.max(), 40)
    known.bound[:2] = 0, np.inf
    np.testing.assert_allclose(dense(*known.reached(X), 40), np.where(known.bound > D, D, 0))


@pytest.mark.parametrize("d", [2, 20])
def test_a_row_leaves_itself_out(d):
    """The nearest others of the known rows themselves, of which copies count once."""
    Y = np.vstack([rows(d=d), rows(d=d)[:5]])
    known = KnownRows(Y)
    D = distances(Y, Y[:40])
    D[np.arange(45), np.append(np.arange(40), np.arange(5))] = np.inf
    np.testing.assert_allclose(
        dense(*known.nearest(Y, 2, known.number), 40), np.where(np.sort(D)[:, 1:2] >= D, D, 0), rtol=1e-6
    )


def test_find():
    """A copy of a known row is found by its first occurrence, and another row is not."""
    Y = np.vstack([rows(10), rows(10)[3:5]])
    np.testing.assert_array_equal(KnownRows(Y).find(np.vstack([Y, Y[:1] + 1e-9])), [*range(10), 3, 4, -1])


def test_pairs_within_a_radius():
    """All pairs closer than the radius, the row itself left out where both sides are the same."""
    X = rows()
    D = distances(X, X)
    np.testing.assert_allclose(dense(*within(X, X, 0.7, same=True), 40), np.where(D < 0.7, D, 0))
    _, index, indptr = within(X, X, 0.7, same=False)
    assert all(i in index[indptr[i] : indptr[i + 1]] for i in range(40))


def test_most_similar_and_pairs(monkeypatch):
    """The most similar rows and those above a bound, tile by tile, and the values of listed pairs."""
    monkeypatch.setattr(neighbors, "_TILE_COLUMNS", 7)
    X, Y = rows(9, seed=1), rows()
    K, bound = Laplacian(1.0)(X, Y), np.full(40, 0.2)
    named, above = most_similar(Laplacian(1.0), X, Y, 3, bound=bound)
    np.testing.assert_allclose(named.toarray(), np.where(-np.sort(-K)[:, 2:3] <= K, K, 0))
    np.testing.assert_allclose(above.toarray(), np.where(K > 0.2, K, 0))
    values = pair_values(Laplacian(1.0), X, Y, above.indptr, above.indices)
    np.testing.assert_allclose(values, above.data)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("collide", [False, True])
def test_first_occurrences(dtype, collide, monkeypatch):
    """Equal rows, holes and signed zeros included, share a number, also where all hashes are equal."""
    if collide:
        monkeypatch.setattr(neighbors, "row_hashes", lambda bits: np.zeros(len(bits), np.uint64))
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0], X[1] = 0.0, -0.0
    first, number = first_occurrences(X)
    seen = {}
    expected = [seen.setdefault(tuple("nan" if np.isnan(v) else v + 0.0 for v in row), len(seen)) for row in X]
    np.testing.assert_array_equal(number, expected)
    np.testing.assert_array_equal(first, np.unique(expected, return_index=True)[1])


def test_hashes_tell_small_whole_numbers_apart():
    """Rows of ratings, whose bits differ little, have different hashes."""
    X = np.array(np.meshgrid(*[np.arange(1.0, 11.0)] * 4)).reshape(4, -1).T.copy()
    assert len(np.unique(row_hashes(X.view(np.uint64)))) == len(X)
