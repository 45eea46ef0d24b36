"""A forecast with holes
=====================

Forecast a series with holes, and say how sure it is.

The temperature of Beijing, hour by hour over two years, with a fifth of the values lost in blocks of up to half a day.
Printed: errors of the networks and of three simple rules on the last fifth, the share of values inside bands of 90 %,
and the error with and without the holes. Drawn: the last days, the forecast of the next one and its band.

The script takes three quarters of a minute of processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import EchoStateForecaster
from gramian.datasets import load_series

TRUE, OURS, BAND, INK = "#888888", "#4477AA", "#BBCCEE", "#222222"


def lose(y: np.ndarray, share: float, longest: int, seed: int = 0) -> np.ndarray:
    """The series with holes: blocks of 1 to ``longest`` steps until ``share`` of the values is lost."""
    rng, lost = np.random.default_rng(seed), y.copy()
    while np.isnan(lost).mean() < share:
        start = int(rng.integers(len(y)))
        lost[start : start + int(rng.integers(1, longest + 1))] = np.nan
    return lost


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--steps", type=int, default=17520, help="hours of the series, the last ones")
    parser.add_argument("--horizon", type=int, default=24)
    parser.add_argument("--networks", type=int, default=4)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    y = load_series("beijing_pm25").values[-options.steps :, 1]
    holed, horizon = lose(y, 0.2, 12), options.horizon
    forecaster = EchoStateForecaster(horizon, n_networks=options.networks, random_state=0)
    table = forecaster.backtest(holed)
    print(f"{int(np.isnan(holed).sum())} of {len(y)} hours are missing; forecasts of {horizon} hours (* is used):")
    print(table)
    whole = forecaster.backtest(y).rows[0]
    print(f"without holes: {whole['model']} MASE {whole['mase']:.3f}")

    cut = len(y) - horizon
    forecaster.fit(holed[:cut])
    print(f"seasons found: {forecaster.periods_}; used: {forecaster.chosen_}")
    found, bands = forecaster.predict(), forecaster.predict_interval()
    inside = np.mean((bands[:, 0] <= y[cut:]) & (y[cut:] <= bands[:, 1]))
    print(f"{inside:.0%} of the last {horizon} hours are inside the band")
    print(f"Picture: {draw(holed, y, cut, found, bands, Path(options.out))}")


def draw(holed: np.ndarray, y: np.ndarray, cut: int, found: np.ndarray, bands: np.ndarray, folder: Path) -> Path:
    """The last days with their holes, the forecast and its band."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    start = max(cut - 6 * len(found), 0)
    ahead = np.arange(cut, cut + len(found))
    figure, panel = plt.subplots(figsize=(10, 4), layout="constrained", dpi=130)
    panel.fill_between(ahead, bands[:, 0], bands[:, 1], color=BAND, lw=0, label="band of 90 %")
    panel.plot(np.arange(start, cut), holed[start:cut], color=INK, lw=1.4, label="what was given")
    panel.plot(ahead, y[cut:], color=TRUE, lw=3, label="what came")
    panel.plot(ahead, found, color=OURS, lw=1.8, label="forecast")
    panel.set_title("Temperature of Beijing", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("hours")
    panel.set_ylabel("°C")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="upper left", ncols=4)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "forecast.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
