"""Spectral clustering of a million rows
=====================================

Spectral clustering of a million rows on one machine.

The Gram matrix of a million rows would take 8 TB. Through landmarks it is F Fᵀ with a thin F, and nothing of size
n×n is ever made. Printed: what the matrix would have taken, what was used, and whether the clusters are right. The
picture shows the kernel between a thousand rows that came later, those of one cluster side by side.
The whole million takes a while; ``--rows 100000`` is done in seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from gramian import Nystroem, SpectralClustering
from gramian.kernels import RBF, Kernel
from gramian.metrics import adjusted_rand


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--landmarks", type=int, default=100)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = make_blobs(options.rows, 10, centers=10, random_state=0)
    X = X.astype(np.float32)  # computed in float32 throughout
    new = np.random.default_rng(1).permutation(len(X))[: len(X) // 10]
    old = np.setdiff1d(np.arange(len(X)), new)

    kernel = Nystroem(options.landmarks, kernel=RBF(width="median20"), selection="kmeans", random_state=0)
    model = SpectralClustering(10, kernel=kernel, n_init=1, random_state=0)
    start = time.perf_counter()
    model.fit(X[old])
    fitted = time.perf_counter()
    labels = model.predict(X[new])
    done = time.perf_counter()

    dense, thin = len(old) ** 2 * X.itemsize, len(old) * options.landmarks * X.itemsize
    print(f"{len(old)} rows: the Gram matrix would take {dense / 1e9:,.1f} GB, its features take {thin / 1e9:.2f} GB")
    print(f"fit: {fitted - start:.1f} s, ARI {adjusted_rand(y[old], model.labels_):.3f}")
    print(f"predict {len(new)} new rows: {done - fitted:.1f} s, ARI {adjusted_rand(y[new], labels):.3f}")
    print(f"Picture: {draw(model.kernel_, X[new[:1000]], labels[:1000], Path(options.out))}")


def draw(kernel: Kernel, X: np.ndarray, labels: np.ndarray, folder: Path) -> Path:
    """The kernel between rows, ordered by their cluster."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(6.4, 5.2), layout="constrained", dpi=130)
    shown = panel.imshow(kernel(X[np.argsort(labels, kind="stable")]), cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(shown, label="similarity through the landmarks", shrink=0.8)
    panel.set_title(f"{len(X):,} of the new rows, by cluster", loc="left", color="#222222", fontweight="bold")
    sizes = np.unique(labels, return_counts=True)[1]
    panel.set_yticks(np.cumsum(sizes) - sizes / 2, range(1, len(sizes) + 1))
    panel.set_ylabel("cluster")
    panel.set_xticks([])
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "million_rows.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
