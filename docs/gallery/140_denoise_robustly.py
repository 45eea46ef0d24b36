"""Components of a dirty collection
================================

Clean noisy pictures with components learned from a collection that is itself dirty.

A few of the pictures to learn from are stripes, far brighter than the digits. Kernel PCA gives a component to them,
kernel component analysis (KCA) a weight of nearly zero. Both then clean noisy digits with as many components. The gain
is small, and gone at sixteen components, where one more or less does not matter. Printed: the error left, and the
weights. Drawn: the digits before and after.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from gramian import KernelComponentAnalysis, KernelPCA
from gramian.kernels import RBF

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--train", type=int, default=200, help="pictures to learn from")
    parser.add_argument("--stripes", type=float, default=0.05, help="share of them that are stripes")
    parser.add_argument("--components", type=int, default=4)
    parser.add_argument("--noise", type=float, default=0.3, help="standard deviation; pixels run from 0 to 1")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    digits = rng.permutation(load_digits().data / 16.0)
    train, clean = digits[: options.train].copy(), digits[-100:]
    odd = rng.choice(len(train), round(options.stripes * len(train)), replace=False)
    train[odd] = np.tile([3.0, 0.0], 32) * rng.uniform(0.8, 1.2, size=(len(odd), 1))
    noisy = clean + options.noise * rng.standard_normal(clean.shape)

    rows = {"clean": clean, "noisy": noisy}
    models = {"kernel PCA": KernelPCA, "robust KCA": KernelComponentAnalysis}
    for name, make in models.items():
        model = make(options.components, kernel=RBF("median"), preimage="fixed_point").fit(train)
        rows[name] = model.inverse_transform(model.transform(noisy))
    for name, pictures in list(rows.items())[1:]:
        print(f"{name}: mean squared error {np.mean((pictures - clean) ** 2):.4f}")
    weights = model.weights_.mean(axis=1)
    print(f"mean weight of the stripes {weights[odd].mean():.2f}, of the digits {np.delete(weights, odd).mean():.2f}")
    print(f"Picture: {draw(rows, Path(options.out))}")


def draw(rows: dict[str, np.ndarray], folder: Path, n_shown: int = 12) -> Path:
    """One line of digits per stage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(rows), n_shown, figsize=(12, 4.6), layout="constrained", dpi=130, squeeze=False)
    for (name, pictures), line in zip(rows.items(), panels, strict=True):
        for picture, panel in zip(pictures, line, strict=False):
            panel.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_color("#DDDDDD")
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "denoised_robustly.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
