"""A class that nobody has labelled
================================

Three classes have labels; a fourth group is there, and nobody said so.

Four groups of points, and a few labels in three of them. Told that there is one cluster more than there are classes,
``SemiSupervisedKSC`` finds the fourth as rows whose scores have signs that no class has, and places new rows in it.
Printed: how each group is classified, with and without the fourth cluster. Drawn: both answers.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import SemiSupervisedKSC
from gramian.kernels import RBF

COLOURS = {"a": "#4477AA", "b": "#EE6677", "c": "#228833", "hidden 1": "#AA3377"}
INK = "#222222"
PLACES = np.array([[0, 0], [6, 0], [0, 6], [6, 6]])


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--labels", type=int, default=5, help="of each of the three classes")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    group = np.arange(options.rows) % 4
    X = PLACES[group] + rng.normal(scale=0.9, size=(options.rows, 2))
    labelled = (np.arange(options.rows) < 4 * options.labels) & (group < 3)
    y = np.where(labelled, np.array(["a", "b", "c", ""])[group], "-1")

    answers = {}
    for clusters in (3, 4):
        model = SemiSupervisedKSC(clusters, kernel=RBF(1.5)).fit(X, y)
        answers[clusters] = model.transduction_
        print(f"{clusters} clusters")
        for number, name in enumerate(("group a", "group b", "group c", "the fourth group")):
            counts = Counter(answers[clusters][group == number].tolist()).most_common()
            print(f"  {name:18}" + ", ".join(f"{count} {label}" for label, count in counts))
    print(f"Picture: {draw(X, labelled, answers, Path(options.out))}")


def draw(X: np.ndarray, labelled: np.ndarray, answers: dict[int, np.ndarray], folder: Path) -> Path:
    """The points by their class, for both numbers of clusters; labelled ones large."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", dpi=130)
    for panel, (clusters, answer) in zip(panels, answers.items(), strict=True):
        for name, colour in COLOURS.items():
            these = answer == name
            panel.scatter(*X[these].T, s=12, color=colour, alpha=0.6, lw=0, label=name if these.any() else None)
            panel.scatter(*X[these & labelled].T, s=80, color=colour, edgecolor=INK, lw=1.2)
        panel.set_title(f"{clusters} clusters", loc="left", color=INK)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_aspect("equal")
        panel.spines[:].set_visible(False)
    figure.legend(
        *panels[1].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4, markerscale=2.5
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "a_class_nobody_labelled.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
