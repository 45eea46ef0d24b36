"""Figures 6.1, 6.3 and D.7 to D.16 of the thesis on kernel dependence networks, and the two terms of Theorem 6.3.

6.1, D.15 and D.16: H, T, C, MSE and CE from layer to layer. 6.3 and D.7 to D.14: the kernel matrix of every layer,
which turns into one block per class, and the projected rows, which shrink to one point per class. Theorem 6.3 splits
what a layer maximises into a pull of alike rows and a penalty on the length of the projected ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from gramian.datasets import load_table, make_adversarial, make_random_labels, make_spirals
from gramian.dependence import DependenceNetwork
from gramian.dependence.projection.weights import PairWeights
from reproduce.kdn_tables import PUBLISHED, cross_entropy
from reproduce.pictures import COLORS, block_contrast, pyplot, saved
from reproduce.table import Experiment, Options, Record, Task, markdown, select

SHOWN_LAYERS, SHOWN_ROWS = 5, 300
CURVES = {"relative": "H / H*", "scatter": "T", "cosine": "C", "mse": "MSE", "ce": "CE"}


def load(name: str, run: int, n: int | None) -> tuple[np.ndarray, np.ndarray]:
    if name == "wine":
        table = load_table("wine")
        return table.X, table.y
    if name == "spiral":
        return make_spirals(n or 600, random_state=run)
    drawn = make_random_labels if name == "random" else make_adversarial
    return drawn(n or (60 if name == "random" else 80), random_state=run)


NAMES = ("random", "adversarial", "spiral", "wine")


def one_network(name: str, run: int, samples: int | None, folder: Path) -> list[Record]:
    """A network on all rows, and what each of its layers shows."""
    X, y = load(name, run, samples)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # labels that follow no distances are the point of two data sets
        network = DependenceNetwork(random_state=run).fit(X, y)
    kernels = network.kernel_sequence(X)
    weights = PairWeights.of_labels(y)
    records: list[Record] = []
    R, projected = network.scaler_.informative(X), []
    for place, (layer, told, K) in enumerate(zip(network.layers_, network.report_, kernels, strict=True), start=1):
        Z = layer.project(R)
        R = layer.features(Z)
        projected.append(Z)
        records.append(
            {
                "dataset": name, "run": run, "layer": place, "width": told.width, "components": told.n_components,
                "relative": told.relative_hsic, "alignment": told.alignment, "scatter": told.scatter_ratio,
                "cosine": told.cosine_ratio, "mse": told.class_scatter, "ce": cross_entropy(R, y),
                "contrast": block_contrast(K, y), "picture": str(folder / "kdn_figure_6_1.png"),
                **penalties(Z, K, weights, layer.width), "hsic": told.hsic,
            }
        )  # fmt: skip
    if run == 0:
        draw_layers(name, y, kernels, projected, folder)
    return records


def penalties(Z: np.ndarray, K: np.ndarray, weights: PairWeights, width: float) -> dict[str, float]:
    """Theorem 6.3 at a layer: with Ĝ = Γ∘K / σ² held fixed and D_i = Σ_j Ĝ_ij, for the projected rows z,

    −½ Σ Ĝ_ij ‖z_i − z_j‖² = Σ Ĝ_ij z_i·z_j − Σ D_i ‖z_i‖².

    The thesis prints the last norm without its square. Then the two sides differ: ``unsquared`` is the right side so.
    """
    G = weights.dense() * K / width**2
    D, lengths = G.sum(axis=1), np.einsum("ij,ij->i", Z, Z)
    pull, penalty = float(np.vdot(G @ Z, Z)), float(D @ lengths)
    return {
        "surrogate": -0.5 * float(np.vdot(G, squareform(pdist(Z, "sqeuclidean")))),
        "pull": pull,
        "penalty": penalty,
        "unsquared": pull - float(D @ np.sqrt(lengths)),
        "sum of D": float(D.sum()),
    }


# Pictures -----------------------------------------------------------------------------------------------------------


def shown(n: int, most: int) -> np.ndarray:
    """At most so many of 0 … n − 1, evenly spaced, the ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def draw_layers(name: str, y: np.ndarray, kernels: list[np.ndarray], projected: list[np.ndarray], folder: Path) -> Path:
    """A row of kernel matrices, rows sorted by class, over a row of projected samples."""
    plt = pyplot()
    chosen, rows = shown(len(kernels), SHOWN_LAYERS), shown(len(y), SHOWN_ROWS)
    size = (2.1 * len(chosen), 4.4)
    figure, panels = plt.subplots(2, len(chosen), figsize=size, squeeze=False, layout="constrained")
    colors = np.array(COLORS)[np.unique(y, return_inverse=True)[1]]
    for place, above, below in zip(chosen, *panels, strict=True):
        above.imshow(kernels[place][np.ix_(rows, rows)], cmap="Blues", vmin=0, vmax=1)
        above.set_title(f"layer {place + 1}", fontsize=9)
        Z = projected[place]
        plane = Z if Z.shape[1] == 2 else PCA(2).fit_transform(Z)
        below.scatter(*plane.T, c=colors, s=7, alpha=0.6, lw=0)
        below.margins(0.12)
        for panel in (above, below):
            panel.set_xticks([])
            panel.set_yticks([])
    panels[0][0].set_ylabel("kernel")
    panels[1][0].set_ylabel("projection")
    return saved(figure, folder / f"kdn_figure_6_3_{name}.png")


