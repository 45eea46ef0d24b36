"""Clusters of a table
===================

Cluster a real table with the kernel of your choice.

The rows are standardised and clustered without looking at the known classes; four fifths
of them are used to fit, the rest arrives later as new rows. Kernels that take missing values see all rows as they
are; for the others, rows with holes are left out. Printed: the clusters, what sets each of them apart, and how well
they agree with the classes. Drawn: a map of the rows and a heat map of the features.

.. code-block:: sh

    python docs/gallery/010_cluster_a_table.py --kernel laplacian --table wine
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Printed
from sklearn.preprocessing import StandardScaler

from gramian import KernelPCA, SpectralClustering
from gramian.datasets import list_tables, load_table
from gramian.kernels import kernel_names
from gramian.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info

# A matrix and not a table; for counts, which standardised columns are not; for a few columns only.
OTHERS = {"precomputed", "chi_square", "spline"}
KERNELS = ["auto", *(name for name in kernel_names() if name not in OTHERS)]
HOLES = ("auto", "cluster")  # take rows with missing values
WALK = (*HOLES, "cauchy", "laplacian", "neighbors", "rbf")  # never negative, fading with distance: a walk on the rows
ON_MAP = {"auto": "cluster", "neighbors": "laplacian"}  # a graph has no flat picture

# What the published numbers of the classes stand for.
CLASSES = {
    "dermatology": (
        "psoriasis",
        "seborrheic dermatitis",
        "lichen planus",
        "pityriasis rosea",
        "chronic dermatitis",
        "pityriasis rubra pilaris",
    ),
    "seeds": ("Kama", "Rosa", "Canadian"),
    "wine": ("Barolo", "Grignolino", "Barbera"),
}

# Paul Tol's "bright" scheme, which colour-blind readers can tell apart; the markers say the same once more.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#777777")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
MOST_CLUSTERS = 12
INK, FAINT = "#222222", "#8A8A8A"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    options = parse(argv)
    table = load_table(options.table)
    X, classes, names, n_holes = usable_rows(table, options.kernel)
    n_clusters = len(set(classes.tolist())) if options.clusters is None else options.clusters
    if not 2 <= n_clusters <= MOST_CLUSTERS:
        stop(f"--clusters {n_clusters} must be from 2 to {MOST_CLUSTERS}, so that the picture stays readable")

    order = np.random.default_rng(options.seed).permutation(len(X))
    old, new = np.split(order, [round(0.8 * len(X))])
    scaler = StandardScaler().fit(X[old])
    Z_old, Z_new = scaler.transform(X[old]), scaler.transform(X[new])

    embedding = "sym" if options.kernel in WALK else "kpca"
    model = SpectralClustering(n_clusters, kernel=options.kernel, embedding=embedding, random_state=options.seed)
    model.fit(Z_old)
    labels = model.labels_
    predicted = model.predict(Z_new)

    contrast = np.array([standardised_difference(Z_old, labels == c) for c in range(n_clusters)])
    _, named = clustering_accuracy(classes[old], labels, return_mapping=True)
    titles = [names[named[c]] if c in named else "no class left" for c in range(n_clusters)]
    sizes = np.bincount(labels, minlength=n_clusters)

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    console.print()
    console.print(f"[bold]{options.table}[/bold]: {table.description.split('. Source:')[0]}.")
    what = "used as they are" if options.kernel in HOLES else "left out"
    kept = f" ({n_holes} rows with holes {what})" if n_holes else ""
    console.print(f"{len(X)} rows{kept}, {X.shape[1]} features; {len(old)} rows to fit, {len(new)} new ones.")
    console.print(f"Kernel [bold]{options.kernel}[/bold], {n_clusters} clusters; the classes are only looked at now.\n")
    console.print(cluster_table(labels, classes[old], names, named, contrast, table.feature_names))
    console.print(agreement_table(classes, labels, predicted, old, new, named))

    picture = Path(options.out) / f"{options.table}_{options.kernel}.png"
    on_map = ON_MAP.get(options.kernel, options.kernel)
    # The fitted kernel carries its seed, so the map is drawn by the same mixtures as found the clusters.
    kernel = getattr(model.kernel_, "kernel_", model.kernel_) if on_map == "cluster" else on_map
    pca = KernelPCA(2 if n_clusters <= 3 else 4, kernel=kernel).fit(Z_old)
    draw(
        picture,
        heading=f"{options.table}: {n_clusters} clusters found with the {options.kernel} kernel",
        map_title=f"kernel PCA ({on_map})",
        maps=(pca.embedding_, pca.transform(Z_new)),
        labels=(labels, predicted),
        titles=[f"{title} ({size})" for title, size in zip(titles, sizes, strict=True)],
        contrast=contrast,
        features=table.feature_names,
    )
    console.print(f"Picture: {picture}", soft_wrap=True)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line, with names checked here so that a wrong one is answered in one line."""
    parser = argparse.ArgumentParser(prog="cluster_a_table", description=__doc__.split("\n\n")[1])
    parser.add_argument("--kernel", default="auto", help=f"one of {', '.join(KERNELS)}")
    parser.add_argument("--table", default="dermatology", help=f"one of {', '.join(list_tables())}")
    parser.add_argument("--clusters", type=int, help="how many; by default as many as there are classes")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    parser.add_argument("--seed", type=int, default=0, help="for the split and the starts of k-means")
    options = parser.parse_args(argv)
    if options.kernel not in KERNELS:
        stop(f"--kernel {options.kernel} is not a kernel for a table; use one of {', '.join(KERNELS)}")
    if options.table not in list_tables():
        stop(f"--table {options.table} is not a bundled table; use one of {', '.join(list_tables())}")
    if options.seed < 0:
        stop(f"--seed {options.seed} is negative; use a whole number >= 0")
    try:
        Path(options.out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        stop(f"--out {options.out} cannot be made ({error.strerror}); name a folder you may write to")
    return options


def stop(message: str) -> None:
    """End with one line that says what to do."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2)


def usable_rows(table: Any, kernel: str) -> tuple[np.ndarray, np.ndarray, list[str], int]:
    """Rows to cluster and their classes, the names of the classes, and how many rows of the table have holes."""
    complete = ~np.isnan(table.X).any(axis=1)
    if kernel not in HOLES and complete.sum() < 50:
        stop(
            f"--table {table.name} has only {complete.sum()} rows without holes; use a kernel that takes them, "
            f"{' or '.join(HOLES)}"
        )
    names = list(table.target_names)
    if names[0].isdigit():
        names = list(CLASSES.get(table.name, [f"class {name}" for name in names]))
    used = ~np.isnan(table.X).all(axis=1) if kernel in HOLES else complete
    return table.X[used], table.y[used], names, int((~complete).sum())


def standardised_difference(X: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Mean inside minus mean outside, feature by feature; X is standardised, so in standard deviations.

    Zero for a feature that no row inside, or none outside, has a value of.
    """
    means = []
    for rows in (X[inside], X[~inside]):
        seen = ~np.isnan(rows)
        means.append(np.where(seen, rows, 0).sum(axis=0) / np.where(seen.any(axis=0), seen.sum(axis=0), np.nan))
    return np.nan_to_num(means[0] - means[1])


def readable(feature: str) -> str:
    return feature.replace("_", " ")


def cluster_table(
    labels: np.ndarray,
    classes: np.ndarray,
    names: list[str],
    named: dict[int, int],
    contrast: np.ndarray,
    features: Sequence[str],
) -> Printed:
    """One line per cluster: size, closest class, and the features that set it apart."""
    printed = Printed(title="Clusters", title_justify="left", header_style="bold")
    printed.add_column("", justify="right")
    printed.add_column("rows", justify="right")
    printed.add_column("closest class")
    printed.add_column("pure", justify="right")
    printed.add_column("sets it apart (in standard deviations)", ratio=1)
    for c in range(len(contrast)):
        inside = labels == c
        share = f"{np.mean(classes[inside] == named[c]):.0%}" if c in named else ""
        best = np.argsort(-np.abs(contrast[c]), kind="stable")[:3]
        apart = ", ".join(f"{readable(features[j])} {contrast[c, j]:+.1f}" for j in best)
        printed.add_row(str(c), str(inside.sum()), names[named[c]] if c in named else "", share, apart)
    return printed


def agreement_table(
    classes: np.ndarray,
    labels: np.ndarray,
    predicted: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    named: dict[int, int],
) -> Printed:
    """Accuracy, NMI and ARI against the classes, for the rows of ``fit`` and for the new ones."""
    printed = Printed(title="Agreement with the classes", title_justify="left", header_style="bold")
    for column in ("", "rows", "accuracy", "NMI", "ARI"):
        printed.add_column(column, justify="right" if column else "left", min_width=8)
    for title, rows, clusters in (("rows of fit", old, labels), ("new rows, by predict", new, predicted)):
        truth = classes[rows]
        # The clusters keep the names they got from the rows of fit: a new row may not choose its own.
        accuracy = np.mean([named.get(cluster) == true for cluster, true in zip(clusters, truth, strict=True)])
        scores = accuracy, normalized_mutual_info(truth, clusters), adjusted_rand(truth, clusters)
        printed.add_row(title, str(len(rows)), *(f"{score:.3f}" for score in scores))
    return printed


def draw(
    path: Path,
    *,
    heading: str,
    map_title: str,
    maps: tuple[np.ndarray, np.ndarray],
    labels: tuple[np.ndarray, np.ndarray],
    titles: list[str],
    contrast: np.ndarray,
    features: Sequence[str],
) -> None:
    """Maps of all rows, two components each, beside the heat map of what sets the clusters apart."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    n_clusters = len(titles)
    shown = telling_features(contrast)
    plt.rcParams.update({"font.size": 10, "text.color": INK, "axes.labelcolor": INK, "font.family": "DejaVu Sans"})
    n_maps = maps[0].shape[1] // 2
    size = (8.5 + 5.5 * n_maps, max(6.6, 0.34 * len(shown) + 2.6))
    figure = plt.figure(figsize=size, layout="constrained", dpi=120)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1, wspace=0.03, hspace=0.02)
    figure.suptitle(heading, x=0.012, ha="left", fontsize=16, fontweight="bold")
    columns = 2 if n_maps == 1 else 4  # of the legend
    n_lines = -(-(n_clusters + 1) // columns)
    axes = figure.subplot_mosaic(
        [[*(f"map{i}" for i in range(n_maps)), "heat"], ["legend"] * n_maps + ["bar"]],
        height_ratios=(1, max(0.11, 0.045 * n_lines)),
        width_ratios=[1.0] * n_maps + [0.95 + 0.07 * max(0, n_clusters - 7)],
    )
    colours = [COLOURS[c % len(COLOURS)] for c in range(n_clusters)]
    markers = [MARKERS[c % len(MARKERS)] for c in range(n_clusters)]

    clouds = [axes[f"map{i}"] for i in range(n_maps)]
    for i, cloud in enumerate(clouds):
        for c, (colour, marker) in enumerate(zip(colours, markers, strict=True)):
            fitted, fresh = (
                points[clusters == c, 2 * i : 2 * i + 2] for points, clusters in zip(maps, labels, strict=True)
            )
            cloud.scatter(*fitted.T, s=36, c=colour, marker=marker, alpha=0.7, linewidths=0)
            cloud.scatter(*fresh.T, s=56, c=colour, marker=marker, edgecolors=INK, linewidths=1.0)
        cloud.set_title(f"Components {2 * i + 1} and {2 * i + 2}, {map_title}", loc="left", fontsize=12, pad=28)
        cloud.margins(0.05)
        cloud.tick_params(colors=FAINT, length=0)
        cloud.grid(color="#EDEDED", lw=0.8)
        cloud.set_axisbelow(True)

    styles = zip(colours, markers, titles, strict=True)
    handles = [
        Line2D([], [], ls="", marker=marker, color=colour, ms=8, label=f"{c}  {title}")
        for c, (colour, marker, title) in enumerate(styles)
    ]
    handles.append(
        Line2D([], [], ls="", marker="o", mfc="white", mec=INK, mew=1.1, ms=8, label="outlined: new rows, by predict")
    )
    axes["legend"].legend(handles=handles, loc="upper center", ncols=columns, frameon=False, borderpad=0)
    axes["legend"].axis("off")

    heat = axes["heat"]
    values = np.round(contrast[:, shown].T, 1) + 0.0  # no minus before a zero
    limit = float(np.clip(np.abs(values).max(), 1.0, 3.0))
    image = heat.imshow(values, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    digits = 10 if n_clusters <= 7 else 8
    for (row, column), value in np.ndenumerate(values):
        ink = "white" if abs(value) > 0.6 * limit else INK
        heat.text(
            column,
            row,
            f"{value:+.1f}".replace("-", "\N{MINUS SIGN}"),
            ha="center",
            va="center",
            color=ink,
            fontsize=digits,
        )
    heat.set_yticks(range(len(shown)), [textwrap.shorten(readable(features[j]), 40) for j in shown])
    heat.set_xticks([])
    for c, (colour, marker) in enumerate(zip(colours, markers, strict=True)):
        above = heat.get_xaxis_transform()
        gap = 0.024 * n_clusters
        heat.plot(c - gap, 1.025, marker=marker, color=colour, ms=8, transform=above, clip_on=False)
        heat.text(c + gap, 1.025, str(c), transform=above, ha="center", va="center", fontweight="bold")
    heat.set_xlim(-0.5, n_clusters - 0.5)
    heat.set_xticks(np.arange(0.5, n_clusters - 0.5), minor=True)
    heat.set_yticks(np.arange(0.5, len(shown) - 0.5), minor=True)
    heat.grid(which="minor", color="white", lw=2)
    heat.tick_params(which="both", length=0)
    heat.set_title("What sets each cluster apart", loc="left", fontsize=12, pad=28)
    for panel in (*clouds, heat):
        panel.spines[:].set_visible(False)

    axes["bar"].axis("off")
    scale = axes["bar"].inset_axes((0.15, 0.7, 0.7, 0.2))
    bar = figure.colorbar(image, cax=scale, orientation="horizontal", extend="both")
    bar.set_label("mean inside minus mean outside, in standard deviations", fontsize=9)
    scale.tick_params(labelsize=9, length=0)
    bar.outline.set_visible(False)
    figure.savefig(path)
    plt.close(figure)


def telling_features(contrast: np.ndarray, most: int = 16) -> list[int]:
    """Features to draw: each cluster's best in turn until there are enough, those of cluster 0 first."""
    ranked = np.argsort(-np.abs(contrast), axis=1, kind="stable")
    chosen: list[int] = []
    for place in range(contrast.shape[1]):
        for c in range(len(contrast)):
            if ranked[c, place] not in chosen and len(chosen) < most:
                chosen.append(int(ranked[c, place]))
    strongest = np.abs(contrast[:, chosen]).argmax(axis=0)
    return [chosen[j] for j in np.lexsort((-np.abs(contrast[:, chosen]).max(axis=0), strongest))]


if __name__ == "__main__":
    main()
