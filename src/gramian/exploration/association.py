"""Which columns have to do with each other: the dependence of every two columns, by HSIC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramian import Nystroem, hsic
from gramian.dependence import UndefinedAlignmentError
from gramian.grams import FeatureGram
from gramian.kernels import RBF
from gramian.tables import DATE, NUMBER, Column
from gramian.typing import Array

_COLUMNS, _ROWS, _LANDMARKS = 24, 500, 12
_FEWEST_ROWS = 20  # with both values
_WORTH_TELLING = 0.3
_PAIRS = 5


@dataclass(frozen=True)
class Associations:
    """How much columns have to do with each other.

    Attributes
    ----------
    columns : list of str
    strength : ndarray (m, m)
        Root of the normalised HSIC, from 0 for none to 1 for columns that determine each other; NaN where too few rows
        have both. For two numbers on a straight line it is about the size of their correlation.
    """

    columns: list[str]
    strength: Array

    def strongest(self, most: int = _PAIRS) -> list[tuple[str, str, float]]:
        """Pairs of columns worth telling, strongest first."""
        first, second = np.triu_indices(len(self.columns), 1)
        values = np.nan_to_num(self.strength[first, second])
        order = np.argsort(-values, kind="stable")[:most]
        return [
            (self.columns[first[i]], self.columns[second[i]], float(values[i]))
            for i in order
            if values[i] >= _WORTH_TELLING
        ]


def associations(
    X: Array, feature_columns: Sequence[str], columns: Sequence[Column], order: Sequence[str], *, seed: int = 0
) -> Associations:
    """The strength of association of every two columns, from rows that have both.

    Parameters
    ----------
    X : ndarray (n, d)
        Prepared features, NaN where missing.
    feature_columns : sequence of str (d,)
        The column that each feature comes from.
    columns : list of Column
    order : sequence of str
        Columns, most important first; the first 24 are compared.
    seed : int, default 0
        For the choice of at most 500 rows.
    """
    rows = np.arange(len(X))
    if len(rows) > _ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, _ROWS, replace=False))
    kinds = {column.name: column.kind for column in columns}
    of = np.asarray(feature_columns)
    names: list[str] = []
    features: list[Array] = []
    known: list[Array] = []
    for name in order:
        values = X[rows][:, of == name]
        have = np.asarray(np.isfinite(values).all(axis=1))
        if len(names) == _COLUMNS or have.sum() < _FEWEST_ROWS or not np.ptp(values[have], axis=0).any():
            continue
        names.append(name)
        known.append(have)
        features.append(_features(values, have, kinds[name]))
    strength = np.eye(len(names))
    for i in range(len(names)):
        for j in range(i):
            both = known[i] & known[j]
            strength[i, j] = strength[j, i] = _strength(features[i][both], features[j][both])
    return Associations(names, strength)


def _features(values: Array, have: Array, kind: str) -> Array:
    """Features whose linear kernel sees any dependence: those of an RBF for numbers, the levels of a category."""
    if kind not in (NUMBER, DATE):
        return np.where(have[:, None], values, 0.0)
    out = np.zeros((len(values), _LANDMARKS))
    kernel = Nystroem(_LANDMARKS, kernel=RBF(1.0), selection="kmeans", random_state=0).fit(values[have])
    found = kernel.features(values[have])
    out[np.ix_(have, np.arange(found.shape[1]))] = found
    return out


def _strength(first: Array, second: Array) -> float:
    if len(first) < _FEWEST_ROWS:
        return float("nan")
    try:
        value = hsic(
            FeatureGram(first),
            FeatureGram(second),
            kernel_x="precomputed",
            kernel_y="precomputed",
            estimator="unbiased",
            normalized=True,
        )
    except UndefinedAlignmentError:
        return 0.0
    return float(np.sqrt(np.clip(value, 0.0, 1.0))) if np.isfinite(value) else 0.0
