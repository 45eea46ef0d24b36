"""A million rows predicted
========================

A kernel classifier of a million rows, learned in one pass that never holds them.

The rows arrive in pieces. A fixed-size machine chooses its prototypes from the first piece and from then on only adds
up sums, so that memory does not grow with the rows. Printed: what the Gram matrix would have taken, what the sums take,
and how often the model is right as rows come in. Drawn: that accuracy, beside that of a linear model.
The whole million takes a minute; ``--rows 50000`` is done in seconds.

The script takes a quarter of a minute of processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import FixedSizeLSSVMClassifier
from gramian.kernels import Linear
from gramian.landmarks import NormalEquations

COLOURS = {"500 prototypes": "#4477AA", "linear": "#EE6677"}
INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--prototypes", type=int, default=500)
    parser.add_argument("--pieces", type=int, default=20, help="in which the rows arrive")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    new, true = piece(20_000, seed=0)
    models = {
        f"{options.prototypes} prototypes": FixedSizeLSSVMClassifier(options.prototypes, random_state=0),
        "linear": FixedSizeLSSVMClassifier(kernel=Linear(), random_state=0),
    }
    seen: list[int] = []
    accuracies: dict[str, list[float]] = {name: [] for name in models}
    start = time.perf_counter()
    for number in range(options.pieces):
        X, y = piece(options.rows // options.pieces, seed=1 + number)
        seen.append((number + 1) * len(X))
        for name, model in models.items():
            model.partial_fit(X, y, classes=[False, True])
            accuracies[name].append(float(model.score(new, true)))
    seconds = time.perf_counter() - start

    dense, held = 4 * seen[-1] ** 2, sum(fold.feature_products.nbytes for fold in model_sums(models))
    print(f"{seen[-1]} rows: the Gram matrix would take {dense / 1e9:,.1f} GB, the sums take {held / 1e6:.1f} MB")
    for name, path in accuracies.items():
        print(f"{name}: right in {100 * path[0]:.1f}% after {seen[0]} rows, in {100 * path[-1]:.1f}% after all")
    print(f"{seconds:.1f} s for both models and all answers")
    print(f"Picture: {draw(seen, accuracies, Path(options.out))}")


def model_sums(models: dict[str, FixedSizeLSSVMClassifier]) -> list[NormalEquations]:
    """What the machine with prototypes keeps of the rows."""
    return next(iter(models.values())).sums_.folds


def piece(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of four columns in single precision, and a class that no plane divides; one row in twenty is mistaken."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] > 0
    return X, y ^ (rng.uniform(size=n) < 0.05)


def draw(seen: list[int], accuracies: dict[str, list[float]], folder: Path) -> Path:
    """Accuracy on new rows by the number of rows seen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4.6), layout="constrained", dpi=130)
    for (name, path), colour in zip(accuracies.items(), COLOURS.values(), strict=True):
        panel.plot(np.divide(seen, 1e6), path, color=colour, lw=2.2, marker="o", ms=4)
        panel.annotate(
            name, (seen[-1] / 1e6, path[-1]), xytext=(0, 7), textcoords="offset points", color=colour, ha="right"
        )
    panel.axhline(0.95, color="#BBBBBB", lw=1)
    panel.annotate(
        "one row in twenty is mistaken", (seen[0] / 1e6, 0.95), xytext=(0, 4), textcoords="offset points", color=INK
    )
    panel.set_title("Right answers on new rows, as rows stream in", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("rows seen, in millions")
    panel.set_ylabel("share of right answers")
    panel.margins(y=0.15)
    panel.grid(color="#EDEDED")
    panel.spines[["top", "right"]].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "million_rows_predicted.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
