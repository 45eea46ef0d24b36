"""Colours stay apart on either paper, for readers with any common colour blindness."""

from itertools import combinations

import numpy as np
import pytest

from gramian.colours import AMOUNTS, GROUPS, INK, PAPER, contrast, luminance, rgb

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, seen):
    parts = rgb(colour)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(np.asarray(SEEN[seen]) @ linear, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_groups_stay_apart(theme, seen):
    """Any two differ by 15 units of CIELAB, the first four by 24."""
    places = [lab(colour, seen) for colour in GROUPS[theme]]
    assert min(np.linalg.norm(a - b) for a, b in combinations(places, 2)) > 15
    assert min(np.linalg.norm(a - b) for a, b in combinations(places[:4], 2)) > 24


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_stands_out_from_the_paper(theme):
    """Text by 4.5 at least, also the quiet one, which is 68 % ink; dots by 3."""
    quiet = 0.68 * rgb(INK[theme]) + 0.32 * rgb(PAPER[theme])
    quiet_colour = "#" + "".join(f"{round(255 * part):02x}" for part in quiet)
    assert contrast(quiet_colour, PAPER[theme]) >= 4.5
    assert min(contrast(colour, PAPER[theme]) for colour in GROUPS[theme]) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_larger_amounts_stand_out_more(theme):
    steps = [contrast(colour, PAPER[theme]) for colour in AMOUNTS[theme]]
    assert steps == sorted(steps)
    assert steps[-1] >= 7


def test_contrast_as_published():
    """WCAG 2: black on white is 21, #767676 on white just passes 4.5."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert luminance("#ffffff") == pytest.approx(1)
