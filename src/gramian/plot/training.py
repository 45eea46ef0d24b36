"""How training went: the loss, its terms, and what an iteration improved step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, axes_for, lacking
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = ("loss_curve_", "reconstruction_curve_", "alignment_curve_", "objective_curve_", "objective_path_")
_MODELS = "those of gramian.deep, DependenceReduction, AlternativeClustering, KPOD and RestrictedKernelMachine"


def curve(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the loss and its terms, or the objective, step by step of the training.

    Parameters
    ----------
    model : fitted estimator
        With ``term_curves_``, ``loss_curve_`` or ``objective_path_``: the models of ``gramian.deep``,
        :class:`gramian.DependenceReduction` and others that iterate.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import DependenceReduction, plot
    >>> from gramian.datasets import load_table
    >>> wine = load_table("wine")
    >>> model = DependenceReduction(2).fit(wine.X, wine.y)
    >>> ax = plot.curve(model)
    >>> np.array_equal(ax.lines[0].get_ydata(), model.objective_path_)
    True
    """
    drawn = _curves(model)
    if not drawn:
        raise lacking(model, f"plot.curve needs term_curves_ or one of {', '.join(_CURVES)}", _MODELS)
    ax = axes_for(ax)
    colours = Colours.on(ax)
    for i, (title, (steps, values)) in enumerate(drawn.items()):
        mark = "o" if len(values) < 2 else None
        ax.plot(steps, values, color=colours.group(i), linewidth=1.8, marker=mark, label=title)
    ax.set_xlabel("step of training")
    ax.locator_params(axis="x", integer=True)
    lowest = min(float(np.nanmin(values)) for _, values in drawn.values())
    highest = max(float(np.nanmax(values)) for _, values in drawn.values())
    if lowest > 0 and highest > 100 * lowest:
        ax.set_yscale("log")
    if len(drawn) == 1:
        ax.set_ylabel(next(iter(drawn)))
    else:
        ax.legend(frameon=False)
    return ax


def _curves(model: Any) -> dict[str, tuple[Array, Array]]:
    """Curves by the names of what they show, with their steps; terms of the loss where the model keeps them."""
    found: dict[str, tuple[Array, Array]] = {}
    for title, values in (getattr(model, "term_curves_", None) or {}).items():
        _add(found, title, values)
    for name in () if found else _CURVES:
        if getattr(model, name, None) is not None:
            _add(found, name.removesuffix("_").removesuffix("_curve").removesuffix("_path"), getattr(model, name))
    checked = np.asarray(getattr(model, "validation_curve_", np.empty((0, 2))))
    if found and checked.ndim == 2 and checked.shape[1] == 2 and len(checked):
        found["validation"] = checked[:, 0], checked[:, 1]
    return found


def _add(found: dict[str, tuple[Array, Array]], title: str, values: Any) -> None:
    values = np.asarray(values, dtype=float)
    if values.ndim == 1 and len(values) and np.isfinite(values).any():
        found[str(title).replace("_", " ")] = np.arange(1, len(values) + 1), values
