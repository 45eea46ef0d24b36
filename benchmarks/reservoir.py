"""Echo state networks beside reservoirpy, lagged ridge and products of lags: seconds, memory and errors.

Every side measures its own processor time, because the clock of a busy machine tells little. reservoirpy takes part
where it is installed; the monthly sunspots are in the folder of data sets beside the repository.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.case import Case, Scores
from gramian import EchoStateNetwork, NextGenerationReservoir
from gramian.datasets import load_series, make_mackey_glass, read_csv
from gramian.metrics import nrmse
from gramian.reservoir import _update

SERIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "series"
AHEAD, TEST, UNITS = 10, 3000, 500
HORIZONS = {"laser": (1, 5, 10), "mackey_glass": (1, 17, 84), "sunspots": (1, 6, 12), "melbourne": (1, 3, 7)}


def _clocked(work: Callable[[], Any]) -> dict[str, Any]:
    with threadpool_limits(1):
        start = time.process_time()
        result = work()
        return {"result": result, "processor": time.process_time() - start}


def _twice(fit: Callable[[], Any], predict: Callable[[], Any]) -> dict[str, Any]:
    """Clock a first fit, which loads what is loaded once, such as the loops of numba, and a second one."""
    first = _clocked(fit)["processor"]
    return _clocked(fit) | {"first": first, "result": predict()}


# Speed -----------------------------------------------------------------------------------------------------


def _mackey_glass(n: int) -> np.ndarray:
    return make_mackey_glass(n + TEST)[:, None]


def _network(x: np.ndarray) -> Any:
    """Ten steps ahead; a bias, because without one states are odd functions of the input."""
    n = len(x) - TEST
    network = EchoStateNetwork(UNITS, bias_scaling=0.2, random_state=0)
    return _twice(lambda: network.fit(x[: n - AHEAD], x[AHEAD:n, 0]), lambda: network.predict(x[n - AHEAD : -AHEAD]))


def _loaded(x: np.ndarray) -> Any:
    import numba  # noqa: F401  # a run of this length goes through it only where it is loaded already

    return _network(x)


def _plain(x: np.ndarray) -> Any:
    _update.compiled = lambda: None  # as if numba were not installed
    return _network(x)


def _reservoirpy(x: np.ndarray) -> Any:
    from reservoirpy.nodes import Reservoir, Ridge

    n = len(x) - TEST
    network = Reservoir(UNITS, lr=1.0, sr=0.9, input_scaling=0.5, seed=0) >> Ridge(ridge=1e-6)
    return _twice(
        lambda: network.fit(x[: n - AHEAD], x[AHEAD:n], warmup=100), lambda: network.run(x[n - AHEAD : -AHEAD])[:, 0]
    )


def _fit_score(x: np.ndarray, result: Any) -> Scores:
    return {
        "first_fit_processor_seconds": round(result["first"], 2),
        "fit_processor_seconds": round(result["processor"], 2),
        "nrmse": nrmse(x[-TEST:, 0], result["result"]),
    }


def _fit_sides() -> dict[str, Any]:
    sides: dict[str, Any] = {"gramian": _network, "gramian, numba loaded": _loaded, "gramian without numba": _plain}
    return sides | ({"reservoirpy": _reservoirpy} if find_spec("reservoirpy") else {})


# Many networks ---------------------------------------------------------------------------------------------


def _one_of_many(x: np.ndarray, seed: int) -> np.ndarray:
    network = EchoStateNetwork(300, bias_scaling=0.2, random_state=seed).fit(x[:10_000], x[10:10_010, 0])
    return network.predict(x[10_000:10_100])


def _many(n_jobs: int, x: np.ndarray) -> Any:
    import numba  # noqa: F401  # its loop holds no lock; without it, one thread would wait for the other

    # The limit is of the whole process, and setting it takes as long as half a network: once, around all of them.
    with threadpool_limits(1):
        _one_of_many(x, 0)  # the loop is loaded
        walls = []
        for _ in range(2):  # in the first run most memory is new to the process, which takes a quarter of its time
            start = time.perf_counter()
            found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(_one_of_many)(x, seed) for seed in range(32))
            walls.append(time.perf_counter() - start)
        return {"result": np.array(found), "first": walls[0], "wall": walls[1]}


def _many_score(x: np.ndarray, result: Any) -> Scores:
    spread = [nrmse(x[10_010:10_110, 0], found) for found in result["result"]]
    return {
        "first_wall_seconds": round(result["first"], 2),
        "wall_seconds": round(result["wall"], 2),
        "mean_nrmse": float(np.mean(spread)),
        "_sum": result["result"].sum(),
    }


def _same_numbers(scores: dict[str, Scores]) -> None:
    first, *others = scores.values()
    for other in others:
        other["same_numbers"] = bool(other["_sum"] == first["_sum"])


# Errors ----------------------------------------------------------------------------------------------------


def real_series() -> dict[str, np.ndarray]:
    series = {
        "laser": load_series("santafe_laser").values[:, 0],
        "mackey_glass": make_mackey_glass(10_000),
        "melbourne": load_series("melbourne_temperature").values[:, 0],
    }
    if (SERIES / "sunspots_monthly.csv.gz").exists():
        series["sunspots"] = read_csv(SERIES / "sunspots_monthly.csv.gz").X[:, 1]
    return series


def _forecasts(make: Callable[[int], Any], n_networks: int, data: dict[str, np.ndarray]) -> Any:
    """NRMSE on the last fifth at three horizons, of the mean of the networks' forecasts, and processor seconds."""

    def work() -> Any:
        found = {}
        for name, x in data.items():
            horizons, cut = HORIZONS[name], int(0.8 * len(x))
            most = max(horizons)
            U, Y = x[:-most, None], np.column_stack([x[h : len(x) - most + h] for h in horizons])
            n = cut - most
            fits = [make(seed).fit(U[:n], Y[:n]) for seed in range(n_networks)]
            mean = np.mean([network.predict(U[n:])[most:] for network in fits], axis=0)
            found[name] = " ".join(f"{nrmse(Y[cut:, j], mean[:, j]):.4f}" for j in range(len(horizons)))
        return found

    return _clocked(work)