def draw_curves(records: list[Record], path: Path) -> Path:
    """A panel per data set: every number of the first run from layer to layer."""
    plt = pyplot()
    names = list(dict.fromkeys(record["dataset"] for record in records))
    figure, panels = plt.subplots(1, len(names), figsize=(2.9 * len(names), 3.1), squeeze=False, layout="constrained")
    for panel, name in zip(panels[0], names, strict=True):
        here = select(records, dataset=name, run=0)
        for color, (key, label) in zip(COLORS, CURVES.items(), strict=False):
            panel.plot([one["layer"] for one in here], [one[key] for one in here], color=color, marker=".", label=label)
        panel.set(title=name, xlabel="layer", ylim=(-0.05, 1.25))
        panel.xaxis.get_major_locator().set_params(integer=True)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, ncols=len(CURVES), loc="outside lower center")
    return saved(figure, path)


# The report ---------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in NAMES:
        if options.datasets is None or name in options.datasets:
            for run in range(runs):
                yield partial(one_network, name, run, options.samples, options.pictures)


def report(records: list[Record]) -> str:
    names = list(dict.fromkeys(record["dataset"] for record in records))
    ends, terms = [], []
    for name in names:
        runs = [
            select(records, dataset=name, run=run) for run in sorted({r["run"] for r in select(records, dataset=name)})
        ]
        cells = [_pair(PUBLISHED[name][key], [one[-1][ours] for one in runs]) for key, ours in _ENDS.items()]
        rising = sum(bool(np.all(np.diff([layer["relative"] for layer in one]) > 0)) for one in runs)
        hump = sum(max(layer["cosine"] for layer in one[1:]) > one[0]["cosine"] for one in runs if len(one) > 1)
        blocks = f"{_mean([one[0]['contrast'] for one in runs])} → {_mean([one[-1]['contrast'] for one in runs])}"
        ends.append((name, *cells, blocks, f"{rising} of {len(runs)}", f"{hump} of {len(runs)}"))
        for layer in select(records, dataset=name, run=0):
            errors = (layer["pull"] - layer["penalty"], layer["unsquared"])
            terms.append(
                (
                    f"{name}, layer {layer['layer']}", *(_figure(layer[key]) for key in ("pull", "penalty")),
                    *map(_figure, (*errors, layer["surrogate"])),
                    *map(_figure, (layer["sum of D"], layer["hsic"] / layer["width"] ** 2)),
                )
            )  # fmt: skip
    path = draw_curves(records, Path(records[0]["picture"]))
    header = ("data", *(f"{key}, printed / ours" for key in _NAMES), "contrast of blocks, first → last",
              "H / H* rises in every layer", "C rises before it falls")  # fmt: skip
    theorem = ("network", "pull", "penalty", "pull − penalty", "with the norm as printed", "what ISM climbs", "Σ D",
               "H / σ²")  # fmt: skip
    return "\n\n".join(
        [
            "The last layer, mean over runs. The printed values are those of Table 6.1 (means of ten folds); the "
            "figures have none.",
            markdown(header, ends),
            "### Theorem 6.3, first run",
            markdown(theorem, terms),
            f"Pictures: {path.name} and kdn_figure_6_3_*.png.",
            CLOSING,
        ]
    )


_ENDS = {
    "layers": "layer",
    "features": "alignment",
    "scatter": "scatter",
    "cosine_ratio": "cosine",
    "mse": "mse",
    "ce": "ce",
}
_NAMES = ("layers", "normalised H", "T", "C", "MSE", "CE")


def _pair(printed: float, ours: list[float]) -> str:
    return f"{printed:g} / {_mean(ours)}"


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3g}"


def _figure(value: float) -> str:
    return f"{value:.4g}"


CLOSING = """### What the figures do not say

- Clean blocks are blocks of the rows that were learned from: on random labels they are as clean as on Wine, and new
  rows are guessed. The figures show what the objective does, not what the network knows.
- Ours go on until the exact normalised H passes 0.99 or stands still for two layers; the thesis stops earlier.
- Theorem 6.3 is an identity of what one step maximises with Ĝ held fixed; it is no bound on H, and the penalty may be
  negative in some rows, so "regularisation" is a name for its form.
- The rise of C before its fall, a hump in the printed figure, depends on the draw."""

EXPERIMENT = Experiment(
    name="kdn_figures",
    title="Dependence networks layer by layer (Wu 2020, Figures 6.1, 6.3, D.7 to D.16, Theorem 6.3)",
    runs=3,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=10,
)
