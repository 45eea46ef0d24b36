"""Eigenvalues of a model, and the gap by which it chose the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, asked, axes_for, counted
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ZERO = 1e-6  # what is nearer to one is the same to a reader, and to rounding
_MODELS = "SpectralClustering, RankedClustering, KernelSpectralClustering, KernelPCA and KernelPageRank"


def eigenvalues(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of a model, with the gap that chose the number of clusters.

    Where the number was chosen (``n_clusters=None``) these are all eigenvalues λ that were looked at, as 1 − λ: how
    fast a walk over the rows forgets where it began. There is one near zero for each cluster, and the gap after the
    last of them is marked; the scale is logarithmic, since the choice compares gaps relatively. Otherwise they are
    the eigenvalues of the components that the model has.

    Parameters
    ----------
    model : fitted estimator
        With ``candidate_eigenvalues_``, ``transition_eigenvalues_`` or ``eigenvalues_``.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import SpectralClustering, plot
    >>> from gramian.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> model = SpectralClustering(None, random_state=0).fit(X)
    >>> ax = plot.eigenvalues(model)
    >>> ax.get_title(), model.n_clusters_
    ('2 clusters: the gap is after eigenvalue 2', 2)
    """
    looked_at = getattr(model, "candidate_eigenvalues_", None)
    if looked_at is None:
        looked_at = getattr(model, "transition_eigenvalues_", None)
    ax = axes_for(ax)
    if looked_at is not None:
        _gap(ax, np.asarray(looked_at, dtype=float), int(model.n_clusters_))
    else:
        values = np.asarray(asked(model, "eigenvalues_", question="plot.eigenvalues", models=_MODELS), dtype=float)
        _stems(ax, values)
    ax.set_xlabel("number of the eigenvalue, largest first")
    ax.locator_params(axis="x", integer=True)
    return ax


def _gap(ax: Axes, values: Array, k: int) -> None:
    """1 − λ of the candidates in logarithms, and the gap behind the k-th."""
    colours = Colours.on(ax)
    places = np.arange(1, len(values) + 1)
    heights = np.maximum(1 - values, _ZERO)
    inside = places <= k
    ax.plot(places, heights, color=colours.pale, linewidth=1.2, zorder=1)
    ax.scatter(places[inside], heights[inside], s=38, color=colours.group(0), zorder=3)
    ax.scatter(places[~inside], heights[~inside], s=26, color=colours.quiet, zorder=3)
    ax.set_yscale("log")
    ax.set_ylabel("1 − eigenvalue")
    if k < len(values):
        ax.axvspan(k, k + 1, color=colours.group(1), alpha=0.16, linewidth=0, zorder=0)
        ax.plot([k, k + 1], heights[k - 1 : k + 1], color=colours.group(1), linewidth=2, zorder=2)
        ax.set_title(f"{k} clusters: the gap is after eigenvalue {k}")
    else:
        ax.set_title(f"{k} clusters")


def _stems(ax: Axes, values: Array) -> None:
    colours = Colours.on(ax)
    places = np.arange(1, len(values) + 1)
    ax.vlines(places, 0.0, values, color=colours.pale, linewidth=1.4, zorder=1)
    ax.axhline(0.0, color=colours.pale, linewidth=0.8, zorder=1)
    ax.scatter(places, values, s=38, color=colours.group(0), zorder=3)
    ax.set_ylabel("eigenvalue")
    ax.set_title(counted(len(values), "eigenvalue"))
