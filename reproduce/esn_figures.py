"""Figures 4, 5 and 6 of echo state networks with reduced states (Løkse, Bianchi, Jenssen 2017), drawn again.

Figure 4: the best validation error of a genetic search, generation by generation, of six models on three series.
Figures 5 and 6: the attractors of Lorenz and Moore–Spiegel, true and seen through one coordinate. The pictures go to
the folder ``demo``; the numbers behind them are printed. The paper searches with 50 candidates and 20 generations, as
``--full`` does; otherwise the search and the series are small.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.svm import NuSVR

from gramian import EchoStateNetwork, GeneticSearch, KernelPCA
from gramian.kernels import RBF
from gramian.reservoir import search_space
from gramian.reservoir.dynamics import reconstruct_attractor
from reproduce.esn_table3 import LENGTH, TASKS, WASHOUT, series
from reproduce.esn_table4 import METHODS, STEP, trajectory
from reproduce.pictures import pyplot, saved
from reproduce.table import Experiment, Options, Record, Task, markdown, select

FOLDER = Path("demo")
MODELS = {
    (readout, reduction): f"{'ridge' if readout == 'ridge' else 'ν-SVR'}, {shown}"
    for readout in ("ridge", "nu_svr")
    for reduction, shown in ((None, "none"), ("pca", "PCA"), ("kpca", "kPCA"))
}
SMALL = {"population_size": 12, "n_generations": 6, "n_offspring": 10, "n_evaluations": 1}
PAPER = {"population_size": 50, "n_generations": 20, "n_offspring": 35, "n_evaluations": 5}
SMALL_SERIES = 1500
PANELS = ("true", "delays", "reservoir, PCA", "three units")
COLORS = ("#4477AA", "#66CCEE", "#228833", "#CCBB44", "#EE6677", "#AA3377")


# Figure 4 --------------------------------------------------------------------------------------------------


def one_search(task: str, model: tuple[str, str | None], length: int, sizes: dict[str, int], run: int) -> list[Record]:
    """One record for each generation."""
    readout, reduction = model
    network = EchoStateNetwork(
        reduction=KernelPCA(kernel=RBF(1.0)) if reduction == "kpca" else reduction,
        readout=NuSVR() if readout == "nu_svr" else readout,
        connectivity=0.25,
        washout=WASHOUT,
    )
    U, y = series(task, length)
    searched = slice(0, len(y) - int(np.ceil(0.15 * len(y))))  # the last part is for tests
    search = GeneticSearch(
        network,
        param_space=search_space(reduction=reduction, readout=readout),
        dimension_weight=0.1,
        validation=0.15 / 0.85,
        refit=False,
        random_state=run,
        **sizes,  # type: ignore[arg-type]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = search.fit(U[searched], y[searched]).history_
    return [
        {
            "dataset": task,
            "method": MODELS[model],
            "run": run,
            "generation": int(g),
            "best": best,
            "evaluations": int(n),
        }
        for g, best, n in zip(history["generation"], history["best"], history["evaluations"], strict=True)
    ]


def draw_searches(records: list[Record], folder: Path) -> Path:
    plt = pyplot()
    names = [task for task in TASKS if select(records, dataset=task)]
    figure, panels = plt.subplots(1, len(names), figsize=(4 * len(names), 3.6), layout="constrained", squeeze=False)
    for panel, task in zip(panels[0], names, strict=True):
        for color, name in zip(COLORS, MODELS.values(), strict=True):
            curve = _curve(records, task, name)
            panel.semilogy(curve, color=color, lw=1.8, label=name)
        panel.set_title(task, loc="left", fontweight="bold")
        panel.set_xlabel("generation")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("best validation NRMSE")
    panels[0, -1].legend(frameon=False, fontsize=8)
    return saved(figure, folder / "esn_figure_4.png")


def _curve(records: list[Record], task: str, name: str) -> list[float]:
    """The best error of each generation, averaged over the runs."""
    here = select(records, dataset=task, method=name)
    return [
        float(np.mean([r["best"] for r in select(here, generation=g)])) for g in sorted({r["generation"] for r in here})
    ]


# Figures 5 and 6 -------------------------------------------------------------------------------------------


def one_attractor(system: str, n_steps: int, run: int) -> list[Record]:
    """Draw the four panels; how flat each is: the least over the largest deviation along its principal axes."""
    true = trajectory(system, n_steps, run)
    views = {}
    for name in PANELS:
        method = METHODS[name]
        views[name] = true if method is None else reconstruct_attractor(true[:, 0], method, random_state=run)
    path = draw_attractors(views, FOLDER / f"esn_figure_{5 if system == 'Lorenz' else 6}.png")
    return [
        {"dataset": system, "method": name, "run": run, "flatness": flatness(points), "picture": str(path)}
        for name, points in views.items()
    ]


def flatness(points: np.ndarray) -> float:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(spread[-1] / spread[0])


def draw_attractors(views: dict[str, np.ndarray], path: Path) -> Path:
    plt = pyplot()
    figure = plt.figure(figsize=(3.2 * len(views), 3.4))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.88, wspace=0)
    for place, (name, points) in enumerate(views.items(), start=1):
        panel = figure.add_subplot(1, len(views), place, projection="3d")
        panel.plot(*points.T, color=COLORS[0], lw=0.3)
        panel.set_box_aspect(None, zoom=1.15)
        panel.set_title(name, fontweight="bold")
        panel.set_axis_off()
    return saved(figure, path)


# Both ------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    sizes = PAPER if options.full else SMALL
    for run in range(runs):
        for task in TASKS:
            if options.datasets is None or task in options.datasets:
                length = options.samples or (LENGTH[task] if options.full else SMALL_SERIES)
                for model in MODELS:
                    yield partial(one_search, task, model, length, sizes, run)
    for system in STEP:
        if options.datasets is None or system in options.datasets:
            yield partial(one_attractor, system, options.samples or 6000, 0)


def report(records: list[Record]) -> str:
    curves = [record for record in records if "best" in record]
    views = [record for record in records if "flatness" in record]
    parts = []
    if curves:
        lines = []
        for task in TASKS:
            for name in MODELS.values():
                curve = _curve(curves, task, name)
                if curve:
                    middle = curve[len(curve) // 2]
                    most = max(r["evaluations"] for r in select(curves, dataset=task, method=name))
                    lines.append((task, name, *(f"{value:.3g}" for value in (curve[0], middle, curve[-1])), str(most)))
        header = ("series", "model", "best of the first candidates", "half-way", "at the end", "candidates fitted")
        parts.append(f"### Figure 4\n\n{markdown(header, lines)}\n\nPicture: {draw_searches(curves, FOLDER)}")
    if views:
        lines = [(r["dataset"], r["method"], f"{r['flatness']:.3f}", r["picture"]) for r in views]
        header = ("system", "seen by", "least over largest axis", "picture")
        parts.append(f"### Figures 5 and 6\n\n{markdown(header, lines)}")
    return "\n\n".join([*parts, LIMITS])


LIMITS = """### What the figures do not say

- Figure 4 is printed as curves without numbers, so that shapes can be compared and values cannot.
- A search of some fifty candidates, as here without `--full`, is a tenth of the paper's, on shorter series and with one
  network for each candidate. Its end is not the error that the model can reach, and models with more parameters to
  search suffer more.
- The best of many validation errors is too good: it is chosen for being small. Table 3 has errors of tests.
- That a picture looks like an attractor is no proof that it keeps its invariants; Table 4 measures those.
- Figures 5 and 6 depend on the reservoir, whose parameters the paper does not tell."""


EXPERIMENT = Experiment(
    name="esn_figures",
    title="Search curves and attractors of echo state networks (Løkse et al. 2017, Figures 4 to 6)",
    runs=1,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=1,
)
