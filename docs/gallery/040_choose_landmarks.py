"""Which rows stand for all?
=========================

Which rows should stand for all rows?

Nyström's method replaces the n×n Gram matrix by the similarities to a few landmarks. How good that is depends on
which landmarks. Printed, for four ways to choose them: the relative error ‖K − K̂‖ / ‖K‖ of the whole matrix, and
how much of the worst row is lost, max 1 − k̂(x, x). Drawn: both against the number of landmarks, and where the
landmarks lie in data with one large and several small groups.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import Nystroem
from gramian.kernels import RBF

SELECTIONS = {"uniform": "#777777", "kmeans": "#4477AA", "renyi": "#228833", "leverage": "#EE6677"}
DASHES = {"uniform": "-", "kmeans": "--", "renyi": "-.", "leverage": ":"}
MEASURES = ("Error of the whole Gram matrix", "Error of the worst row")
INK, FAINT = "#222222", "#C9C9C9"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--landmarks", type=int, nargs="+", default=[10, 20, 40, 80])
    parser.add_argument("--repeats", type=int, default=3, help="choices averaged, each with its own seed")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X = uneven_groups(options.rows)
    kernel = RBF(width=1.0)
    K = kernel(X)
    # Shape (selections, numbers of landmarks, 2): the error of the whole, and of the worst row.
    errors = np.array(
        [[errors_of(X, K, kernel, name, m, options.repeats) for m in options.landmarks] for name in SELECTIONS]
    )
    for title, part in zip(MEASURES, np.moveaxis(errors, 2, 0), strict=True):
        print(f"{title}\n  landmarks  " + "  ".join(f"{m:>7}" for m in options.landmarks))
        for name, line in zip(SELECTIONS, part, strict=True):
            print(f"  {name:<9}  " + "  ".join(f"{error:7.4f}" for error in line))
    print(f"Picture: {draw(X, kernel, options.landmarks, errors, Path(options.out))}")


def uneven_groups(n: int) -> np.ndarray:
    """A large group in the middle, seven small ones around it."""
    rng = np.random.default_rng(0)
    angles = np.arange(7) * 2 * np.pi / 7
    centers = np.vstack([[0.0, 0.0], 6 * np.c_[np.cos(angles), np.sin(angles)]])
    group = rng.choice(8, n, p=[0.86] + [0.02] * 7)
    return centers[group] + rng.normal(scale=np.where(group == 0, 1.2, 0.5)[:, None], size=(n, 2))


def errors_of(X: np.ndarray, K: np.ndarray, kernel: RBF, selection: str, m: int, repeats: int) -> tuple[float, float]:
    """Relative error of the approximated Gram matrix and the loss of its worst row, means over a few seeds."""
    maps = (Nystroem(m, kernel=kernel, selection=selection, random_state=seed) for seed in range(repeats))
    features = [approximate.fit(X).transform(X) for approximate in maps]
    whole = np.mean([np.linalg.norm(K - F @ F.T) for F in features]) / np.linalg.norm(K)
    worst = np.mean([1 - (F * F).sum(axis=1).min() for F in features])  # k(x, x) = 1
    return float(whole), float(worst)


def draw(X: np.ndarray, kernel: RBF, landmarks: Sequence[int], errors: np.ndarray, folder: Path) -> Path:
    """Error curves on the left, one choice of landmarks per method on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(14, 6.4), layout="constrained", dpi=130)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1, wspace=0.03)
    axes = figure.subplot_mosaic(
        [["whole", "worst", "uniform", "kmeans"], ["whole", "worst", "renyi", "leverage"]],
        width_ratios=(1.5, 1.5, 1, 1),
    )
    for panel, title, part in zip((axes["whole"], axes["worst"]), MEASURES, np.moveaxis(errors, 2, 0), strict=True):
        for name, line in zip(SELECTIONS, part, strict=True):
            panel.loglog(landmarks, line, color=SELECTIONS[name], ls=DASHES[name], lw=2.2, marker="o", label=name)
        panel.set_yscale("log" if panel is axes["whole"] else "linear")
        panel.set_title(title, loc="left", color=INK, fontweight="bold")
        panel.set_xlabel("landmarks")
        panel.set_xticks(landmarks, [str(m) for m in landmarks])
        panel.minorticks_off()
        panel.grid(color="#EDEDED")
        panel.spines[["top", "right"]].set_visible(False)
    axes["whole"].legend(frameon=False, loc="lower left")
    shown = landmarks[len(landmarks) // 2]
    for name, colour in SELECTIONS.items():
        chosen = Nystroem(shown, kernel=kernel, selection=name, random_state=0).fit(X).landmarks_
        panel = axes[name]
        panel.scatter(*X.T, s=3, c=FAINT, linewidths=0, rasterized=True)
        panel.scatter(*chosen.T, s=34, c=colour, edgecolors="white", linewidths=0.7)
        panel.set_title(f"{name}, {shown} landmarks", loc="left", fontsize=10, color=INK)
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "landmarks.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
