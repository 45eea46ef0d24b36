"""Tables of numbers and categories with planted groups, and tables without groups, for ``benchmarks.mixed_tables``.

Designs and seeds are settled before the method that they judge has seen them, and nothing may be tuned on them.
``planted(i)`` carries the labels of the groups and those of an oracle, the Bayes classifier of the model that made the
table: it sees the same holes, but knows all parameters. The distance between the groups is the least at which the
oracle is as good as the draw wants (ARI .95 to .995, 96 % of every group), and a plain oracle that takes columns for
independent within groups also knows 96 % of every group: people see groups in columns, not in oblique cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

Array = np.ndarray[Any, Any]

PLANTED, WITHOUT = 40, 60
_PLANTED_SEED, _WITHOUT_SEED = 1301, 1302
_NUMBERS = ("age", "income", "visits", "weight", "height", "pressure", "distance", "price", "delay", "dose")
_CATEGORIES = ("plan", "channel", "colour", "shape", "payment", "device", "season", "material")
_STRENGTHS = np.geomspace(0.5, 12, 40)


@dataclass(frozen=True)
class Draw:
    """A table, the group of each row (None: it has no groups) and what the oracle says of each row."""

    name: str
    frame: pd.DataFrame
    groups: Array | None
    oracle: Array | None = None

    @property
    def count(self) -> int:
        """The number of groups."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    @property
    def recovered(self) -> tuple[float, float]:
        """Adjusted Rand index of the oracle, and the share it finds of the group it knows least."""
        assert self.groups is not None
        assert self.oracle is not None
        return float(adjusted_rand_score(self.groups, self.oracle)), _least(self.groups, self.oracle)


# Planted groups -----------------------------------------------------------------------------------------------------


def planted(draw: int) -> Draw:
    """A table of 2 to 6 groups in some of its numbers and categories: the first design that comes apart."""
    attempts = (_groups(np.random.default_rng([_PLANTED_SEED, draw, again]), 2 + draw % 5) for again in range(20))
    return next(attempt for attempt in attempts if attempt is not None)


