"""Square pictures: similarities of all pairs of rows, ordered by cluster, and votes of many partitions.

Of more than 2,000 rows a sample is drawn, each cluster by its share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.plot.canvas import Colours, asked, axes_for, counted
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 2000
"""Rows that a matrix shows."""
_MOST_NAMES = 12  # clusters whose numbers stand beside the matrix


def gram(model: Any, X: Any = None, *, labels: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the similarities of all pairs of rows, rows of one cluster side by side.

    Clusters that a kernel sees are dark blocks on the diagonal. Within a cluster rows are ordered by how alike they are
    to its other rows. Of more than 2,000 rows a sample is drawn.

    Parameters
    ----------
    model : Kernel or fitted estimator with ``kernel_``
    X : array-like (n, d), optional
        The rows; not needed where the model keeps them (``X_fit_``).
    labels : array-like (n,), optional
        What to order by; by default the model's ``labels_``, or its predictions for other rows than those of ``fit``.
        Without either, the order is that of X.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import KernelKMeans, plot
    >>> from gramian.datasets import load_table
    >>> X = load_table("iris").X
    >>> ax = plot.gram(KernelKMeans(3, random_state=0).fit(X), X)
    >>> ax.images[0].get_array().shape
    (150, 150)
    """
    if hasattr(model, "gram"):
        kernel = model
    else:
        kernel = asked(
            model, "kernel_", question="plot.gram", models="kernels, and estimators with a kernel parameter",
        )  # fmt: skip
    if X is None:
        X = asked(
            model, "X_fit_", question="plot.gram without X", models="KernelPageRank and RankedClustering",
            instead="pass the rows as well: plot.gram(model, X)",
        )  # fmt: skip
    if labels is None:
        labels = getattr(model, "labels_", None)
        if labels is not None and len(labels) != np.shape(X)[0]:  # other rows than those of fit
            labels = model.predict(X) if hasattr(model, "predict") else None
    used = getattr(model, "used_", None)  # of the columns that count, the kernel knows only these
    if used is not None and not used.all():
        X = np.asarray(X)[:, used]
    if not hasattr(kernel, "n_features_in_"):
        kernel = kernel.fit(X)
    whole = kernel.gram(X)
    if labels is not None and len(labels) != whole.shape[0]:
        raise ValueError(f"labels has {len(labels)} entries for {whole.shape[0]} rows; pass one for each row")
    rows = sampled(whole.shape[0], labels)
    values = np.asarray(whole.block(rows, rows), dtype=float)
    ax = _matrix(ax, values, None if labels is None else np.asarray(labels)[rows], "similarity")
    ax.set_title(_size(len(rows), whole.shape[0]))
    return ax


