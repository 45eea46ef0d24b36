"""A similarity with a way back
============================

Choose how alike pictures are, and walk from one to another in that similarity.

A kernel says how alike two digits are, but knows no way back: no picture lies "between" two others. A kernelized
autoencoder learns codes whose inner products follow the kernel, and a decoder. Two groups of digits are found in the
codes, and the straight way between their centres is decoded, picture by picture. Printed: how far the codes of new
digits are from the kernel, with the kernel and without it in the training. Drawn: new digits, what comes back, and two
walks.

The script takes half a minute of processor time and needs torch (extra ``deep``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from gramian import ClusterKernel
from gramian.deep import KernelAutoencoder, alignment_distance

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--train", type=int, default=1500, help="pictures to learn from")
    parser.add_argument("--steps", type=int, default=1500, help="of the training")
    parser.add_argument("--codes", type=int, default=100)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    digits = np.random.default_rng(0).permutation(load_digits().data / 16.0)
    old, new = digits[: options.train], digits[options.train :][:200]
    kernel = ClusterKernel(10, 15, standardize=False, random_state=0)
    nets = {}
    for name, weight in {"with the kernel": 0.1, "without it": 0.0}.items():
        nets[name] = KernelAutoencoder(
            options.codes,
            kernel=kernel,
            alignment_weight=weight,
            hidden_layer_sizes=(100, 100, 200),
            max_iter=options.steps,
            random_state=0,
        ).fit(old)
        error = np.mean((nets[name].reconstruct(new) - new) ** 2)
        distance = alignment_distance(nets[name].code_kernel(new), kernel.fit(old)(new))
        print(f"{name}: distance of new codes to the kernel {distance:.3f}, error of the way back {error:.4f}")

    net = nets["with the kernel"]
    centres = KMeans(10, n_init=3, random_state=0).fit(net.transform(old)).cluster_centers_
    rows = {"new digits": new[:10], "and back": net.reconstruct(new[:10])}
    for number, (start, end) in enumerate([(0, 1), (2, 3)], 1):
        rows[f"walk {number}"] = net.interpolate(centres[start], centres[end], 10)
    print(f"Picture: {draw(rows, Path(options.out))}")


def draw(rows: dict[str, np.ndarray], folder: Path) -> Path:
    """One line of ten pictures per stage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(rows), 10, figsize=(10, 4.4), layout="constrained", dpi=130, squeeze=False)
    for (name, pictures), line in zip(rows.items(), panels, strict=True):
        for picture, panel in zip(pictures, line, strict=True):
            panel.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_color("#DDDDDD")
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "a_way_back.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