def _groups(rng: np.random.Generator, k: int) -> Draw | None:
    """A table of k groups, or None where too many holes hide them at any distance."""
    fewest = max(150, 60 * k)
    copies = min(int(rng.integers(2, 5)) if rng.random() < 0.25 else 1, 1500 // fewest)
    n = int(np.exp(rng.uniform(np.log(fewest), np.log(1500 / copies))))
    groups = rng.permutation(np.repeat(np.arange(k), _sizes(rng, n, k)))
    p, q = int(rng.integers(3, 11)), int(rng.integers(2, 9))
    telling_numbers = int(rng.integers(3, p + 1))
    telling_categories = int(rng.integers(1, q + 1 if rng.random() < 0.25 else q))
    # Few telling columns have fewer holes: a row that shows none of them belongs nowhere.
    most = min(0.2, 0.035 * (telling_numbers + telling_categories))
    holes = rng.uniform(0.02, most) if rng.random() < 0.67 else 0.0
    seen = rng.random((n, telling_numbers + telling_categories)) >= holes

    # The model: normal numbers and multinomial categories; strength s moves the groups apart.
    directions = _apart(rng, k, telling_numbers)
    spreads = rng.uniform(0.7, 1.4, k) if rng.random() < 0.5 else np.ones(k)
    loadings = rng.uniform(-0.8, 0.8, telling_numbers) * (rng.random() < 0.5)
    correlation = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    noise = rng.normal(size=(n, telling_numbers)) @ np.linalg.cholesky(correlation).T * spreads[groups, None]
    logits = [rng.normal(size=(k, rng.integers(2, 7))) * rng.uniform(1, 2) for _ in range(telling_categories)]
    luck = rng.random((n, telling_categories))
    wanted = rng.uniform(0.95, 0.995)

    for s in _STRENGTHS:
        means = s * directions
        shares = [_softmax(min(s, 2.0) * logit) for logit in logits]
        numbers = means[groups] + noise
        codes = np.column_stack([_levels(shares[j][groups], luck[:, j]) for j in range(telling_categories)])
        score = np.tile(np.log(np.bincount(groups) / n), (n, 1))
        for j, table in enumerate(shares):
            score += np.where(seen[:, telling_numbers + j, None], np.log(table.T[codes[:, j]]), 0)
        of_numbers = numbers, seen[:, :telling_numbers], means
        oracle = (score + _log_normal(*of_numbers, correlation, spreads)).argmax(axis=1)
        plain = (score + _log_normal(*of_numbers, np.eye(telling_numbers), spreads)).argmax(axis=1)
        if adjusted_rand_score(groups, oracle) >= wanted and min(_least(groups, oracle), _least(groups, plain)) >= 0.96:
            break
    else:
        return None

    columns: dict[str, Any] = {}
    names = [str(name) for name in rng.permutation(_NUMBERS)]
    idle = rng.normal(size=(n, p - telling_numbers))
    if rng.random() < 0.25:  # numbers that go together, but not with the groups
        idle += rng.normal(size=(n, 1))
    told = np.where(seen[:, :telling_numbers], numbers, np.nan)
    other = np.where(rng.random(idle.shape) < holes, np.nan, idle)
    for j, values in enumerate(np.hstack([told, other]).T):
        columns[names[j]] = _in_units(rng, values)
    names = [str(name) for name in rng.permutation(_CATEGORIES)]
    for j in range(q):
        if j < telling_categories:
            levels, size = codes[:, j], logits[j].shape[1]
            there = seen[:, telling_numbers + j]
        else:
            size = int(rng.integers(2, 16))
            levels, there = rng.choice(size, n, p=rng.dirichlet(np.full(size, 8.0))), rng.random(n) >= holes
        columns[names[j] if size < 8 else f"{names[j]}_code"] = _named(rng, levels, size, there)
    if rng.random() < 0.33:
        shift = rng.choice([0, 250]) * rng.normal(size=k)
        days = rng.normal(0, 200, n) + shift[groups]
        columns["since"] = _dates(days)
    frame = pd.DataFrame(columns)
    frame = frame[list(rng.permutation(frame.columns))]
    if rng.random() < 0.33:
        frame.insert(0, "customer_id", _identifiers(rng, n))
    rows = rng.permutation(np.repeat(np.arange(n), copies))
    title = f"{k} groups, {len(rows)} × {frame.shape[1]}, {telling_numbers}/{p} numbers"
    title += f", {telling_categories}/{q} categories"
    title += f", {holes:.0%} holes" * (holes > 0) + f", rows {copies} times" * (copies > 1)
    return Draw(title, frame.iloc[rows].reset_index(drop=True), groups[rows], oracle[rows])


def _sizes(rng: np.random.Generator, n: int, k: int) -> Array:
    """Rows of each group: the smallest has at least 8.5 % of all."""
    shares = rng.dirichlet(np.full(k, 3.0))
    while shares.min() < 0.085:
        shares = rng.dirichlet(np.full(k, 3.0))
    sizes = np.round(shares * n).astype(int)
    sizes[sizes.argmax()] += n - sizes.sum()
    return sizes


def _least(groups: Array, found: Array) -> float:
    """The share that is found of the group that is found least."""
    return min(float(np.mean(found[groups == group] == group)) for group in np.unique(groups))


def _apart(rng: np.random.Generator, k: int, p: int) -> Array:
    """Normal directions of k groups, no two of them near each other."""
    while True:
        directions = rng.normal(size=(k, p))
        gaps = np.linalg.norm(directions[:, None] - directions, axis=2)[np.triu_indices(k, 1)]
        if gaps.min() >= 0.5 * np.sqrt(p):
            return directions


def _log_normal(X: Array, seen: Array, means: Array, correlation: Array, spreads: Array) -> Array:
    """Log-density of the seen values under each group, up to a constant of the row (a hole: a variance beyond all)."""
    out = np.empty((len(X), len(means)))
    unseen = np.where(seen, 0.0, 1e8)[:, :, None] * np.eye(X.shape[1])
    for group, (mean, spread) in enumerate(zip(means, spreads, strict=True)):
        covariance = spread**2 * correlation + unseen
        gap = np.where(seen, X - mean, 0.0)
        distance = np.einsum("ij,ij->i", gap, np.linalg.solve(covariance, gap[:, :, None])[:, :, 0])
        out[:, group] = -0.5 * (distance + np.linalg.slogdet(covariance)[1])
    return out


# Tables without groups ----------------------------------------------------------------------------------------------


def noise(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Independent numbers and independent categories."""
    X = rng.normal(size=(n, rng.integers(3, 9)))
    return _table(rng, X, [_idle(rng, n, int(rng.integers(2, 16))) for _ in range(rng.integers(2, 7))])


def gradient(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """One latent factor drives the numbers and, at thresholds, the categories."""
    return _factors(rng, n, 1)


def factors(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Two to four latent factors drive numbers and categories."""
    return _factors(rng, n, int(rng.integers(2, 5)))


def cut_normals(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Correlated normal columns, some of them cut into levels."""
    p = int(rng.integers(6, 13))
    mixing = rng.normal(size=(p, p)) * rng.uniform(0.2, 1, p)
    X = rng.normal(size=(n, p)) @ mixing.T
    cut = int(rng.integers(2, p - 2))
    return _table(rng, X[:, cut:], [_thresholds(rng, column) for column in X[:, :cut].T])


def heavy_tails(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers of Student's t with 2 to 4 degrees of freedom, in half of the draws with one scale for the whole row."""
    p, freedom = int(rng.integers(3, 9)), rng.uniform(2, 4)
    scale = np.sqrt(rng.chisquare(freedom, (n, 1 if rng.random() < 0.5 else p)) / freedom)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))) / scale
    return _table(rng, X, [_idle(rng, n, int(rng.integers(2, 10))) for _ in range(rng.integers(2, 6))])


