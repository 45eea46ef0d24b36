"""Figures 3.2 to 3.4, 5.1 and 5.2 of the thesis on kernel dependence, with the numbers that they stand for.

3.2: HSIC beside Pearson's correlation. 3.3: clusterings given and found. 3.4: the time of one step of the projection
against the number of columns, by LAPACK and by the coordinate-wise power method (CPM; Lei, Zhong, Dhillon 2016). 5.1:
faces grouped anew by a polynomial kernel, the persons given. 5.2: time against the number of rows, the polynomial
kernel and 20 components.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import StandardScaler

from gramian import AlternativeClustering
from gramian.datasets import make_diamond_gauss, read_npz
from gramian.dependence import hsic_test
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.ism import sine
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Polynomial
from gramian.metrics import normalized_mutual_info
from reproduce import kdac_tables
from reproduce.kdac_tables import FACES_FILE, SETTINGS
from reproduce.manifolds import StartedProblem, random_start
from reproduce.pictures import COLORS, draw_images, pyplot, saved
from reproduce.projection_rivals import GM, ISM, SM, climb
from reproduce.table import Experiment, Options, Record, Task, markdown, select

WIDE, N_WIDE, Q_WIDE = (8, 16, 32, 64, 128, 256, 512, 1024), 200, 2
ROWS, Q_ROWS, LIMIT = (64, 128, 256, 512, 1024, 2048), 20, 60.0
MNIST_FILE = "images/mnist.npz"

# Two columns each: those that show the given clusters and those that show the other ones.
VIEWS = {"SG": ((0, 1), (0, 1)), "LG": ((0, 2), (0, 2)), "Moon": ((2, 3), (0, 1)), "MoonN": ((2, 3), (0, 1))}


# 3.2 ----------------------------------------------------------------------------------------------------------------


def shapes(n: int, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pairs of columns; the data of the thesis are not at hand."""
    rng = np.random.default_rng(seed)
    x, noise, angle = rng.uniform(-1, 1, n), 0.1 * rng.standard_normal((2, n)), rng.uniform(0, 2 * np.pi, n)
    return {
        "line": (x, x + noise[0]),
        "parabola": (x, x**2 + noise[0]),
        "sine": (x, np.sin(2 * np.pi * x) + noise[0]),
        "circle": (np.cos(angle) + noise[0], np.sin(angle) + noise[1]),
        "independent": (x, rng.uniform(-1, 1, n)),
    }


def dependences(n: int, folder: Path) -> list[Record]:
    """Correlation and HSIC of every shape, with the chance of a value as large."""
    plt = pyplot()
    drawn = shapes(n, 0)
    figure, panels = plt.subplots(1, len(drawn), figsize=(2.2 * len(drawn), 2.5), layout="constrained")
    records = []
    for panel, (name, (x, y)) in zip(panels, drawn.items(), strict=True):
        test = hsic_test(x[:, None], y[:, None], n_permutations=199, random_state=0)
        correlation = float(np.corrcoef(x, y)[0, 1])
        records.append(
            {
                "figure": "3.2", "dataset": name, "correlation": correlation, "hsic": float(test.statistic),
                "chance": float(test.null_mean), "p": float(test.pvalue),
            }
        )  # fmt: skip
        panel.scatter(x, y, s=5, color=COLORS[0])
        panel.set_title(f"r {correlation:.2f}, HSIC {test.statistic:.3f}", fontsize=9)
        _bare(panel)
    saved(figure, folder / "dependence_figure_3_2.png")
    return records


def _bare(panel: Any) -> None:
    panel.set_xticks([])
    panel.set_yticks([])


# 3.3 ----------------------------------------------------------------------------------------------------------------


