"""Three kinds of digits, as an array and as files."""

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits


def digits(n=120):
    """Images of 8×8 pixels from 0 to 16, and what they show."""
    images, kinds = load_digits(n_class=3, return_X_y=True)
    return images[:n].reshape(-1, 8, 8), kinds[:n]


def write_digits(folder, n=12, size=None):
    """Digits as PNG files, named by their place."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, image in enumerate(digits(n)[0]):
        picture = Image.fromarray(np.round(image * 255 / 16).astype(np.uint8))
        (picture if size is None else picture.resize(size)).save(folder / f"{place:03d}.png")
    return folder
