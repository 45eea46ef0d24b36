"""Eigenvalues of a model, and the gap by which it chose the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, asked, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MODELS = "SpectralClustering, RankedClustering, KernelSpectralClustering, KernelPCA and KernelPageRank"


def eigenvalues(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of a model, with the gap that chose the number of clusters.

    Where the number was chosen (``n_clusters=None``) these are all eigenvalues that were looked at, and the gap after
    the last one that counts is marked. Otherwise they are the eigenvalues of the components that the model has.

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
    chosen = looked_at is not None
    if looked_at is None:
        looked_at = asked(model, "eigenvalues_", question="plot.eigenvalues", models=_MODELS)
    values = np.asarray(looked_at, dtype=float)
    ax = axes_for(ax)
    colours = Colours.on(ax)
    places = np.arange(1, len(values) + 1)
    k = int(model.n_clusters_) if chosen else len(values)
    inside = places <= k
    ax.vlines(places, min(0.0, float(values.min(initial=0))), values, color=colours.pale, linewidth=1.2, zorder=1)
    ax.scatter(places[inside], values[inside], s=34, color=colours.group(0), zorder=3)
    ax.scatter(places[~inside], values[~inside], s=34, color=colours.quiet, zorder=3)
    ax.set_xlabel("eigenvalue, by size")
    ax.set_ylabel("value")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if not chosen:
        ax.set_title(f"{len(values)} eigenvalue{'s' * (len(values) != 1)}")
    elif k < len(values):
        ax.axvspan(k, k + 1, color=colours.group(1), alpha=0.16, linewidth=0, zorder=0)
        ax.plot([k, k + 1], values[k - 1 : k + 1], color=colours.group(1), linewidth=2, zorder=2)
        ax.set_title(f"{k} clusters: the gap is after eigenvalue {k}")
    else:
        ax.set_title(f"{k} clusters")
    return ax
