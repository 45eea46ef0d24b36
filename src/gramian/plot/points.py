"""Maps of rows: where a model puts them, and which clusters they are in.

Places come from ``embedding_``, from ``transform`` for given rows, or from the rows themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checks import is_whole
from gramian.plot.canvas import Colours, asked, axes_for, counted, dot_size, halo, marker, name_of, short
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DOTS = 50_000
"""More cover each other: of a larger map a sample is drawn."""
MOST_NAMES = 20
"""Groups that a legend lists."""
MOST_NUMBERS = 60
"""Clusters whose numbers stand on the map, where colours come again."""
_FAINTEST = 0.4  # how much of its colour a row of membership 0 keeps
_EMBEDDERS = "KernelPCA, KernelECA, SpectralClustering, KernelSpectralClustering, RankedClustering, KernelPageRank"


def embedding(
    model: Any,
    X: Any = None,
    *,
    labels: Any = None,
    names: Mapping[Any, Any] | Sequence[Any] | None = None,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    """Draw where a model puts the rows: two of its components against each other.

    Parameters
    ----------
    model : fitted estimator
        With ``embedding_`` or ``hidden_``, or with ``transform`` if X is given. What :func:`gramian.explore` returns
        has a map, too.
    X : array-like (n, d), optional
        Draw these rows, new or fitted, instead of those of ``fit``.
    labels : array-like (n,), optional
        Classes to colour the rows by; numbers with more than 20 different values are amounts, with a colour bar. Rows
        of −1 and NaN have no label and are grey. By default the model's own ``labels_``.
    names : mapping or sequence, optional
        What the legend calls the labels; a sequence is in the order of the sorted labels.
    components : (int, int), default (0, 1)
        Which components, counted from 0.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import KernelPCA, plot
    >>> from gramian.datasets import load_table
    >>> iris = load_table("iris")
    >>> ax = plot.embedding(KernelPCA(2).fit(iris.X), labels=iris.y)
    >>> ax.get_xlabel()[:11], len(ax.get_legend().get_texts())
    ('component 1', 3)
    """
    Z, titles = _embedded(model, X, components)
    ax = axes_for(ax)
    outside = "no label" if labels is not None else "in no cluster"
    if labels is None and X is None:
        labels = getattr(model, "labels_", getattr(getattr(model, "found", None), "labels", None))
    _scatter(ax, Z, labels, names, outside=outside)
    _name_axes(ax, titles)
    return ax


def clusters(
    model: Any,
    X: Any = None,
    *,
    names: Mapping[Any, Any] | Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the clusters on a map: one colour each, the paler the less a row belongs to its cluster.

    The map is X itself if it has two columns; otherwise the model's ``embedding_``, or else the two main directions of
    the standardised columns (of the cluster kernel, where values are missing).

    Parameters
    ----------
    model : fitted clusterer
        With ``labels_``, or with ``predict`` if X is given; memberships come from ``memberships_`` or
        ``predict_proba``. What :func:`gramian.explore` returns works as well.
    X : array-like (n, d), optional
        The rows, where the model has no embedding of them.
    names : mapping or sequence, optional
        What the legend calls the clusters.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import AutoClustering, plot
    >>> from gramian.datasets import load_table
    >>> X = load_table("seeds").X
    >>> model = AutoClustering(random_state=0).fit(X)
    >>> ax = plot.clusters(model, X)
    >>> len(ax.get_legend().get_texts()) == model.n_clusters_
    True
    """
    found = getattr(model, "found", model)
    rows = None if X is None else _numbers(X)
    labels = _labels(model, found, X)
    Z, titles = _map(model, found, X, rows)
    if len(Z) != len(labels):
        raise ValueError(
            f"X has {len(Z)} rows and the model's labels_ {len(labels)}; pass the rows that were fitted, or a model "
            "with predict"
        )
    ax = axes_for(ax)
    _scatter(ax, Z, labels, names, memberships=_memberships(model, found, X, labels), sizes=True)
    _name_axes(ax, titles)
    groups = np.unique(labels)
    k = len(groups if labels.dtype.kind not in "iuf" else groups[groups >= 0])
    ax.set_title(f"{counted(len(labels))} in {counted(k, 'cluster')}")
    return ax


def two_columns(X: Any) -> tuple[Array, tuple[str, str]]:
    """A table of two columns as it is, with its names."""
    columns = getattr(X, "columns", None)
    titles = ("column 0", "column 1") if columns is None else (short(columns[0]), short(columns[1]))
    return _numbers(X), titles


def _numbers(X: Any) -> Array:
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        found = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X has values that are not numbers ({error}); pass what the model was fitted to") from error
    if found.ndim != 2:
        raise ValueError(f"X has shape {found.shape}; pass a table of rows and columns")
    return found


