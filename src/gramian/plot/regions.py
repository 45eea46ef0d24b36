"""Where a classifier or clusterer draws its borders, in two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checks import whole
from gramian.colours import rgb
from gramian.plot.canvas import Colours, asked, axes_for, dot_size, marker, short
from gramian.plot.points import MOST_NAMES, two_columns
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.08
_DEPTH = 0.34  # how much of its colour a region has where the model is sure
_MODELS = "classifiers, regressors and clusterers that place new rows"


def decision(model: Any, X: Any, y: Any = None, *, resolution: int = 150, ax: Axes | None = None) -> Axes:
    """Draw the predictions of a model over the plane, with the rows on top.

    Regions have the colour of their class or cluster, the paler the less sure the model is (``predict_proba``). A
    regressor's plane shows its predictions as amounts.

    Parameters
    ----------
    model : fitted estimator with ``predict``
        Fitted to two columns.
    X : array-like (n, 2)
        Rows to draw; the plane is what they span.
    y : array-like (n,), optional
        Their classes, or values for a regressor; by default the model's ``labels_`` or its own predictions.
    resolution : int, default 150
        Places along each side at which the model is asked.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import LSSVMClassifier, plot
    >>> from gramian.datasets import make_crescents
    >>> X, y = make_crescents(random_state=0)
    >>> ax = plot.decision(LSSVMClassifier().fit(X, y), X, y, resolution=40)
    >>> ax.images[0].get_array().shape[:2]
    (40, 40)
    """
    predict = asked(model, "predict", question="plot.decision", models=_MODELS)
    if np.ndim(X) != 2 or np.shape(X)[1] != 2:
        raise ValueError(
            f"X has shape {np.shape(X)}; plot.decision draws a model of two columns: fit it to two, or draw "
            "plot.clusters(model, X), which finds a map of many"
        )
    side = whole(resolution, "resolution", least=2)
    rows, titles = two_columns(X)
    if y is not None and np.shape(y) != (len(rows),):
        raise ValueError(f"y has shape {np.shape(y)} for {len(rows)} rows; pass one class or value for each row")
    if not np.isfinite(rows).any(axis=0).all() or np.isinf(rows).any():
        raise ValueError("X has infinite values, or a column without values, so it spans no plane; drop these rows")
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    margin = _MARGIN * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[j] - margin[j], high[j] + margin[j], side) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    asked_rows = grid if not hasattr(X, "columns") else type(X)(grid, columns=X.columns)
    said = np.asarray(predict(asked_rows))
    if said.size != len(grid):
        raise ValueError(
            f"the model has {said.size // len(grid)} outputs for each row; plot.decision draws one: fit it to one"
        )
    extent = (axes[0][0], axes[0][-1], axes[1][0], axes[1][-1])
    ax = axes_for(ax)
    if said.dtype.kind == "f" and not hasattr(model, "classes_") and not hasattr(model, "labels_"):
        _amounts(ax, said.reshape(side, side), extent, rows, y)
    else:
        sure = model.predict_proba(asked_rows).max(axis=1) if hasattr(model, "predict_proba") else np.ones(len(grid))
        own = y if y is not None else getattr(model, "labels_", None)
        own = np.asarray(predict(X) if own is None or len(own) != len(rows) else own)
        _regions(ax, said.reshape(side, side), np.asarray(sure).reshape(side, side), extent, rows, own)
    ax.set_xlabel(titles[0])
    ax.set_ylabel(titles[1])
    return ax


def _regions(
    ax: Axes, said: Array, sure: Array, extent: tuple[float, float, float, float], rows: Array, own: Array
) -> None:
    colours = Colours.on(ax)
    groups = np.unique(np.concatenate([np.unique(said), np.unique(own)]))
    kept = [group for group in groups.tolist() if group != -1]
    number = {group: i for i, group in enumerate(kept)} | {-1: -1}
    least = 1 / max(len(kept), 1)
    depth = _DEPTH * (0.35 + 0.65 * np.clip((sure - least) / max(1 - least, 1e-12), 0, 1))
    shades = np.array([rgb(colours.group(number[group])) for group in groups.tolist()])
    paper = rgb(colours.paper)
    picture = paper + depth[..., None] * (shades[np.searchsorted(groups, said)] - paper)
    ax.imshow(picture, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    for group in groups.tolist():
        mine = own == group
        if mine.any():
            ax.scatter(
                rows[mine, 0], rows[mine, 1], s=dot_size(len(rows)), color=colours.group(number[group]),
                marker=marker(number[group]), linewidths=0.3, edgecolors=colours.paper, zorder=2,
                label="in no cluster" if group == -1 else short(group),
            )  # fmt: skip
    if 1 < len(groups) <= MOST_NAMES:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handletextpad=0.2)


def _amounts(ax: Axes, said: Array, extent: tuple[float, float, float, float], rows: Array, y: Any) -> None:
    colours = Colours.on(ax)
    values = said if y is None else np.concatenate([said.ravel(), np.asarray(y, dtype=float)])
    low, high = np.nanquantile(values, [0.005, 0.995])
    shades = {"cmap": colours.amounts(), "vmin": low, "vmax": high}
    drawn = ax.imshow(said, origin="lower", extent=extent, aspect="auto", interpolation="bilinear", **shades)
    size = dot_size(len(rows))
    if y is None:
        ax.scatter(rows[:, 0], rows[:, 1], s=size, color=colours.paper, linewidths=0.4, edgecolors=colours.ink)
    else:
        ax.scatter(rows[:, 0], rows[:, 1], s=size, c=np.asarray(y, dtype=float), linewidths=0.6,
                   edgecolors=colours.paper, **shades)  # fmt: skip
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, label="prediction")
    bar.outline.set_visible(False)