def views(folder: Path) -> list[Record]:
    """The clusters given over those found, each in the columns that show them."""
    plt = pyplot()
    figure, panels = plt.subplots(2, len(VIEWS), figsize=(2.4 * len(VIEWS), 4.6), layout="constrained")
    records = []
    for place, (name, columns) in enumerate(VIEWS.items()):
        X, given, sought = kdac_tables.load(name, 0, None, None)
        setting = SETTINGS[name]
        model = AlternativeClustering(
            setting.n_clusters, kernel=RBF(setting.width), novelty=setting.novelty, n_components=setting.n_components,
            standardize=False, random_state=0,
        ).fit(X, given)  # fmt: skip
        for line, (labels, shown) in enumerate(zip((given, model.labels_), columns, strict=True)):
            panels[line, place].scatter(*X[:, shown].T, c=np.array(COLORS)[labels], s=5, lw=0)
            _bare(panels[line, place])
        panels[0, place].set_title(name)
        nmi = normalized_mutual_info(sought, model.labels_, average="geometric")
        records.append({"figure": "3.3", "dataset": name, "nmi": nmi, "novelty": float(model.novelty_)})
    panels[0, 0].set_ylabel("given")
    panels[1, 0].set_ylabel("found")
    saved(figure, folder / "dependence_figure_3_3.png")
    return records


# 3.4 ----------------------------------------------------------------------------------------------------------------


