"""What was tried before something was chosen: widths, numbers of clusters, penalties, ways and rules.

Models keep that in tables of different names. Each kind of table has its picture here, with the choice marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, axes_for, lacking, short
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VALUES = {"score": False, "error": False, "errors": False, "correlation": True}
"""Columns that candidates are judged by, and whether more is better."""
_ACROSS = ("regularization", "regularizations", "label_weight", "nu_x")
_LINES = ("width", "scale", "smoothness")
_CRITERIA = ("gap", "separation", "modularity", "ams", "blf", "baf", "bas")
_MOST_LINES = 12
_FEW = 6  # values of a penalty that are all written at its axis
_MODELS = (
    "AutoClustering (candidates_), KernelSpectralClustering and NetworkKSC (selection_), LSSVMRegressor, "
    "LSSVMClassifier and EchoStateNetwork (tuning_), EchoStateForecaster (errors_) and GeneticSearch (history_)"
)


def selection(model: Any, criterion: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw what a model tried before it chose, and mark what it chose.

    ====================================  ==============================================================
    table of the model                    picture
    ====================================  ==============================================================
    ``candidates_``                       the score of each way to cluster; more is better
    ``selection_`` with widths            a map of width and number of clusters, coloured by a criterion
    ``selection_``                        a criterion against the number of clusters
    ``tuning_``                           the error along the penalty, one path for each width
    ``errors_``                           the error of each rule
    ``history_``                          best and mean error as candidates are evaluated
    ====================================  ==============================================================

    Parameters
    ----------
    model : fitted estimator
        With one of these tables.
    criterion : str, optional
        Column of ``selection_`` to show, such as "gap" or "ams"; by default the one that decided. Of ``candidates_``
        also "evidence": the stability of each number of clusters.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import LSSVMRegressor, plot
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = LSSVMRegressor().fit(X, np.sin(X[:, 0]) + 0.1 * np.cos(50 * X[:, 0]))
    >>> ax = plot.selection(model)
    >>> ax.get_xlabel(), len(ax.lines) > 1
    ('regularization', True)
    """
    if getattr(model, "candidates_", None):
        if criterion == "evidence":
            return _evidence(model, ax)
        return _candidates(model, criterion or "score", ax)
    table = getattr(model, "selection_", None)
    if isinstance(table, Mapping) and len(table):
        return _numbers_of_clusters(model, table, criterion, ax)
    for name, draw in (("tuning_", _paths), ("errors_", _rules), ("history_", _history)):
        if isinstance(getattr(model, name, None), Mapping) and len(getattr(model, name)):
            if criterion is not None:
                raise ValueError(
                    f"criterion={criterion!r} is for candidates_ and selection_; {name} has one value: None"
                )
            return draw(model, ax)
    raise lacking(
        model, "plot.selection needs a table of what was tried", _MODELS, "where all is given, nothing is tried"
    )


# Ways and rules --------------------------------------------------------------------------------------------


def _candidates(model: Any, criterion: str, ax: Axes | None) -> Axes:
    tried = model.candidates_
    if criterion not in tried[0] or isinstance(tried[0][criterion], str):
        known = [name for name, value in tried[0].items() if isinstance(value, float)]
        raise ValueError(f"criterion={criterion!r} is unknown; pass 'evidence' or one of {', '.join(known)}")
    values = np.array([float(way[criterion]) for way in tried])
    chosen = np.array([bool(way["chosen"]) for way in tried])
    ax = _bars(ax, [str(way["name"]).replace("_", " ") for way in tried], values, chosen)
    ax.set_xlabel(criterion)
    ax.set_title(f"{len(tried)} ways to find {model.n_clusters_} clusters")
    return ax


def _rules(model: Any, ax: Axes | None) -> Axes:
    names = sorted(model.errors_, key=lambda name: float(model.errors_[name]))
    values = np.array([float(model.errors_[name]) for name in names])
    ax = _bars(ax, [name.replace("_", " ") for name in names], values, np.array([n == model.chosen_ for n in names]))
    ax.set_xlabel("mean absolute error on the last fifth of the series")
    ax.set_title("Rules: the simplest of the best is chosen")
    return ax


