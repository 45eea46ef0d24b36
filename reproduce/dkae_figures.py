"""Figures 3 to 8 of the deep kernelized autoencoder (Kampffmeyer et al. 2018) on MNIST, drawn again with their numbers.

3: reconstruction and distance to the prior against λ and against the number of codes. 4: kernels of codes with λ = 0
and 0.1. 5: kernel PCA of the prior against the codes. 6: maps in two dimensions. 7: fives and sixes denoised. 8: walks
between centres of codes. Networks are smaller than in ``dkae_tables`` so that all of it takes minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from gramian import KernelPCA
from gramian.embedding import KernelECA
from gramian.kernels import RBF, resolve_width
from reproduce.dkae_tables import (
    AE,
    DAE,
    DKAE,
    FILE,
    FULL,
    ISOMAP,
    KECA,
    N_COMPONENTS,
    NOISE,
    NOISY,
    PREIMAGE,
    PRIOR,
    PUBLISHED,
    Size,
    learned_preimage,
    nearest,
    networks,
    prior_kernel,
    split,
)  # fmt: skip
from reproduce.pictures import COLORS, block_contrast, draw_images, pyplot, saved
from reproduce.table import Experiment, Options, Record, Task, markdown, select, summary

SMALL = Size(1500, (200, 200, 300), 200, 60, 400)
WEIGHTS = (0.0, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9)
CODES = (5, 20, 50, 100, 200, 400)
COMPONENTS = (1, 2, 4, 6, 8, 10, 12, 16, 24, 32)
CROSSING = 16
"""Components from which kernel PCA is nearer to the prior than dkAE, in the printed Figure 5."""
WALKS = ((8, 0), (7, 0), (1, 1))
STEPS = 8


# Figure 3 ------------------------------------------------------------------------------------------------------------


def one_point(run: int, weight: float, codes: int, size: Size, options: Options) -> list[Record]:
    """A network with one λ and one number of codes: the error and the distance to the prior on new rows."""
    import torch

    from gramian.deep import KernelAutoencoder, alignment_distance

    torch.set_num_threads(1)
    assert options.data is not None
    old, _, _, _, new, _ = split(options.data, run, size.rows)
    net = KernelAutoencoder(
        codes,
        kernel=prior_kernel(run, options),
        alignment_weight=weight,
        hidden_layer_sizes=size.hidden,
        pretrain_iter=size.pretrain,
        max_iter=size.steps,
        cool_down=0.0,
        random_state=run,
    ).fit(old)
    P = prior_kernel(run, options).fit(old)(new)
    return [
        {
            "dataset": "MNIST",
            "figure": "3",
            "run": run,
            "weight": weight,
            "codes": codes,
            "error": float(np.mean((net.reconstruct(new) - new) ** 2)),
            "distance": alignment_distance(net.code_kernel(new), P),
            "picture": str(options.pictures / "dkae_figure_3.png"),
        }
    ]


def sweep(records: list[Record], name: str, fixed: str, value: float) -> dict[float, list[Record]]:
    """The records along one axis of Figure 3, in order."""
    here = select(records, figure="3", **{fixed: value})
    return {x: select(here, **{name: x}) for x in sorted({record[name] for record in here})}


def draw_sweeps(axes: dict[str, dict[float, list[Record]]], path: Path) -> Path:
    plt = pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for panel, (name, points) in zip(panels, axes.items(), strict=True):
        places = np.arange(len(points))
        for score, color, axis in (("error", COLORS[0], panel), ("distance", COLORS[1], panel.twinx())):
            found = [summary(point, score) for point in points.values()]
            axis.errorbar(places, [one.mean for one in found], [one.error or 0 for one in found], color=color)
            axis.set_ylabel("squared error" if score == "error" else "distance to the prior", color=color)
            axis.set_ylim(bottom=0)
        panel.set_xticks(places, [f"{x:g}" for x in points])
        panel.set_xlabel(name)
    return saved(figure, path)


# Figures 4 to 8 ------------------------------------------------------------------------------------------------------


def one_gallery(run: int, size: Size, options: Options, draws: bool) -> list[Record]:
    """AE, DAE and dkAE on one draw of rows, and everything that is done with their codes."""
    import torch

    torch.set_num_threads(1)
    assert options.data is not None
    old, y_old, _, _, new, y_new = split(options.data, run, size.rows)
    prior = prior_kernel(run, options).fit(old)
    nets = networks(run, size, prior_kernel(run, options))
    fitted = {name: nets[name].fit(old) for name in (AE, DAE, DKAE)}
    folder = options.pictures if draws else None
    records = [
        *kernels_and_images(fitted, prior, new, y_new, folder),
        *against_components(fitted[DKAE], prior, old, new, folder),
        *maps(fitted, new, y_new, folder),
        *denoised(fitted, prior, old[np.isin(y_old, (5, 6))], new[np.isin(y_new, (5, 6))], run, folder),
        *walks(fitted[DKAE], old, y_old, run, folder),
    ]
    return [{"dataset": "MNIST", "run": run, **record} for record in records]


def kernels_and_images(
    nets: dict[str, Any], prior: Any, new: np.ndarray, y: np.ndarray, folder: Path | None
) -> list[Record]:
    """Figure 4: kernels sorted by class, and reconstructions."""
    order = np.argsort(y, kind="stable")
    kernels = {PRIOR: np.asarray(prior(new))}
    for name in (AE, DKAE):
        Z = nets[name].transform(new)
        kernels[name] = Z @ Z.T
    if folder:
        plt = pyplot()
        figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
        for panel, (name, K) in zip(panels, kernels.items(), strict=True):
            panel.imshow(K[np.ix_(order, order)], cmap="viridis", vmin=0, vmax=np.quantile(K, 0.98))
            panel.set_title({AE: "codes, λ = 0", DKAE: "codes, λ = 0.1"}.get(name, name))
            panel.set_axis_off()
        saved(figure, folder / "dkae_figure_4_kernels.png")
        some = new[[int(np.flatnonzero(y == digit)[0]) for digit in np.unique(y)]]
        shown = {"image": some, "λ = 0": nets[AE].reconstruct(some), "λ = 0.1": nets[DKAE].reconstruct(some)}
        draw_images(shown, folder / "dkae_figure_4_images.png")
    return [{"figure": "4", "method": name, "contrast": block_contrast(K, y)} for name, K in kernels.items()]


def against_components(net: Any, prior: Any, old: np.ndarray, new: np.ndarray, folder: Path | None) -> list[Record]:
    """Figure 5: distance to the prior of m components and of the codes, rows learned from and new ones."""
    from gramian.deep import alignment_distance

    most = min(max(COMPONENTS), len(old))
    components = KernelPCA(most, kernel=prior, center=False).fit(old)
    records: list[Record] = []
    for rows, X in (("learned from", old), ("new", new)):
        P, Z = prior(X), components.transform(X)
        records.append({"figure": "5", "rows": rows, "m": 0, "distance": alignment_distance(net.code_kernel(X), P)})
        for m in COMPONENTS:
            if m <= Z.shape[1]:
                distance = alignment_distance(Z[:, :m] @ Z[:, :m].T, P)
                records.append({"figure": "5", "rows": rows, "m": m, "distance": distance})
    if folder:
        plt = pyplot()
        figure, panel = plt.subplots(figsize=(5, 3.4), layout="constrained")
        names = {"learned from": "rows learned from", "new": "new rows"}
        for color, (rows, name) in zip(COLORS, names.items(), strict=False):
            flat, *curve = select(records, rows=rows)
            distances = [one["distance"] for one in curve]
            numbers = [one["m"] for one in curve]
            panel.plot(numbers, distances, color=color, marker="o", ms=3, label=f"kernel PCA, {name}")
            panel.axhline(flat["distance"], color=color, ls="--", label=f"codes of dkAE, {name}")
        panel.set_xlabel("components of kernel PCA")
        panel.set_ylabel("distance to the prior")
        panel.legend(frameon=False)
        saved(figure, folder / "dkae_figure_5.png")
    return records


def crossing(records: list[Record], rows: str) -> int | None:
    """Fewest components, of those tried, that are nearer to the prior than the codes in the mean over runs."""
    here = select(records, figure="5", rows=rows)
    mean = {m: np.mean([one["distance"] for one in select(here, m=m)]) for m in {one["m"] for one in here}}
    return min((m for m in mean if m and mean[m] < mean[0]), default=None)


def maps(nets: dict[str, Any], new: np.ndarray, y: np.ndarray, folder: Path | None) -> list[Record]:
    """Figure 6: two dimensions of each method."""
    entropy = KernelECA(10, kernel=RBF(resolve_width("median15", new))).fit_transform(new)
    planes = {name: PCA(2).fit_transform(net.transform(new)) for name, net in nets.items()}
    planes[KECA] = PCA(2).fit_transform(entropy)
    planes[ISOMAP] = Isomap(n_components=2, n_neighbors=10).fit_transform(new)
    if folder:
        plt = pyplot()
        figure, panels = plt.subplots(1, len(planes), figsize=(3 * len(planes), 3.5), layout="constrained")
        for panel, (name, points) in zip(panels, planes.items(), strict=True):
            dots = panel.scatter(*points.T, c=y, cmap="tab10", s=6, vmin=0, vmax=9)
            panel.set_title(name)
            panel.set_axis_off()
        handles, digits = dots.legend_elements(num=list(range(10)))
        figure.legend(handles, digits, loc="outside lower center", ncols=10, frameon=False)
        saved(figure, folder / "dkae_figure_6.png")
    return [{"figure": "6", "method": name, "neighbour": nearest(points, y)} for name, points in planes.items()]


def denoised(
    nets: dict[str, Any], prior: Any, old: np.ndarray, clean: np.ndarray, run: int, folder: Path | None
) -> list[Record]:
    """Figure 7: noisy fives and sixes, and what each method makes of them."""
    noisy = clean + NOISE * np.random.default_rng(run).standard_normal(clean.shape)
    k = min(N_COMPONENTS, *(len(net.code_axes_) for net in nets.values()))
    answers = {NOISY: noisy, PREIMAGE: learned_preimage(old, noisy, prior)}
    answers |= {name: nets[name].denoise(noisy, k) for name in (DAE, DKAE)}
    if folder:
        draw_images({"clean": clean[:10]} | {n: X[:10] for n, X in answers.items()}, folder / "dkae_figure_7.png")
    return [
        {"figure": "7", "method": name, "denoising": float(np.mean((X - clean) ** 2))} for name, X in answers.items()
    ]


def walks(net: Any, old: np.ndarray, y: np.ndarray, run: int, folder: Path | None) -> list[Record]:
    """Figure 8: from centre to centre of the codes; how far the middle is from any image learned from.

    k-means with as many clusters as digits; a digit's centre is that of the cluster with most of its rows. The two ones
    are the centres of two clusters among the codes of ones, since a second cluster of ones is not always there.
    """
    Z = net.transform(old).astype(float)
    clusters = KMeans(10, n_init=5, random_state=run).fit(Z)
    ones = KMeans(2, n_init=5, random_state=run).fit(Z[y == 1]).cluster_centers_
    shown, records = {}, []
    for first, last in WALKS:
        ends = (
            ones if first == last else [clusters.cluster_centers_[_home(clusters.labels_, y, d)] for d in (first, last)]
        )
        way = net.interpolate(*(np.asarray(end, float) for end in ends), STEPS)
        half = STEPS // 2
        middle = {"codes": way[half], "pixels": way[0] + (way[-1] - way[0]) * half / (STEPS - 1)}
        shown[f"{first} to {last}"] = way
        for method, image in middle.items():
            nearest_image = float(np.mean((old - image) ** 2, axis=1).min())
            records.append({"figure": "8", "walk": f"{first} to {last}", "method": method, "nearest": nearest_image})
    if folder:
        draw_images(shown, folder / "dkae_figure_8.png")
    return records


def _home(labels: np.ndarray, y: np.ndarray, digit: int) -> int:
    return int(np.bincount(labels[y == digit], minlength=10).argmax())


# The report ----------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    if not (options.data and (options.data / FILE).exists()):
        print(f"{FILE} is not in the folder named by --data, and dkae_figures has no other data", file=sys.stderr)
        return
    size = FULL if options.full else SMALL
    if options.samples and options.samples < 1000:
        size = Size(options.samples, (50,), 40, 20, 60)
    for run in range(runs):
        yield partial(one_gallery, run, size, options, run == 0)
        for weight in WEIGHTS:
            yield partial(one_point, run, weight, size.codes, size, options)
        for codes in CODES:
            if codes != size.codes:
                yield partial(one_point, run, 0.1, codes, size, options)


def report(records: list[Record]) -> str:
    points = select(records, figure="3")
    most = max((record["codes"] for record in points if record["weight"] != 0.1), default=0)
    axes = {"λ": sweep(points, "weight", "codes", most), "codes": sweep(points, "codes", "weight", 0.1)}
    draw_sweeps(axes, Path(points[0]["picture"]))
    parts = []
    for (name, values), letter in zip(axes.items(), "ab", strict=True):
        lines = [(f"{x:g}", _cell(found, "error", 4), _cell(found, "distance", 3)) for x, found in values.items()]
        head = (name, "squared error, new rows ± s.e.", "distance to the prior ± s.e.")
        parts += [f"### Figure 3{letter}", markdown(head, lines)]
    lines = [(name, _cell(found, "contrast", 2)) for name, found in _by(records, "4", "method")]
    parts += ["### Figure 4: similarity within classes over that between", markdown(("kernel", "ours ± s.e."), lines)]
    lines = []
    for m, found in _by(records, "5", "m"):
        cells = (_cell(select(found, rows=rows), "distance", 3) for rows in ("learned from", "new"))
        lines.append((f"{m} components" if m else "codes of dkAE", *cells))
    found = [crossing(records, rows) for rows in ("learned from", "new")]
    parts += [
        "### Figure 5: distance to the prior",
        markdown(("", "rows learned from", "new rows"), lines),
        f"Kernel PCA is nearer from {found[0]} components on (new rows: {found[1]}); printed: {CROSSING}.",
    ]
    for figure, score, table, title, digits in (
        ("6", "neighbour", "neighbour", "1-NN accuracy of the maps", 3),
        ("7", "denoising", "denoising", "squared error after denoising", 4),
    ):
        lines = [
            (name, PUBLISHED[table].get(name), _cell(one, score, digits))
            for name, one in _by(records, figure, "method")
        ]
        parts += [f"### Figure {figure}: {title}", markdown(("method", "published", "ours ± s.e."), lines)]
    lines = [
        (walk, *(_cell(select(one, method=method), "nearest", 4) for method in ("codes", "pixels")))
        for walk, one in _by(records, "8", "walk")
    ]
    head = ("walk", "by codes ± s.e.", "by pixels ± s.e.")
    parts += ["### Figure 8: squared distance of the middle to the nearest image", markdown(head, lines)]
    return "\n\n".join([*parts, f"Pictures: {Path(points[0]['picture']).parent}/dkae_figure_*.png", CLOSING])


def _by(records: list[Record], figure: str, key: str) -> list[tuple[Any, list[Record]]]:
    here = select(records, figure=figure)
    return [(value, select(here, **{key: value})) for value in dict.fromkeys(record[key] for record in here)]


def _cell(records: list[Record], score: str, digits: int) -> str:
    ours = summary(records, score)
    return f"{ours.mean:.{digits}f}" + ("" if ours.error is None else f" ± {ours.error:.{digits}f}")


CLOSING = """### What the figures do not say

- Figures 3 to 5 are printed as curves and pictures without numbers: shapes can be compared, values cannot.
- Networks, rows and steps are far fewer than the paper's unless `--full` is given; a network that is trained longer has
  a smaller error at every λ.
- A large contrast in Figure 4 says that classes are alike in the kernel, not that the prior is followed.
- The middle of a walk may be near an image because it is blurred towards the mean; the distance says nothing about
  sharpness. Which centres the paper took for its ones is not told.
- Pictures are of the first random state, numbers of all."""

EXPERIMENT = Experiment(
    name="dkae_figures",
    title="Deep kernelized autoencoder (Kampffmeyer et al. 2018, Figures 3 to 8): MNIST",
    runs=2,
    tasks=tasks,
    report=report,
    published_runs=1,
)
