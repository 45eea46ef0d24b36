"""The look of the pictures: the report's colours as settings of matplotlib, by day and by night.

``light.mplstyle`` and ``dark.mplstyle`` beside this file hold the same settings for
``matplotlib.style.use("gramian.plot.dark")``; a test keeps them equal to :func:`settings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramian.colours import GROUPS, INK, PAPER, mixed
from gramian.plot.canvas import matplotlib

THEMES = ("light", "dark")


@contextmanager
def style(theme: str = "light") -> Iterator[None]:
    """Draw with the colours and sizes of the report, on light or dark paper, inside a ``with`` block.

    Outside of it pictures follow the settings of matplotlib, and take their colours by the paper they are drawn on.
    ``matplotlib.style.use("gramian.plot.dark")`` does the same for a whole session.

    Parameters
    ----------
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from gramian import KernelPCA, plot
    >>> from gramian.datasets import load_table
    >>> with plot.style("dark"):
    ...     ax = plot.embedding(KernelPCA(2).fit(load_table("iris").X))
    >>> ax.figure.get_facecolor()[0] < 0.2
    True
    """
    if theme not in THEMES:
        raise ValueError(f"theme={theme!r} is unknown; pass 'light' or 'dark'")
    with matplotlib().rc_context(settings(theme)):
        yield


def settings(theme: str) -> dict[str, Any]:
    """Settings of matplotlib for a theme; a value is what a style file would hold."""
    ink, paper = INK[theme], PAPER[theme]
    quiet, pale = mixed(ink, paper, 0.68), mixed(ink, paper, 0.3)
    colours = ", ".join(f"'{colour}'" for colour in GROUPS[theme])
    return {
        "figure.facecolor": paper,
        "savefig.facecolor": paper,
        "axes.facecolor": paper,
        "axes.edgecolor": pale,
        "axes.labelcolor": quiet,
        "axes.titlecolor": ink,
        "axes.prop_cycle": f"cycler('color', [{colours}])",
        "axes.titlesize": "11",
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "axes.labelsize": "10",
        "axes.spines.top": "False",
        "axes.spines.right": "False",
        "text.color": ink,
        "xtick.color": quiet,
        "ytick.color": quiet,
        "xtick.labelsize": "9",
        "ytick.labelsize": "9",
        "legend.fontsize": "9",
        "legend.frameon": "False",
        "grid.color": pale,
        "font.size": "10",
        "figure.dpi": "110",
    }