def _bars(ax: Axes | None, names: list[str], values: Array, chosen: Array) -> Axes:
    ax = axes_for(ax, (6.4, 1.2 + 0.32 * len(names)))
    colours = Colours.on(ax)
    places = np.arange(len(names))
    ax.barh(places, values, height=0.66, color=[colours.group(0) if own else colours.pale for own in chosen])
    for place, value in zip(places, values, strict=True):
        ax.annotate(f"{value:.3g}", (max(value, 0), place), (4, 0), textcoords="offset points", va="center",
                    size="small", color=colours.quiet)  # fmt: skip
    ax.set_yticks(places, [short(name) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.margins(x=0.12)
    return ax


def _history(model: Any, ax: Axes | None) -> Axes:
    ax = axes_for(ax)
    colours = Colours.on(ax)
    history = {name: np.asarray(values, dtype=float) for name, values in model.history_.items()}
    x, best, mean, spread = (history[name] for name in ("evaluations", "best", "mean", "std"))
    mark = "o" if len(x) < 2 else None
    ax.fill_between(x, mean - spread, mean + spread, color=colours.pale, linewidth=0)
    ax.plot(x, mean, color=colours.quiet, linewidth=1.3, marker=mark, label="mean of those that survive")
    ax.plot(x, best, color=colours.group(0), linewidth=2, marker=mark, label="best")
    ax.set_xlabel("candidates evaluated")
    ax.set_ylabel("error")
    ax.legend(frameon=False)
    return ax


# Numbers of clusters ---------------------------------------------------------------------------------------


def _evidence(model: Any, ax: Axes | None) -> Axes:
    pairs = sorted((int(k), float(value)) for k, value in model.evidence_)
    ax = _against_number(ax, np.array([k for k, _ in pairs]), np.array([v for _, v in pairs]), int(model.n_clusters_))
    ax.set_ylabel("stability of the least stable cluster")
    ax.set_ylim(0, 1.05)
    return ax


def _numbers_of_clusters(model: Any, table: Mapping[str, Any], criterion: str | None, ax: Axes | None) -> Axes:
    known = [name for name in _CRITERIA if name in table and np.isfinite(np.asarray(table[name], dtype=float)).any()]
    if not known:
        raise ValueError(f"no criterion of selection_ has a value: {', '.join(table)}")
    if criterion is None:
        criterion = _decisive(model, known)
    if criterion not in known:
        raise ValueError(f"criterion={criterion!r} was not computed; pass one of {', '.join(known)}")
    numbers, values = np.asarray(table["n_clusters"]), np.asarray(table[criterion], dtype=float)
    widths = np.asarray(table["width"], dtype=float) if "width" in table else np.full(len(numbers), np.nan)
    if len(np.unique(widths[np.isfinite(widths)])) < 2:
        ax = _against_number(ax, numbers, values, int(model.n_clusters_))
        ax.set_ylabel(criterion)
        return ax
    return _width_map(model, numbers, widths, values, criterion, ax)


def _decisive(model: Any, known: list[str]) -> str:
    """The criterion that decided; the first that was computed, where the model does not say."""
    by = getattr(model, "chosen_by_", None)
    wanted = by if by in known else getattr(model, "criterion", None)
    if wanted in known:
        return str(wanted)
    # KSC seeks a width that separates a given number of clusters; where none stands out it takes the widest gap.
    return next((name for name in ("modularity", "separation") if name in known and by != "nothing"), known[0])


def _against_number(ax: Axes | None, numbers: Array, values: Array, chosen: int) -> Axes:
    ax = axes_for(ax)
    colours = Colours.on(ax)
    ax.plot(numbers, values, color=colours.quiet, linewidth=1.3, marker="o", markersize=4, zorder=2)
    mark = numbers == chosen
    ax.scatter(numbers[mark], values[mark], s=90, color=colours.group(0), zorder=3, label=f"chosen: {chosen}")
    ax.set_xlabel("number of clusters")
    ax.locator_params(axis="x", integer=True)
    ax.legend(frameon=False)
    return ax


def _width_map(model: Any, numbers: Array, widths: Array, values: Array, criterion: str, ax: Axes | None) -> Axes:
    from matplotlib.patches import Rectangle

    ax = axes_for(ax)
    colours = Colours.on(ax)
    rows, columns = np.unique(widths), np.unique(numbers)
    grid = np.full((len(rows), len(columns)), np.nan)
    grid[np.searchsorted(rows, widths), np.searchsorted(columns, numbers)] = values
    drawn = ax.imshow(grid, origin="lower", aspect="auto", cmap=colours.amounts())
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, label=criterion)
    bar.outline.set_visible(False)
    ax.set_xticks(range(len(columns)), [str(k) for k in columns])
    ax.set_yticks(range(len(rows)), [f"{width:.3g}" for width in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("width")
    i, j = _chosen_cell(model, rows, columns)
    if j >= 0:
        for colour, line in ((colours.paper, 5), (colours.group(1), 2.5)):
            ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=line, zorder=4))
        ax.set_title(f"Chosen: {columns[j]} clusters, width {rows[i]:.3g}")
    return ax


def _chosen_cell(model: Any, rows: Array, columns: Array) -> tuple[int, int]:
    """Row and column of the choice; the nearest width, which is fitted again to all rows."""
    kernel = getattr(model, "kernel_", None)
    widths = [getattr(kernel, name, None) for name in ("width_", "width")]
    width = next((float(own) for own in widths if isinstance(own, Real)), float("nan"))
    found = np.flatnonzero(columns == model.n_clusters_)
    if not len(found) or not width > 0:
        return -1, -1
    return int(np.argmin(np.abs(np.log(rows) - np.log(width)))), int(found[0])


# Penalties -------------------------------------------------------------------------------------------------


def _paths(model: Any, ax: Axes | None) -> Axes:
    """The value along the penalty, one line for each width; other columns show their best."""
    table = model.tuning_
    value = next((name for name in _VALUES if name in table), None)
    across = next((name for name in _ACROSS if name in table), None)
    if value is None or across is None:
        raise TypeError(f"plot.selection does not know the columns of tuning_: {', '.join(table)}")
    x, y = np.asarray(table[across], dtype=float), np.asarray(table[value], dtype=float)
    y = y.mean(axis=1) if y.ndim == 2 else y
    larger = _VALUES[value]
    line = next(
        (name for name in _LINES if name in table and np.shape(table[name]) == x.shape and _several(table[name])), None
    )
    lines = np.zeros(len(x)) if line is None else np.asarray(table[line], dtype=float)
    ax = axes_for(ax)
    colours = Colours.on(ax)
    shown = np.unique(lines)
    if len(shown) > _MOST_LINES:
        best = np.array([np.nanmin(-y[lines == own] if larger else y[lines == own]) for own in shown])
        shown = np.sort(shown[np.argsort(best)[:_MOST_LINES]])
    shades = colours.amounts()
    for i, own in enumerate(shown):
        places, heights = _best_at(x[lines == own], y[lines == own], larger)
        colour = colours.group(0) if line is None else shades(i / max(len(shown) - 1, 1))
        ax.plot(places, heights, color=colour, linewidth=1.5, label=f"{own:.3g}" if line else None)
    place = int(np.nanargmax(y) if larger else np.nanargmin(y))
    ax.scatter([x[place]], [y[place]], s=110, marker="*", color=colours.group(1), edgecolors=colours.paper,
               linewidths=0.6, zorder=5, label="best")  # fmt: skip
    ax.set_xscale("log")
    if len(np.unique(x)) <= _FEW:
        ax.set_xticks(np.unique(x), [f"{place:.3g}" for place in np.unique(x)], minor=False)
        ax.set_xticks([], minor=True)
    if np.nanmin(y) > 0 and np.nanmax(y) > 20 * np.nanmin(y):
        ax.set_yscale("log")
    ax.set_xlabel(across.removesuffix("s").replace("_", " "))
    ax.set_ylabel(f"{value.removesuffix('s')}, {'more' if larger else 'less'} is better")
    ax.legend(frameon=False, title=line, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _several(values: Any) -> bool:
    numbers = np.asarray(values)
    return numbers.dtype.kind in "iuf" and len(np.unique(numbers[np.isfinite(numbers)])) > 1


def _best_at(x: Array, y: Array, larger: bool) -> tuple[Array, Array]:
    """Different x in order, and the best y at each."""
    places = np.unique(x)
    best = np.nanmax if larger else np.nanmin
    return places, np.array([best(y[x == place]) for place in places])
