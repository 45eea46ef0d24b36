"""How fast is HSIC, with a p-value, and how far does it go?

hyppo computes the unbiased estimate normalised (debiased CKA), from both kernel matrices; so does our side of that
question. Widths are given, because hyppo takes the width of X for Y too. Its sides are left out where it is not
installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.case import Case, Scores
from gramian.dependence import hsic, hsic_test
from gramian.kernels import RBF

WIDTH = 4.0
KERNELS: dict[str, Any] = {"kernel_x": RBF(WIDTH), "kernel_y": RBF(WIDTH)}
N_PERMUTATIONS = 200

Data = tuple[np.ndarray, np.ndarray]


def _samples(n: int) -> Data:
    """20 columns, and five that depend on some of them, with as much noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    return X, np.sin(X[:, :5]) + rng.normal(size=(n, 5))


def _unrelated(n: int) -> Data:
    X, _ = _samples(n)
    return X, np.random.default_rng(1).normal(size=(n, 5))


def _warm(n: int, data: Callable[[int], Data] = _samples) -> Callable[[], Data]:
    """The data, after the peer has compiled what it compiles once per process."""

    def make() -> Data:
        if find_spec("hyppo"):
            _hyppo().test(*_samples(50))
            _hyppo().test(*_samples(15), reps=2, auto=False)
        return data(n)

    return make


def _hyppo() -> Any:
    from hyppo.independence import Hsic

    return Hsic(compute_kernel="rbf", gamma=0.5 / WIDTH**2)


def _peers(**sides: Callable[[Data], Any]) -> dict[str, Callable[[Data], Any]]:
    return sides if find_spec("hyppo") else {}


def _trace(data: Data) -> float:
    """The formula as printed, with products of matrices."""
    K, L = (rbf_kernel(Z, gamma=0.5 / WIDTH**2) for Z in data)
    n = len(K)
    H = np.eye(n) - 1 / n
    return float(np.trace(K @ H @ L @ H) / (n - 1) ** 2)


def _pvalue(_: Data, result: Any) -> Scores:
    """Ours is an object, hyppo's a pair."""
    return {
        "statistic": float(getattr(result, "statistic", result[0] if isinstance(result, tuple) else np.nan)),
        "p-value": float(result.pvalue),
    }


def _value(_: Data, result: float) -> Scores:
    return {"hsic": float(result)}


def _timed(run: Callable[[Data], float]) -> Callable[[Data], tuple[float, float]]:
    """The result and the processor seconds of all threads."""

    def timed(data: Data) -> tuple[float, float]:
        start = time.process_time()
        result = run(data)
        return result, time.process_time() - start

    return timed


def _error(scores: dict[str, Scores]) -> None:
    exact = scores["gramian exact"]["hsic"]
    for side in scores.values():
        side["error %"] = 100 * (side["hsic"] / exact - 1)


def _large(name: str, width: float | str) -> Case:
    """What linear time costs in accuracy; the narrower the kernel, the more landmarks it would need."""
    options: dict[str, Any] = {"kernel_x": RBF(width), "kernel_y": RBF(width), "random_state": 0}

    def approximate(approximation: str | None = None) -> Callable[[Data], tuple[float, float]]:
        return _timed(lambda data: hsic(*data, estimator="unbiased", approximation=approximation, **options))

    return Case(
        name=name,
        question=f"Unbiased HSIC of 100,000 × 20 and 100,000 × 5, RBF({width!r}), in linear time beside exact",
        target="error <= 1 %, <= 5 CPU seconds, < 1 GB",
        data=lambda: _samples(100_000),
        sides={
            "gramian block": _timed(lambda data: hsic(*data, estimator="block", **options)),
            "gramian nystroem": approximate("nystroem"),
            "gramian fourier": approximate("fourier"),
            "gramian exact": approximate(),
        },
        score=lambda _, result: {"hsic": result[0], "cpu seconds": result[1]},
        compare=_error,
        repeats=1,
    )


CASES = [
    Case(
        name="hsic_alignment",
        question="Unbiased normalised HSIC of 5,000 × 20 and 5,000 × 5, RBF kernels, exact",
        target=">= 5× faster than hyppo, <= 600 MB",
        data=_warm(5_000),
        sides={
            "gramian": lambda data: hsic(*data, estimator="unbiased", normalized=True, **KERNELS),
            **_peers(hyppo=lambda data: _hyppo().statistic(*data)),
        },
        score=_value,
    ),
    Case(
        name="hsic_trace",
        question="Biased HSIC of the same, beside tr(KHLH) as printed",
        target="never form a product of n×n matrices",
        data=lambda: _samples(5_000),
        sides={"gramian": lambda data: hsic(*data, **KERNELS), "four products": _trace},
        score=_value,
    ),
    Case(
        name="hsic_gamma",
        question="Is 5,000 × 20 independent of 5,000 unrelated rows? p-value without permutations",
        target="no more kernel evaluations than the value itself",
        data=_warm(5_000, _unrelated),
        sides={
            "gramian gamma": lambda data: hsic_test(*data, method="gamma", **KERNELS),
            "gramian block": lambda data: hsic_test(*data, method="block", random_state=0, **KERNELS),
            **_peers(**{"hyppo chi2": lambda data: _hyppo().test(*data)}),
        },
        score=_pvalue,
    ),
    Case(
        name="hsic_permutation",
        question=f"The same for 2,000 rows by {N_PERMUTATIONS} permutations",
        target="kernels evaluated once",
        data=_warm(2_000, _unrelated),
        sides={
            "gramian": lambda data: hsic_test(*data, n_permutations=N_PERMUTATIONS, random_state=0, **KERNELS),
            **_peers(hyppo=lambda data: _hyppo().test(*data, reps=N_PERMUTATIONS, auto=False)),
        },
        score=_pvalue,
        repeats=1,
    ),
    _large("hsic_large", "median"),
    _large("hsic_large_narrow", WIDTH),
]
