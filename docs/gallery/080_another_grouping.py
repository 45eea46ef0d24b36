"""Another way to group the rows
=============================

Which columns matter, and is there another way to group the rows?

Rows with two groupings: two crescents in the first two columns, two clouds in the next two, and columns of noise. The
clouds are known; alternative clustering is asked for something else and finds the crescents. Dependence reduction then
says, with labels, which columns each grouping rests on. Printed: how far the new clustering agrees with the hidden one
and the known one, and the columns by weight. Drawn: both pairs of columns, coloured by both clusterings, and the
weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import AlternativeClustering, DependenceReduction
from gramian.datasets import make_moon_views
from gramian.metrics import normalized_mutual_info

COLOURS = np.array(["#4477AA", "#EE6677"])
INK, FAINT = "#222222", "#8A8A8A"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--noise", type=int, default=3, help="columns that mean nothing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, known, hidden = make_moon_views(options.rows, n_noise=options.noise, random_state=options.seed)
    X /= X.std(axis=0)
    X[:, 4:] /= 3
    names = ["crescent 1", "crescent 2", "cloud 1", "cloud 2", *(f"noise {j + 1}" for j in range(options.noise))]
    found = AlternativeClustering(2, standardize=False, random_state=options.seed).fit(X, known)
    print(f"agreement (NMI) with the hidden grouping {normalized_mutual_info(hidden, found.labels_):.3f}")
    print(f"agreement with the known one {normalized_mutual_info(known, found.labels_):.3f}")

    weights = {}
    for title, labels in {"known": known, "found": found.labels_}.items():
        model = DependenceReduction(2, standardize=False).fit(X, labels)
        weights[title] = model.feature_importances_
        order = np.argsort(-model.feature_importances_)
        print(f"{title}: " + ", ".join(f"{names[j]} {model.feature_importances_[j]:.2f}" for j in order[:4]))
    print(f"Picture: {draw(X, known, found.labels_, weights, names, Path(options.out))}")


def draw(
    X: np.ndarray, known: np.ndarray, found: np.ndarray, weights: dict[str, np.ndarray], names: list[str], folder: Path
) -> Path:
    """Two pairs of columns by two clusterings, and what each rests on."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(10, 6.2), layout="constrained", dpi=130)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    figure.suptitle("Two groupings of the same rows", x=0.02, ha="left", fontweight="bold", color=INK)
    for row, (title, labels) in zip(panels, {"known": known, "found": found}.items(), strict=True):
        for panel, (i, j) in zip(row, ((0, 1), (2, 3)), strict=False):
            panel.scatter(X[:, i], X[:, j], s=9, c=COLOURS[labels], alpha=0.7, lw=0)
            panel.set_xlabel(names[i], color=FAINT)
            panel.set_ylabel(names[j], color=FAINT)
            panel.set_xticks([])
            panel.set_yticks([])
        row[0].set_title(f"coloured by the {title} clusters", loc="left", color=INK, fontsize=10)
        row[2].barh(names[::-1], weights[title][::-1], color=INK, height=0.6)
        row[2].set_title("columns they depend on", loc="left", color=INK, fontsize=10)
        row[2].tick_params(colors=FAINT, length=0)
        row[2].set_xlim(0, 1.05 * max(part.max() for part in weights.values()))
    for panel in panels.ravel():
        panel.spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "another_grouping.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
