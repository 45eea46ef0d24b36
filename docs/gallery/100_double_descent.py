"""Double descent
==============

Double descent: more features than rows, and a second fall of the error.

Least squares of least norm on random waves. As their number nears that of the rows the fit passes through every noisy
target and the error on new rows explodes; beyond it the error falls again, below the best small model. A ridge penalty
chosen by cross-validation takes the peak away. Printed: the errors. Drawn: both curves.

The script takes three and a half minutes of processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import FixedSizeLSSVMRegressor, FourierFeatures
from gramian.kernels import RBF

WIDTH, NOISE = 2.0, 0.1
COLOURS = {"least norm": "#EE6677", "regularization chosen": "#4477AA"}
INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--features", type=float, nargs="+", help="numbers of waves, in units of the rows",
                        default=[0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 2.0, 4.0, 8.0, 16.0])  # fmt: skip
    parser.add_argument("--repeats", type=int, default=7, help="draws of the waves, of which the median is shown")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(options.rows, 10)), rng.normal(size=(1000, 10))
    y = truth(X) + NOISE * rng.normal(size=len(X))
    counts = [2 * max(1, round(share * options.rows / 2)) for share in options.features]
    curves: dict[str, list[float]] = {name: [] for name in COLOURS}
    for count in counts:
        draws = [errors(count, X, y, new, seed) for seed in range(options.repeats)]
        for path, error in zip(curves.values(), np.median(draws, axis=0), strict=True):
            path.append(float(error))
    print(f"error on new rows of {options.rows} rows\n  waves                  " + "  ".join(f"{m:>6}" for m in counts))
    for name, path in curves.items():
        print(f"  {name:<21}  " + "  ".join(f"{error:6.2f}" for error in path))
    print(f"Picture: {draw(options.rows, counts, curves, Path(options.out))}")


def truth(X: np.ndarray) -> np.ndarray:
    """A function of three of the ten columns."""
    return np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]


def errors(n_features: int, X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> tuple[float, float]:
    """Squared error on new rows of the least-norm fit and of the regularised one, on the same waves."""
    waves = FourierFeatures(n_features, kernel=RBF(width=WIDTH), random_state=seed).fit(X)
    w = np.linalg.lstsq(waves.transform(X), y, rcond=1e-12)[0]
    tuned = FixedSizeLSSVMRegressor(kernel=waves, random_state=seed).fit(X, y)
    found = (waves.transform(new) @ w, tuned.predict(new))
    return tuple(float(np.mean((values - truth(new)) ** 2)) for values in found)  # type: ignore[return-value]


def draw(n: int, counts: list[int], curves: dict[str, list[float]], folder: Path) -> Path:
    """Both curves, and where there are as many waves as rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(8, 4.6), layout="constrained", dpi=130)
    panel.axvline(n, color="#BBBBBB", lw=1)
    panel.annotate("as many waves as rows", (n, 1), xycoords=("data", "axes fraction"), xytext=(5, -12),
                   textcoords="offset points", color=INK)  # fmt: skip
    for name, path in curves.items():
        panel.loglog(counts, path, color=COLOURS[name], lw=2.2, marker="o", ms=4, label=name)
    panel.set_title("Error on new rows", loc="left", color=INK, fontweight="bold")
    panel.set_xlabel("random waves")
    panel.grid(color="#EDEDED")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="upper left")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "double_descent.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
