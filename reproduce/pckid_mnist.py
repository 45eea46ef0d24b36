"""Figure 1b of the PCKID paper: telling handwritten 5 from 6 when images lack a quadrant.

1,000 images, 500 of each digit, drawn anew in each run; pixels that never vary are left out. Of ``rate`` of the images
one quadrant is missing. The paper prints no numbers for this figure, so beside ours stand readings of an independent
implementation (one draw, a smaller ensemble) and what the paper says in words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from gramian.datasets import read_npz
from gramian.mixture import quadrant
from reproduce.baselines import FILLED, IMPUTATIONS, Ensemble, contest
from reproduce.table import Experiment, Options, Record, Task, best_imputation, lead, markdown, select, signed, summary

RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEFAULT_RATES = (0.0, 0.5, 0.9)
"""A full cluster kernel of 1,000 images takes a while; ``--rates`` asks for the others."""

METHODS = ("PCKID", "k-POD", "k-means", "RBF exp(-d²/σ²)", "RBF exp(-d²/2σ²)")

_READINGS = {
    ("PCKID", ""): (0.965, 0.954, 0.939),
    ("k-POD", ""): (0.953, 0.929, 0.934),
    ("k-means", "zero"): (0.953, 0.890, 0.766),
    ("k-means", "mean"): (0.953, 0.929, 0.909),
    ("k-means", "median"): (0.953, 0.925, 0.903),
    ("k-means", "most frequent"): (0.953, 0.892, 0.765),
    ("RBF", "best"): (0.615, 0.567, 0.520),
}

REIMPLEMENTED = {
    (method, imputation, rate): value
    for (method, imputation), values in _READINGS.items()
    for rate, value in zip(DEFAULT_RATES, values, strict=True)
}
"""Accuracy in one draw of an independent implementation; PCKID with 5 restarts and a floor of 1 % of the variance.
Single draws move by about 0.015. Which of the two forms the RBF kernel had is not recorded."""

BAND = 0.03
"""How far our mean accuracy of PCKID may lie from the reading."""


def digits_5_and_6(data: Path | None) -> tuple[np.ndarray, np.ndarray, tuple[int, int], str]:
    """Images of fives and sixes as rows in [0, 1], their labels, their shape, and what they are."""
    path = data / "images" / "mnist.npz" if data is not None else None
    if path is not None and path.exists():
        table = read_npz(path)
        X, y, shape, name, white = table.X, np.asarray(table.y), (28, 28), "mnist", 255.0
    else:
        print(
            "images/mnist.npz is not in the data folder (--data or GRAMIAN_DATA): the small digits of scikit-learn "
            "stand in, and the figures are not those of MNIST.",
            file=sys.stderr,
        )
        X, y = load_digits(return_X_y=True)
        shape, name, white = (8, 8), "digits (8×8, not MNIST)", 16.0
    wanted = (y == 5) | (y == 6)
    return X[wanted].astype(np.float64) / white, y[wanted], shape, name


def draw(X: np.ndarray, y: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of as many fives as sixes, ``samples`` in all or as many as there are."""
    groups = [np.flatnonzero(y == digit) for digit in (5, 6)]
    each = min(samples // 2, *map(len, groups))
    return np.concatenate([rng.choice(group, each, replace=False) for group in groups])


def one_mask(
    X: np.ndarray, y: np.ndarray, shape: tuple[int, int], name: str, rate: float, run: int, ensemble: Ensemble
) -> list[Record]:
    """All methods on one draw of images with one choice of quadrants."""
    seed = int(np.random.default_rng([run, round(1000 * rate)]).integers(2**31))
    holes, _ = quadrant(X, rate, shape=shape, random_state=seed)
    holes = holes[:, np.nanmax(holes, axis=0) > np.nanmin(holes, axis=0)]
    setting = {"dataset": name, "mechanism": "quadrant", "rate": rate, "run": run}
    return [{**setting, **score} for score in contest(holes, y, seed, methods=METHODS, ensemble=ensemble)]


def tasks(options: Options, runs: int) -> Iterator[Task]:
    X, y, shape, name = digits_5_and_6(options.data)
    # Pixels share one scale already; scaling them apart would blow up the rarely inked ones in the start of EM.
    ensemble = Ensemble(options.restarts, options.components, standardize=False)
    for run in range(runs):
        chosen = draw(X, y, options.samples or 1000, np.random.default_rng(run))
        for rate in options.chosen_rates(RATES if options.rates else DEFAULT_RATES):
            images = X[chosen], y[chosen], shape, name
            yield partial(one_mask, *images, rate=rate, run=run, ensemble=ensemble)


def report(records: list[Record]) -> str:
    rates = sorted({record["rate"] for record in records})
    # Readings of MNIST say nothing about other digits.
    readings = REIMPLEMENTED if records[0]["dataset"] == "mnist" else {}
    rows = []
    for method in METHODS:
        for imputation in IMPUTATIONS if method == "k-means" else ("best",) if method in FILLED else ("",):
            for rate in rates:
                here = select(records, method=method, rate=rate)
                label, ours = best_imputation(here if imputation == "best" else select(here, imputation=imputation))
                reading = readings.get(("RBF" if imputation == "best" else method, imputation, rate))
                beside = ("", "") if reading is None else (f"{reading:.3f}", f"{ours.mean - reading:+.3f}")
                rows.append((f"{method} {label}".strip(), f"{rate:.1f}", "figure only", beside[0], ours, beside[1]))
    header = ("method", "share with a hole", "published", "re-implemented", "ours ± s.e.", "difference")
    words = (
        "The paper's words: PCKID is best at every rate and nearly flat; k-means after mean imputation comes second "
        "and even gains with the rate; after the others it falls from a rate of about 0.3; RBF fails throughout."
    )
    acceptance = _acceptance(records, rates, readings)
    return f"Data: {records[0]['dataset']}. {words}\n\n{markdown(header, rows)}\n\n### Acceptance\n\n{acceptance}"


def _acceptance(records: list[Record], rates: list[float], readings: dict[tuple[str, str, float], float]) -> str:
    rows = []
    for rate in rates:
        here = select(records, rate=rate)
        ours = select(here, method="PCKID")
        kmeans = select(here, method="k-means")
        rivals = select(kmeans, imputation=best_imputation(kmeans)[0]), select(here, method="k-POD")
        rbf = max(best_imputation(select(here, method=name))[1].mean for name in METHODS if name.startswith("RBF"))
        reading = readings.get(("PCKID", "", rate))
        gap = "" if reading is None else f"{summary(ours).mean - reading:+.3f}"
        rows.append((f"{rate:.1f}", gap, *(signed(lead(ours, rival)) for rival in rivals), f"{rbf:.3f}"))
    return markdown(
        (
            "share with a hole",
            f"PCKID − reading (±{BAND})",
            "PCKID − best k-means (> 0)",
            "PCKID − k-POD (≥ −0.01)",
            "best RBF (< 0.7)",
        ),
        rows,
    )


EXPERIMENT = Experiment(
    name="pckid_mnist",
    title="MNIST 5 against 6 with missing quadrants (PCKID paper, Figure 1b): accuracy",
    runs=3,
    tasks=tasks,
    report=report,
)
