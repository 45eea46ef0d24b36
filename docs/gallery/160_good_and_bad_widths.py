"""A good and a bad width
======================

A bad and a good choice of the kernel's width, seen on rows that were not fitted.

Two moons are clustered with a width that is much too large and with the one that KernelSpectralClustering chooses by
itself, together with the number of clusters. Training rows, rows held back and new rows tell the same story. Prints the
choice and the agreement, and draws the areas that a new row would fall into.

.. code-block:: sh

    python docs/gallery/160_good_and_bad_widths.py                 # the picture goes to demo/widths.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from gramian import KernelSpectralClustering
from gramian.kernels import RBF
from gramian.metrics import adjusted_rand

COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1"]
INK = "#2b2b2b"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=400, help="rows to fit")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = make_moons(options.rows, noise=0.06, random_state=0)
    X_new, y_new = make_moons(2000, noise=0.06, random_state=1)
    good = KernelSpectralClustering(random_state=0).fit(X)
    bad = KernelSpectralClustering(2, kernel=RBF(1.0)).fit(X)
    print(f"chosen: {good.n_clusters_} clusters, width {good.kernel_.width_:.2f}, by the {good.chosen_by_}")
    for name, model in (("bad", bad), ("good", good)):
        old, new = adjusted_rand(y, model.labels_), adjusted_rand(y_new, model.predict(X_new))
        strength = model.score(X_new)
        print(f"{name} width: agreement {old:.2f} on fitted rows, {new:.2f} on new rows; membership {strength:.2f}")
    print(f"Picture: {draw({'bad': bad, 'good': good}, X, X_new[:300], Path(options.out))}")


def draw(models: dict[str, KernelSpectralClustering], X: np.ndarray, X_new: np.ndarray, folder: Path) -> Path:
    """The areas of the clusters, the fitted rows (dots) and new ones (crosses)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    figure, panels = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained", dpi=130)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    first, second = np.meshgrid(*(np.linspace(low[j], high[j], 200) for j in range(2)))
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        palette = ListedColormap(COLOURS[: model.n_clusters_])
        # Far rows are like no fitted one under a narrow kernel; the sign of their score is all there is.
        scores = model.decision_function(np.c_[first.ravel(), second.ravel()])
        areas = model.decoder_.labels(scores).reshape(first.shape)
        panel.pcolormesh(first, second, areas, cmap=palette, alpha=0.25, rasterized=True)
        panel.scatter(*X.T, c=model.labels_, cmap=palette, s=12, edgecolors="white", linewidths=0.3)
        panel.scatter(*X_new.T, c=model.predict(X_new), cmap=palette, s=14, marker="x", linewidths=0.7)
        panel.set_title(f"{name}: width {model.kernel_.width_:.2f}", loc="left", color=INK)
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "widths.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
