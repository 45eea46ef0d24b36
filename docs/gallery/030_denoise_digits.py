"""Digits without their noise
==========================

Clean noisy pictures with kernel PCA and pre-images.

A noisy digit is projected on the leading components of clean digits; what lies outside them is mostly noise. The
way back from the components to a picture is the pre-image. Printed: the error left by linear PCA and by kernel PCA.
Drawn: a few digits before and after.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramian import KernelPCA
from gramian.kernels import RBF

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--train", type=int, default=1200, help="clean digits to learn from")
    parser.add_argument("--test", type=int, default=100, help="noisy digits to clean")
    parser.add_argument("--noise", type=float, default=0.3, help="standard deviation; pixels run from 0 to 1")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    digits = rng.permutation(load_digits().data / 16.0)
    train, clean = digits[: options.train], digits[-options.test :]
    noisy = clean + options.noise * rng.standard_normal(clean.shape)

    # Both with the number of components that serves them best.
    linear = PCA(12).fit(train)
    kernel = KernelPCA(64, kernel=RBF(width="median70"), preimage="fixed_point").fit(train)
    rows = {
        "clean": clean,
        "noisy": noisy,
        "linear PCA, 12 components": linear.inverse_transform(linear.transform(noisy)),
        "kernel PCA, 64 components": kernel.inverse_transform(kernel.transform(noisy)),
    }
    for name, pictures in list(rows.items())[1:]:
        print(f"{name}: mean squared error {np.mean((pictures - clean) ** 2):.4f}")
    print(f"Picture: {draw(rows, Path(options.out))}")


def draw(rows: dict[str, np.ndarray], folder: Path, n_shown: int = 12) -> Path:
    """One line of digits per stage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n_shown = min(n_shown, len(rows["clean"]))
    figure, panels = plt.subplots(len(rows), n_shown, figsize=(12, 4.6), layout="constrained", dpi=130, squeeze=False)
    for (name, pictures), line in zip(rows.items(), panels, strict=True):
        for picture, panel in zip(pictures, line, strict=False):
            panel.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_color("#DDDDDD")
        line[0].set_ylabel(name.replace(", ", "\n"), rotation=0, ha="right", va="center", color=INK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "denoised_digits.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
