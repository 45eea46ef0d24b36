"""Clusters of images
==================

Cluster pictures from their pixels, and show what each cluster looks like and what speaks for it.

A small network learns from 8×8 digits, without labels, which of them belong together. It starts from spectral
clustering; then clusters are to lie apart, and a digit and a slightly turned copy of it to agree. Printed: how many
digits are in the cluster of their kind, before and after. Drawn, one line per cluster: the digits that belong to it
most clearly, and for the first of them the pixels that speak for the cluster (red) and against it (blue).

The script takes half a minute of processor time and needs torch (extra ``deep``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from gramian.deep import DivergenceClustering
from gramian.metrics import clustering_accuracy

N_SHOWN = 8


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--kinds", type=int, default=10, help="kinds of digits, from 0 on")
    parser.add_argument("--steps", type=int, default=1000, help="of the training")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = load_digits(n_class=options.kinds, return_X_y=True)
    model = DivergenceClustering(options.kinds, image_shape=(1, 8, 8), max_iter=options.steps, random_state=0).fit(X)
    print(f"spectral clustering: {clustering_accuracy(y, model.init_labels_):.3f} in the cluster of their kind")
    print(f"after the network: {clustering_accuracy(y, model.labels_):.3f}")
    top = model.top_ranked(X, N_SHOWN)
    first = top[:, 0]
    signals = model.saliency(X[first], target=np.arange(options.kinds))
    print(f"Picture: {draw(X[top], signals, Path(options.out))}")


def draw(digits: np.ndarray, signals: np.ndarray, folder: Path) -> Path:
    """A line per cluster: its clearest digits, and the signals of the first."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    k, shown = digits.shape[:2]
    size = (0.9 * (shown + 1), 0.95 * k)
    figure, panels = plt.subplots(k, shown + 1, figsize=size, layout="constrained", dpi=130, squeeze=False)
    for cluster, line in enumerate(panels):
        for digit, panel in zip(digits[cluster], line, strict=False):
            panel.imshow(digit.reshape(8, 8), cmap="gray_r")
        most = np.abs(signals[cluster]).max()
        line[-1].imshow(signals[cluster].reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        line[0].set_ylabel(f"{cluster}", rotation=0, ha="right", va="center")
        for panel in line:
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_color("#DDDDDD")
    panels[0, -1].set_title("why", fontsize=9)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "clusters_of_images.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
