"""A million steps of a series
===========================

A million steps of a series, learned in one pass that holds five hundred of them.

The readout of an echo state network is learned from sums over its states. The states themselves, 4 GB for a million
steps of 500 units, are forgotten block by block. The series arrives in pieces. Printed: what all states would take,
what the sums take, and the error ten steps ahead as the series goes on. Drawn: steps that were never learned from, with
their forecasts, and that error. The whole million takes a minute; ``--steps 50000`` is done in
seconds.

The script takes half a minute of processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import EchoStateNetwork
from gramian.datasets import make_mackey_glass
from gramian.metrics import nrmse

AHEAD, TEST = 10, 3000
INK, LINE, FORECAST = "#222222", "#4477AA", "#EE6677"
SHOWN = 300


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--pieces", type=int, default=10, help="in which the series arrives")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    x = make_mackey_glass(options.steps + AHEAD + TEST)[:, None]
    network = EchoStateNetwork(options.units, bias_scaling=0.2, random_state=0)
    length, seen, errors = options.steps // options.pieces, [], []
    new = slice(length * options.pieces, length * options.pieces + TEST)
    start = time.process_time()
    for piece in range(options.pieces):
        rows = slice(piece * length, (piece + 1) * length)
        network.partial_fit(x[rows], x[rows.start + AHEAD : rows.stop + AHEAD, 0])
        seen.append(rows.stop)
        answers = network.predict(x[new], initial_state="zeros")
        errors.append(nrmse(x[new.start + AHEAD : new.stop + AHEAD, 0][500:], answers[500:]))
    seconds = time.process_time() - start

    held = network.readout_.sums.feature_products.nbytes
    states = 8 * seen[-1] * options.units
    print(f"{seen[-1]} steps: all states would take {states / 1e6:,.0f} MB, the sums take {held / 1e6:.1f} MB")
    print(f"error over deviation, ten ahead: {errors[0]:.5f} after {seen[0]} steps, {errors[-1]:.5f} after all")
    print(f"{seconds:.1f} s of processor time")
    true = x[new.start + AHEAD : new.stop + AHEAD, 0][-SHOWN:]
    print(f"Picture: {draw(true, answers[-SHOWN:], seen, errors, Path(options.out))}")


def draw(true: np.ndarray, forecast: np.ndarray, seen: list[int], errors: list[float], folder: Path) -> Path:
    """Steps that are never learned from and their forecasts; the error by the number of steps seen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (series, panel) = plt.subplots(
        1, 2, figsize=(9, 4), width_ratios=[2, 1], layout="constrained", dpi=130
    )  # fmt: skip
    series.plot(true, color=LINE, lw=2.2, label="the series")
    series.plot(forecast, color=FORECAST, lw=0, marker="o", ms=3, markevery=5, label="forecast ten steps ahead")
    series.set_title("Steps never learned from", loc="left", color=INK, fontweight="bold")
    series.set_xlabel("step")
    series.set_ylim(top=true.max() + 0.25 * np.ptp(true))
    series.legend(frameon=False, ncols=2, loc="upper left")
    panel.plot(np.array(seen) / 1000, errors, color=LINE, lw=2.2, marker="o", ms=4)
    panel.set_ylim(0, 1.15 * max(errors))
    panel.set_title("Error over deviation", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("steps seen, in thousands")
    for each in (series, panel):
        each.grid(color="#EDEDED")
        each.spines[["top", "right"]].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "million_steps.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
