"""Parts of a photograph
=====================

Segment two photographs: 1,000 pixels are fitted, all are assigned.

A pixel is described by the histogram of the colours in the 5×5 window around it, in eight colours found by k-means, and
histograms are compared by the χ² kernel. KernelSpectralClustering is fitted to 1,000 random pixels with a given number
of segments, chooses the width on half of them, and labels every pixel by kernel evaluations. The photographs come with
scikit-learn. There is no right answer to compare with; the script prints sizes, times, and how much more alike
neighbouring pixels are labelled than pixels at random.

.. code-block:: sh

    python docs/gallery/170_segment_an_image.py                    # the picture goes to demo/segments.png
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.ndimage import uniform_filter
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

from gramian import KernelSpectralClustering

INK = "#2b2b2b"
WINDOW, N_COLOURS = 5, 8


def local_histograms(image: np.ndarray, seed: int = 0) -> np.ndarray:
    """Shares of eight colours in the window around each pixel, (height · width, 8)."""
    pixels = image.reshape(-1, 3).astype(np.float64)
    some = np.random.default_rng(seed).choice(len(pixels), min(5000, len(pixels)), replace=False)
    colours = KMeans(N_COLOURS, n_init=3, random_state=seed).fit(pixels[some]).predict(pixels).reshape(image.shape[:2])
    shares = [uniform_filter((colours == colour).astype(np.float64), WINDOW) for colour in range(N_COLOURS)]
    return np.maximum(np.stack(shares, axis=-1).reshape(-1, N_COLOURS), 0)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--pixels", type=int, default=1000, help="pixels to fit")
    parser.add_argument("--step", type=int, default=2, help="keep every so many-th row and column of the image")
    parser.add_argument("--segments", type=int, default=4)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    found = []
    for name in ("china.jpg", "flower.jpg"):
        image = load_sample_image(name)[:: options.step, :: options.step]
        start = time.process_time()
        H = local_histograms(image)
        fitted = np.random.default_rng(0).choice(len(H), options.pixels, replace=False)
        model = KernelSpectralClustering(options.segments, kernel="chi_square", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a window of colours that no fitted pixel has is told of
            labels = model.fit(H[fitted]).predict(H).reshape(image.shape[:2])
        seconds = time.process_time() - start
        sizes = np.bincount(labels[labels >= 0], minlength=model.n_clusters_) / labels.size
        alike = (labels[:, 1:] == labels[:, :-1]).mean()
        print(
            f"{name}: {options.pixels} of {labels.size} pixels fitted, {model.n_clusters_} segments of "
            f"{', '.join(f'{size:.0%}' for size in sizes)}; neighbours agree in {alike:.0%}, pixels at random in "
            f"{(sizes**2).sum():.0%}; {seconds:.1f} s"
        )
        found.append((name, image, labels))
    print(f"Picture: {draw(found, Path(options.out))}")


def draw(found: list[tuple[str, np.ndarray, np.ndarray]], folder: Path) -> Path:
    """Each photograph beside its segments in their mean colours."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(found), 2, figsize=(9, 3.2 * len(found)), layout="constrained", dpi=130)
    for (photograph, segments), (name, image, labels) in zip(panels, found, strict=True):
        painted = np.zeros_like(image)
        for segment in range(labels.max() + 1):
            painted[labels == segment] = image[labels == segment].mean(axis=0)
        photograph.imshow(image)
        segments.imshow(painted)
        photograph.set_title(name, loc="left", color=INK)
        segments.set_title(f"{labels.max() + 1} segments", loc="left", color=INK)
        for panel in (photograph, segments):
            panel.set_axis_off()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "segments.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
