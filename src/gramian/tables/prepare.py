"""Preparation turns the columns of a table into features: a float matrix with NaN for missing values.

Every column of the table weighs alike: the features made of it have a total variance of one. What was learned is kept
in plain arrays, texts and lists, so that :func:`gramian.save` can write it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramian.tables.statistics import ColumnStatistics
from gramian.tables.table import BOOLEAN, CATEGORY, DATE, NUMBER, USED, Table, nearest
from gramian.typing import Array

__all__ = ["Preparation"]

Recipe = dict[str, Any]  # what was learned about one column: numbers, texts, lists and arrays

_NORMAL_QUARTILES = 1.349  # a normal column's quartiles are so many deviations apart
_HEAVY = 5.0  # deviations (by the quartiles) at which 1 % of the values makes a tail heavy; a normal column has 2.3
_EDGE = 3.0  # deviations: a side without values beyond has an edge rather than a tail
_FAR = 6.0  # deviations beyond which distance grows by its logarithm
_LEAST_VARIANCE = 0.05 * 0.95  # of an indicator: a level of 1 % of the rows is no column of its own
_RARE = 0.01  # share of rows below which levels are pooled
_MANY = 30  # levels
_SIMILARITIES = 8  # coordinates that replace many levels
_CYCLES = 3.0  # over which a date must run for the place in the cycle to be a feature
_DAY = 86400.0
_PERIODS = {"hour": _DAY, "weekday": 7 * _DAY, "month": 365.2425 * _DAY}
_MONDAY = 4 * _DAY  # 5 January 1970, in seconds since the first


class Preparation(BaseEstimator):
    """Turn a table into a float matrix, with NaN where a value is missing, and later rows in the same way.

    - **Numbers** are centred at the median and divided by the quartiles' distance (if half of the values are equal,
      by the median distance of the others). If 1 % of the values lie more than 5 deviations from the median on one
      side and the other side has an edge, the logarithm of the distance from θ is taken, with θ such that the 5 %
      and 95 % quantiles become symmetric: θ = (q₅ q₉₅ − m²) / (q₅ + q₉₅ − 2m), near 0 for log-normal values. If both
      sides are heavy, or half of the values are equal, it is the inverse hyperbolic sine. What is left beyond 6
      deviations grows by its logarithm only, so that no single value stretches a column. All of this follows a
      change of unit or origin: the features stay the same.
    - **Categories** become one indicator for each level, or one in all if there are two levels. Levels of less than
      1 % of the rows or one row share an indicator, unless all are such, and so do all but the 30 most frequent. If
      those would hold more than half of the rows, levels are placed by the letters they share instead (n-grams of 2 to
      4 characters, weighted by rareness, 8 principal coordinates): indicators of hundreds of levels would be all noise.
    - **Booleans** are one feature.
    - **Dates** are elapsed time, treated as a number, with sine and cosine of the place in the day, week and year,
      as far as the dates run over at least three of them and differ there.

    The features of one column have mean 0 and a total variance of 1, except that indicators of which one value holds
    more than 95 % of the rows get less: else a handful of rows would weigh more than all others.

    A missing value is NaN in all features of its column. So is a level never seen before, about which nothing is
    known, unless there is a pool of rare levels, to which it then belongs.

    Attributes
    ----------
    feature_names_ : list of str
        One for each feature, such as ``"coat = long"``.
    feature_columns_ : list of str
        The column of the table each feature was made of.
    kinds_ : dict from str to str
        Kind of each column that is used.
    forms_ : dict from str to str
        How those columns were written, as in :class:`~gramian.tables.Column`.
    missing_ : list of str
        The codes of missing values that were declared.
    recipes_ : dict from str to dict
        What was learned about each column.

    Examples
    --------
    >>> import io
    >>> from gramian.tables import Preparation, read_table
    >>> text = b"weight,coat\\n4.1,long\\n,short\\n30,short\\n5.2,none\\n11,none\\n9.5,long\\n"
    >>> preparation = Preparation().fit(read_table("pets.csv", stream=io.BytesIO(text)))
    >>> preparation.feature_names_
    ['weight', 'coat = long', 'coat = none', 'coat = short']
    >>> import pandas as pd
    >>> preparation.transform(pd.DataFrame({"coat": ["long", None], "weight": [9.5, 30.0]})).round(2)
    array([[-0.26,  0.82, -0.41, -0.41],
           [ 1.92,   nan,   nan,   nan]])
    >>> preparation.transform(pd.DataFrame({"coat": ["long"], "weight": ["heavy"]}))
    Traceback (most recent call last):
        ...
    ValueError: row 0, column 'weight': 'heavy' is not a number; correct the cell or leave it empty
    """

    def fit(self, table: Any) -> Preparation:
        """Learn from a :class:`~gramian.tables.read.Table` how to turn its columns into features."""
        kinds = {column.name: column.kind for column in table.columns if column.kind in USED}
        if not kinds:
            raise ValueError(
                f"{table.source} has no column that tells rows apart; it needs numbers, categories, booleans or dates"
            )
        recipes: dict[str, Recipe] = {}
        names: list[str] = []
        owners: list[str] = []
        for name, kind in kinds.items():
            recipes[name] = _LEARN[kind](prepared_column(table.frame[name], name, kind))
            labels = [f"{name} {part}".strip() for part in recipes[name]["parts"]]
            names += labels
            owners += [name] * len(labels)
        self.kinds_, self.recipes_ = kinds, recipes
        self.forms_ = {column.name: column.form for column in table.columns if column.name in kinds}
        self.missing_ = list(table.missing)
        self.feature_names_, self.feature_columns_ = names, owners
        return self

    def learn_again(self, statistics: Mapping[str, ColumnStatistics]) -> Preparation:
        """Learn the columns again from statistics of all rows, where the table that was fitted is a sample of them."""
        check_is_fitted(self, "recipes_")
        for name, kind in self.kinds_.items():
            self.recipes_[name] = _LEARN_MERGED[kind](statistics[name])
        labels = [(name, part) for name, recipe in self.recipes_.items() for part in recipe["parts"]]
        self.feature_names_ = [f"{name} {part}".strip() for name, part in labels]
        self.feature_columns_ = [name for name, _ in labels]
        return self

    def transform(self, table: Any) -> Array:
        """Features of the rows of a Table or DataFrame (n, d); columns that were not used are passed over.

        Raises
        ------
        ValueError
            If a column is missing, or a value is not of its kind; rows are counted from 0.
        """
        check_is_fitted(self, "recipes_")
        frame = table.frame if isinstance(table, Table) else table
        if absent := [name for name in self.kinds_ if name not in frame.columns]:
            near = nearest(absent[0], [str(name) for name in frame.columns if name not in self.kinds_])
            mend = f"rename {near[0]!r} if it is meant, or add it" if near else "add it"
            raise ValueError(
                f"the rows have no column {', '.join(map(repr, absent))}; {mend}, empty where it is not known"
            )
        out = np.empty((len(frame), len(self.feature_names_)))
        start = 0
        for name, kind in self.kinds_.items():
            recipe = self.recipes_[name]
            stop = start + len(recipe["parts"])
            _APPLY[kind](recipe, prepared_column(frame[name], name, kind), out[:, start:stop])
            start = stop
        return out

    def fit_transform(self, table: Any) -> Array:
        """Learn from a table and return its features."""
        return self.fit(table).transform(table)


def prepared_column(series: Any, name: str, kind: str) -> Any:
    """The column as float64 with NaN (dates in seconds), or as a Categorical of texts; raises at a wrong value."""
    import pandas as pd

    if kind == CATEGORY:
        return _categorical(series)
    if kind == DATE:
        values = _seconds(series)
    else:
        texts = series.astype(object) if isinstance(series.dtype, pd.CategoricalDtype) else series
        values = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.isnan(values) & series.notna().to_numpy()
    if kind == BOOLEAN:
        wrong |= ~(np.isnan(values) | (values == 0) | (values == 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"row {row}, column {name!r}: {str(series.iloc[row])!r} is not a {kind}; correct the cell or leave it empty"
        )
    return np.where(np.isinf(values), np.nan, values)


def _seconds(series: Any) -> Array:
    """Dates as seconds since 1970, NaN where missing or no date."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        dates = series
    elif pd.api.types.is_numeric_dtype(series.dtype):  # a number alone is no date; an empty column is of this type
        return np.full(len(series), np.nan)
    else:
        dates = pd.to_datetime(series.astype(object), format="ISO8601", errors="coerce", utc=True)
    dates = dates.dt.tz_convert(None) if dates.dt.tz is not None else dates
    seconds = dates.to_numpy("datetime64[us]").astype(np.int64) / 1e6
    return np.where(dates.isna(), np.nan, seconds)


