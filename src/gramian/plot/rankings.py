"""A query and its list: which rows a model ranks first, and by what scores."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checks import whole
from gramian.plot.canvas import Colours, asked, axes_for, short
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ranking(
    model: Any,
    query: Any = None,
    *,
    top: int = 10,
    names: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the rows that a model ranks first for a query, and their scores.

    Parameters
    ----------
    model : fitted estimator with ``scores``
        As :class:`gramian.KernelPageRank` and :class:`gramian.RankedClustering`.
    query : int or array-like (d,), optional
        A fitted row, which is left out of its own list, or a new one. None ranks all rows by how central they are.
    top : int, default 10
        Rows to list.
    names : sequence (n,), optional
        Names of the fitted rows; their numbers by default.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import RankedClustering, plot
    >>> from gramian.datasets import load_table
    >>> X = load_table("iris").X
    >>> model = RankedClustering(3, kernel="rbf", random_state=0).fit(X)
    >>> ax = plot.ranking(model, 7, top=5)
    >>> [int(text.get_text()) for text in ax.get_yticklabels()] == model.query(7, top=5).tolist()
    True
    """
    scores_of = asked(model, "scores", question="plot.ranking", models="KernelPageRank and RankedClustering")
    top = whole(top, "top")
    single = query is None or isinstance(query, Integral)
    scores = np.asarray(scores_of(query) if single else scores_of(query=query), dtype=float)
    if names is not None and len(names) != len(scores):
        raise ValueError(f"names has {len(names)} entries for {len(scores)} fitted rows; pass one for each")
    listed = np.argsort(-scores, kind="stable")
    if isinstance(query, Integral):
        listed = listed[listed != int(query) % len(scores)]
    listed = listed[:top]
    ax = axes_for(ax, (6.4, 1.2 + 0.32 * len(listed)))
    _bars(ax, scores[listed], [short(row if names is None else names[row]) for row in listed], _groups(model, listed))
    ax.set_title(_asked_for(query, names))
    return ax


def _bars(ax: Axes, scores: Array, titles: list[str], groups: Array | None) -> None:
    colours = Colours.on(ax)
    places = np.arange(len(scores))
    shades = [colours.group(0 if groups is None else int(group)) for group in (places if groups is None else groups)]
    ax.barh(places, scores, height=0.68, color=shades)
    for place, score in zip(places, scores, strict=True):
        ax.annotate(f"{score:.3g}", (max(score, 0), place), (4, 0), textcoords="offset points", va="center",
                    size="small", color=colours.quiet)  # fmt: skip
    ax.set_yticks(places, titles)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(scores) - 0.4, -0.6)
    ax.set_xlim(min(0.0, float(scores.min(initial=0))), 1.12 * max(float(scores.max(initial=0)), 1e-300))
    ax.set_xlabel("score")
    ax.locator_params(axis="x", nbins=5)
    if groups is not None and len(np.unique(groups)) > 1:
        from matplotlib.patches import Patch

        found = np.unique(groups)
        handles = [Patch(color=colours.group(int(group)), label=str(group)) for group in found]
        ax.legend(handles=handles, title="cluster", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _groups(model: Any, rows: Array) -> Array | None:
    labels = getattr(model, "labels_", None)
    return None if labels is None else np.asarray(labels)[rows]


def _asked_for(query: Any, names: Sequence[Any] | None) -> str:
    if query is None:
        return "Most central rows"
    if isinstance(query, Integral):
        return f"Most like {'row ' + str(query) if names is None else short(names[int(query)])}"
    return "Most like a new row"
