"""Figures 6.2, D.3 to D.6, D.17 and D.18 of the thesis on kernel dependence networks: class averages, and the width.

6.2, D.3 and D.4: a chain of layers that only sum kernels over the classes takes apart labels without meaning; its
widths and the dependence from layer to layer. D.5 and D.6: with widths small enough two layers do. D.17 and D.18: the
mean kernel value within and between classes against the width, where their difference has its maximum, and where HSIC
has its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from gramian.datasets import load_table, make_adversarial, make_random_labels
from gramian.dependence import ClassAverageChain, label_width, two_layer_widths
from gramian.dependence.network.class_average import ClassSumLayer
from gramian.dependence.projection.weights import PairWeights
from reproduce.pictures import COLORS, pyplot, saved
from reproduce.table import Experiment, Options, Record, Task, markdown, select

PUBLISHED = {"random": (12, 0.15), "adversarial": (12, 0.03)}
"""Layers after which the printed Figure 6.2 is at its optimum, and the smallest width."""

DRAWN = {"random": partial(make_random_labels, n_features=2), "adversarial": make_adversarial}
CHAINS = ("class", "scalar", "polar")
DRAWN_CHAIN, CLOSED_FORM, TINY = "class", "closed form", "width 1e-5"
WIDTH_TABLES = ("wine", "iris", "breast_w", "random")
N_WIDTHS = 61


# Chains of class averages -------------------------------------------------------------------------------------------


def load(name: str, run: int, n: int | None) -> tuple[np.ndarray, np.ndarray]:
    """80 points in two dimensions, scaled and sorted by class."""
    X, y = DRAWN[name](n or 80, random_state=run)
    order = np.argsort(y, kind="stable")
    X = X[order]
    return (X - X.mean(axis=0)) / X.std(axis=0), y[order]


def one_draw(name: str, run: int, n: int | None, folder: Path) -> list[Record]:
    """Three chains and two ways to choose two layers, on the same points."""
    X, y = load(name, run, n)
    records: list[Record] = []
    for normalization in CHAINS:
        chain = ClassAverageChain(normalization=normalization).fit(X, y)
        outputs = [X]
        for layer in chain.layers_:
            outputs.append(layer(outputs[-1]))
        records.append(
            {
                "figure": "6.2", "dataset": name, "run": run, "method": normalization, "layers": chain.n_layers_,
                "width": float(min(*chain.widths_, chain.output_width_)), "alignment": float(chain.alignments_[-1]),
                "train": chain.score(X, y),
            }
        )  # fmt: skip
        if run == 0 and normalization == DRAWN_CHAIN:
            draw_chain(name, y, outputs, chain, folder)
    for method in (CLOSED_FORM, TINY):
        first, second = two_layer_widths(X, 0.01) if method == CLOSED_FORM else (1e-5, two_layer_widths(X, 0.01)[1])
        Z = ClassSumLayer.of(X, np.bincount(y), first, None)(X)
        records.append(
            {
                "figure": "D.5", "dataset": name, "run": run, "method": method, "layers": 2, "width": first,
                "outer": second, "relative": relative_hsic(Z, y, second), "apart": apart(Z, y),
            }
        )  # fmt: skip
        if run == 0 and method == TINY:
            draw_two_layers(name, X, y, Z, folder)
    return records


def apart(Z: np.ndarray, y: np.ndarray) -> float:
    """The least distance between two classes over the largest within one; above 1 the classes are clear heaps."""
    D, same = cdist(Z, Z), y[:, None] == y
    within = float(D[same].max())
    return float(D[~same].min()) / within if within > 0 else np.inf


def relative_hsic(Z: np.ndarray, y: np.ndarray, width: float) -> float:
    """H / H* of a Gaussian kernel: Tr(Γ K) over Tr(Γ Y Yᵀ)."""
    gamma = PairWeights.of_labels(y).dense()
    K = np.exp(-squareform(pdist(Z, "sqeuclidean")) / (2 * width**2))
    return float(np.vdot(gamma, K) / np.vdot(gamma, y[:, None] == y))


# The width ----------------------------------------------------------------------------------------------------------


def width_curves(names: list[str], folder: Path) -> list[Record]:
    """A panel and a record for each table."""
    plt = pyplot()
    figure, panels = plt.subplots(1, len(names), figsize=(2.9 * len(names), 3.3), squeeze=False, layout="constrained")
    records = [one_curve(name, panel) for name, panel in zip(names, panels[0], strict=True)]
    figure.legend(*panels[0][0].get_legend_handles_labels(), frameon=False, ncols=4, loc="outside lower center")
    saved(figure, folder / "kdn_figure_d_17.png")
    return records


def one_curve(name: str, panel: Any) -> Record:
    """Within, between, their difference and HSIC against the width; where the last two are largest, by the library."""
    if name == "random":
        X, y = load(name, 0, None)
    else:
        table = load_table(name)
        complete = ~np.isnan(table.X).any(axis=1)
        X, y = table.X[complete], table.y[complete]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a width on the bound is shown as such
        best = {name: label_width(X, y, criterion=name, max_samples=None) for name in ("hsic", "separation")}
    squared = squareform(pdist(X, "sqeuclidean"))
    widths = float(np.sqrt(np.median(squared[squared > 0]))) * np.geomspace(0.1, 10, N_WIDTHS)
    curves = {key: np.array([one[key] for one in (means(squared, y, width) for width in widths)]) for key in _MEANS}
    draw_curve(name, widths, curves, best, panel)
    counts = np.bincount(y)
    return {
            "figure": "D.17", "dataset": name, "run": 0, "classes": "-".join(map(str, counts)),
            "hsic": best["hsic"], "separation": best["separation"],
            "grid hsic": float(widths[curves["hsic"].argmax()]),
            "grid separation": float(widths[curves["difference"].argmax()]),
            "median": float(np.median(np.sqrt(squared[np.triu_indices(len(X), 1)]))),
    }  # fmt: skip


def means(squared: np.ndarray, y: np.ndarray, width: float) -> dict[str, float]:
    """Of a Gaussian kernel of a width: means over pairs within and between classes, and H / H*."""
    K = np.exp(-squared / (2 * width**2))
    same = y[:, None] == y
    gamma = PairWeights.of_labels(y).dense()
    within, between = float(K[same].mean()), float(K[~same].mean())
    hsic = float(np.vdot(gamma, K) / np.vdot(gamma, same))
    return {"within": within, "between": between, "difference": within - between, "hsic": hsic}


_MEANS = ("within", "between", "difference", "hsic")


# Pictures -----------------------------------------------------------------------------------------------------------


def draw_chain(name: str, y: np.ndarray, outputs: list[np.ndarray], chain: ClassAverageChain, folder: Path) -> Path:
    """The points, the outputs of every layer along their main direction, and the widths with the dependence."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    colors = np.array(COLORS)[y]
    panels[0].scatter(*outputs[0].T, c=colors, s=12)
    panels[0].set_title(f"{name}: the points")
    for place, Z in enumerate(outputs[1:], start=1):
        line = (Z - Z.mean(axis=0)) @ np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][0]
        line = line - line.min()
        panels[1].scatter(line / line.max(), np.full(len(line), place) + 0.12 * (y - 0.5), c=colors, s=8, lw=0)
    panels[1].set(title="outputs, scaled to [0, 1]", ylabel="layer")
    panels[1].invert_yaxis()
    layers = np.arange(1, chain.n_layers_ + 1)
    panels[2].plot(layers, chain.alignments_, color=COLORS[0], marker="o", ms=4, label="normalised HSIC")
    panels[2].plot(layers, chain.widths_, color=COLORS[1], marker="s", ms=4, label="width")
    panels[2].set(title="dependence and width", xlabel="layer", ylim=(-0.03, None))
    panels[2].legend(frameon=False)
    for axis in (panels[1].yaxis, panels[2].xaxis):
        axis.get_major_locator().set_params(integer=True)
    return saved(figure, folder / f"kdn_figure_6_2_{name}.png")


