"""Denoising of digits by kernel PCA and by robust, sparse kernel component analysis (KCA).

Alzate and Suykens (2008); the lecture of J. A. K. Suykens shows one picture, its reconstruction by kernel PCA with
artefacts and by KCA without, and no numbers. Here small digits are learned from 200 pictures, as they are or with one
in twenty replaced by an outlier (random pixels, or stripes three times as bright as a digit), and other digits with
Gaussian noise are cleaned. The error is the mean squared distance from the picture without noise.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from gramian import KernelComponentAnalysis, KernelPCA
from gramian.kernels import RBF, Linear
from reproduce.table import Experiment, Options, Record, Task, lead, markdown, select, summary

N_TRAIN, N_TEST, NOISE, SHARE = 200, 100, 0.3, 0.05
TRAINING = ("clean", "random pixels", "bright stripes")
KERNELS = {"linear": (Linear(), "ridge"), "RBF": (RBF("median"), "fixed_point")}
"""Kernel, and the way back from its components to a picture."""
COMPONENTS = (2, 4, 16)
MODELS = {"KPCA": KernelPCA, "KCA": KernelComponentAnalysis}


def pictures(training: str, run: int, n_train: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pictures to learn from, others without noise, and the same with noise."""
    rng = np.random.default_rng(run)
    digits = rng.permutation(load_digits().data / 16)
    train, clean = digits[:n_train].copy(), digits[-N_TEST:]
    noisy = clean + NOISE * rng.standard_normal(clean.shape)
    odd = rng.choice(n_train, max(1, round(SHARE * n_train)), replace=False)
    if training == "random pixels":
        train[odd] = rng.integers(0, 2, size=(len(odd), 64))
    if training == "bright stripes":
        stripes = np.tile([3.0, 0.0], 32)
        train[odd] = stripes * rng.uniform(0.8, 1.2, size=(len(odd), 1))
    return train, clean, noisy


def one_run(training: str, run: int, n_train: int) -> list[Record]:
    """Every kernel and number of components."""
    train, clean, noisy = pictures(training, run, n_train)
    records = []
    for kernel, (form, preimage) in KERNELS.items():
        for n_components in COMPONENTS:
            for method, model in MODELS.items():
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # the last iterate is used
                    fitted = model(n_components, kernel=form, preimage=preimage).fit(train)
                seconds = time.process_time() - start
                back = fitted.inverse_transform(fitted.transform(noisy))
                records.append(
                    {"dataset": training, "kernel": kernel, "components": n_components, "method": method, "run": run,
                     "mse": float(np.mean((back - clean) ** 2)), "seconds": seconds}
                )  # fmt: skip
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for training in TRAINING:
        for run in range(runs):
            yield partial(one_run, training, run, options.samples or N_TRAIN)


def report(records: list[Record]) -> str:
    lines = []
    for training in TRAINING:
        for kernel in KERNELS:
            for n_components in COMPONENTS:
                found = select(records, dataset=training, kernel=kernel, components=n_components)
                by = {method: select(found, method=method) for method in MODELS}
                gap = lead(by["KCA"], by["KPCA"], "mse")
                seconds = [np.mean([record["seconds"] for record in part]) for part in by.values()]
                lines.append(
                    (
                        f"{training}, {kernel}, {n_components}",
                        *(f"{summary(part, 'mse').mean:.4f}" for part in by.values()),
                        f"{gap.mean:+.4f}" + ("" if gap.error is None else f" ± {gap.error:.4f}"),
                        *(f"{value:.2f}" for value in seconds),
                    )
                )
    header = ("training pictures, kernel, components", *MODELS, "KCA − KPCA ± s.e.", "s, KPCA", "s, KCA")
    return markdown(header, lines)


EXPERIMENT = Experiment(
    name="kca_denoising",
    title="Denoising of digits by kernel PCA and by kernel component analysis: mean squared error",
    runs=3,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
