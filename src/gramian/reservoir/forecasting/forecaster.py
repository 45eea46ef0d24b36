"""Forecast a series with an ensemble of echo state networks, with bands, holes and a safeguard.

The estimator reads, checks and answers; :mod:`gramian.reservoir.forecasting.fitting` learns.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, is_whole, real, whole
from gramian.diagram import Estimator
from gramian.randomness import generator
from gramian.reservoir.forecasting.backtest import Backtest, run_backtest
from gramian.reservoir.forecasting.calendar import Clock, told
from gramian.reservoir.forecasting.fitting import Fitting, Models, padded, simplest
from gramian.reservoir.forecasting.holes import fill, last_values
from gramian.reservoir.forecasting.many import run_backtests
from gramian.reservoir.forecasting.matching import at_steps, both_timed, rows_ahead, steps_after
from gramian.reservoir.forecasting.networks import TooShort
from gramian.reservoir.forecasting.seasons import check_periods, find_periods
from gramian.reservoir.forecasting.series_input import (
    MOST_HOLES,
    Table,
    as_given,
    on_grid,
    read_table,
    regular,
    tell,
)
from gramian.reservoir.forecasting.transforms import Units
from gramian.reservoir.forecasting.window import Layout, Window
from gramian.reservoir.reservoir import StateTransformer
from gramian.typing import Array, RandomState

_LAGS = (24, 64)  # fewest and most of the lags that are columns


class EchoStateForecaster(Estimator):
    """Forecast a series with prediction bands by an ensemble of echo state networks.

    At each step t every network has a state h[t] that remembers the values so far. With the last values (lags) and, for
    each horizon k, values of earlier seasons, the calendar and columns known in advance, g_k[t], it forecasts

        y[t + k] ≈ r_k[t] + Wₖᵀ [h[t], lags[t]] + Vₖᵀ g_k[t] + b_k,    k = 1 … horizon,

    where r_k is the last value or that of the last season. W, V and b are learned by ridge regression, all horizons in
    one solve, and the forecast is the mean of the networks. The last fifth of the series chooses penalties, r and
    whether logarithms are taken, and compares the networks with three simple rules.

    Parameters
    ----------
    horizon : int, default 1
        Steps ahead that are forecast directly. ``predict`` of more steps goes on from its own forecasts: with
        ``horizon=1`` all forecasts are made step by step (recursively).
    period : int, sequence of int, None or "auto", default "auto"
        Steps of a season, or of several; None for none. "auto" finds them from the autocorrelation and the calendar.
    n_networks : int, default 4
    reservoir : Reservoir or NextGenerationReservoir, optional
        Of each network, which draws its own weights.
    lags : int or "auto", default "auto"
        Last values that the readout sees beside the state.
    coverage : float, default 0.9
        Of the bands.
    safeguard : bool, default True
        Whether a simple rule is used where it does as well as the networks on the last fifth of the series: the last
        value, the value of the last season, or a ridge regression on lags. :attr:`chosen_` tells.
    random_state : int, Generator, RandomState or None, default None

    Attributes
    ----------
    chosen_ : {"networks", "lags", "seasonal_naive", "naive"}
        The rule that forecasts.
    errors_ : dict of str to float
        Mean absolute error of each rule on the last fifth of the series, over the deviation of the series.
    periods_ : tuple of int
        Seasons, the shortest first.
    lags_ : int
    log_ : bool
        Whether logarithms are forecast.
    n_steps_ : int
        Steps seen, holes included.
    n_missing_ : int
        Values that were missing.
    n_series_ : int

    Notes
    -----
    A missing target is left out of the sums; a missing input is filled with a one-step forecast by ridge regression on
    lags. Bands are conformal: quantiles of the errors on steps that the model had not learned from, for each horizon,
    at a level that :meth:`update` adapts. Beyond ``horizon`` steps they are widened as if the errors of the parts were
    independent.

    On a long series with clear seasons a decomposition may be better: 48 half hours ahead on an electricity load, MSTL
    of statsforecast had a mean absolute scaled error of 0.53 against 0.61 here, in fourteen times the processor time.

    References
    ----------
    H. Jaeger, "The echo state approach to analysing and training recurrent neural networks", GMD Report 148, 2001.

    I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 34, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import EchoStateForecaster
    >>> t = np.arange(600)
    >>> rng = np.random.default_rng(0)
    >>> y = 10 + np.sin(2 * np.pi * t / 12) + 0.1 * rng.normal(size=600)
    >>> forecaster = EchoStateForecaster(horizon=6, random_state=0).fit(y[:590])
    >>> forecaster.periods_
    (12,)
    >>> bool(np.abs(forecaster.predict() - y[590:596]).max() < 0.5)
    True
    >>> forecaster.predict_interval().shape
    (6, 2)
    >>> forecaster.update(y[590:]).predict(3).shape
    (3,)
    """

    def __init__(
        self,
        horizon: int = 1,
        *,
        period: Any = "auto",
        n_networks: int = 4,
        reservoir: Any = None,
        lags: int | str = "auto",
        coverage: float = 0.9,
        safeguard: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self.horizon = horizon
        self.period = period
        self.n_networks = n_networks
        self.reservoir = reservoir
        self.lags = lags
        self.coverage = coverage
        self.safeguard = safeguard
        self.random_state = random_state

    # Learning ----------------------------------------------------------------------------------------------

    def fit(self, y: Any, X: Any = None, *, known: Any = None) -> EchoStateForecaster:
        """Learn from a series.

        Parameters
        ----------
        y : array-like (T,) or (T, q), or series or frame of pandas or polars
            In the order of time, NaN for holes. Several columns are forecast together. An index of dates, or a column
            of them, gives the calendar; gaps in it become holes.
        X : array-like (T, d) or frame, optional
            Other columns at the same steps, which may have holes. Rows are matched with y by time where both have it.
        known : sequence of str or int, optional
            Columns of X that are known in advance and passed to ``predict``; all by default. ``known=()`` for none.

        Returns
        -------
        self : EchoStateForecaster
        """
        self._check_parameters()
        read = self._read(y, X)
        n = len(read[2])
        if (longest := max(check_periods(self.period) or (0,))) >= n:
            raise ValueError(f"period={longest} is longer than the series of {n} steps allows; pass period < {n}")
        return self._fit_read(*read, known)

    def _fit_read(
        self, table: Table, clock: Clock, values: Array, others: Array, other_names: tuple[str, ...], known: Any
    ) -> EchoStateForecaster:
        periods = check_periods(self.period)
        start = _first_known(values, table)
        clock = replace(clock, start=clock.start + start * clock.step)
        values, others = values[start:], others[start:]
        n = len(values)
        horizon = int(self.horizon)
        if horizon >= n:
            raise ValueError(f"horizon={horizon} is longer than the series of {n} steps allows; pass horizon < {n}")
        if periods is None:
            periods = find_periods(values, clock.cycles)
        layout = self._layout(n, periods, clock, _known_columns(known, other_names))
        other_units = Units(np.where(np.isfinite(others).any(axis=0), others, 0.0)) if others.size else None
        standard = last_values(other_units.standard(others)) if other_units else others
        fitting = Fitting(
            values,
            standard,
            layout,
            reservoir=self.reservoir,
            n_networks=int(self.n_networks),
            coverage=float(self.coverage),
            random_state=self.random_state,
        )
        models = fitting.models(needs_network=not self.safeguard)
        self._other_units, self._other_names = other_units, other_names
        self._table = _without_rows(table)
        self._models = models
        self.chosen_ = simplest(models.judged, horizon) if self.safeguard else "networks"
        self.errors_ = {name: _mean(errors) for name, errors in models.judged.items()}
        models.judged = {}
        self.periods_, self.lags_, self.log_ = periods, layout.lags, models.units.log
        self.n_steps_, self.n_series_ = n, values.shape[1]
        self.n_missing_ = int(np.isnan(values).sum())
        self._keep_tail()
        if (np.nanmax(values, axis=0) == np.nanmin(values, axis=0)).all():
            warnings.warn("y does not vary; its forecast is that constant, with bands of width 0", stacklevel=2)
        return self

    def update(self, y: Any, X: Any = None) -> EchoStateForecaster:
        """Move on to later steps without learning the networks anew; the level of the bands is adapted.

        Parameters
        ----------
        y : array-like (n,) or (n, q), or series or frame
            The steps that follow those seen so far.
        X : array-like (n, d) or frame, optional
            Needed where ``fit`` had it.

        Returns
        -------
        self : EchoStateForecaster
        """
        check_is_fitted(self)
        values, others = self._read_more(y, X)
        if len(values):
            self._advance(values, others, [self.chosen_])
        return self

    # Answers -----------------------------------------------------------------------------------------------

    def predict(self, horizon: int | None = None, X: Any = None) -> Any:
        """Forecast the steps that follow.

        Parameters
        ----------
        horizon : int, optional
            How many; that of the constructor by default. Beyond it, forecasts go on from forecasts.
        X : array-like (horizon, d) or frame, optional
            Columns known in advance, at those steps; a frame with times needs a row for each of them.

        Returns
        -------
        forecast : ndarray (horizon,) or (horizon, q), or a series or frame like y
        """
        standard, _ = self._forecast(horizon, X)
        table = self._table
        found = self._models.units.original(standard)
        return as_given(found, self._times(len(found)), table, table.names, flat=table.flat)

    def predict_interval(self, horizon: int | None = None, coverage: float | None = None, X: Any = None) -> Any:
        """Bands that hold the steps that follow with the given frequency, each step by itself.

        Parameters
        ----------
        horizon : int, optional
        coverage : float, optional
            In (0, 1); that of the constructor by default, which is the one that is adapted on line.
        X : array-like (horizon, d) or frame, optional
            As for :meth:`predict`.

        Returns
        -------
        bands : ndarray (horizon, 2), or (horizon, q, 2) for several series
            Lower and upper ends. A frame has the columns ``lower`` and ``upper``, after the name of the series where
            there are several.
        """
        wanted = self.coverage if coverage is None else real(coverage, "coverage", above=0, below=1)
        standard, blocks = self._forecast(horizon, X)
        widths = self._models.bands[self.chosen_].half_widths(wanted)
        halves = np.empty_like(standard)
        for k, rows in enumerate(blocks):
            # Errors of forecasts from forecasts add up, as those of independent steps.
            halves[rows] = np.sqrt(widths[: rows.stop - rows.start] ** 2 + k * widths[-1] ** 2)
        units, table = self._models.units, self._table
        ends = np.stack([units.original(standard - halves), units.original(standard + halves)], axis=-1)
        times = self._times(len(ends))
        if table.form == "numpy":
            found = ends[:, 0] if table.flat else ends
            return found.astype(table.dtype, copy=False)
        if len(table.names) == 1:
            return as_given(ends[:, 0], times, table, ("lower", "upper"), flat=False)
        names = tuple(f"{name} {end}" for name in table.names for end in ("lower", "upper"))
        return as_given(ends.reshape(len(ends), -1), times, table, names, flat=False)

    def backtest(
        self, y: Any, X: Any = None, horizon: int | None = None, n_origins: int = 60, *, known: Any = None
    ) -> Backtest:
        """Forecast the last fifth of a series as if it were the future, and compare with the simple rules.

        A clone is fitted to the steps before and moved on with :meth:`update` from origin to origin.

        Parameters
        ----------
        y, X, known
            As for :meth:`fit`.
        horizon : int, optional
        n_origins : int, default 60
            Steps, evenly spread, from which forecasts are made; as many as there are, if fewer.

        Returns
        -------
        backtest : Backtest
            A table with a row for each rule.
        """
        return run_backtest(self, y, X, horizon, n_origins, known)

    def backtest_each(
        self, series: Any, horizon: int | None = None, n_origins: int = 60, *, n_jobs: int | None = None
    ) -> dict[Any, Backtest]:
        """Backtest many series, each by itself and with a clone of its own.

        Parameters
        ----------
        series : list or dict of series, data frame or array (T, q) with one in each column
            Those of Dask (data frames, arrays, delayed objects) are tested by its workers, one series a task, and only
            the tables come here.
        horizon, n_origins
            As for :meth:`backtest`.
        n_jobs : int, optional
            Processes for series in memory; None is one, or what ``joblib.parallel_config`` says.

        Returns
        -------
        backtests : dict of Backtest
            By the names of dict and data frame, otherwise by number.

        Examples
        --------
        >>> import numpy as np
        >>> from gramian import EchoStateForecaster
        >>> rng = np.random.default_rng(0)
        >>> tide = np.sin(np.arange(200) / 3) + 0.1 * rng.normal(size=200)
        >>> model = EchoStateForecaster(2, n_networks=1, random_state=0)
        >>> found = model.backtest_each({"tide": tide, "walk": rng.normal(size=200).cumsum()}, n_origins=10)
        >>> list(found)
        ['tide', 'walk']
        >>> found["tide"].forecasts["networks"].shape
        (10, 2, 1)
        """
        return run_backtests(self, series, horizon, n_origins, n_jobs)

    # Inside ------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        whole(self.horizon, "horizon")
        whole(self.n_networks, "n_networks")
        real(self.coverage, "coverage", above=0, below=1)
        check_choice(self, "safeguard", (True, False))
        if not (is_whole(self.lags) and self.lags >= 0) and not (isinstance(self.lags, str) and self.lags == "auto"):
            raise ValueError(f"lags={self.lags!r} must be a whole number >= 0 or 'auto'")
        if self.reservoir is not None and not isinstance(self.reservoir, StateTransformer):
            raise ValueError(f"reservoir={self.reservoir!r} must be a Reservoir, a NextGenerationReservoir or None")
        generator(self.random_state)
        check_periods(self.period)

    def _layout(self, n: int, periods: tuple[int, ...], clock: Clock, ahead: tuple[int, ...]) -> Layout:
        if self.lags == "auto":
            fewest, most = _LAGS
            lags = min(max(fewest, int(1.25 * min(periods, default=0))), most, max(n // 10, 1))
        else:
            lags = int(self.lags)
        recalled = tuple(m for m in periods if 5 * m <= n or (self.period != "auto" and 2 * m < n))
        seasons = 2 if 10 * max(recalled, default=0) <= n else 1
        return Layout(int(self.horizon), lags, periods, clock, ahead, recalled=recalled, seasons=seasons)

    def _read(self, y: Any, X: Any) -> tuple[Table, Clock, Array, Array, tuple[str, ...]]:
        """y and X on one grid of steps."""
        table = read_table(y, "y")
        if not len(table.values) or not table.values.shape[1]:
            raise ValueError(f"y has shape {table.values.shape}; pass a series with at least two steps")
        other = None if X is None else read_table(X, "X", table)
        matched = other is not None and both_timed(table.times, other.times)
        if other is not None and not matched and len(other.values) != len(table.values):
            raise ValueError(
                f"X has {len(other.values)} rows but y has {len(table.values)}; pass one row for each step"
            )
        others = np.empty((len(table.values), 0)) if other is None else other.values
        names = () if other is None else other.names
        if table.times is None:
            return table, Clock(), table.values, others, names
        if len(table.times) < 2:
            raise ValueError("y has one row; pass a series with at least two steps")
        clock, steps, kept, notes = regular(table.times)
        tell(notes, "y")
        n = int(steps[-1]) + 1
        if other is not None and matched:
            others = at_steps(clock, other, 0, n, steps)
        else:
            others = on_grid(others[kept], steps, n)
        return table, clock, on_grid(table.values[kept], steps, n), others, names

    def _read_more(self, y: Any, X: Any) -> tuple[Array, Array]:
        """Values and exogenous rows of later steps, on the grid of fit."""
        table = self._in_order(read_table(y, "y", self._table))
        clock, stop = self._models.layout.clock, self._models.window.stop
        if table.times is None or clock.unit == "none" or not len(table.values):
            return table.values, self._read_others(X, len(table.values), None).values
        steps, notes = steps_after(clock, table.times, stop)
        n = int(steps.max()) + 1
        if n > self.n_steps_ + MOST_HOLES * len(steps) + 100:
            last = told(table.times[int(steps.argmax())])
            raise ValueError(
                f"the time {last} of y is {n} steps after the last one seen, but y has {len(steps)} rows; check the "
                "times, or call fit again"
            )
        other = self._read_others(X, len(steps), table.times)
        tell(notes, "y")
        order = np.argsort(steps, kind="stable")
        matched = both_timed(table.times, other.times)
        others = at_steps(clock, other, stop, n, steps) if matched else on_grid(other.values[order], steps[order], n)
        return on_grid(table.values[order], steps[order], n), others

    def _in_order(self, table: Table) -> Table:
        """Columns of later steps in the order of fit, by their names where frames have some."""
        names = self._table.names
        if table.values.shape[1] != self.n_series_:
            raise ValueError(f"y has {table.values.shape[1]} columns, but fit had {self.n_series_}; pass the same ones")
        if table.form == "numpy" or self._table.form == "numpy" or len(names) == 1 or table.names == names:
            return table
        if set(table.names) != set(names):
            raise ValueError(f"y has the columns {', '.join(table.names)}, but fit had {', '.join(names)}")
        return replace(table, values=table.values[:, [table.names.index(name) for name in names]], names=names)

    def _read_others(self, X: Any, n: int, times: Array | None) -> Table:
        """Exogenous rows of later steps: n, or any number where both they and y, by ``times``, have times."""
        names = self._other_names
        if not names:
            if X is not None:
                raise ValueError("X was passed to update, but fit had none; leave it out or fit with X")
            return Table(np.empty((n, 0)), None, (), "numpy", False, np.float64)
        if X is None:
            raise ValueError(f"X is missing: fit had the columns {', '.join(names)}; pass their {n} rows to update")
        table = read_table(X, "X", self._table)
        if table.form != "numpy" and set(table.names) >= set(names):
            table = replace(table, values=table.values[:, [table.names.index(c) for c in names]], names=names)
        rows = len(table.values) if both_timed(times, table.times) else n
        if table.values.shape != (rows, len(names)):
            raise ValueError(f"X has shape {table.values.shape}; pass {n} rows of {', '.join(names)}")
        return table

    def _read_ahead(self, X: Any, n: int) -> Array:
        """Exogenous rows (n, d) of the steps to come, in standard units; columns not known in advance repeat."""
        names, ahead = self._other_names, self._models.layout.ahead
        window = self._models.window
        repeated = np.repeat(window.others[len(window.values) - 1][None], n, axis=0)
        if not ahead:
            if X is not None:
                raise ValueError("X was passed to predict, but no column of fit is known in advance; leave it out")
            return repeated
        needed = [names[j] for j in ahead]
        if X is None:
            raise ValueError(
                f"X is missing: the columns {', '.join(needed)} are needed for the next {n} steps; pass them, or fit "
                "with known=() if they are not known in advance"
            )
        table = read_table(X, "X", self._table)
        if both_timed(self._table.times, table.times):
            table = replace(table, values=rows_ahead(self._models.layout.clock, table, window.stop, n))
        if table.form != "numpy" and set(table.names) >= set(needed):
            found = table.values[:, [table.names.index(c) for c in needed]]
        elif table.values.shape[1] in (len(needed), len(names)):
            found = table.values if table.values.shape[1] == len(needed) else table.values[:, list(ahead)]
        else:
            raise ValueError(f"X has {table.values.shape[1]} columns; pass {', '.join(needed)}")
        if len(found) < n:
            raise ValueError(f"X has {len(found)} rows; pass {', '.join(needed)} for all {n} steps ahead")
        units: Any = self._other_units
        full = np.repeat(units.original(repeated[:1]), n, axis=0)
        full[:, list(ahead)] = found[:n]
        return last_values(units.standard(full), before=window.others[: len(window.values)])

    def _forecast(self, horizon: int | None, X: Any) -> tuple[Array, list[slice]]:
        """Forecasts (n, q) in standard units, and the blocks that were forecast at once."""
        check_is_fitted(self)
        n = int(self.horizon) if horizon is None else whole(horizon, "horizon")
        models = self._models
        width = models.layout.horizon
        to_come = padded(self._read_ahead(X, n), width) if models.layout.ahead else self._read_ahead(X, n + width)
        rule, state = models.rules[self.chosen_], models.states[self.chosen_]
        window, out, blocks = models.window, [], []
        start = window.stop - min(width, len(window.values))
        for done in range(0, n, width):
            count = min(width, n - done)
            ahead = Window(
                window.first,
                window.values,
                window.known,
                np.vstack([window.others[: len(window.values)], to_come[done:]]),
            )
            _, state = rule.run(ahead, start, ahead.stop - 1, state)
            last, state = rule.run(ahead, ahead.stop - 1, ahead.stop, state)
            found = last[0]
            out.append(found[:count])
            blocks.append(slice(done, done + count))
            window = ahead.extended(found, np.ones_like(found, bool), to_come[done:])
            start = ahead.stop
        return np.concatenate(out), blocks

    def _advance(
        self, values: Array, others: Array, names: list[str], record: Array | None = None
    ) -> dict[str, tuple[Array, Array]]:
        """Move on; forecasts and half-widths of the rules from the recorded ones of the new origins, (k, H, q)."""
        models = self._models
        horizon, old = models.layout.horizon, models.window
        standard = models.units.standard(values)
        if self._other_units is not None:
            others = last_values(self._other_units.standard(others), before=old.others[: len(old.values)])
        known = np.isfinite(standard)
        filled = last_values(standard, min(models.layout.recalled, default=0), before=old.values)
        window = old.extended(filled, known, padded(others, horizon))
        begin = old.stop - min(horizon, len(old.values))
        if not known.all():
            fill(models.filler, window, old.stop, models.limits)
        truth = np.where(window.known, window.values, np.nan)[old.stop - window.first :]
        found = {}
        split = window.stop - horizon
        for name in names:
            rule, bands = models.rules[name], models.bands[name]
            first, state = rule.run(window, begin, split, models.states[name])
            rest, _ = rule.run(window, split, window.stop, state)
            forecasts = np.concatenate([first, rest])
            widths = bands.follow(forecasts, truth, record)
            models.states[name] = state
            if record is not None:
                found[name] = (forecasts[old.stop - begin :][record], widths)
        models.window = window
        self.n_steps_ += len(values)
        self.n_missing_ += int(np.isnan(values).sum())
        self._keep_tail()
        return found

    def _keep_tail(self) -> None:
        models = self._models
        models.window = models.window.tail(models.layout.memory + 2 * models.layout.horizon + 1)

    def _times(self, n: int) -> Array:
        return self._models.layout.clock.times(self._models.window.stop + np.arange(n))


def _first_known(values: Array, table: Table) -> int:
    """The first step at which every column is known."""
    known = np.isfinite(values)
    for name, column in zip(table.names, known.T, strict=True):
        if column.sum() < 2:
            raise TooShort(f"column {name!r} of y has {int(column.sum())} known values; pass at least two")
    return int(known.all(axis=1).argmax()) if known.all(axis=1).any() else 0


def _known_columns(known: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    if known is None:
        return tuple(range(len(names)))
    if not names and (isinstance(known, str) or len(known)):
        raise ValueError(f"known={known!r} names columns of X, but X was not passed")
    found = []
    for column in [known] if isinstance(known, str) else known:
        if column in names:
            found.append(names.index(column))
        elif is_whole(column) and 0 <= column < len(names):
            found.append(int(column))
        else:
            raise ValueError(
                f"known={known!r} has {column!r}, which is not a column of X; pass some of {', '.join(names)}"
            )
    return tuple(sorted(set(found)))


def _without_rows(table: Table) -> Table:
    times = None if table.times is None else table.times[:0]
    return replace(table, values=table.values[:0], times=times, dtype=np.dtype(table.dtype))


def _mean(errors: Array) -> float:
    known = np.isfinite(errors)
    return float(errors[known].mean()) if known.any() else np.nan


__all__ = ["EchoStateForecaster", "Models"]
