"""New rows find their cluster
===========================

Cluster once, then assign rows that arrive later.

Spectral clustering finds clusters of any shape, but in scikit-learn it labels only the rows it was fitted on.
Here the fitted model labels new rows too: the eigenvector equation gives their place in the embedding. Printed:
how many of the new rows land in the right cluster. Drawn: the cluster of every point of the plane.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sklearn.cluster

from gramian import SpectralClustering
from gramian.datasets import make_crescents, make_spirals
from gramian.metrics import clustering_accuracy

COLOURS = ("#4477AA", "#EE6677", "#228833")
INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=600, help="rows to fit on")
    parser.add_argument("--new", type=int, default=5000, help="rows that arrive later")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    can = hasattr(sklearn.cluster.SpectralClustering(), "predict")
    print(f"scikit-learn's SpectralClustering has predict: {can}")
    runs = []
    for name, make, k in (("crescents", make_crescents, 2), ("spirals", make_spirals, 3)):
        X, y = make(options.rows, noise=0.05, random_state=0)
        X_new, y_new = make(options.new, noise=0.05, random_state=1)
        # Complete rows in one unit: the plain neighbour graph does, and colours the plane in no time.
        model = SpectralClustering(k, kernel="neighbors", random_state=0).fit(X)
        old, new = clustering_accuracy(y, model.labels_), clustering_accuracy(y_new, model.predict(X_new))
        print(f"{name}: {old:.1%} of {len(X)} fitted rows and {new:.1%} of {len(X_new)} new rows in the right cluster")
        runs.append((name, model, X))
    print(f"Picture: {draw(runs, Path(options.out))}")


def draw(runs: list[tuple[str, SpectralClustering, np.ndarray]], folder: Path) -> Path:
    """The fitted rows on the areas that ``predict`` gives to each cluster."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    boxes = [(X.min(axis=0) - 0.35, X.max(axis=0) + 0.35) for _, _, X in runs]
    shapes = [(high - low)[0] / (high - low)[1] for low, high in boxes]  # panels of equal height
    figure, panels = plt.subplots(
        1, len(runs), figsize=(5 * sum(shapes) + 0.4, 5.7), width_ratios=shapes, layout="constrained", dpi=130
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    figure.suptitle(
        "Dots: fitted rows. Areas: where predict puts a new row", x=0.01, ha="left", fontweight="bold", color=INK
    )
    for panel, (low, high), (name, model, X) in zip(panels, boxes, runs, strict=True):
        first, second = np.meshgrid(*(np.linspace(low[j], high[j], 220) for j in range(2)))
        areas = model.predict(np.c_[first.ravel(), second.ravel()]).reshape(first.shape)
        palette = ListedColormap(COLOURS[: model.n_clusters_])
        panel.pcolormesh(first, second, areas, cmap=palette, alpha=0.25, rasterized=True)
        panel.scatter(*X.T, c=model.labels_, cmap=palette, s=12, edgecolors="white", linewidths=0.3)
        panel.set_title(f"{name}, {len(X)} rows", loc="left", color=INK)
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "new_rows.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
