"""Codes of rows with holes
========================

Turn rows with holes into complete codes, and codes into complete rows.

A fifth of the pixels of the digits is gone. The network sees which cells are holes, follows a cluster kernel that takes
holes itself, and gives every row a code; the decoder fills the holes. Printed: how well a nearest neighbour in the
codes finds the class of new rows, beside neighbours after filling with columns' means, and the error in the holes
beside two imputers. Filling is a by-product: KNNImputer does it as well, and far faster. Drawn: digits with holes,
filled, and as they were.

The script takes half a minute of processor time and needs torch (extra ``deep``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.neighbors import KNeighborsClassifier

from gramian import ClusterKernel
from gramian.deep import KernelAutoencoder

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--train", type=int, default=1500, help="rows to learn from")
    parser.add_argument("--holes", type=float, default=0.2, help="share of the cells that is gone")
    parser.add_argument("--steps", type=int, default=1500, help="of the training")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(X))
    X, y = X[order] / 16, y[order]
    holes = np.where(rng.random(X.shape) < options.holes, np.nan, X)
    old, new = slice(options.train), slice(options.train, options.train + 250)

    net = KernelAutoencoder(
        100,
        kernel=ClusterKernel(10, 15, standardize=False),
        hidden_layer_sizes=(100, 100, 200),
        max_iter=options.steps,
        random_state=0,
    ).fit(holes[old])
    means = SimpleImputer(keep_empty_features=True).fit(holes[old])
    neighbours = KNNImputer(keep_empty_features=True).fit(holes[old])
    for name, transform in {"codes": net.transform, "columns' means": means.transform}.items():
        accuracy = KNeighborsClassifier(1).fit(transform(holes[old]), y[old]).score(transform(holes[new]), y[new])
        print(f"nearest neighbour in {name}: {accuracy:.3f} of the new rows right")
    filled = {"the decoder": net.impute, "columns' means": means.transform, "KNNImputer": neighbours.transform}
    missing, answers = np.isnan(holes[new]), {name: fill(holes[new]) for name, fill in filled.items()}
    for name, rows in answers.items():
        print(f"error in the holes by {name}: {np.mean((rows - X[new])[missing] ** 2):.4f}")
    shown = {"with holes": holes[new][:10], "filled": answers["the decoder"][:10], "as they were": X[new][:10]}
    print(f"Picture: {draw(shown, Path(options.out))}")


def draw(rows: dict[str, np.ndarray], folder: Path) -> Path:
    """One line of ten pictures per stage; holes are blue."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = matplotlib.colormaps["gray_r"].with_extremes(bad="#AACCEE")
    figure, panels = plt.subplots(len(rows), 10, figsize=(10, 3.4), layout="constrained", dpi=130, squeeze=False)
    for (name, pictures), line in zip(rows.items(), panels, strict=True):
        for picture, panel in zip(pictures, line, strict=True):
            panel.imshow(picture.reshape(8, 8), cmap=colours, vmin=0, vmax=1)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_color("#DDDDDD")
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "codes_with_holes.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
