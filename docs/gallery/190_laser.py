"""A chaotic laser
===============

A chaotic laser: one step ahead, and going on by itself.

The far-infrared laser of the Santa Fe competition swells up and collapses at moments that are hard to foresee. A
network of 500 random units learns from the first 8,000 of 10,093 values. Printed: errors one, five and ten steps ahead
on values it has not seen, beside those of 20 lags, and how long its own continuation stays close. Drawn: the
continuation beside the laser.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import EchoStateNetwork, NextGenerationReservoir
from gramian.datasets import load_series
from gramian.metrics import nrmse

HORIZONS = (1, 5, 10)
TRUE, OURS, INK = "#AAAAAA", "#4477AA", "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--steps", type=int, default=8000, help="learned from")
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--ahead", type=int, default=200, help="steps that the network goes on by itself")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    x = load_series("santafe_laser").values[:, 0]
    n, most = options.steps, max(HORIZONS)
    U = x[:-most, None]
    Y = np.column_stack([x[h : len(x) - most + h] for h in HORIZONS])
    models = {
        f"{options.units} random units": EchoStateNetwork(options.units, bias_scaling=0.2, random_state=0),
        "20 lags, linear": EchoStateNetwork(reservoir=NextGenerationReservoir(20, degree=1)),
    }
    for name, model in models.items():
        found = model.fit(U[: n - most], Y[: n - most]).predict(U[n - most :])[most:]
        errors = ", ".join(f"{h} ahead {nrmse(Y[n:, j], found[:, j]):.3f}" for j, h in enumerate(HORIZONS))
        print(f"{name}: error over deviation, {errors}")

    network = EchoStateNetwork(options.units, bias_scaling=0.2, random_state=0).fit(U[: n - 1], x[1:n])
    own, true = network.generate(options.ahead), x[n : n + options.ahead]
    away = ~(np.abs(own - true) <= x[:n].std())  # also where the loop has diverged and gives NaN
    print(
        f"by itself it stays within a deviation of the laser for {int(away.argmax()) if away.any() else len(own)} steps"
    )
    print(f"Picture: {draw(true, own, Path(options.out))}")


def draw(true: np.ndarray, own: np.ndarray, folder: Path) -> Path:
    """The laser and the network's own continuation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(10, 4), layout="constrained", dpi=130)
    panel.plot(true, color=TRUE, lw=4, label="the laser")
    panel.plot(own, color=OURS, lw=1.6, label="the network, by itself")
    panel.set_title("After the last value it was given", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("steps")
    panel.set_ylabel("intensity")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="upper left", ncols=2)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "laser.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
