"""Figures 3, 4, 7b, 9a, 9b, 10 and 11 of deep divergence-based clustering (Kampffmeyer et al. 2019), with numbers.

3: a disc in a ring. 4: the assignments of three digits on their simplex while the network learns. 7b: the clusters of
MNIST. 9: the three terms and the accuracy while the network learns without labels (a) and with them (b). 10: the kernel
of the last hidden layer, sorted by class. 11: pixels that speak for a cluster. Figures 6, 7a and 8 show seals, whose
images are not public. Networks have the paper's settings but for rows, steps and starts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import KMeans

from gramian.metrics import clustering_accuracy
from reproduce.ddc_tables import FILES, FULL, Size, images, one_thread, published_network
from reproduce.pictures import COLORS, block_contrast, draw_images, pyplot, saved
from reproduce.table import Experiment, Options, Record, Task, markdown, select, summary

MNIST = "MNIST"
SMALL = Size(1000, 200, 3, 0, 0)
RING_STEPS, RING_LAYERS = 600, (50, 50, 100)
"""Of the disc and the ring; the paper tells neither, nor how its points are drawn."""
SHOWN = 300
"""Rows of a drawn kernel, at most."""
CHECKS = 12
"""How often the accuracy is looked at while a network learns."""
STAGES = (0.0, 0.25, 1.0)
"""Of Figure 4, as parts of all steps; 0 is the first step."""
TERMS = ("separation", "orthogonality", "corners")
TOLD = {"7b pairs": ("7 and 9", "1 and 2"), "10 pairs": ("4 and 9",)}
"""Pairs of digits that the paper says are mixed up."""


# Figure 3 ------------------------------------------------------------------------------------------------------------


def disc_and_ring(run: int, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """A disc of radius 0.5 in a ring of radius 2 with noise 0.1, n points each."""
    rng = np.random.default_rng(run)
    radius = np.concatenate([0.5 * np.sqrt(rng.random(n)), 2 + 0.1 * rng.normal(size=n)])
    angle = 2 * np.pi * rng.random(2 * n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), np.repeat([0, 1], n)


def one_ring(run: int, size: Size, steps: int, folder: Path | None) -> list[Record]:
    """k-means, and the lowest loss of some starts."""
    one_thread()
    X, y = disc_and_ring(run)
    net = published_network(2, None, run, replace(size, steps=steps), hidden_layer_sizes=RING_LAYERS)
    labels = {"k-means": KMeans(2, n_init=20, random_state=run).fit_predict(X), "DDC": net.fit(X).labels_}
    if folder:
        plt = pyplot()
        figure, panels = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
        for panel, (name, found) in zip(panels, labels.items(), strict=True):
            panel.scatter(*X.T, c=np.take(COLORS[:2], found), s=4)
            panel.set_title(name)
            panel.set_aspect("equal")
        saved(figure, folder / "ddc_figure_3.png")
    return [
        {"figure": "3", "run": run, "method": name, "acc": clustering_accuracy(y, found)}
        for name, found in labels.items()
    ]


# Watching a network learn --------------------------------------------------------------------------------------------


@dataclass
class Watch:
    """A callback that keeps the assignments of some rows at some steps, start by start."""

    X: np.ndarray
    steps: set[int]
    seen: list[dict[int, np.ndarray]] = field(default_factory=list)

    def __call__(self, step: int, terms: dict[str, float], model: Any) -> None:
        if step == 1:
            self.seen.append({})
        if step in self.steps:
            self.seen[-1][step] = model.predict_proba(self.X)


def one_simplex(run: int, size: Size, data: Path, folder: Path | None) -> list[Record]:
    """Figure 4: zeros, ones and twos, and how near their assignments are to the corners at three stages."""
    one_thread()
    X, y, shape = images(data, MNIST, run, size.rows)
    X, y = X[y < 3], y[y < 3]
    stages = sorted({max(1, round(part * size.steps)) for part in STAGES})
    watch = Watch(X, set(stages))
    net = published_network(3, shape, run, size, n_init=1, callbacks=watch)
    net.fit(X)
    if folder:
        corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
        plt = pyplot()
        figure, panels = plt.subplots(1, len(stages), figsize=(3.2 * len(stages), 3.2), layout="constrained")
        for panel, step in zip(np.atleast_1d(panels), stages, strict=True):
            panel.plot(*corners[[0, 1, 2, 0]].T, color="0.7", lw=1)
            panel.scatter(*(watch.seen[0][step] @ corners).T, c=np.take(COLORS[:3], y), s=6)
            panel.set_title(f"step {step}")
            panel.set_axis_off()
        saved(figure, folder / "ddc_figure_4.png")
    return [
        {
            "figure": "4",
            "run": run,
            "step": step,
            "largest": float(shares.max(axis=1).mean()),
            "acc": clustering_accuracy(y, shares.argmax(axis=1)),
        }
        for step, shares in watch.seen[0].items()
    ]


# Figures 7b, 9a, 10 and 11: one network of ten clusters --------------------------------------------------------------


def one_gallery(run: int, size: Size, data: Path, folder: Path | None) -> list[Record]:
    """The lowest loss of some starts on all ten digits, and everything that is read off it."""
    one_thread()
    X, y, shape = images(data, MNIST, run, size.rows)
    watch = Watch(X[: size.rows // 2], set(np.linspace(1, size.steps, CHECKS).astype(int).tolist()))
    model = published_network(int(y.max()) + 1, shape, run, size, callbacks=watch).fit(X)
    best = watch.seen[int(np.argmin(model.run_losses_))]
    accuracy = {step: clustering_accuracy(y[: len(shares)], shares.argmax(axis=1)) for step, shares in best.items()}
    K = np.asarray(model.kernel(X))
    curves = {name: model.term_curves_[name] for name in TERMS}
    if folder:
        draw_clusters(model, X, folder)
        draw_kernel(K, y, folder / "ddc_figure_10.png")
    found: list[Record] = [
        {"figure": "7b", "acc": clustering_accuracy(y, model.labels_)},
        *mixed("7b pairs", together(y, np.equal.outer(model.labels_, model.labels_).astype(float))),
        {"figure": "10", "contrast": block_contrast(K, y)},
        *mixed("10 pairs", together(y, K)),
        *learning("9a", curves, accuracy, folder),
        {"figure": "11", **ink(model.saliency(X), X)},
    ]
    return [{"run": run, **record} for record in found]


def together(y: np.ndarray, K: np.ndarray) -> dict[tuple[int, int], float]:
    """Mean similarity of a row of one class and a row of another, for each pair of classes, over the mean within."""
    members = [np.flatnonzero(y == one) for one in range(int(y.max()) + 1)]
    within = np.mean([(K[np.ix_(a, a)].sum() - K[a, a].sum()) / (len(a) * max(len(a) - 1, 1)) for a in members])
    pairs = combinations(range(len(members)), 2)
    return {(a, b): float(K[np.ix_(members[a], members[b])].mean() / max(within, 1e-12)) for a, b in pairs}


def mixed(figure: str, pairs: dict[tuple[int, int], float]) -> list[Record]:
    return [{"figure": figure, "pair": f"{a} and {b}", "mixed": value} for (a, b), value in pairs.items()]


def learning(
    figure: str, curves: dict[str, np.ndarray], accuracy: dict[int, float], folder: Path | None
) -> list[Record]:
    """Where each term starts and ends, and whether it falls while the accuracy rises."""
    if folder:
        draw_learning(curves, accuracy, folder / f"ddc_figure_{figure}.png")
    steps = np.array(list(accuracy))
    records = []
    for name, curve in curves.items():
        part = max(1, len(curve) // 10)
        # A term at a check is its mean over the steps about it: a single batch is noisy.
        smooth = np.array([curve[max(0, step - part) : step + part].mean() for step in steps])
        records.append(
            {
                "figure": figure,
                "term": name,
                "start": float(curve[:part].mean()),
                "end": float(curve[-part:].mean()),
                "agreement": rank_correlation(smooth, np.array(list(accuracy.values()))),
                "least": min(accuracy.values()),
                "last": list(accuracy.values())[-1],
            }
        )
    return records


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Of Spearman; 0 where one side does not change."""
    return float(spearmanr(a, b).statistic) if np.ptp(a) and np.ptp(b) else 0.0


