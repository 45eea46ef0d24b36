"""What the experiments on joint ranking and clustering share: its settings, a measure of axes, and lists of names.

The thesis is S. Løkse, *Joint ranking and clustering based on Markov Chain transition probabilities learned from data*,
Master's thesis, UiT The Arctic University of Norway, 2014. "Joint" is its embedding, by the eigenvectors of
(1 + β) D − K, clustered by k-means on as many columns as clusters; "KPCA" is uncentred kernel PCA of the same kernel.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian import ClusterKernel, RankedClustering, SpectralClustering
from reproduce.baselines import N_INIT, Ensemble
from reproduce.table import Record, markdown

RESTART = 0.15


def joint(k: int, seed: int, **parameters: Any) -> RankedClustering:
    """The thesis' model, before it is fitted to given similarities; ``parameters`` change it."""
    settings = {"kernel": "precomputed", "normalized": False, "n_init": N_INIT, **parameters}
    return RankedClustering(k, restart=RESTART, random_state=seed, **settings)


def kpca(k: int, seed: int) -> SpectralClustering:
    """Its rival on the same similarities."""
    return SpectralClustering(k, kernel="precomputed", embedding="kpca", n_init=N_INIT, random_state=seed)


def full_covariances(ensemble: Ensemble, seed: int) -> ClusterKernel:
    """The cluster kernel as the thesis seems to have it: mixtures of full covariances, all rows, EM almost to its end.

    The thesis does not say. On its table of countries these settings come near its lists and diagonal ones do not; the
    ridge, 10 % of the variance, is the best of seven that were tried. Such mixtures are slow to fit, so there are ten
    restarts at most.
    """
    kernel = ensemble.kernel(seed)
    return kernel.set_params(
        n_restarts=min(10, ensemble.n_restarts), covariance_type="full", subsample=1.0, max_iter=50, reg_covar=0.1
    )


def quietly(model: RankedClustering, X: np.ndarray) -> RankedClustering:
    """Fit the thesis' model without its warning about axes of single samples: what that costs, the figures say."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*axes of the embedding went to", category=UserWarning)
        return model.fit(X)


def participation(Z: np.ndarray) -> np.ndarray:
    """Over how many samples each axis of an embedding spreads: (Σ z²)² / Σ z⁴, from 1 to their number."""
    squares = np.asarray(Z, np.float64) ** 2
    return squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)


def data_file(data: Path | None, name: str) -> Path | None:
    """A file of the data folder, or None if it is not there."""
    path = data / name if data is not None else None
    return path if path is not None and path.exists() else None


def figure(dataset: str, method: str, run: int, measure: str, value: Any) -> Record:
    """A record of something that is no score of the tables: a size, a name on a list, an eigenvalue."""
    return {"dataset": dataset, "method": method, "run": run, "measure": measure, "value": value}


# Lists beside published lists ----------------------------------------------------------------------------------------


def plain(name: str) -> str:
    """Letters and digits alone, for comparing names that were set or recognised differently."""
    return re.sub("[^a-z0-9]", "", name.lower())


def matched(found: Sequence[Sequence[str]], published: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Which found list answers to each published one, so that they share as many names as they can in all."""
    shared = np.array([[len(overlap(names, ours)) for ours in found] for names in published.values()])
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return {list(published)[row]: int(column) for row, column in zip(rows, columns, strict=True)}


def overlap(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """The names that also stand among the others."""
    known = {plain(other) for other in others}
    return [name for name in names if plain(name) in known]


def side_by_side(found: Mapping[str, Sequence[str]], published: Mapping[str, Sequence[str]]) -> str:
    """Both lists of each kind in one table; ours is bold where the published list has it too."""
    header = ["#"] + [f"{kind} {side}" for kind in published for side in ("published", "ours")]
    rows = []
    for place in range(max(map(len, published.values()))):
        cells: list[str] = []
        for kind, names in published.items():
            theirs, ours = ("".join(listed[place : place + 1]) for listed in (names, found[kind]))
            cells += [theirs, f"**{ours}**" if overlap([ours], names) else ours]
        rows.append((place + 1, *cells))
    return markdown(header, rows)
