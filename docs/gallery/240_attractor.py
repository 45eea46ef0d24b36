"""An attractor seen through one coordinate
========================================

The attractor of Lorenz, seen by a reservoir through one of its three coordinates.

Only x(t) is observed. A reservoir of 300 random units that x drives holds the past in its state; its first three
principal components show the attractor again. Printed: the correlation dimension and the largest Lyapunov exponent of
the true trajectory, of delays, of the reservoir and of a reservoir of three units. Drawn: all four.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian.datasets import make_lorenz
from gramian.reservoir.dynamics import (
    correlation_dimension,
    lyapunov_from_data,
    mutual_information_minimum,
    reconstruct_attractor,
)

STEP, THEILER = 0.02, 50  # time between points, and steps that are too near in time to be neighbours
BLUE, INK = "#4477AA", "#222222"
METHODS = {"delays": "delay", "reservoir": "esn-pca", "three units": "esn-small"}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0, help="of the reservoirs")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    true = make_lorenz(options.steps, step=STEP)
    x = true[:, 0]
    print(f"delay by mutual information: {mutual_information_minimum(x)} steps")
    views = {"true": true}
    views |= {name: reconstruct_attractor(x, method, random_state=options.seed) for name, method in METHODS.items()}
    for name, points in views.items():
        dimension = correlation_dimension(points, theiler=THEILER)
        exponent = lyapunov_from_data(points, step=STEP, theiler=THEILER)
        print(f"{name}: dimension {dimension.dimension:.2f}, exponent {exponent.exponent:.2f}")
    print("known: dimension 2.05, exponent 0.91")
    print(f"Picture: {draw(views, Path(options.out))}")


def draw(views: dict[str, np.ndarray], folder: Path) -> Path:
    """Four attractors side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 3.6), layout="constrained", dpi=130)
    for place, (name, points) in enumerate(views.items(), start=1):
        panel = figure.add_subplot(1, len(views), place, projection="3d")
        panel.plot(*points.T, color=BLUE, lw=0.35)
        panel.set_title(name, color=INK, fontweight="bold")
        panel.set_axis_off()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "attractor.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