def draw_learning(curves: dict[str, np.ndarray], accuracy: dict[int, float], path: Path) -> Path:
    plt = pyplot()
    figure, panel = plt.subplots(figsize=(5, 3.4), layout="constrained")
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        panel.plot(np.arange(1, len(curve) + 1), scaled(curve), color=color, lw=1, label=name)
    panel.plot(*zip(*accuracy.items(), strict=True), color="black", marker="o", ms=3, label="accuracy")
    panel.set_xlabel("step")
    panel.legend(frameon=False)
    return saved(figure, path)


def scaled(curve: np.ndarray) -> np.ndarray:
    """To [0, 1], as the figure is drawn."""
    return (curve - curve.min()) / (np.ptp(curve) or 1.0)


def ink(S: np.ndarray, X: np.ndarray) -> dict[str, float]:
    """Mean of the positive part of a saliency map on the ink of an image, and beside it."""
    positive, dark = np.maximum(S, 0), X > 0.5
    return {"on": float(positive[dark].mean()), "off": float(positive[~dark].mean())}


def draw_clusters(model: Any, X: np.ndarray, folder: Path) -> None:
    """Figure 7b: the clearest rows of each cluster; Figure 11: the clearest one, and the pixels that speak for it."""
    top = model.top_ranked(X, 10)
    draw_images({f"cluster {c}": X[rows] for c, rows in enumerate(top)}, folder / "ddc_figure_7b.png")
    first = X[top[:, 0]]
    maps = np.maximum(model.saliency(first), 0)
    maps /= np.maximum(maps.max(axis=1, keepdims=True), 1e-12)
    draw_images({"image": first, "speaks for it": maps}, folder / "ddc_figure_11.png")