def draw_two_layers(name: str, X: np.ndarray, y: np.ndarray, Z: np.ndarray, folder: Path) -> Path:
    plt = pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(6.6, 3.2), layout="constrained")
    for panel, points, title in zip(panels, (X, Z), (name, "class sums, width 1e-5"), strict=True):
        panel.scatter(*points.T, c=np.array(COLORS)[y], s=14, alpha=0.7, lw=0)
        panel.set_title(title)
        panel.margins(0.12)
    return saved(figure, folder / f"kdn_figure_d_5_{name}.png")


def draw_curve(
    name: str, widths: np.ndarray, curves: dict[str, np.ndarray], best: dict[str, float], panel: Any
) -> None:
    labels = ("mean within classes", "mean between classes", "their difference", "H / H*")
    for place, (curve, label) in enumerate(zip(curves.values(), labels, strict=True)):
        panel.plot(widths, curve, color=COLORS[place], label=label, ls="--" if label == "H / H*" else "-", lw=1.8)
    for key, color in (("separation", COLORS[2]), ("hsic", COLORS[3])):
        panel.axvline(best[key], color=color, ls="--" if key == "hsic" else "-", lw=0.9)
    panel.set(xscale="log", xlabel="width", title=name, ylim=(-0.05, 1.05))


# The report ---------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in DRAWN:
        if options.datasets is None or name in options.datasets:
            for run in range(runs):
                yield partial(one_draw, name, run, options.samples, options.pictures)
    names = [name for name in WIDTH_TABLES if options.datasets is None or name in options.datasets]
    if names:
        yield partial(width_curves, names, options.pictures)