def consensus(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how often each pair of rows was kept together by many partitions, rows of one cluster side by side.

    Blocks of full colour are clusters that all partitions agree on; pale ones are in doubt. Of more than 2,000 rows a
    sample is drawn.

    Parameters
    ----------
    model : fitted estimator
        With ``memberships_`` of base partitions, as :class:`gramian.ConsensusClustering`, or with ``run_labels_`` of
        repeated runs, as :class:`gramian.deep.DivergenceClustering`.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import ConsensusClustering, plot
    >>> from gramian.datasets import load_table
    >>> model = ConsensusClustering(3, n_partitions=50, random_state=0).fit(load_table("seeds").X)
    >>> values = plot.consensus(model).images[0].get_array()
    >>> float(values.max())
    1.0
    """
    asked(
        model, "coassociation", "run_labels_", question="plot.consensus",
        models="ConsensusClustering and DivergenceClustering",
    )  # fmt: skip
    labels = asked(model, "labels_", question="plot.consensus", models="ConsensusClustering")
    rows = sampled(len(labels), labels)
    if hasattr(model, "coassociation"):
        n_partitions = model.n_partitions
        values = _together(model, rows)
    else:
        runs = np.asarray(model.run_labels_)[:, rows]
        n_partitions = len(runs)
        values = np.mean([run[:, None] == run[None, :] for run in runs], axis=0)
    ax = _matrix(
        ax, values, np.asarray(labels)[rows], "share of partitions that keep a pair together", most=1.0,
        leaves=_leaves(model, rows),
    )  # fmt: skip
    ax.set_title(f"{_size(len(rows), len(labels))}, {n_partitions} partitions")
    return ax


def sampled(n: int, labels: Any = None) -> Array:
    """At most 2,000 of n rows in the order of their labels, every cluster by its share."""
    order = np.arange(n) if labels is None else np.argsort(np.asarray(labels), kind="stable")
    return order if n <= MOST_ROWS else order[np.linspace(0, n - 1, MOST_ROWS).astype(int)]


def _together(model: Any, rows: Array) -> Array:
    """Shares of partitions for some rows, from H alone: of a large table S itself would not fit."""
    H = model.memberships_[rows]
    common = np.asarray((H @ H.T).toarray(), dtype=float)
    if model.seen_ is None:
        return common / max(float(common.max(initial=0.0)), 1.0)
    seen = model.seen_[rows].astype(float)
    return np.divide(common, seen @ seen.T, out=np.zeros_like(common), where=common > 0)


def _leaves(model: Any, rows: Array) -> Array | None:
    """Where each row stands in the dendrogram, which puts rows that joined early side by side."""
    if getattr(model, "linkage_matrix_", None) is None:
        return None
    from scipy.cluster.hierarchy import leaves_list

    place = np.empty(len(model.labels_), dtype=int)
    place[leaves_list(model.linkage_matrix_)] = np.arange(len(place))
    return place[rows]


def _matrix(
    ax: Axes | None,
    values: Array,
    labels: Array | None,
    title: str,
    *,
    most: float | None = None,
    leaves: Array | None = None,
) -> Axes:
    """The matrix with lines between clusters; inside one, rows as in a dendrogram, or the most alike first."""
    ax = axes_for(ax, (5.6, 4.8))
    colours = Colours.on(ax)
    edges = np.array([0, len(values)])
    if labels is not None:
        members = [np.flatnonzero(labels == group) for group in np.unique(labels)]
        order = np.concatenate(
            [_strongest_first(values, own) if leaves is None else own[np.argsort(leaves[own])] for own in members]
        )
        values = values[np.ix_(order, order)]
        edges = np.cumsum([0, *map(len, members)])
    off = values[~np.eye(len(values), dtype=bool)]
    signed = bool(off.min(initial=0.0) < -1e-9 * np.abs(off).max(initial=1.0))
    # A few very large values, such as those on the diagonal, must not pale all others.
    top = most or float(np.quantile(np.abs(off), 0.995)) if len(off) else 1.0
    top = top or float(np.abs(values).max(initial=0.0)) or 1.0
    drawn = ax.imshow(
        values, cmap=colours.signed() if signed else colours.amounts(from_paper=True), vmin=-top if signed else 0,
        vmax=top, interpolation="nearest" if len(values) < 400 else "antialiased", aspect="equal",
    )  # fmt: skip
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, shrink=0.85, label=title)
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)
    ax.set(xticks=[], yticks=[])
    if labels is not None and len(edges) > 2:
        thin = 0.6 if len(edges) <= _MOST_NAMES else 0.25
        for edge in edges[1:-1]:
            ax.axhline(edge - 0.5, color=colours.quiet, linewidth=thin)
            ax.axvline(edge - 0.5, color=colours.quiet, linewidth=thin)
        groups = np.unique(labels)
        if len(groups) <= _MOST_NAMES:
            ax.set_yticks((edges[:-1] + edges[1:]) / 2 - 0.5, [str(group) for group in groups])
            ax.tick_params(length=0)
            ax.set_ylabel("cluster")
    return ax


def _strongest_first(values: Array, rows: Array) -> Array:
    """Rows of a cluster, those most alike to the others of it first."""
    return rows[np.argsort(-values[np.ix_(rows, rows)].sum(axis=1), kind="stable")]


def _size(shown: int, n: int) -> str:
    return counted(n) if shown == n else f"{shown:,} of {n:,} rows"
