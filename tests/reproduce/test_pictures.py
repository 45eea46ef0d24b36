"""Kept pictures are small and look like what was drawn."""

import numpy as np
import pytest

from reproduce.pictures import COLORS, pyplot, saved, shrunk


def test_saved_pictures_keep_their_colours(tmp_path):
    """A palette of 256 entries, white paper, and every colour of ours within a few levels."""
    image = pytest.importorskip("PIL.Image")
    figure, panel = pyplot().subplots(figsize=(3, 2))
    panel.bar(range(len(COLORS)), 1, color=COLORS)
    path = saved(figure, tmp_path / "drawn" / "bars.png")
    with image.open(path) as picture:
        assert picture.mode == "P"
        pixels = np.asarray(picture.convert("RGB"), int)
    assert (pixels[0, 0] == 255).all()
    for color in COLORS:
        wanted = [int(color[place : place + 2], 16) for place in (1, 3, 5)]
        assert np.abs(pixels - wanted).sum(axis=2).min() <= 12
    assert shrunk(path) == path
