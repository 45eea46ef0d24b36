"""Table 3 of echo state networks with reduced states (Løkse, Bianchi, Jenssen 2017): forecast errors of 18 models.

Series are made by the recursions of the data published with the paper, split 70 / 15 / 15 % in the order of time.
Networks have the published parameters, learn from the first part and are tested on the last, from a state of zero and
without its first 100 steps; the middle part, on which the parameters were searched, is not used. State noise acts in
the test too, as in the authors' code. Cells that the copy at hand lost are marked.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import NuSVR

from gramian import EchoStateNetwork, KernelPCA
from gramian.datasets import make_mackey_glass, make_mso, make_narma
from gramian.kernels import RBF
from gramian.metrics import nrmse
from reproduce.table import Experiment, Options, Record, Task, markdown, select

TASKS = ("MG", "NARMA", "MSO")
HORIZON = {"MG": 6, "MSO": 20}
LENGTH = {"MG": 5000, "NARMA": 10_000, "MSO": 5000}
WASHOUT = 100
PAPER_NETWORKS = 32
TOLERANCE = {"NARMA": 0.15, "MSO": 0.40}  # what we promised to reach


@dataclass(frozen=True)
class Row:
    """A line of the table, by the paper's symbols; ``error`` and ``std`` are published, None where they are lost."""

    task: str
    readout: str
    reduction: str
    n: int
    rho: float
    noise: float
    omega_i: float
    omega_o: float
    omega_f: float
    d: int | None = None
    gamma_k: float | None = None
    ridge: float | None = None
    C: float | None = None
    nu: float | None = None
    gamma_r: float | None = None
    error: float | None = None
    std: float | None = None
    damage: str = ""

    @property
    def name(self) -> str:
        return f"{self.task}, {self.readout}, {self.reduction}"


def _ridge(task: str, reduction: str, *cells: Any) -> Row:
    n, rho, noise, w_i, w_o, w_f, d, gamma_k, ridge, error, std = cells
    return Row(task, "ridge", reduction, n, rho, noise, w_i, w_o, w_f, d, gamma_k, ridge, error=error, std=std)


def _svr(task: str, reduction: str, *cells: Any, damage: str = "") -> Row:
    n, rho, noise, w_i, w_o, w_f, d, gamma_k, C, nu, gamma_r, error, std = cells
    given = (n, rho, noise, w_i, w_o, w_f, d, gamma_k, None, C, nu, gamma_r, error, std, damage)
    return Row(task, "ν-SVR", reduction, *given)


ROWS = (
    _ridge("MG", "none", 378, 1.22, 0.0, 0.55, 0.212, 0.25, None, None, 0.625, 3.064e-2, 1.648e-4),
    _ridge("MG", "PCA", 318, 1.214, 0.042, 0.807, 0.840, 0.355, 89, None, 0.294, 6.483e-3, 9.126e-3),
    _ridge("MG", "kPCA", 445, 1.148, 0.0, 0.339, 0.202, 0.422, 33, 0.050, 0.521, 4.283e-3, 1.893e-4),
    _svr("MG", "none", 490, 1.051, 0.0, 0.873, 0.588, 0.568, None, None, 5.346, 0.234, 0.868, 1.700e-1, 5.171e-2,
         damage="printed as C = 0.234, ν = 5.346, which cannot be: the two are swapped here"),
    _svr("MG", "PCA", 474, 1.044, 0.0, 0.604, 0.807, 0.350, 3, None, 2.535, 0.340, 0.825, 3.210e-5, 3.122e-5),
    _svr("MG", "kPCA", 466, 0.738, 0.0, 0.373, 0.664, 0.069, 14, 0.059, 7.975, 0.448, 0.299, None, None,
         damage="published error lost"),
    _ridge("NARMA", "none", 406, 1.031, 0.053, 0.19, 0.231, 0.194, None, None, 0.163, 3.759e-1, 1.409e-3),
    _ridge("NARMA", "PCA", 409, 0.934, 0.016, 0.135, 0.127, 0.073, 22, None, 0.963, 3.791e-1, 4.887e-4),
    _ridge("NARMA", "kPCA", 342, 0.887, 0.018, 0.167, 0.407, 0.0, 225, 0.008, 0.001, 1.024e-1, 1.542e-3),
    _svr("NARMA", "none", 440, 0.928, 0.015, 0.129, 0.603, 0.031, None, None, 4.332, 0.271, 0.017, 7.298e-2, 7.901e-4),
    _svr("NARMA", "PCA", 433, 0.952, 0.0, 0.107, 0.207, 0.267, 274, None, 4.099, 0.134, 0.028, 6.438e-2, 6.254e-4),
    _svr("NARMA", "kPCA", 460, 0.962, 0.002, 0.1, 0.302, 0.037, 163, 0.028, 4.281, 0.420, 0.028, 5.852e-2, 1.475e-3,
         damage="γ_r lost: that of the row above is used"),
    _ridge("MSO", "none", 298, 1.148, 0.008, 0.345, 0.147, 0.045, None, None, 0.438, 9.427e-1, 1.675e-2),
    _ridge("MSO", "PCA", 499, 1.141, 0.017, 0.187, 0.184, 0.309, 438, None, 0.601, 7.642e-1, 1.189e-1),
    _ridge("MSO", "kPCA", 454, 1.053, 0.003, 0.137, 0.169, 0.184, 407, 0.040, 0.117, 5.959e-1, 3.233e-2),
    _svr("MSO", "none", 444, 1.0, 0.001, 0.114, 0.1, 0.09, None, None, 3.714, 0.282, 0.037, 2.353e-1, 1.609e-2),
    _svr("MSO", "PCA", 459, 1.147, 0.001, 0.174, 0.144, 0.276, 225, None, 6.373, 0.38, 0.601, 7.091e-1, 2.182e-2),
    _svr("MSO", "kPCA", 480, 1.027, 0.032, 0.1, 0.627, 0.011, 135, 0.002, 3.529, 0.204, 0.495, None, None,
         damage="published error lost"),
)  # fmt: skip


