"""Dependence that correlation misses
==================================

Which columns depend on each other, and which of that does correlation miss?

Ten columns: four in pairs that depend along a curve, a ring or by their spread, two in a straight line, and noise. Each
pair is tested twice: by correlation, and by HSIC, which sees any dependence. Printed: the pairs that each test finds at
level 0.01, divided by the number of pairs. Drawn: the four pairs, and both tables of p-values.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr

from gramian import hsic_test

INK, FAINT = "#222222", "#8A8A8A"


def pairs_of_columns(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Columns 2i and 2i + 1 belong together, up to the last two, which are noise."""
    x, angle, spread, line = rng.uniform(-1, 1, rows), rng.uniform(0, 2 * np.pi, rows), *rng.normal(size=(2, rows))
    noise = rng.normal(size=(7, rows))
    columns = {
        "x": x,
        "x²": x**2 + 0.15 * noise[0],
        "cos": np.cos(angle) + 0.15 * noise[1],
        "sin": np.sin(angle) + 0.15 * noise[2],
        "spread": spread,
        "wide": (0.2 + np.abs(spread)) * noise[3],
        "a": line,
        "a + noise": line + noise[4],
        "noise 1": noise[5],
        "noise 2": noise[6],
    }
    return np.column_stack(list(columns.values())), list(columns)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, names = pairs_of_columns(options.rows, np.random.default_rng(0))
    pairs = list(combinations(range(len(names)), 2))
    tests = {
        "correlation": lambda a, b: pearsonr(a, b).pvalue,
        "HSIC": lambda a, b: hsic_test(a, b, method="gamma").pvalue,
    }
    tables = {}
    for name, test in tests.items():
        table = np.ones((len(names), len(names)))
        for i, j in pairs:
            table[i, j] = table[j, i] = test(X[:, i], X[:, j])
        tables[name] = table
        found = [f"{names[i]} and {names[j]}" for i, j in pairs if table[i, j] < options.level / len(pairs)]
        print(f"{name}: {', '.join(found)}")
    print(f"Picture: {draw(X, names, tables, Path(options.out))}")


def draw(X: np.ndarray, names: list[str], tables: dict[str, np.ndarray], folder: Path) -> Path:
    """The four pairs above, the p-values of both tests below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9, 7.4), layout="constrained", dpi=130)
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.9))
    for panel, i in zip(top.subplots(1, 4), range(0, 8, 2), strict=True):
        panel.scatter(X[:, i], X[:, i + 1], s=6, color="#4477AA", lw=0, alpha=0.7)
        panel.set_xlabel(names[i], color=INK)
        panel.set_ylabel(names[i + 1], color=INK)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
    panels = bottom.subplots(1, 2)
    for panel, (name, table) in zip(panels, tables.items(), strict=True):
        image = panel.imshow(-np.log10(np.maximum(table, 1e-10)), cmap="Blues", vmin=0, vmax=10)
        panel.set_title(name, loc="left", color=INK, fontweight="bold")
        panel.set_xticks(range(len(names)), names, rotation=60, ha="right")
        panel.set_yticks(range(len(names)), names)
        panel.tick_params(colors=FAINT, length=0)
        panel.spines[:].set_visible(False)
    bottom.colorbar(image, ax=panels, shrink=0.7, label="zeros of the p-value")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "columns_that_depend.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
