"""Forecasts of real series beside simple rules: errors, coverage of the bands, and holes.

The series are in the folder of data sets beside the repository; a series that is not there is left out. Every number is
of the last fifth of a series, forecast by a model that was fitted to the rest and moved on without learning again.
MSTL of statsforecast, which cannot be moved on, is fitted anew at every origin; it takes part where it is installed.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Case, Scores
from gramian import EchoStateForecaster
from gramian.metrics import nrmse

SERIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "series"
# Column, horizon and the column of times ("" for none) of each series; Victoria is summed by the hour.
COLUMNS: dict[str, tuple[str, int, str]] = {
    "electricity_taylor": ("demand_mw", 48, ""),
    "electricity_victoria": ("demand_mwh", 24, "time_utc"),
    "exchange_rate": ("Australia", 14, ""),
    "beijing_pm25": ("pm2.5", 24, "year month day hour"),
    "london_air_pm10": ("pm10", 24, "date"),
    "melbourne_temperature": ("tmin", 14, "date"),
    "seattle_weather": ("temp_max", 14, "date"),
    "sunspots_monthly": ("sunspots", 24, ""),
    "sunspots_yearly": ("sunspots", 10, ""),
    "santafe_laser": ("intensity", 10, ""),
}
LEAST_PERIOD = {"sunspots_monthly", "melbourne_temperature"}  # whose published errors are relative to the last value

# The day and the week, which MSTL is told; gramian finds its seasons.
SEASONS = {"electricity_taylor": [48, 336]}


def _frames(names: tuple[str, ...] = tuple(COLUMNS)) -> dict[str, Any]:
    import pandas as pd

    found = {}
    for name in names:
        path = SERIES / f"{name}.csv.gz"
        if not path.exists():
            continue
        frame, times = pd.read_csv(path), COLUMNS[name][2].split()
        if times:
            frame.index = pd.DatetimeIndex(pd.to_datetime(frame[times] if len(times) > 1 else frame[times[0]]))
        if name == "electricity_victoria":
            frame = (
                frame[["demand_mwh", "temperature_c", "holiday"]]
                .resample("h")
                .agg({"demand_mwh": "sum", "temperature_c": "mean", "holiday": "max"})
            )
        found[name] = frame
    return found


def _backtested(data: dict[str, Any], n_origins: int) -> Any:
    out = {}
    for name, frame in data.items():
        column, horizon, _ = COLUMNS[name]
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # gaps in the times
            y = frame[column].astype(float)
            found = EchoStateForecaster(horizon, random_state=0).backtest(y, n_origins=n_origins)
        before = frame[column].to_numpy(float)[: int(found.origins[0])]
        last = np.nanmean(np.abs(np.diff(before))) / float(found.scale.mean())
        out[name] = {
            "rows": {row["model"]: row for row in found.rows},
            "last": last,
            "processor": time.process_time() - start,
        }
    return out


def _ten_score(_: Any, result: Any) -> Scores:
    scores: Scores = {}
    ratios = []
    for name, found in result.items():
        rows = found["rows"]
        chosen = next(model for model, row in rows.items() if row["chosen"])
        simple = min(row["mase"] for model, row in rows.items() if model != "networks")
        ratios.append(rows[chosen]["mase"] / simple)
        unit = found["last"] if name in LEAST_PERIOD else 1.0
        errors = " ".join(f"{model} {row['mase'] / unit:.3f}" for model, row in rows.items())
        scores[name] = f"{ratios[-1]:.3f} ({chosen}; {errors}; {found['processor']:.1f} s)"
    return {"mean_ratio": float(np.mean(ratios)), "largest_ratio": float(np.max(ratios)), **scores}


def _coverage_score(_: Any, result: Any) -> Scores:
    found = {}
    for name, result_of in result.items():
        row = next(row for row in result_of["rows"].values() if row["chosen"])
        found[name] = f"{row['coverage']:.3f} (width {row['width']:.4g})"
    return found


def _victoria(known: bool, data: dict[str, Any]) -> Any:
    frame = data["electricity_victoria"]
    X = frame[["temperature_c", "holiday"]] if known else None
    return EchoStateForecaster(24, random_state=0).backtest(frame["demand_mwh"], X).rows


def _victoria_score(_: Any, result: Any) -> Scores:
    return {row["model"]: round(row["mase"], 4) for row in result} | {
        "chosen": next(row["model"] for row in result if row["chosen"])
    }


def _loads() -> dict[str, Any]:
    """Series with a day and a week, each with the origins, the truth and the scale of our backtest."""
    found = {}
    for name, frame in _frames(tuple(SEASONS)).items():
        y = frame[COLUMNS[name][0]].astype(float)
        found[name] = y, EchoStateForecaster(COLUMNS[name][1], random_state=0).backtest(y)
    return found


def _our_loads(data: dict[str, Any]) -> Any:
    out = {}
    for name, (y, _) in data.items():
        start = time.process_time()
        found = EchoStateForecaster(COLUMNS[name][1], random_state=0).backtest(y)
        chosen = next(row["model"] for row in found.rows if row["chosen"])
        out[name] = found.forecasts[chosen][:, :, 0], time.process_time() - start
    return out


def _mstl(data: dict[str, Any]) -> Any:
    from statsforecast.models import MSTL

    out = {}
    for name, (y, found) in data.items():
        start, values = time.process_time(), y.to_numpy(float)
        forecasts = [
            MSTL(season_length=SEASONS[name]).forecast(y=values[: origin + 1], h=COLUMNS[name][1])["mean"]
            for origin in found.origins
        ]
        out[name] = np.array(forecasts), time.process_time() - start
    return out


def _loads_score(data: dict[str, Any], result: Any) -> Scores:
    scores: Scores = {}
    for name, (forecasts, seconds) in result.items():
        found = data[name][1]
        scores[name] = round(float(np.mean(np.abs(found.truth[:, :, 0] - forecasts)) / found.scale[0]), 4)
        scores[f"{name}_processor_seconds"] = round(seconds, 1)
    return scores


def _with_holes(data: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Hourly load, and the same with a fifth lost in blocks of 1 to 12 hours."""
    y = data["electricity_victoria"]["demand_mwh"].to_numpy(float)
    rng, lost = np.random.default_rng(0), y.copy()
    while np.isnan(lost).mean() < 0.2:
        start = int(rng.integers(len(y)))
        lost[start : start + int(rng.integers(1, 13))] = np.nan
    return y, lost