def _labels(model: Any, found: Any, X: Any) -> Array:
    own = getattr(found, "labels_", getattr(found, "labels", None))
    if X is not None and hasattr(model, "predict") and (own is None or len(own) != len(X)):
        return np.asarray(model.predict(X))
    if own is None:
        own = asked(found, "labels_", question="plot.clusters", models="clusterers such as AutoClustering")
    return np.asarray(own)


def _memberships(model: Any, found: Any, X: Any, labels: Array) -> Array | None:
    """The membership of each row in its own cluster, where the model knows it."""
    table = getattr(model, "memberships_", None)
    if getattr(found, "membership", None) is not None:
        return np.asarray(found.membership, dtype=float)
    if table is None or not isinstance(table, np.ndarray) or len(table) != len(labels):
        table = model.predict_proba(X) if X is not None and hasattr(model, "predict_proba") else None
    if table is None or labels.dtype.kind not in "iuf" or table.shape[1] <= labels.max(initial=-1):
        return None
    own = np.asarray(table)[np.arange(len(labels)), np.maximum(labels, 0)]
    # From chance to the surest row: the memberships of a walk are all far below one.
    chance = 1 / table.shape[1]
    spread = float(own.max(initial=chance)) - chance
    return np.where(labels >= 0, (own - chance) / spread if spread > 1e-12 else 1.0, 1.0)


def _embedded(model: Any, X: Any, components: tuple[int, int]) -> tuple[Array, tuple[str, str]]:
    if X is not None:
        if not hasattr(model, "transform"):
            raise TypeError(
                f"plot.embedding of given rows needs transform, which {name_of(model)} does not have; models that have "
                f"it: {_EMBEDDERS}; without X the fitted rows are drawn"
            )
        Z = np.asarray(model.transform(X))
    elif getattr(getattr(model, "found", None), "coordinates", None) is not None:
        return np.asarray(model.found.coordinates), ("", "")
    else:
        Z = np.asarray(
            asked(
                model, "embedding_", "hidden_", question="plot.embedding", models=_EMBEDDERS,
                instead="or pass the rows to a model with transform: plot.embedding(model, X)",
            )
        )  # fmt: skip
    return _pair(Z, components, getattr(model, "explained_variance_ratio_", None))


def _pair(Z: Array, components: tuple[int, int], shares: Any = None) -> tuple[Array, tuple[str, str]]:
    """Two columns and their names; a single one is spread upwards so that rows do not hide each other."""
    if Z.ndim != 2 or not Z.shape[1]:
        raise ValueError(f"the map of the model has shape {Z.shape}; it needs one component at least, (n, m)")
    most = Z.shape[1] - 1
    if most == 0:
        heights = (np.arange(len(Z)) * 0.6180339887) % 1
        return np.column_stack([Z[:, 0], heights]), (_component(0, shares), "")
    pair = tuple(components) if isinstance(components, Sequence | np.ndarray) else ()
    if len(pair) != 2 or not all(is_whole(component) and 0 <= component <= most for component in pair):
        raise ValueError(f"components={components} must be two whole numbers from 0 to {most}")
    one, other = pair
    return Z[:, [one, other]], (_component(one, shares), _component(other, shares))


def _component(number: int, shares: Any) -> str:
    if shares is None or number >= len(shares):
        return f"component {number + 1}"
    return f"component {number + 1} ({100 * float(shares[number]):.0f} % of the variance)"


def _map(model: Any, found: Any, X: Any, rows: Array | None) -> tuple[Array, tuple[str, str]]:
    if rows is not None and rows.shape[1] == 2 and not np.isnan(rows).any():
        return two_columns(X)
    if getattr(found, "coordinates", None) is not None:
        return np.asarray(found.coordinates), ("", "")
    own = getattr(model, "embedding_", None)
    if own is not None and (rows is None or len(own) == len(rows)):
        return _pair(np.asarray(own), (0, 1), getattr(model, "explained_variance_ratio_", None))
    if rows is None:
        asked(
            model, "embedding_", question="plot.clusters without X", models=_EMBEDDERS,
            instead="pass the rows as well: plot.clusters(model, X)",
        )  # fmt: skip
    assert rows is not None
    return _main_directions(rows)


def _main_directions(rows: Array) -> tuple[Array, tuple[str, str]]:
    if np.isnan(rows).any():
        from gramian.embedding import KernelPCA
        from gramian.kernels import ClusterKernel

        model = KernelPCA(2, kernel=ClusterKernel(random_state=0)).fit(rows)
        return _pair(model.embedding_, (0, 1))
    if not np.isfinite(rows).all():
        raise ValueError("X has infinite values, which no map can hold; replace them by NaN, or drop these rows")
    spread = rows.std(axis=0)
    standard = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    left, values, _ = np.linalg.svd(standard, full_matrices=False)
    shares = values**2 / max(float((values**2).sum()), 1e-300)
    return _pair(left * values, (0, 1), shares)