def _default(seed: int) -> Any:
    return EchoStateNetwork(random_state=seed)


def _biased(seed: int) -> Any:
    return EchoStateNetwork(bias_scaling=0.5, leak_rate=0.5, random_state=seed)


def _chosen(seed: int) -> Any:
    return EchoStateNetwork(leak_rate="auto", bias_scaling="auto", random_state=seed)


def _lagged(degree: int, seed: int) -> Any:
    return EchoStateNetwork(reservoir=NextGenerationReservoir(20, degree=degree))


def _forecast_score(_: Any, result: Any) -> Scores:
    return {"processor_seconds": round(result["processor"], 2), **result["result"]}


CASES = [
    Case(
        name="reservoir_fit",
        question="Fit 100,000 steps of Mackey–Glass ten ahead, 500 units, ridge; its penalty chosen (the peer's given)",
        target=">= 3× faster (1.7× without numba), <= 250 MB, NRMSE <= .004",
        data=partial(_mackey_glass, 100_000),
        sides=_fit_sides(),
        score=_fit_score,
        repeats=1,
    ),
    Case(
        name="reservoir_million",
        question="Fit 1,000,000 steps, 500 units",
        target="linear in the steps, <= 400 MB",
        data=partial(_mackey_glass, 1_000_000),
        sides={"gramian": _network},
        score=_fit_score,
        repeats=1,
    ),
    Case(
        name="reservoir_many",
        question="32 networks of 300 units, 10,000 steps, in two threads or one after another (needs two quiet cores)",
        target=">= 1.6× less wall time, same numbers",
        data=partial(_mackey_glass, 10_000),
        sides={"two threads": partial(_many, 2), "a loop": partial(_many, 1)},
        score=_many_score,
        compare=_same_numbers,
        repeats=1,
    ),
    Case(
        name="reservoir_errors",
        question="NRMSE on the last fifth: laser 1/5/10, Mackey–Glass 1/17/84, sunspots 1/6/12, Melbourne 1/3/7 ahead",
        target=(
            "laser <= .050/.25/.35, Mackey–Glass 84 <= .09, with nothing set; sunspots 12 <= .45, Melbourne 7 <= .65"
        ),
        data=real_series,
        sides={
            "gramian, defaults, mean of 4": partial(_forecasts, _default, 4),
            "gramian, defaults, one": partial(_forecasts, _default, 1),
            "gramian, bias and leak 0.5, mean of 4": partial(_forecasts, _biased, 4),
            "gramian, leak and bias chosen (auto), mean of 4": partial(_forecasts, _chosen, 4),
            "20 lags and their products": partial(_forecasts, partial(_lagged, 2), 1),
            "20 lags": partial(_forecasts, partial(_lagged, 1), 1),
        },
        score=_forecast_score,
        repeats=1,
    ),
]
