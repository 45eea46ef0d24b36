"""A learned kernel
================

Learn a kernel on 300 points and label 30,000.

Three spiral arms are groups that no Gaussian kernel of the points pulls together: points at the two ends of an arm are
farther apart than points of different arms. KernelNetClustering trains a small network on 300 points until a Gaussian
kernel of its output does. The network then places 30,000 points without the 300, and the learned kernel goes into any
other estimator. Spectral clustering of the same 300 points labels the others as well, and faster: the network is worth
it for the map and the kernel, not for the labels.

.. code-block:: sh

    python docs/gallery/260_learn_a_kernel.py                      # the picture goes to demo/learned_kernel.png

The script takes twenty seconds of processor time and needs torch (extra ``deep``).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from gramian import KernelPCA, SpectralClustering
from gramian.datasets import make_spirals
from gramian.deep import KernelNetClustering
from gramian.kernels import RBF

INK = "#2b2b2b"
COLOURS = np.array(["#4477AA", "#EE6677", "#228833"])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--points", type=int, default=30_000)
    parser.add_argument("--fitted", type=int, default=300)
    parser.add_argument("--steps", type=int, default=2000, help="steps of a round of training")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = make_spirals(options.points, random_state=0)
    some = np.random.default_rng(0).choice(len(X), options.fitted, replace=False)

    start = time.process_time()
    model = KernelNetClustering(3, width="median10", steps_per_iter=options.steps, random_state=0).fit(X[some])
    fitted = time.process_time()
    labels = model.predict(X)
    print(f"network: {fitted - start:.1f} s to learn, {time.process_time() - fitted:.2f} s to label {len(X):,} points,")
    print(f"         agreement with the arms (NMI) {normalized_mutual_info_score(y, labels):.3f}")

    start = time.process_time()
    plain = SpectralClustering(3, kernel=RBF("median10"), random_state=0).fit(X[some]).predict(X)
    spectral = normalized_mutual_info_score(y, plain)
    print(f"spectral clustering: {time.process_time() - start:.2f} s for both, agreement {spectral:.3f}")

    axes = KernelPCA(2, kernel=model.kernel_).fit(X[some])
    share = axes.eigenvalues_.sum() / axes.kernel_(X[some]).shape[0]
    print(f"two axes of kernel PCA hold {share:.0%} of the learned kernel")

    path = _draw(X[some], y[some], model, Path(options.out))
    print(f"picture: {path}")


def _draw(X: np.ndarray, y: np.ndarray, model: KernelNetClustering, out: Path) -> Path:
    """The points, the Gaussian kernel of the points, the learned embedding and the learned kernel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    order = np.argsort(y, kind="stable")
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
    panels = [
        ("the points", X, None),
        ("Gaussian kernel of the points", None, RBF("median10").fit(X)(X[order])),
        ("the learned embedding", model.transform(X), None),
        ("the learned kernel", None, model.kernel_(X[order])),
    ]
    for axis, (title, points, K) in zip(axes, panels, strict=True):
        axis.set_title(title, color=INK)
        axis.set_xticks([])
        axis.set_yticks([])
        if K is None:
            axis.scatter(*points.T, c=COLOURS[y], s=8)
        else:
            axis.imshow(K, cmap="Blues", vmin=0, vmax=1)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "learned_kernel.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