def series(task: str, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (T, 1) and targets (T,)."""
    if task == "NARMA":
        return make_narma(length, random_state=0)
    ahead = HORIZON[task]
    x = make_mackey_glass(length, variant="published") if task == "MG" else make_mso(length)
    return x[:-ahead, None], x[ahead:]


def network(row: Row, seed: int) -> EchoStateNetwork:
    """The published model; its kernels exp(−γ d²) are RBF kernels of width 1/√(2γ)."""
    reduction: Any = {"none": None, "PCA": "pca"}.get(row.reduction)
    if row.gamma_k is not None:
        reduction = KernelPCA(row.d, kernel=RBF(1 / np.sqrt(2 * row.gamma_k)))
    readout = "ridge" if row.ridge is not None else NuSVR(C=row.C, nu=row.nu, gamma=row.gamma_r)
    return EchoStateNetwork(
        row.n,
        reduction=reduction,
        n_components=row.d if reduction == "pca" else None,
        readout=readout,
        regularization="auto" if row.ridge is None else row.ridge,
        spectral_radius=row.rho,
        connectivity=0.25,
        input_scaling=row.omega_i,
        teacher_scaling=row.omega_o,
        feedback_scaling=row.omega_f,
        noise=row.noise,
        washout=WASHOUT,
        random_state=seed,
    )


def one_network(row: Row, seed: int, samples: int | None) -> list[Record]:
    """The test error of one network; infinite where its loop diverges."""
    U, y = series(row.task, samples or LENGTH[row.task])
    held = int(np.ceil(0.15 * len(y)))
    train, test = slice(0, len(y) - 2 * held), slice(len(y) - held, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # published radii above 1, and loops that diverge
        model = network(row, seed).fit(U[train], y[train])
        found = model.predict(U[test], "zeros")[WASHOUT:]
    error = nrmse(y[test][WASHOUT:], found) if np.isfinite(found).all() else float("inf")
    return [{"dataset": row.task, "method": row.name, "run": seed, "nrmse": error}]


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for row in ROWS:
        if options.datasets is None or row.task in options.datasets:
            for seed in range(runs):
                yield partial(one_network, row, seed, options.samples)


def _shown(value: float | None, std: float | None) -> str:
    if value is None:
        return "lost"
    return f"{value:.3g}" if std is None else f"{value:.3g} ± {std:.1g}"


def _verdict(row: Row, ours: float) -> str:
    tolerance = TOLERANCE.get(row.task)
    if row.error is None or tolerance is None or row.damage:
        return ""
    return "yes" if abs(ours / row.error - 1) <= tolerance else "no"


def report(records: list[Record]) -> str:
    lines = []
    for row in ROWS:
        errors = [record["nrmse"] for record in select(records, method=row.name)]
        if not errors:
            continue
        mean, spread = float(np.mean(errors)), float(np.std(errors)) if np.isfinite(errors).all() else None
        ratio = "" if row.error is None else f"{mean / row.error:.2f}"
        verdict = _verdict(row, mean)
        middle = f"{np.median(errors):.3g}"
        lines.append((row.name, _shown(row.error, row.std), _shown(mean, spread), middle, ratio, verdict, row.damage))
    header = (
        "task, readout, reduction",
        "published",
        "ours ± std",
        "our median",
        "ratio of means",
        "within 15 % (NARMA), 40 % (MSO)",
        "damaged cell",
    )
    return f"{markdown(header, lines)}\n\n{LIMITS}"


LIMITS = """### What the figures do not say

- The parameters are the paper's, found by its genetic search for its own random weights; they are not the best ones for
  ours, and nothing here says how good a model can be that is tuned anew.
- Published deviations are between networks. Ours are too, and on MSO and Mackey–Glass several times larger, so that
  single ratios there mean little. One network of MSO whose loop swings up moves a mean by half: see the median. An
  independent computation with scikit-learn's PCA and ridge had the same outliers (0.59 0.29 2.28 0.79 0.61). With the
  paper's 32 networks the mean of MSO, ridge, PCA was 0.717 and not 1.28 (2026-11-19): three loops in 32 swing up.
- The Mackey–Glass series published with the paper is quasi-periodic (its delay is 14, not 17). That it is the one
  behind the table is likely, not proven.
- With feedback the targets of a forecast, which are inputs of later steps, enter while learning, and predictions
  afterwards. Part of every error comes from that difference, and not from the readout.
- The copy of the table at hand has lost cells; rows that rest on a guess are marked and not judged."""


EXPERIMENT = Experiment(
    name="esn_table3",
    title="Echo state networks with reduced states, test NRMSE (Løkse et al. 2017, Table 3)",
    runs=5,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=PAPER_NETWORKS,
)
