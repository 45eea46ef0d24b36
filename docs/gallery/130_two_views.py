"""What two views share
====================

What two views of the same rows have in common, by kernel canonical correlation.

Two instruments see the same angle, each with noise of its own: one as a point that runs twice round a circle, the other
as a number. Straight directions show little of what they share. Kernel CCA finds curved ones, with a penalty that is
chosen on held-out rows. Printed: correlation of rows that were not fitted, with linear and with RBF kernels. Drawn: the
two scores of those rows against each other, coloured by the common angle.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import KernelCCA

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=400, help="to learn from, and as many to test")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, Y, angle = views(2 * options.rows)
    here, there = slice(options.rows), slice(options.rows, None)
    scores = {}
    for name, kernel in (("linear", "linear"), ("RBF", "rbf")):
        model = KernelCCA(1, kernel_x=kernel, kernel_y=kernel, random_state=0).fit(X[here], Y[here])
        pair = [part[:, 0] for part in model.transform(X[there], Y[there])]
        correlation = float(np.corrcoef(*pair)[0, 1])
        print(f"{name} kernels: correlation of new rows {correlation:.2f}, of fitted ones {model.correlations_[0]:.2f}")
        scores[f"{name}, correlation {correlation:.2f}"] = pair
    print(f"Picture: {draw(scores, angle[there], Path(options.out))}")


def views(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two views, and the angle behind both."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(-np.pi, np.pi, size=n)
    radius = 1 + 0.1 * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(2 * angle), radius * np.sin(2 * angle), rng.standard_normal(n)])
    Y = np.column_stack([angle + 0.1 * rng.standard_normal(n), 2 * rng.standard_normal(n)])
    return X, Y, angle


def draw(scores: dict[str, list[np.ndarray]], angle: np.ndarray, folder: Path) -> Path:
    """The scores of both views, one panel per kernel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(scores), figsize=(10, 4.6), layout="constrained", dpi=130)
    for (name, pair), panel in zip(scores.items(), panels, strict=True):
        dots = panel.scatter(*(part / part.std() for part in pair), c=angle, s=12, cmap="twilight")
        panel.set_title(name, loc="left", color=INK, fontweight="bold")
        panel.set_xlabel("score of the first view, in deviations")
        panel.set_ylabel("score of the second")
        panel.grid(color="#EDEDED")
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    figure.colorbar(dots, ax=panels, label="common angle", shrink=0.8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "two_views.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
