"""The colours of page and pictures, in one place.

Groups have eight colours that stay apart for readers with any common colour blindness and are at least three times as
light or dark as the paper; beyond eight the shape of the mark changes. Amounts have one scale, monotone in lightness,
whose strong end stands out from the paper by day and by night.
"""

from __future__ import annotations

from gramian.typing import Array

GROUPS = {
    "light": ("#1950bc", "#a2420f", "#089462", "#d46bab", "#909008", "#2890ea", "#692f78", "#685361"),
    "dark": ("#5da7f7", "#e96c51", "#33ee9c", "#e07bb6", "#f4c243", "#99e4f7", "#7b65e2", "#ddd1cb"),
}
AMOUNTS = {
    "light": ("#e2c98c", "#8fb88a", "#3f938f", "#1f6286", "#1b2f63"),
    "dark": ("#33508f", "#2a7e9e", "#4bb39a", "#a6d48a", "#f6ebaa"),
}
INK = {"light": "#1b1e22", "dark": "#e9e7e2"}
PAPER = {"light": "#fdfcfa", "dark": "#15181b"}
SHAPES = ("circle", "square", "triangle", "diamond")


def group_colour(label: int, theme: str = "light") -> str:
    """The colour of a group, counted from 0."""
    return GROUPS[theme][int(label) % len(GROUPS[theme])]


def group_shape(label: int) -> str:
    """The mark of a group, counted from 0: another one for each round through the colours."""
    return SHAPES[int(label) // len(GROUPS["light"]) % len(SHAPES)]


def css_variables(theme: str) -> str:
    """Declarations of the theme's colours, for a style sheet."""
    names = [(f"--g{i}", colour) for i, colour in enumerate(GROUPS[theme])]
    names += [(f"--a{i}", colour) for i, colour in enumerate(AMOUNTS[theme])]
    return "".join(f"{name}:{colour};" for name, colour in names)


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def rgb(colour: str) -> Array:
    import numpy as np

    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def mixed(one: str, other: str, part: float) -> str:
    """A colour of which ``part`` is the first and the rest the second."""
    return "#" + "".join(f"{round(255 * value):02x}" for value in part * rgb(one) + (1 - part) * rgb(other))