def draw_kernel(K: np.ndarray, y: np.ndarray, path: Path) -> Path:
    rows = np.argsort(y[:SHOWN], kind="stable")
    plt = pyplot()
    figure, panel = plt.subplots(figsize=(4.4, 4), layout="constrained")
    panel.imshow(K[np.ix_(rows, rows)], cmap="viridis", vmin=0, vmax=np.quantile(K, 0.98) or 1)
    edges = np.flatnonzero(np.diff(y[rows])) + 0.5
    panel.set_xticks(edges, [])
    panel.set_yticks(edges, [])
    return saved(figure, path)


# Figure 9b -----------------------------------------------------------------------------------------------------------


def one_supervised(run: int, size: Size, data: Path, folder: Path | None) -> list[Record]:
    """The same network learns the classes by cross-entropy; the terms are told, not trained."""
    import torch

    from gramian.deep.architecture import build
    from gramian.deep.cluster_losses import divergence_terms
    from gramian.deep.divergence_run import hidden_and_scores

    one_thread()
    X, y, shape = images(data, MNIST, run, size.rows)
    description = {"kind": "cnn", "image_shape": shape, "outputs": int(y.max()) + 1}
    network = build(description, torch.Generator().manual_seed(run))
    adam = torch.optim.Adam(network.parameters(), 1e-3)
    rows, classes = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    rng, values, accuracy = np.random.default_rng(run), [], {}
    checks = set(np.linspace(1, size.steps, CHECKS).astype(int).tolist())
    for step in range(1, size.steps + 1):
        batch = torch.from_numpy(rng.choice(len(X), min(100, len(X)), replace=False))
        hidden, scores = hidden_and_scores(network, rows[batch])
        adam.zero_grad()
        torch.nn.functional.cross_entropy(scores, classes[batch]).backward()
        adam.step()
        with torch.no_grad():
            terms = divergence_terms(hidden, torch.softmax(scores, dim=1), width="median15")
            values.append([term.item() for term in terms])
            if step in checks:
                found = network.eval()(rows[: len(X) // 2]).argmax(dim=1)
                accuracy[step] = float((found == classes[: len(X) // 2]).float().mean())
                network.train()
    curves = dict(zip(TERMS, np.array(values).T, strict=True))
    return [{"run": run, **record} for record in learning("9b", curves, accuracy, folder)]


# The report ----------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    small = options.samples is not None and options.samples < 500
    size = FULL if options.full else Size(options.samples or 0, 16, 2, 0, 0) if small else SMALL
    there = options.data is not None and (options.data / FILES[MNIST]).exists()
    if not there:
        print(f"all but Figure 3 left out: {FILES[MNIST]} is not in the folder named by --data", file=sys.stderr)
    for run in range(runs):
        folder = options.pictures if run == 0 else None
        yield partial(one_ring, run, size, size.steps if small else RING_STEPS, folder)
        if there and options.data:
            yield partial(one_gallery, run, size, options.data, folder)
            yield partial(one_simplex, run, size, options.data, folder)
            yield partial(one_supervised, run, size, options.data, folder)


def report(records: list[Record]) -> str:
    return "\n\n".join(
        part
        for part in (
            _ring(records),
            _simplex(records),
            _clusters(records),
            _learning(records),
            _kernel(records),
            _ink(records),
            CLOSING,
        )
        if part
    )


def _ring(records: list[Record]) -> str:
    lines = [(name, *_cells(select(records, figure="3", method=name), "acc")) for name in ("k-means", "DDC")]
    return "\n\n".join(
        (
            "### Figure 3: a disc in a ring",
            "Printed: k-means cuts the plane in two, DDC separates the disc from the ring.",
            markdown(("accuracy", "ours ± s.e."), lines),
        )
    )


def _simplex(records: list[Record]) -> str:
    here = select(records, figure="4")
    lines = [
        (step, *_cells(select(here, step=step), "largest", "acc")) for step in sorted({one["step"] for one in here})
    ]
    return _section(
        "### Figure 4: zeros, ones and twos on the simplex",
        "Printed: the assignments move to the corners, a corner for each digit.",
        ("step", "mean largest assignment ± s.e.", "accuracy ± s.e."),
        lines,
    )


def _clusters(records: list[Record]) -> str:
    here = select(records, figure="7b")
    if not here:
        return ""
    return "\n\n".join(
        (
            "### Figure 7b: clusters of MNIST",
            f"Accuracy {summary(here)}. Printed: sevens and nines are mixed, slanted ones join the twos. The chance "
            "that two digits share a cluster, over that of two rows of one digit:",
            _pairs(records, "7b pairs"),
        )
    )


def _learning(records: list[Record]) -> str:
    parts = []
    for figure, how, said in (
        ("9a", "without labels", "Printed: all three terms fall while the accuracy rises."),
        ("9b", "by cross-entropy", "Printed: the terms fall here too, though nothing asks them to."),
    ):
        here = select(records, figure=figure)
        lines = []
        for term in dict.fromkeys(one["term"] for one in here):
            own = select(here, term=term)
            fell = sum(one["end"] < one["start"] for one in own)
            cells = _cells(own, "start", "end", "agreement")
            lines.append((term, *cells, f"{fell} of {len(own)}"))
        header = ("term", "first tenth ± s.e.", "last tenth ± s.e.", "rank correlation with accuracy ± s.e.", "fell in")
        if here:
            least, last = _cells(select(here, term=here[0]["term"]), "least", "last")
            said += f" Ours: accuracy from {least} (least) to {last} (last)."
        parts.append(_section(f"### Figure {figure}: the terms while the network learns {how}", said, header, lines))
    return "\n\n".join(part for part in parts if part)


def _kernel(records: list[Record]) -> str:
    here = select(records, figure="10")
    if not here:
        return ""
    return "\n\n".join(
        (
            "### Figure 10: the kernel of the last hidden layer",
            "Printed: clear blocks, fours and nines hard to tell apart. Ours: two rows of one digit are "
            f"{_cells(here, 'contrast')[0]} times as alike as two rows of two digits. Mean similarity of two digits, "
            "over that within a digit:",
            _pairs(records, "10 pairs"),
        )
    )


def _ink(records: list[Record]) -> str:
    here = select(records, figure="11")
    lines = [(place, *_cells(here, key)) for place, key in (("on ink", "on"), ("beside it", "off"))] if here else []
    said = "Printed: maps of single images. Mean of what speaks for the cluster:"
    return _section("### Figure 11: guided back-propagation", said, ("pixels", "ours ± s.e."), lines)


def _section(title: str, said: str, header: tuple[str, ...], lines: list[tuple[Any, ...]]) -> str:
    return "\n\n".join((title, said, markdown(header, lines))) if lines else ""


def _pairs(records: list[Record], figure: str, most: int = 4) -> str:
    """The pairs that are mixed most, and those that the paper names, with their places among all."""
    here = select(records, figure=figure)
    pairs = sorted({one["pair"] for one in here}, key=lambda pair: -summary(select(here, pair=pair), "mixed").mean)
    shown = [pair for place, pair in enumerate(pairs) if place < most or pair in TOLD[figure]]
    lines = [
        (
            pair,
            *_cells(select(here, pair=pair), "mixed"),
            f"{pairs.index(pair) + 1} of {len(pairs)}",
            "yes" if pair in TOLD[figure] else "",
        )
        for pair in shown
    ]
    return markdown(("digits", "ours ± s.e.", "place", "named by the paper"), lines)


def _cells(records: list[Record], *scores: str) -> list[str]:
    return [str(summary(records, score)) for score in scores]


CLOSING = """Pictures: ddc_figure_*.png beside the file of `--out`, of the first random state; numbers are of all.

### What the figures do not say

- The paper prints curves and pictures without numbers: only what it says of them can be compared.
- Its network has 70,000 steps on 70,000 images and the best of 20 starts. Ours has 200 steps on 1,000 images and the
  best of three unless `--full` is given, and poorer clusters; which digits are mixed differs from start to start.
- The generator of the disc and the ring, the network for it and the three digits of Figure 4 are not told; ours are a
  disc of radius 0.5 in a ring of radius 2, layers of 50, 50 and 100, and zeros, ones and twos.
- The terms of 9a and 9b are of single batches and differ in their ends: cross-entropy has the labels.
- The kernel of Figure 10 has a width of 15 % of the median distance, with which rows see only near neighbours: a digit
  that is two clusters is dark in half of its block.
- Figures 6, 7a and 8 show seals, which are not public."""

EXPERIMENT = Experiment(
    name="ddc_figures",
    title="Deep divergence-based clustering (Kampffmeyer et al. 2019, Figures 3, 4, 7b, 9, 10, 11)",
    runs=2,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=1,
)