def report(records: list[Record]) -> str:
    chains, pairs, curves = (select(records, figure=figure) for figure in ("6.2", "D.5", "D.17"))
    parts = []
    if chains:
        lines = []
        for name, method in dict.fromkeys((one["dataset"], one["method"]) for one in chains):
            ours = select(chains, dataset=name, method=method)
            layers, width = PUBLISHED[name]
            cells = (_cell(ours, key) for key in ("alignment", "train"))
            lines.append((f"{name}, {method}", layers, _cell(ours, "layers"), width, _cell(ours, "width"), *cells))
        header = ("points, normalisation", "printed layers", "ours", "printed smallest width", "ours",
                  "normalised HSIC at the end", "5-NN accuracy, same rows")  # fmt: skip
        parts += ["### Figure 6.2, D.3, D.4: chains of class averages", markdown(header, lines)]
        lines = []
        for name, method in dict.fromkeys((one["dataset"], one["method"]) for one in pairs):
            ours = select(pairs, dataset=name, method=method)
            lines.append((f"{name}, {method}", *(_cell(ours, key) for key in ("width", "outer", "relative", "apart"))))
        header = ("points, widths", "first width", "second width", "H / H*", "classes apart")
        parts += ["### Figures D.5, D.6: two layers", markdown(header, lines)]
    if curves:
        lines = []
        for one in curves:
            cells = (f"{one[key]:.3f}" for key in ("hsic", "grid hsic", "separation", "grid separation", "median"))
            lines.append((f"{one['dataset']} ({one['classes']})", *cells))
        header = ("table (class sizes)", "width by HSIC", "highest of the curve", "width by separation",
                  "highest of the curve", "median distance")  # fmt: skip
        parts += ["### Figures D.17, D.18: two criteria for the width", markdown(header, lines)]
    return "\n\n".join(["Mean over runs (least to largest).", *parts, "Pictures: kdn_figure_*.png.", CLOSING])


def _cell(records: list[Record], key: str) -> str:
    values = [record[key] for record in records]
    mean = f"{np.mean(values):.3g}"
    return mean if min(values) == max(values) else f"{mean} ({min(values):.3g} to {max(values):.3g})"


CLOSING = """"Apart" is the least distance between classes over the largest within one; above 1 each class is a heap.

### What the figures do not say

- The widths of the printed chain are in a figure only, so ours, the largest of a falling series that raises the
  dependence, is another chain. It is short-sighted and can stall.
- That two layers with a tiny width fit any labels is a proof about the training rows. Of a new point they know nothing:
  its kernel sums over all classes are zero.
- Widths by HSIC and by separation agree exactly for classes of equal size, and nearly for others, as printed. Neither
  says which width predicts best."""

EXPERIMENT = Experiment(
    name="kdn_chain",
    title="Class averages and widths (Wu 2020, Figures 6.2, D.3 to D.6, D.17, D.18)",
    runs=5,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=1,
)