def many_categories(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Categories of independent levels, with at most two numbers."""
    X = rng.normal(size=(n, rng.integers(0, 3)))
    return _table(rng, X, [_idle(rng, n, int(rng.integers(2, 13))) for _ in range(rng.integers(5, 9))])


def copied(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Noise or a gradient, all rows two to four times."""
    times = int(rng.integers(2, 5))
    frame = (noise if rng.random() < 0.5 else gradient)(rng, max(n // times, 100))
    return frame.iloc[rng.permutation(np.repeat(np.arange(len(frame)), times))].reset_index(drop=True)


def cross_table(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Every combination of the levels of a few categories, once or twice, or rows drawn from them."""
    sizes = [int(rng.integers(2, 5))]
    while np.prod(sizes) < 120:
        sizes.append(int(rng.integers(2, 5)))
    cells = np.indices(sizes).reshape(len(sizes), -1).T
    if rng.random() < 0.5:
        cells = cells[rng.integers(0, len(cells), n)]
    else:
        cells = rng.permutation(np.repeat(cells, rng.integers(1, 3), axis=0))
    return _table(rng, np.empty((len(cells), 0)), list(cells.T))


_KINDS: tuple[tuple[Callable[[np.random.Generator, int], pd.DataFrame], int], ...] = (
    (noise, 10), (gradient, 10), (factors, 8), (cut_normals, 8),
    (heavy_tails, 7), (many_categories, 6), (copied, 6), (cross_table, 5),
)  # fmt: skip


def without(draw: int) -> Draw:
    """A table in which nothing should be called a group."""
    rng = np.random.default_rng([_WITHOUT_SEED, draw])
    make = [kind for kind, times in _KINDS for _ in range(times)][draw]
    n = int(np.exp(rng.uniform(np.log(150), np.log(1200))))
    frame = make(rng, n)
    title = f"{make.__name__.replace('_', ' ')}, {len(frame)} × {frame.shape[1]}"
    return Draw(title, frame, None)


def _factors(rng: np.random.Generator, n: int, count: int) -> pd.DataFrame:
    latent = rng.normal(size=(n, count)) if rng.random() < 0.6 else rng.uniform(-1.7, 1.7, (n, count))
    p, q, level = int(rng.integers(3, 9)), int(rng.integers(2, 6)), rng.uniform(0.4, 1)
    X = latent @ rng.normal(size=(count, p + q)) + level * rng.normal(size=(n, p + q))
    return _table(rng, X[:, q:], [_thresholds(rng, column) for column in X[:, :q].T])


def _thresholds(rng: np.random.Generator, column: Array) -> Array:
    """Levels of a column cut at two to five random quantiles."""
    shares = np.cumsum(rng.dirichlet(np.full(rng.integers(2, 6), 4.0)))[:-1]
    return np.searchsorted(np.quantile(column, shares), column)


def _idle(rng: np.random.Generator, n: int, size: int) -> Array:
    return rng.choice(size, n, p=rng.dirichlet(np.full(size, 5.0)))


def _table(rng: np.random.Generator, X: Array, categories: list[Array]) -> pd.DataFrame:
    """Numbers and codes of levels as columns of a file, in half of the draws with holes."""
    n = len(X)
    holes = rng.uniform(0.02, 0.2) if rng.random() < 0.5 else 0.0
    numbers, names = rng.permutation(_NUMBERS), rng.permutation(_CATEGORIES)
    columns: dict[str, Any] = {}
    for j, values in enumerate(X.T):
        columns[str(numbers[j])] = _in_units(rng, np.where(rng.random(n) < holes, np.nan, values))
    for j, levels in enumerate(categories):
        columns[f"{names[j % 8]}{j // 8 or ''}"] = _named(rng, levels, int(levels.max()) + 1, rng.random(n) >= holes)
    return pd.DataFrame(columns)


# Columns of a file --------------------------------------------------------------------------------------------------


def _in_units(rng: np.random.Generator, values: Array) -> Array:
    """Values in units of their own, about a quarter of the columns log-normal."""
    if rng.random() < 0.25:
        values = np.exp(0.7 * values / max(1.0, float(np.nanstd(values))))
    scale = 10.0 ** rng.uniform(-1, 3)
    return np.array([float(f"{value:.5g}") for value in scale * (values + rng.uniform(0, 8))])


def _named(rng: np.random.Generator, levels: Array, size: int, there: Array) -> Array:
    """Names of levels, empty where there is a hole; two levels are sometimes yes/no or true/false."""
    names = np.array([f"R{level + 1:02d}" if size >= 8 else "abcdefgh"[level] * 3 for level in range(size)], object)
    if size == 2:
        names = np.array([("no", "yes"), ("false", "true"), ("left", "right")][rng.integers(3)], object)
    return np.where(there, names[levels], None)


def _dates(days: Array) -> Array:
    return (pd.Timestamp("2023-06-01") + pd.to_timedelta(np.round(days), "D")).strftime("%Y-%m-%d").to_numpy()


def _identifiers(rng: np.random.Generator, n: int) -> Array:
    numbers = rng.permutation(n) + 10_000
    return numbers if rng.random() < 0.5 else np.array([f"K{number}" for number in numbers], object)


def _levels(shares: Array, luck: Array) -> Array:
    return (luck[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