def _holes(mode: str, data: dict[str, Any]) -> Any:
    y, lost = _with_holes(data)
    given = {"complete": y, "holes": lost}.get(mode)
    if given is None:  # last value
        place = np.maximum.accumulate(np.where(np.isnan(lost), 0, np.arange(len(lost))))
        given = lost[place]
    found = EchoStateForecaster(24, random_state=0, safeguard=False).backtest(given, n_origins=10**6)
    forecasts = found.forecasts["networks"][:, :, 0]
    return [nrmse(y[found.origins + h], forecasts[:, h - 1]) for h in (1, 24)]


def _holes_score(_: Any, result: Any) -> Scores:
    return {"nrmse_1": round(result[0], 4), "nrmse_24": round(result[1], 4)}


_VICTORIA = partial(_frames, ("electricity_victoria",))

CASES = [
    Case(
        name="forecast_ten",
        question="MASE over that of the best simple rule; monthly sunspots and Melbourne relative to the last value",
        target="mean <= 0.95, none > 1.02; load <= .66, sunspots monthly <= 1.24, Melbourne <= .945",
        data=_frames,
        sides={"gramian": partial(_backtested, n_origins=60)},
        score=_ten_score,
        repeats=1,
    ),
    Case(
        name="forecast_coverage",
        question="Share of all steps and horizons inside bands of 90 %, moved on step by step",
        target="87–94 % of each series",
        data=_frames,
        sides={"gramian": partial(_backtested, n_origins=10**9)},
        score=_coverage_score,
        repeats=1,
    ),
    Case(
        name="forecast_mstl",
        question="MASE beside statsforecast's MSTL: half-hourly load, 48 steps, 60 origins",
        target="half-hourly load <= .66; MSTL in the same run",
        data=_loads,
        sides={"gramian": _our_loads} | ({"statsforecast MSTL": _mstl} if find_spec("statsforecast") else {}),
        score=_loads_score,
        repeats=1,
    ),
    Case(
        name="forecast_victoria",
        question="Hourly load of Victoria, 24 steps, 60 origins, MASE, with and without temperature and holidays known",
        target="not above lags-ridge with the same columns (goal: 5 % below)",
        data=_VICTORIA,
        sides={"with": partial(_victoria, True), "without": partial(_victoria, False)},
        score=_victoria_score,
        repeats=1,
    ),
    Case(
        name="forecast_holes",
        question="Hourly load of Victoria with a fifth lost in blocks, networks, NRMSE 1 and 24 steps ahead",
        target="<= .34 / .46",
        data=_VICTORIA,
        sides={mode: partial(_holes, mode) for mode in ("holes", "complete", "last value")},
        score=_holes_score,
        repeats=1,
    ),
]
