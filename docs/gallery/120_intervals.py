"""Predictions with intervals
==========================

Predictions of a table, each with an interval that holds the truth nine times in ten.

The diabetes table: how far the disease goes in a year, from ten measurements. Nothing is set; the intervals come from
leave-one-out residuals, so that no normal distribution is assumed. Printed: the share of patients not seen before whose
true value lies inside, for three coverages, and how wide the intervals are. Drawn: the patients with their intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from gramian import LSSVMRegressor

INSIDE, OUTSIDE, INK = "#4477AA", "#EE6677", "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--coverage", type=float, nargs="+", default=[0.5, 0.8, 0.9])
    parser.add_argument("--test", type=int, default=142, help="patients left out")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    there, here = order[: options.test], order[options.test :]
    model = LSSVMRegressor(random_state=0).fit(X[here], y[here])
    predicted = model.predict(X[there])
    error = np.sqrt(np.mean((predicted - y[there]) ** 2))
    trivial = np.sqrt(np.mean((y[here].mean() - y[there]) ** 2))
    print(f"learned from {len(here)}, error on {len(there)} others {error:.1f}, of the mean alone {trivial:.1f}")
    for coverage in options.coverage:
        ends = model.predict_interval(X[there], coverage=coverage)
        inside = (ends[:, 0] <= y[there]) & (y[there] <= ends[:, 1])
        print(f"asked for {coverage:.2f}, inside {inside.mean():.2f}, mean width {np.diff(ends).mean():.1f}")
    print(f"Picture: {draw(predicted, y[there], ends, inside, coverage, Path(options.out))}")


def draw(
    predicted: np.ndarray, true: np.ndarray, ends: np.ndarray, inside: np.ndarray, coverage: float, folder: Path
) -> Path:
    """Patients in the order of their predictions, with intervals; those outside are marked."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(9, 4.6), layout="constrained", dpi=130)
    order = np.argsort(predicted)
    place = np.arange(len(order))
    panel.vlines(place, *ends[order].T, color="#C9D7E8", lw=2.5)
    panel.plot(place, predicted[order], color=INSIDE, lw=2)
    panel.annotate("prediction", (place[-1], predicted[order[-1]]), xytext=(4, 0), textcoords="offset points",
                   color=INSIDE, va="center", annotation_clip=False)  # fmt: skip
    held = inside[order]
    panel.scatter(place[held], true[order][held], s=12, color=INK, zorder=3, label=f"{held.sum()} inside")
    panel.scatter(place[~held], true[order][~held], s=26, color=OUTSIDE, zorder=3, label=f"{(~held).sum()} outside")
    panel.set_title(f"Patients not seen before, intervals for {coverage:.0%}", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("patients, by prediction")
    panel.set_ylabel("progress of the disease")
    panel.grid(color="#EDEDED", axis="y")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="upper left")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "intervals.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