def _scatter(
    ax: Axes,
    Z: Array,
    labels: Any,
    names: Any,
    *,
    memberships: Array | None = None,
    sizes: bool = False,
    outside: str = "in no cluster",
) -> None:
    """Dots of all rows: by group with a legend, by amount with a colour bar, or all alike."""
    colours = Colours.on(ax)
    size = dot_size(len(Z))
    if labels is None:
        ax.scatter(Z[:, 0], Z[:, 1], s=size, color=colours.group(0), alpha=0.8, linewidths=0)
        return
    labels = np.asarray(labels)
    if len(labels) != len(Z):
        raise ValueError(f"labels has {len(labels)} entries for {len(Z)} rows; pass one for each row")
    if labels.dtype.kind == "f" and len(np.unique(labels[np.isfinite(labels)])) > MOST_NAMES:
        unknown = ~np.isfinite(labels)
        if unknown.any():
            ax.scatter(Z[unknown, 0], Z[unknown, 1], s=size, color=colours.group(-1), linewidths=0)
        drawn = ax.scatter(Z[:, 0], Z[:, 1], s=size, c=labels, cmap=colours.amounts(), linewidths=0)
        bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02)
        bar.outline.set_visible(False)
        return
    if labels.dtype.kind == "f":
        labels = np.where(np.isfinite(labels), labels, -1)
        labels = labels.astype(int) if (labels == np.trunc(labels)).all() else labels
    groups = _groups(labels)
    kept = groups[groups != -1] if labels.dtype.kind in "iuf" else groups
    # Clusters have the colours of their numbers in all pictures, other labels those of their order.
    numbered = sizes and labels.dtype.kind in "iuf"
    number = {group: int(group) if numbered else i for i, group in enumerate(kept)}
    marks = []
    shown = np.arange(len(Z))
    if len(Z) > MOST_DOTS:
        shown = np.sort(np.random.default_rng(0).choice(len(Z), MOST_DOTS, replace=False))
    for group in groups:
        own = shown[labels[shown] == group]
        i = number.get(group, -1)
        depth = np.ones(len(own)) if memberships is None else memberships[own]
        colour = colours.faded(i, _FAINTEST + (1 - _FAINTEST) * depth)
        title = _called(group, names, list(kept)) if i >= 0 else outside
        if sizes:
            title += f" ({int((labels == group).sum()):,})"
        ax.scatter(Z[own, 0], Z[own, 1], s=size, c=colour, marker=marker(i), linewidths=0, zorder=2)
        marks.append((title, colours.group(i), marker(i)))
    if len(groups) <= MOST_NAMES and (len(groups) > 1 or names is not None or sizes):
        _legend(ax, marks, "cluster (rows)" if sizes else None)
    if sizes and len(kept) > len(colours.groups):  # colours come again
        for group in kept[:MOST_NUMBERS]:
            x, y = np.median(Z[labels == group], axis=0)
            ax.text(x, y, short(group), ha="center", va="center", size="small", weight="bold", color=colours.ink,
                    path_effects=halo(colours), zorder=5)  # fmt: skip


def _groups(labels: Array) -> Array:
    """The different labels in order."""
    try:
        return np.unique(labels)
    except TypeError as error:
        raise ValueError(
            "labels mixes kinds that have no order, such as text and None; name the missing ones"
        ) from error


def _legend(ax: Axes, marks: list[tuple[str, str, str]], title: str | None) -> None:
    """Marks at full colour, whatever the memberships, beside the map."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", color=colour, marker=mark, label=name) for name, colour, mark in marks]
    ax.legend(
        handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handletextpad=0.2, title=title
    )


def _called(group: Any, names: Any, groups: list[Any]) -> str:
    if names is None:
        return short(group)
    if isinstance(names, Mapping):
        return short(names.get(group, group))
    if len(names) != len(groups):
        raise ValueError(f"names has {len(names)} entries for {len(groups)} groups; pass one for each, or a mapping")
    return short(names[groups.index(group)])


def _name_axes(ax: Axes, titles: tuple[str, str]) -> None:
    """Names of the axes; an axis without a name has no numbers, as its unit means nothing."""
    ax.set_xlabel(titles[0])
    ax.set_ylabel(titles[1])
    if not titles[0]:
        ax.set_xticks([])
    if not titles[1]:
        ax.set_yticks([])
