"""What directions are made of: the signed weights of the columns in each component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checks import whole
from gramian.colours import contrast
from gramian.plot.canvas import Colours, asked, axes_for, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MODELS = "DependenceReduction and AlternativeClustering"


def components(model: Any, *, names: Sequence[Any] | None = None, top: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the signed weights of the columns in each component of a model.

    Columns stand from top to bottom by their largest weight; a component's sign is arbitrary, but the signs of its
    columns relative to each other are not.

    Parameters
    ----------
    model : fitted estimator with ``components_`` (m, d)
        As :class:`gramian.DependenceReduction` and :class:`gramian.AlternativeClustering`.
    names : sequence (d,), optional
        Names of the columns; those seen by ``fit`` by default.
    top : int, default 20
        Columns to show, those of the largest weights.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import DependenceReduction, plot
    >>> from gramian.datasets import load_table
    >>> iris = load_table("iris")
    >>> model = DependenceReduction(2).fit(iris.X, iris.y)
    >>> ax = plot.components(model, names=iris.feature_names)
    >>> ax.images[0].get_array().shape
    (4, 2)
    """
    found = asked(model, "components_", question="plot.components", models=_MODELS)
    weights = np.atleast_2d(np.asarray(found, dtype=float))
    d = weights.shape[1]
    top = whole(top, "top")
    if names is None:
        names = getattr(model, "feature_names_in_", [f"column {j}" for j in range(d)])
    if len(names) != d:
        raise ValueError(f"names has {len(names)} entries for {d} columns; pass one for each")
    order = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:top]
    shown = weights[:, order].T
    ax = axes_for(ax, (2.6 + 0.8 * len(weights), 1.2 + 0.32 * len(order)))
    colours = Colours.on(ax)
    most = float(np.abs(shown).max(initial=0.0)) or 1.0
    drawn = ax.imshow(shown, cmap=colours.signed(), vmin=-most, vmax=most, aspect="auto")
    ax.spines[:].set_visible(False)
    ax.set_yticks(range(len(order)), [short(names[j]) for j in order])
    ax.set_xticks(range(len(weights)), [str(i + 1) for i in range(len(weights))])
    ax.tick_params(length=0)
    ax.set_xlabel("component")
    from matplotlib.colors import to_hex

    colour_map: Any = drawn.cmap  # of one number it gives one colour, which its type does not say

    for (i, j), weight in np.ndenumerate(shown):
        back = to_hex(colour_map(drawn.norm(weight)))
        ink = max((colours.ink, colours.paper), key=lambda colour: contrast(colour, back))
        ax.text(j, i, f"{weight:+.2f}".replace("-", "−"), ha="center", va="center", size="small", color=ink)
    rest = d - len(order)
    ax.set_title(f"Weights of {len(order)} of {d} columns" if rest else "Weights of the columns")
    return ax
