"""What every script that draws figures needs: pyplot without a window, and a place to save to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

COLORS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377")


def pyplot() -> Any:
    """``matplotlib.pyplot`` that draws to files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def saved(figure: Any, path: Path) -> Path:
    """Write the figure, close it, and say where it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot().close(figure)
    return shrunk(path)


def shrunk(path: Path) -> Path:
    """The picture with a palette of 256 colours, about half the size, so that it can be kept."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette = np.reshape(small.getpalette(), (-1, 3))
    palette[(palette > 247).all(axis=1)] = 255  # paper stays white
    small.putpalette(palette.ravel().tolist())
    small.save(path, optimize=True)
    return path


def draw_images(rows: dict[str, np.ndarray], path: Path) -> Path:
    """Rows of square grey images in [0, 1], each row with its name."""
    plt = pyplot()
    width = max(len(images) for images in rows.values())
    size = (0.75 * width + 2, 0.8 * len(rows) + 0.2)
    figure, panels = plt.subplots(len(rows), width, figsize=size, squeeze=False, layout="constrained")
    for line, (name, images) in zip(panels, rows.items(), strict=True):
        side = round(np.sqrt(images.shape[1]))
        for panel, image in zip(line, images, strict=False):
            panel.imshow(image.reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
        for panel in line:
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    return saved(figure, path)


def block_contrast(K: np.ndarray, y: np.ndarray) -> float:
    """Mean similarity of two different rows of one class, over that of rows of two classes."""
    same = y[:, None] == y
    other = ~np.eye(len(y), dtype=bool)
    between = K[~same].mean()
    return float(K[same & other].mean() / between) if between > 0 else float("inf")