def _categorical(series: Any) -> Any:
    """Texts as a Categorical; whole numbers are written without a decimal point."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.array
    if pd.api.types.is_float_dtype(series.dtype) and ((whole := series.dropna()) == whole.round()).all():
        series = series.astype("Int64")
    return pd.Categorical(series.astype("string"))


def _learn_number(values: Array) -> Recipe:
    seen = values[~np.isnan(values)]
    center, scale, tied = _location(seen)
    u = (seen - center) / scale
    low, q5, q95, high = np.quantile(u, [0.01, 0.05, 0.95, 0.99])
    # Shape, then θ, the knot and the side of the tail: +1 for the large values, -1 for the small ones.
    shape, bend = "plain", (0.0, 1.0, 1.0)
    if max(-low, high) > _HEAVY:
        shape = "sine"
        if not tied and -low < _EDGE and q95 > -q5 > 0:
            shape, bend = "log", (q5 * q95 / (q5 + q95), q5, 1.0)  # the median of u is 0
        elif not tied and high < _EDGE and -q5 > q95 > 0:
            shape, bend = "log", (-q5 * q95 / (q5 + q95), -q95, -1.0)
    y = _bent(u, shape, bend)
    middle, width, _ = _location(y)
    y = _limited((y - middle) / width)
    return {
        "parts": [""],
        "range": [float(seen.min()), float(seen.max())],
        "center": center,
        "scale": scale,
        "shape": shape,
        "bend": [float(value) for value in bend],
        "middle": middle,
        "width": width,
        "mean": float(y.mean()),
        "deviation": float(y.std()) or 1.0,
    }


def number_feature(recipe: Recipe, values: Array) -> Array:
    """The feature of numbers, of mean 0 and variance 1 over the fitted table."""
    y = _bent((values - recipe["center"]) / recipe["scale"], recipe["shape"], recipe["bend"])
    y = _limited((y - recipe["middle"]) / recipe["width"])
    return np.asarray((y - recipe["mean"]) / recipe["deviation"])


def _apply_number(recipe: Recipe, values: Array, out: Array) -> None:
    out[:, 0] = number_feature(recipe, values)


def _location(values: Array) -> tuple[float, float, bool]:
    """Median, deviation of a normal column with the same middle half, and whether half of the values are equal."""
    quarter, median, three_quarters = np.quantile(values, [0.25, 0.5, 0.75])
    if three_quarters > quarter:
        return float(median), float((three_quarters - quarter) / _NORMAL_QUARTILES), False
    distances = np.abs(values - median)
    distances = distances[distances > 0]
    return float(median), float(np.median(distances)) if len(distances) else 1.0, True


def _bent(u: Array, shape: str, bend: Sequence[float]) -> Array:
    """Values with heavy tails made light; every shape rises everywhere and goes on beyond the values seen."""
    if shape == "plain":
        return u
    if shape == "sine":
        return np.arcsinh(u)
    theta, knot, side = bend
    v = side * u
    # Before the knot the logarithm goes on along its tangent, since later values may lie beyond θ.
    return side * (np.log(np.maximum(v, knot) - theta) + (np.minimum(v, knot) - knot) / (knot - theta))


def _limited(y: Array) -> Array:
    """Far values drawn in: beyond the limit, distance grows by its logarithm."""
    far = np.maximum(np.abs(y) - _FAR, 0.0)
    return np.clip(y, -_FAR, _FAR) + np.sign(y) * np.log1p(far)


def _learn_boolean(values: Array) -> Recipe:
    return _boolean_recipe(float(np.nanmean(values)))


def _boolean_recipe(share: float) -> Recipe:
    return {"parts": [""], "share": share, "deviation": math.sqrt(max(share * (1 - share), _LEAST_VARIANCE))}


def _apply_boolean(recipe: Recipe, values: Array, out: Array) -> None:
    out[:, 0] = (values - recipe["share"]) / recipe["deviation"]


def _learn_category(values: Any) -> Recipe:
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
    levels = np.asarray(values.categories, dtype=object)[counts > 0].astype(str)
    return _category_recipe(levels, counts[counts > 0])


def _category_recipe(levels: Array, counts: Array) -> Recipe:
    """Levels, the point (one coordinate for each feature) of each, and the point of a level never seen."""
    shares = counts / counts.sum()
    frequent = (shares >= _RARE) & (counts >= 2)
    frequent[np.argsort(-shares, kind="stable")[_MANY:]] = False
    if len(levels) > _MANY and shares[~frequent].sum() > 0.5:
        points = _similarities(levels, shares)
        parts = [f"by letters {j + 1}" for j in range(points.shape[1])]
    else:
        # A pool of all levels would tell no row from another.
        pooled = ~frequent & ((~frequent).sum() > 1) & frequent.any()
        own = np.flatnonzero(~pooled)[1 if len(levels) == 2 and not pooled.any() else 0 :]
        points = (np.arange(len(levels))[:, None] == own).astype(np.float64)
        parts = [f"= {level}" for level in levels[own]]
        if pooled.any():
            points, parts = np.column_stack([points, pooled]), [*parts, "= other"]
    points = points - shares @ points
    least = _LEAST_VARIANCE * (1 if points.shape[1] == 1 else 2)
    points /= math.sqrt(max(float(shares @ (points**2).sum(axis=1)), least))
    unseen = points[int(np.argmax(pooled))] if parts[-1] == "= other" else np.full(points.shape[1], np.nan)
    return {"parts": parts, "levels": levels.tolist(), "points": points, "unseen": unseen}


def _apply_category(recipe: Recipe, values: Any, out: Array) -> None:
    import pandas as pd

    place = pd.Index(recipe["levels"], dtype=object).get_indexer(np.asarray(values.categories, dtype=object))
    missing = np.full((1, out.shape[1]), np.nan)
    points = np.vstack([recipe["points"], recipe["unseen"], missing])
    n_levels = len(recipe["levels"])
    place = np.append(np.where(place < 0, n_levels, place), n_levels + 1)  # the last for code -1
    out[:] = points[place[values.codes]]


def _similarities(levels: Array, shares: Array) -> Array:
    """Coordinates of many levels by the letters they share."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=20_000).fit_transform(levels)
    weights = np.sqrt(shares)[:, None]
    svd = TruncatedSVD(min(_SIMILARITIES, grams.shape[1] - 1), random_state=0).fit(grams.multiply(weights).tocsr())
    return np.asarray(svd.transform(grams))


