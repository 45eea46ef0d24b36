"""A curve with outliers
=====================

One curve with outliers, by least squares and by a robust fit.

Sixty points of a curve, six of them far off. Least squares bends towards the outliers; weights that fall with the size
of a row's error leave them out. Width and regularization are chosen by leave-one-out in both models, for the robust one
with outliers weighted down. Printed: the distance of both curves from the true one, and the weights of the outliers.
Drawn: the curves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import LSSVMRegressor

COLOURS = {"least squares": "#EE6677", "robust": "#4477AA"}
INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=61)
    parser.add_argument("--outliers", type=int, default=6)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    x = np.linspace(-3, 3, options.rows)
    y = np.sinc(x) + 0.05 * rng.standard_normal(len(x))
    odd = rng.choice(len(x), options.outliers, replace=False)
    y[odd] += rng.uniform(0.8, 1.5, size=len(odd))

    models = {
        "least squares": LSSVMRegressor(random_state=0),
        "robust": LSSVMRegressor(robust="huber", criterion="robust", random_state=0),
    }
    curves = {name: model.fit(x[:, None], y).predict(x[:, None]) for name, model in models.items()}
    for name, curve in curves.items():
        print(f"{name}: mean squared distance from the true curve {np.mean((curve - np.sinc(x)) ** 2):.5f}")
    weights = models["robust"].weights_
    others = np.median(np.delete(weights, odd))
    print(f"largest weight of an outlier {weights[odd].max():.2f}, median of the others {others:.2f}")
    print(f"Picture: {draw(x, y, odd, curves, Path(options.out))}")


def draw(x: np.ndarray, y: np.ndarray, odd: np.ndarray, curves: dict[str, np.ndarray], folder: Path) -> Path:
    """Points, the true curve and both fits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4.6), layout="constrained", dpi=130)
    panel.plot(x, np.sinc(x), color="#BBBBBB", lw=5, label="true")
    panel.scatter(x, y, s=16, color=INK, zorder=3)
    panel.scatter(x[odd], y[odd], s=90, facecolor="none", edgecolor=INK, zorder=3, label="outliers")
    for name, curve in curves.items():
        panel.plot(x, curve, color=COLOURS[name], lw=2.2, label=name)
    panel.set_title("A curve with outliers", loc="left", color=INK, fontweight="bold")
    panel.grid(color="#EDEDED")
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_ylim(top=2.2)
    panel.legend(frameon=False, loc="upper left", ncols=4)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "robust_curve.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