def power_method(
    A: np.ndarray, q: int, *, share: int = 20, tol: float = 1e-4, max_iter: int = 100_000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, int]:
    """The q largest eigenvalues of A, their vectors and the steps, by the coordinate-wise power method with deflation.

    With B = A + ‖A‖₁ I, which has no negative eigenvalue, and z = B x, a step moves the d/``share`` coordinates of x
    that differ most from those of z / (xᵀz), at O(d · d/share). It ends when ‖z − (xᵀz) x‖ ≤ tol |xᵀz − ‖A‖₁|.
    """
    d = len(A)
    shift = float(np.abs(A).sum(axis=1).max())
    B = A + shift * np.eye(d)
    few = max(1, d // share)
    rng = np.random.default_rng(seed)
    values, vectors, steps = np.zeros(q), np.zeros((d, q)), 0
    for k in range(q):
        x = rng.standard_normal(d)
        x /= np.linalg.norm(x)
        z = B @ x
        for turn in range(max_iter):
            quotient = float(x @ z)
            if np.linalg.norm(z - quotient * x) <= tol * abs(quotient - shift):
                break
            change = z / quotient - x
            moved = np.argpartition(np.abs(change), d - few)[d - few :]
            x[moved] += change[moved]
            z += B[:, moved] @ change[moved]
            length = np.linalg.norm(x)
            x /= length
            z = B @ x if turn % 200 == 199 else z / length
            steps += 1
        values[k], vectors[:, k] = quotient - shift, x
        B -= quotient * np.outer(x, x)
    return values, vectors, steps


def one_width(d: int, run: int) -> list[Record]:
    """The time of the parts of one step at d columns."""
    X, y = make_diamond_gauss(N_WIDE, d, random_state=run)
    X = StandardScaler().fit_transform(X)
    weights, kernel = PairWeights.of_labels(y), RBF("median").fit(X)
    start = StartedProblem(X, weights, kernel, Q_WIDE).start()
    pairs = PairSum(X, weights, profiles_of(kernel), hold=True)
    forming, phi = _timed(lambda: pairs.evaluate(start).product(np.eye(d)))
    phi = (phi + phi.T) / 2
    lapack, (_, exact) = _timed(lambda: eigh(phi))
    power, (_, found, steps) = _timed(lambda: power_method(phi, Q_WIDE), least=0.0)
    return [
        {
            "figure": "3.4", "dataset": "diamond", "run": run, "columns": d, "forming": forming, "eigh": lapack,
            "cpm": power, "steps": steps, "angle": sine(exact[:, -Q_WIDE:], np.linalg.qr(found)[0]),
        }
    ]  # fmt: skip


def _timed(call: Callable[[], Any], least: float = 0.05) -> tuple[float, Any]:
    """Seconds of the processor of one call, called until that many have passed, and the answer."""
    answer = call() if least else None
    began, times = time.process_time(), 0
    while times == 0 or time.process_time() - began < least:
        answer = call()
        times += 1
    return (time.process_time() - began) / times, answer


# 5.1 ----------------------------------------------------------------------------------------------------------------


def faces(folder: Path, data: Path) -> list[Record]:
    """Persons given, poses sought: by the polynomial kernel with the settings of the thesis, and by the defaults."""
    X, given, sought = kdac_tables.load("Faces, person given", 0, data, None)
    images = np.load(data / FACES_FILE, allow_pickle=False)
    pixels = images["X"].reshape(len(images["X"]), -1).astype(float)
    side = images["X"].shape[1:]
    records, shown = [], {"poses": _averages(pixels, sought)}
    for method, settings in _FACES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # whether the turns settle is a column
            model = AlternativeClustering(4, standardize=False, random_state=0, **settings).fit(X, given)
        nmi = normalized_mutual_info(sought, model.labels_, average="geometric")
        records.append(
            {
                "figure": "5.1", "dataset": "faces", "method": method, "nmi": nmi, "novelty": float(model.novelty_),
                "sizes": "-".join(map(str, np.bincount(model.labels_))), "settled": model.converged_,
            }
        )  # fmt: skip
        shown[method] = _averages(pixels, model.labels_)[_partners(sought, model.labels_)]
    draw_images({name: _squared(rows, side) for name, rows in shown.items()}, folder / "dependence_figure_5_1.png")
    return records


_FACES: dict[str, dict[str, Any]] = {
    "polynomial": {"kernel": Polynomial(3, 1.0), "novelty": 1.0, "n_components": 4},
    "Gaussian of Table 3.2": {"kernel": RBF(SETTINGS["Faces"].width), "novelty": 1.0, "n_components": 17},
    "our defaults": {},
}


def _averages(pixels: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mean image of every cluster, stretched to [0, 1]."""
    means = np.stack([pixels[labels == label].mean(axis=0) for label in np.unique(labels)])
    low, high = np.quantile(means, (0.01, 0.99))
    return np.clip((means - low) / (high - low), 0, 1)


def _partners(sought: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For every pose the cluster that shares most rows with it, each cluster once."""
    return linear_sum_assignment(-contingency_matrix(sought, labels))[1]


def _squared(rows: np.ndarray, side: tuple[int, ...]) -> np.ndarray:
    """Images with white columns beside them until they are square, ink for light, as ``draw_images`` has it."""
    height, width = side
    out = np.zeros((len(rows), max(side), max(side)))
    out[:, :height, (max(side) - width) // 2 :][:, :, :width] = 1 - rows.reshape(-1, height, width)
    return out.reshape(len(rows), -1)


# 5.2 ----------------------------------------------------------------------------------------------------------------


def one_size(n: int, run: int, data: Path | None) -> list[Record]:
    """Three ways to the projection of n images, each to its own end."""
    if data and (data / MNIST_FILE).exists():
        images = read_npz(data / MNIST_FILE)
        X, y = images.X[60_000:].astype(float), np.asarray(images.y)[60_000:]
    else:
        X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(run).permutation(len(X))[:n]
    X, y = X[rows], y[rows]
    X = StandardScaler().fit_transform(X[:, X.max(axis=0) > X.min(axis=0)])
    kernel = (float(Q_ROWS) ** -3 * Polynomial(3, float(Q_ROWS))).fit(X)
    records: list[Record] = []
    for method in (ISM, SM, GM):
        first = None if method == ISM else random_start(X.shape[1], Q_ROWS, run)
        problem = StartedProblem(X, PairWeights.of_labels(y), kernel, Q_ROWS, first)
        began = time.process_time()
        found = climb(method, problem, limit=LIMIT)
        records.append(
            {
                "figure": "5.2", "dataset": "images", "run": run, "rows": len(X), "method": method,
                "seconds": time.process_time() - began, "objective": found.objective,
                "evaluations": found.n_evaluations, "status": found.status,
            }
        )  # fmt: skip
    return records


# Pictures and the report --------------------------------------------------------------------------------------------


def draw_growth(curves: dict[str, dict[int, float]], across: str, path: Path) -> Path:
    """Seconds against a size, both doubling."""
    plt = pyplot()
    figure, panel = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        panel.plot(list(curve), list(curve.values()), color=color, marker="o", ms=4, label=name)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set(xlabel=across, ylabel="seconds of the processor")
    panel.legend(frameon=False, fontsize=8)
    return saved(figure, path)


def slope(curve: dict[int, float], last: int = 4) -> float:
    """Of log time over log size, over the last few sizes."""
    sizes = list(curve)[-last:]
    return float(np.polyfit(np.log(sizes), np.log([curve[size] for size in sizes]), 1)[0]) if len(sizes) > 1 else np.nan


def tasks(options: Options, runs: int) -> Iterator[Task]:
    n = options.samples
    parts = options.datasets or ("3.2", "3.3", "3.4", "5.1", "5.2")
    with_files = bool(options.data and (options.data / FACES_FILE).exists())
    if "3.2" in parts:
        yield partial(dependences, n or 200, options.pictures)
    if "3.3" in parts:
        yield partial(views, options.pictures)
    if "5.1" in parts and with_files and options.data:
        yield partial(faces, options.pictures, options.data)
    elif "5.1" in parts:
        print(f"figure 5.1 left out: {FACES_FILE} is not in the folder named by --data", file=sys.stderr)
    for run in range(runs):
        for figure, sizes, one in (("3.4", WIDE, one_width), ("5.2", ROWS, partial(one_size, data=options.data))):
            for size in sizes:
                if figure in parts and (n is None or size <= n):
                    yield partial(_placed, partial(one, size, run), options.pictures)


def _placed(task: Task, folder: Path) -> list[Record]:
    """Records that know where the picture of all of them goes."""
    return [{**record, "folder": str(folder)} for record in task()]


def report(records: list[Record]) -> str:
    parts = [
        _report_3_2(records),
        _report_3_3(records),
        _report_3_4(records),
        _report_5_1(records),
        _report_5_2(records),
    ]
    return "\n\n".join([*(part for part in parts if part), "Pictures: dependence_figure_*.png.", CLOSING])


def _report_3_2(records: list[Record]) -> str:
    lines = [
        (one["dataset"], f"{one['correlation']:.3f}", f"{one['hsic']:.4f}", f"{one['chance']:.4f}", f"{one['p']:.3f}")
        for one in select(records, figure="3.2")
    ]
    header = ("shape", "correlation", "HSIC", "HSIC of shuffled pairs", "p")
    return f"### Figure 3.2: correlation and HSIC\n\n{markdown(header, lines)}" if lines else ""


def _report_3_3(records: list[Record]) -> str:
    lines = []
    for one in select(records, figure="3.3"):
        nmi, _, novelty, *_ = kdac_tables.PUBLISHED[one["dataset"], kdac_tables.SPECTRAL]
        lines.append((one["dataset"], nmi, f"{one['nmi']:.3f}", novelty, f"{one['novelty']:.3f}"))
    header = ("data", "published NMI", "ours, drawn", "published novelty", "ours, drawn")
    return f"### Figure 3.3: given and found\n\n{markdown(header, lines)}" if lines else ""


def _report_3_4(records: list[Record]) -> str:
    here = select(records, figure="3.4")
    if not here:
        return ""
    curves, lines = {}, []
    for key, name in (("forming", "forming Φ"), ("eigh", "all eigenvectors by LAPACK"), ("cpm", "CPM, two vectors")):
        curves[name] = {d: _median(select(here, columns=d), key) for d in sorted({one["columns"] for one in here})}
    for d in next(iter(curves.values())):
        some = select(here, columns=d)
        times = (f"{curve[d]:.2e}" for curve in curves.values())
        lines.append((d, *times, f"{_median(some, 'steps'):.0f}", f"{max(one['angle'] for one in some):.1e}"))
    draw_growth(curves, "columns", Path(here[0]["folder"]) / "dependence_figure_3_4.png")
    slopes = ", ".join(f"{name} {slope(curve):.2f}" for name, curve in curves.items())
    header = ("columns", *curves, "steps of CPM", "largest sine to LAPACK's plane")
    return (
        f"### Figure 3.4: seconds of one step against the columns, {N_WIDE} rows, median over runs\n\n"
        f"{markdown(header, lines)}\n\nSlopes over the last four: {slopes}. Published: between 1 and 2 for "
        "LAPACK, about 1 for CPM."
    )


def _report_5_1(records: list[Record]) -> str:
    lines = [
        (one["method"], f"{one['nmi']:.3f}", f"{one['novelty']:.3f}", one["sizes"], "yes" if one["settled"] else "no")
        for one in select(records, figure="5.1")
    ]
    header = ("method", "NMI with the pose", "NMI with the person given", "cluster sizes", "settled")
    return f"### Figure 5.1: faces, persons given\n\n{markdown(header, lines)}" if lines else ""


def _report_5_2(records: list[Record]) -> str:
    here = select(records, figure="5.2")
    if not here:
        return ""
    sizes = sorted({one["rows"] for one in here})
    curves = {m: {n: _median(select(here, rows=n, method=m), "seconds") for n in sizes} for m in (ISM, SM, GM)}
    lines = []
    for n in sizes:
        best = {run: max(one["objective"] for one in select(here, rows=n, run=run)) for run in {r["run"] for r in here}}
        cells: list[str] = []
        for method in curves:
            some = select(here, rows=n, method=method)
            gap = 100 * float(np.median([1 - one["objective"] / best[one["run"]] for one in some]))
            late = "*" if any(one["status"] in ("limit", "max_iter") for one in some) else ""
            cells += [f"{curves[method][n]:.3g}{late}", f"{_median(some, 'evaluations'):.0f}", f"{gap:.2f}"]
        lines.append((n, *cells))
    draw_growth(curves, "rows", Path(here[0]["folder"]) / "dependence_figure_5_2.png")
    header = ("rows", *(f"{m}{what}" for m in curves for what in (", s", ", evaluations", ", % behind")))
    slopes = ", ".join(f"{name} {slope(curve):.2f}" for name, curve in curves.items())
    return (
        f"### Figure 5.2: time against the rows, polynomial kernel, {Q_ROWS} components, median over runs\n\n"
        f"{markdown(header, lines)}\n\n*: cut short by {LIMIT:.0f} s or 500 steps. Slopes over the last four: "
        f"{slopes}. Published: all about 2, ISM lowest."
    )


def _median(records: list[Record], key: str) -> float:
    return float(np.median([record[key] for record in records]))


CLOSING = """### What the figures do not say

- 3.2: the printed shapes are not at hand, so these are ours; values of HSIC depend on the widths of the kernels.
- 3.3: drawn in the columns that show the clusters, which only the one who made the data knows.
- 3.4: CPM looks at few coordinates per step and takes many steps. How many depends on the gap after the eigenvalue, and
  on the shift that makes all eigenvalues positive; the slope is of these data, of steps that move d/20
  coordinates, and of a loop in Python.
- 5.1: the thesis shows mean images without a number. Settings are its rules (as many components as clusters, novelty
  1, offset 1); of 22 that were tried NMI ranges from 0.04 to 0.39, so the poses are found by some and not by others.
  The other picture of the thesis, a tessellation, is not public.
- 5.2: rivals climb to a small gradient, ISM to a small angle; data and tolerances of the thesis are not printed, and
  dimension growth, its slowest, does not take the polynomial here."""

EXPERIMENT = Experiment(
    name="dependence_figures",
    title="Dependence, projections and time (Wu 2020, Figures 3.2 to 3.4, 5.1, 5.2)",
    runs=3,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=1,
)
