"""``python -m benchmarks.boosting [--splits 10] [table ...]``: gramian.learn beside gradient boosting as it comes.

Both learn from 70 % of the rows and are judged on the others; classes have their shares on both sides. Categories are
declared to the boosting, holes are left to both. The tables come from the folder ``uci`` of the data beside the
project, or of GRAMIAN_DATA. Printed as rows of the table in ``docs/guide/learn.md``: means over the splits, and the
standard error of the difference of the shares that are right.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import gramian

DATA = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TABLES = ("heart_cleveland", "horse_colic", "pima", "vehicle", "car_evaluation", "adult")
TARGET = "label"


def one_split(table: pd.DataFrame, seed: int) -> list[float]:
    """Share right and log loss of either, and the processor time of either."""
    train, test = train_test_split(table, test_size=0.3, random_state=seed, stratify=table[TARGET])
    start = time.process_time()
    said = gramian.learn(train, target=TARGET, category=[TARGET]).predict(test.drop(columns=TARGET))
    ours = time.process_time() - start
    names = [name for name in said if str(name).startswith("probability_")]
    shares = said[names].to_numpy(float)
    classes = [name.removeprefix("probability_") for name in names]
    text = [name for name in table if name != TARGET and not pd.api.types.is_numeric_dtype(table[name])]
    kinds = {name: pd.CategoricalDtype(sorted(table[name].dropna().unique())) for name in text}
    start = time.process_time()
    rival = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    rival.fit(train.drop(columns=TARGET).astype(kinds), train[TARGET])
    theirs = time.process_time() - start
    rows = test.drop(columns=TARGET).astype(kinds)
    return [
        float(np.mean(said["prediction"].astype(str).to_numpy() == test[TARGET].to_numpy())),
        float(rival.score(rows, test[TARGET])),
        float(log_loss(test[TARGET], shares / shares.sum(axis=1, keepdims=True), labels=classes)),
        float(log_loss(test[TARGET], rival.predict_proba(rows), labels=list(rival.classes_))),
        ours,
        theirs,
    ]


def main() -> None:
    """Print a row for each table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("tables", nargs="*", default=TABLES)
    options = parser.parse_args()
    for name in options.tables:
        table = pd.read_csv(DATA / "uci" / f"{name}.csv.gz").astype({TARGET: str})
        found = np.array([one_split(table, seed) for seed in range(options.splits)])
        gap = found[:, 0] - found[:, 1]
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        means = " | ".join(f"{value:.3f}" for value in found.mean(axis=0)[:4])
        seconds = found.mean(axis=0)[4:]
        print(
            f"| {name} | {len(table):,} | {means} | gap {gap.mean():.3f} ± {error:.3f}; "
            f"{seconds[0]:.1f} s, {seconds[1]:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
