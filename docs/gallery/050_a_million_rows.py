"""Spectral clustering of a million rows
=====================================

Spectral clustering of a million rows on one machine.

The Gram matrix of a million rows would take 8 TB. Through landmarks it is F Fᵀ with a thin F, and nothing of size
n×n is ever made. Printed: what the matrix would have taken, what was used, and whether the clusters are right.
The whole million takes a while; ``--rows 100000`` is done in seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import make_blobs

from gramian import Nystroem, SpectralClustering
from gramian.kernels import RBF
from gramian.metrics import adjusted_rand


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--landmarks", type=int, default=100)
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


if __name__ == "__main__":
    main()