def _learn_date(seconds: Array) -> Recipe:
    elapsed = _learn_number(seconds)
    seen = seconds[~np.isnan(seconds)]
    first, last = np.quantile(seen, [0.01, 0.99])
    monthly = len(np.unique(seen.astype("datetime64[s]").astype("datetime64[M]"))) > 0.9 * len(np.unique(seen // _DAY))
    cycles = []
    for name, period in _PERIODS.items():
        if name == "weekday" and monthly:
            continue  # such dates fall on weekdays by chance
        waves = _waves(seen, period)
        variance = float(waves.var(axis=0).sum())
        if last - first >= _CYCLES * period and variance > _LEAST_VARIANCE:
            cycles.append({"name": name, "mean": waves.mean(axis=0).tolist(), "deviation": math.sqrt(variance)})
    parts = ["", *(f"{cycle['name']} {wave}" for cycle in cycles for wave in ("sine", "cosine"))]
    return {"parts": parts, "elapsed": elapsed, "cycles": cycles}


def _apply_date(recipe: Recipe, seconds: Array, out: Array) -> None:
    _apply_number(recipe["elapsed"], seconds, out)
    for j, cycle in enumerate(recipe["cycles"]):
        waves = _waves(seconds, _PERIODS[cycle["name"]])
        out[:, 2 * j + 1 : 2 * j + 3] = (waves - cycle["mean"]) / cycle["deviation"]
    out /= math.sqrt(1 + len(recipe["cycles"]))


def _waves(seconds: Array, period: float) -> Array:
    angle = 2 * np.pi * ((seconds - _MONDAY) / period % 1.0)
    return np.column_stack([np.sin(angle), np.cos(angle)])


_LEARN: dict[str, Callable[[Any], Recipe]] = {
    NUMBER: _learn_number,
    BOOLEAN: _learn_boolean,
    CATEGORY: _learn_category,
    DATE: _learn_date,
}
_APPLY: dict[str, Callable[[Recipe, Any, Array], None]] = {
    NUMBER: _apply_number,
    BOOLEAN: _apply_boolean,
    CATEGORY: _apply_category,
    DATE: _apply_date,
}
# From merged statistics a column of numbers is its quantiles: a small column of the same distribution.
_LEARN_MERGED: dict[str, Callable[[ColumnStatistics], Recipe]] = {
    NUMBER: lambda merged: _learn_number(merged.quantiles.evenly()),
    BOOLEAN: lambda merged: _boolean_recipe(merged.quantiles.mean),
    CATEGORY: lambda merged: _category_recipe(*merged.levels_and_counts()),
    DATE: lambda merged: _learn_date(merged.quantiles.evenly()),
}
