"""Studies with reservoirs: invariants beside nolds, genetic beside random search, and whether a reduction helps.

Every side measures its own processor time. nolds takes part where it is installed (0.5.2; 0.6 does not import on
Python 3.11). Series and errors are those of :mod:`benchmarks.reservoir`.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.svm import NuSVR
from threadpoolctl import threadpool_limits

from benchmarks.case import Case, Scores
from benchmarks.reservoir import HORIZONS, real_series
from gramian import EchoStateNetwork
from gramian.datasets import make_lorenz, make_narma
from gramian.metrics import nrmse
from gramian.reservoir import GeneticSearch, search_space
from gramian.reservoir.dynamics import correlation_dimension, delay_embedding, lyapunov_from_data

STEP, THEILER, DELAY = 0.02, 50, 8
DELAYS = 6  # Takens: more than twice the dimension, 2.05; the exponent needs it
SEEDS, STEPS, UNITS = 4, 3000, 200


# Invariants ------------------------------------------------------------------------------------------------


def _clocked(work: Any) -> tuple[float, float]:
    with threadpool_limits(1):
        start = time.process_time()
        return work(), time.process_time() - start


def _trajectories() -> list[np.ndarray]:
    """Eight of 60 units of time each, for the exponent of one is a tenth off by its shortness alone."""
    starts = np.random.default_rng(0).normal(size=(8, 3))
    return [make_lorenz(3000, step=STEP, start=tuple(start)) for start in starts]


def _invariants(dimension: Any, exponent: Any, trajectories: list[np.ndarray]) -> dict[str, float]:
    """Means over the trajectories; seconds are those of one."""
    dimension(trajectories[0])  # trees and folders are loaded
    found = [_clocked(lambda L=L: dimension(L)) for L in trajectories]
    rates = [_clocked(lambda L=L: exponent(L)) for L in trajectories]
    (D, seconds), (rate, more) = np.mean(found, axis=0), np.mean(rates, axis=0)
    spread = float(np.std([each for each, _ in rates]))
    return {
        "dimension": D,
        "dimension_seconds": seconds,
        "exponent": rate,
        "exponent_deviation": spread,
        "exponent_seconds": more,
    }


def _ours(coordinates: str, trajectories: list[np.ndarray]) -> dict[str, float]:
    def points(L: np.ndarray) -> np.ndarray:
        return L if coordinates == "all" else delay_embedding(L[:, 0], DELAYS, DELAY)

    return _invariants(
        lambda L: correlation_dimension(points(L), theiler=THEILER).dimension,
        lambda L: lyapunov_from_data(points(L), step=STEP, theiler=THEILER).exponent,
        trajectories,
    )


def _nolds(trajectories: list[np.ndarray]) -> dict[str, float]:
    import nolds

    return _invariants(
        lambda L: float(nolds.corr_dim(L[:, 0], DELAYS)),
        lambda L: float(
            nolds.lyap_r(L[:, 0], emb_dim=DELAYS, lag=DELAY, min_tsep=THEILER, tau=STEP, trajectory_len=100)
        ),
        trajectories,
    )


def _invariant_sides() -> dict[str, Any]:
    sides: dict[str, Any] = {
        "gramian, three coordinates": partial(_ours, "all"),
        "gramian, delays of one": partial(_ours, "one"),
    }
    return sides | ({"nolds, delays of one": _nolds} if find_spec("nolds") else {})


def _rounded(_: Any, result: dict[str, float]) -> Scores:
    return {name: round(value, 4) for name, value in result.items()}


def _large(L: np.ndarray) -> dict[str, float]:
    found, seconds = _clocked(lambda: correlation_dimension(L, theiler=THEILER))
    return {"dimension": found.dimension, "dimension_seconds": seconds}


# Search ----------------------------------------------------------------------------------------------------


def _search(method: str, narma: Any) -> dict[str, float]:
    """300 candidates that differ."""
    U, y = narma
    network = EchoStateNetwork(readout=NuSVR(), connectivity=0.25, washout=100, random_state=0)
    search = GeneticSearch(
        network,
        param_space=search_space(readout="nu_svr"),
        n_generations=25,
        n_offspring=10,
        n_evaluations=1,
        method=method,
        refit=False,
        random_state=0,
    )
    _, seconds = _clocked(lambda: search.fit(U, y))
    return {
        "validation_nrmse": search.best_error_,
        "first_50": float(search.history_["best"][0]),
        "evaluations": float(search.history_["evaluations"][-1]),
        "processor_seconds": seconds,
    }


# Does a reduction help? ------------------------------------------------------------------------------------


def _reduced(reduction: str | None, readout: str, data: dict[str, np.ndarray]) -> dict[str, str]:
    """NRMSE of the last fifth at three horizons, mean of networks ± standard error; the first steps alone are used."""
    found = {}
    for name, series in data.items():
        x, horizons = series[:STEPS], HORIZONS[name]
        most, cut = max(horizons), int(0.8 * min(STEPS, len(series)))
        U, Y = x[:-most, None], np.column_stack([x[h : len(x) - most + h] for h in horizons])
        n, errors = cut - most, []
        for seed in range(SEEDS):
            network = EchoStateNetwork(
                UNITS, reduction=reduction, readout=readout, bias_scaling=0.2, random_state=seed
            ).fit(U[:n], Y[:n])
            ours = network.predict(U[n:])[most:]
            errors.append([nrmse(Y[cut:, j], ours[:, j]) for j in range(len(horizons))])
        mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / np.sqrt(SEEDS)
        found[name] = " ".join(f"{m:.4f}±{s:.4f}" for m, s in zip(mean, spread, strict=True))
    return found


def _study(work: Any, data: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, seconds = _clocked(lambda: work(data))
    return found | {"processor_seconds": round(seconds, 1)}


def _told(_: Any, result: Scores) -> Scores:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in result.items()}


CASES = [
    Case(
        name="reservoir_invariants",
        question="Dimension and largest Lyapunov exponent of 3,000 points of Lorenz (2.05, 0.906), mean of 8 courses",
        target="dimension 2.05 ± .08, exponent .906 ± 10 %, dimension >= 10× faster",
        data=_trajectories,
        sides=_invariant_sides(),
        score=_rounded,
        repeats=1,
    ),
    Case(
        name="reservoir_dimension",
        question="Correlation dimension of 100,000 points of Lorenz",
        target="<= 20 s, <= 500 MB",
        data=partial(make_lorenz, 100_000, step=STEP),
        sides={"gramian": _large},
        score=_rounded,
        repeats=1,
    ),
    Case(
        name="reservoir_search",
        question="A network with a ν-SVR for 2,500 steps of NARMA: 300 candidates in the published box",
        target="genetic not worse than random, validation NRMSE <= .10",
        data=partial(make_narma, 2500, random_state=0),
        sides={method: partial(_study, partial(_search, method)) for method in ("genetic", "random")},
        score=_told,
        repeats=1,
    ),
    Case(
        name="reservoir_reduction",
        question="Does a reduction of the states help? 3,000 steps, 200 units, four networks, three horizons each",
        target="an answer with standard errors",
        data=real_series,
        sides={
            f"{readout}, {reduction or 'none'}": partial(_study, partial(_reduced, reduction, readout))
            for readout in ("ridge", "nu_svr")
            for reduction in (None, "pca", "kpca")
        },
        score=_told,
        repeats=1,
    ),
]
