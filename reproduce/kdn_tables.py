"""Table 6.1 of the thesis on kernel dependence networks: eight data sets in ten folds, with rivals the table lacks.

The thesis compares its network with two MLPs, one of which regresses the class number. Beside its figures and ours
stand logistic regression, an RBF SVM (both with scikit-learn's settings) and an MLP on one-hot targets, all on the same
folds and scaled by the training fold. Widths are those of exp(−d²/(2σ²)), as in the thesis.
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
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from gramian.datasets import load_table, make_adversarial, make_random_labels, make_spirals, read_csv, read_npz
from gramian.dependence.network.dependence_network import DependenceNetwork
from reproduce.table import Experiment, Options, Ours, Record, Task, markdown, select, summary

FOLDS = 10
NETWORK = "network"
BALANCED = "network, balanced labels"
RIVALS = ("logistic regression", "RBF SVC", "one-hot MLP")

# Smallest width, layers, training and test accuracy, seconds, normalised HSIC, MSE, CE, C, T: means over ten folds.
_PRINTED = {
    "random": "0.38 3.30 1.00 0.38 0.40 1.00 0.00 0.05 0.00 0.02",
    "adversarial": "0.5 3.60 1.00 0.38 0.52 1.00 0.00 0.04 0.01 0.01",
    "spiral": "0.46 5.10 1.00 1.00 0.87 0.98 0.01 0.02 0.04 0.02",
    "wine": "0.47 6.10 0.99 0.97 0.28 0.98 0.01 0.07 0.04 0.02",
    "cancer": "0.39 8.10 0.99 0.97 2.58 0.96 0.02 0.04 0.02 0.04",
    "car": "0.23 4.90 1.00 1.00 1.51 0.99 0.00 0.01 0.04 0.01",
    "face": "0.44 4.00 1.00 0.99 0.78 0.97 0.00 0.17 0.01 0.00",
    "divorce": "0.41 4.10 0.99 0.98 0.71 0.99 0.01 0.03 0.00 0.02",
}
_COLUMNS = ("width", "layers", "train", "acc", "seconds", "features", "mse", "ce", "cosine_ratio", "scatter")
PUBLISHED = {name: dict(zip(_COLUMNS, map(float, line.split()), strict=True)) for name, line in _PRINTED.items()}
"""Data set → what the row of the network ("H") prints."""

SIZES = {
    "random": "3-47-25",
    "adversarial": "2-61-35",
    "spiral": "2-13-6-7-6",
    "wine": "11-75-6-7-6",
    "cancer": "8-90-6-7-8-11-8-8-4",
    "car": "6-96-6-8-6",
    "face": "231-76-73-44",
    "divorce": "36-47-6-6",
}
"""Components per layer of a typical fold in appendix D.7; folds differ by a few."""

# The order in which a buyer would put them.
_CAR_GRADES = {
    "vhigh": 3, "high": 2, "med": 1, "low": 0, "2": 2, "3": 3, "4": 4, "5more": 5, "more": 5, "small": 0, "big": 2,
}  # fmt: skip

Data = tuple[np.ndarray, np.ndarray]


# Data ----------------------------------------------------------------------------------------------------------------


def cross_entropy(R: np.ndarray, codes: np.ndarray) -> float:
    """Log-loss, on the same rows, of a logistic regression of the classes on the features."""
    model = LogisticRegression(max_iter=1000).fit(R, codes)
    return float(log_loss(codes, model.predict_proba(R), labels=model.classes_))


def cancer() -> Data:
    """The original Wisconsin table without the 16 rows that miss a value: 683 × 9."""
    table = load_table("breast_w")
    complete = ~np.isnan(table.X).any(axis=1)
    return table.X[complete], table.y[complete]


def _wine() -> Data:
    table = load_table("wine")
    return table.X, table.y


def divorce(folder: Path) -> Data:
    table = read_csv(folder / "uci" / "divorce.csv.gz", target="label")
    return table.X, table.y


def car(folder: Path, target: str) -> Data:
    """Six graded columns; the target is the label of the table or, as in the released file, the column "safety"."""
    table = read_csv(folder / "uci" / "car_evaluation.csv.gz", target="label", categorical=["doors", "persons"])
    graded = []
    for j, name in enumerate(table.feature_names):
        if name in table.categories:
            grades = np.array([_CAR_GRADES[text] for text in table.categories[name]], float)
            graded.append(grades[table.X[:, j].astype(int)])
        else:
            graded.append(table.X[:, j])
    X = np.column_stack(graded)
    if target == "label":
        return X, table.y
    return X, X[:, table.feature_names.index(target)].astype(int)


def faces(folder: Path) -> Data:
    """624 images of 20 persons, 30 × 32 pixels."""
    table = read_npz(folder / "images" / "cmu_faces.npz", y="person")
    return table.X.astype(float), table.y


def faces_27(folder: Path) -> Data:
    table = read_csv(folder / "images" / "cmu_faces_pca27.csv.gz", target="label")
    return table.X, table.y


SETS: dict[str, Callable[..., Data]] = {
    "random": partial(make_random_labels, 60, random_state=0),
    "adversarial": partial(make_adversarial, 80, random_state=0),
    "spiral": partial(make_spirals, 1200, random_state=0),
    "wine": _wine,
    "cancer": cancer,
}
"""Data that come with the package."""

FILES: dict[str, tuple[str, Callable[[Path], Data]]] = {
    "divorce": ("uci/divorce.csv.gz", divorce),
    "car": ("uci/car_evaluation.csv.gz", partial(car, target="safety")),
    "car, its own label": ("uci/car_evaluation.csv.gz", partial(car, target="label")),
    "face": ("images/cmu_faces.npz", faces),
    "face, 27 columns": ("images/cmu_faces_pca27.csv.gz", faces_27),
}
"""Data in the folder named by ``--data``: file and reader."""


UNEVEN = ("car, its own label",)
"""Where classes are so unequal that the one-hot label kernel would merge some."""


def load(name: str, folder: Path | None, samples: int | None) -> Data:
    """A data set by its name; of a random part of its rows if ``samples`` says so."""
    X, y = SETS[name]() if name in SETS else FILES[name][1](folder or Path())
    if samples is None or samples >= len(X):
        return X, y
    rows = np.random.default_rng(0).permutation(len(X))[:samples]
    return X[rows], y[rows]


# One fold ------------------------------------------------------------------------------------------------------------


def one_fold(name: str, fold: int, folder: Path | None, samples: int | None) -> list[Record]:
    """The network and its rivals on one of ten folds."""
    X, y = load(name, folder, samples)
    train, test = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))[fold]
    rivals: dict[str, Any] = {
        "logistic regression": LogisticRegression(max_iter=2000),
        "RBF SVC": SVC(),
        "one-hot MLP": OneHotMLP(),
    }
    setting = {"dataset": name, "run": fold}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # random labels and small classes are the point here
        warnings.simplefilter("ignore", ConvergenceWarning)
        records = [{**setting, "method": NETWORK, **_network_record(X, y, train, test)}]
        if name in UNEVEN:
            balanced = _network_record(X, y, train, test, label_kernel="balanced")
            records.append({**setting, "method": BALANCED, **balanced})
        for method, model in rivals.items():
            start = time.perf_counter()
            fitted = make_pipeline(StandardScaler(), model).fit(X[train], y[train])
            seconds = time.perf_counter() - start
            accuracies = {"acc": fitted.score(X[test], y[test]), "train": fitted.score(X[train], y[train])}
            records.append({**setting, "method": method, **accuracies, "seconds": seconds})
    return records


def _network_record(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, **settings: Any) -> Record:
    start = time.perf_counter()
    network = DependenceNetwork(random_state=0, **settings).fit(X[train], y[train])
    seconds = time.perf_counter() - start
    last = network.report_[-1]
    path = [report.relative_hsic for report in network.report_]
    return {
        "acc": network.score(X[test], y[test]),
        "train": network.score(X[train], y[train]),
        "seconds": seconds,
        "layers": network.n_layers_,
        "width": float(network.widths_.min()),
        "relative": last.relative_hsic,
        "exact": last.alignment,
        "features": last.feature_alignment,
        "cosine_ratio": last.cosine_ratio,
        "scatter": last.scatter_ratio,
        "mse": last.class_scatter,
        "ce": cross_entropy(network.transform(X[train]), y[train]),
        "rising": bool(np.all(np.diff(path) > 0)),
        "sizes": "-".join(map(str, network.n_components_)),
    }


class OneHotMLP(MLPRegressor):
    """Least squares on one-hot targets; the class of the largest output."""

    def __init__(self) -> None:
        super().__init__(hidden_layer_sizes=(100, 100), max_iter=500, random_state=0)

    def fit(self, X: np.ndarray, y: np.ndarray) -> OneHotMLP:
        self.names_ = np.unique(y)
        return super().fit(X, (y[:, None] == self.names_).astype(float))

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean(self.names_[self.predict(X).argmax(axis=1)] == y))


# The table -----------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    names = [name for name in (*SETS, *FILES) if options.datasets is None or name in options.datasets]
    for name in names:
        if name in FILES and not (options.data and (options.data / FILES[name][0]).exists()):
            print(f"{name} left out: {FILES[name][0]} is not in the folder named by --data", file=sys.stderr)
            continue
        for fold in range(min(runs, FOLDS)):
            yield partial(one_fold, name, fold, options.data, options.samples)


def printed(name: str, column: str) -> str:
    """What Table 6.1 has for a data set; nothing for those of our own."""
    row = PUBLISHED.get(name)
    return "" if row is None else f"{row[column]:.2f}"


def report(records: list[Record]) -> str:
    names = list(dict.fromkeys(record["dataset"] for record in records))
    accuracy, inside, sizes = [], [], []
    for name in names:
        ours = select(records, dataset=name, method=NETWORK)
        rivals = [summary(select(records, dataset=name, method=method)) for method in RIVALS]
        balanced = select(records, dataset=name, method=BALANCED)
        train = Ours.of([record["train"] for record in ours])
        fitted = printed(name, "train"), f"{train.mean:.3f}"
        beside = summary(balanced) if balanced else None
        accuracy.append((name, printed(name, "acc"), summary(ours), beside, *fitted, *rivals))
        means = {key: float(np.mean([record[key] for record in ours])) for key in _MEANS}
        rising = f"{sum(record['rising'] for record in ours)} of {len(ours)}"
        pairs = [_pair(name, key, means) for key in _BESIDE]
        inside.append((name, *pairs, f"{means['exact']:.3f}", f"{means['relative']:.3f}", rising))
        found = sorted({record["sizes"] for record in ours}, key=lambda text: (text.count("-"), text))
        sizes.append((name, SIZES.get(name, ""), found[len(found) // 2]))
    header = (
        "data",
        "published",
        "network ± s.e.",
        "balanced labels",
        "published, training",
        "network, training",
        *RIVALS,
    )
    layers = ("data", "layers", "smallest width", "Hn of features", "C", "T", "MSE", "CE", "seconds")
    return "\n\n".join(
        [
            "### Test accuracy",
            markdown(header, accuracy),
            "### The last layer: published / ours",
            markdown((*layers, "Hn, exact", "H/H*", "H/H* rises in every layer"), inside),
            "### Components per layer",
            markdown(("data", "a published fold", "a fold of ours"), sizes),
        ]
    )


_BESIDE = ("layers", "width", "features", "cosine_ratio", "scatter", "mse", "ce", "seconds")
_MEANS = (*_BESIDE, "exact", "relative")


def _pair(name: str, key: str, means: dict[str, float]) -> str:
    there = printed(name, key)
    here = f"{means[key]:.1f}" if key in ("layers", "seconds") else f"{means[key]:.2f}"
    return f"{there} / {here}" if there else here


EXPERIMENT = Experiment(
    name="kdn_tables",
    title="Kernel dependence networks (Wu 2020, Table 6.1): ten folds",
    runs=FOLDS,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
