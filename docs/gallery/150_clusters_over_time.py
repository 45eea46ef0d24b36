"""Clusters over time
==================

What becomes of clusters over time? Days of a year, drawn week after week.

Every week a station measures 24 hours on many days. There are calm days, days with two rush hours and, in winter, days
of haze. Rush hours move together until, around the middle of the year, calm and busy days cannot be told apart; in
autumn they part again. Some hours are never measured. EvolvingKSC clusters one week after the other, keeps the labels,
and reports what happens; a model without memory is shown beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import ClusterKernel, EvolvingKSC

COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377")
INK, FAINT = "#222222", "#8A8A8A"
SIGNS = {"birth": "+", "death": "×", "merge": "∧", "split": "∨"}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--weeks", type=int, default=52)
    parser.add_argument("--days", type=int, default=90, help="measured in each week, by several stations")
    parser.add_argument("--missing", type=float, default=0.05, help="share of hours that are not measured")
    parser.add_argument("--memory", type=float, default=0.3)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    models = {f"memory {memory:g}": EvolvingKSC(kernel=ClusterKernel(10), memory=memory, random_state=0)
              for memory in dict.fromkeys((options.memory, 0.0))}  # fmt: skip
    rng = np.random.default_rng(0)
    for week in range(options.weeks):
        X = days_of(week / options.weeks, options.days, rng)
        X[rng.random(X.shape) < options.missing] = np.nan
        for model in models.values():
            model.partial_fit(X)
    for name, model in models.items():
        print(f"{name}: {len(model.events_)} events")
        for event in model.events_:
            print(f"  week {event.snapshot:2d}: {event.kind} {told(event.before)} -> {told(event.after)}")
    print(f"Picture: {draw(models, Path(options.out))}")


def days_of(time: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Days at a time of the year from 0 to 1, (n, 24)."""
    hour = np.arange(24)
    rush = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 18) ** 2) / 6)
    busy = 2.5 * abs(np.cos(np.pi * time)) ** 2  # of the rush hours; zero in the middle of the year
    kinds = [3 + 0 * hour, 3 + busy * rush]
    if time < 0.2 or time > 0.85:
        kinds.append(6 + 0.5 * np.cos(2 * np.pi * hour / 24))  # haze, thickest at night
    kind = np.arange(n) % len(kinds)
    return np.array(kinds)[kind] + rng.normal(scale=0.4, size=(n, 24))


def told(labels: tuple[int, ...]) -> str:
    return " and ".join(map(str, labels)) or "nothing"


def draw(models: dict[str, EvolvingKSC], folder: Path) -> Path:
    """The size of each cluster over the weeks, and where something happened."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        len(models), 1, figsize=(8.6, 2.6 * len(models)), sharex=True, squeeze=False, layout="constrained", dpi=130
    )
    for panel, (name, model) in zip(panels[:, 0], models.items(), strict=True):
        labels = sorted({label for sizes in model.sizes_ for label in sizes})
        heights = np.array([[sizes.get(label, 0) for sizes in model.sizes_] for label in labels])
        colours = [COLOURS[label % len(COLOURS)] for label in labels]
        panel.stackplot(np.arange(len(model.sizes_)), heights, colors=colours, alpha=0.85, step="mid")
        for event in model.events_:
            panel.axvline(event.snapshot, color=INK, lw=0.8)
            panel.text(event.snapshot, heights.sum(axis=0).max() * 1.02, SIGNS[event.kind], ha="center", color=INK)
        panel.set_title(name, loc="left", color=INK, fontweight="bold")
        panel.set_ylabel("days", color=INK)
        panel.tick_params(colors=FAINT, length=0)
        panel.spines[:].set_visible(False)
    panels[-1, 0].set_xlabel("week    (+ birth, × death, ∧ merge, ∨ split)", color=INK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "clusters_over_time.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
