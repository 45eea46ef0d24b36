"""A benchmark is a question, the data for it, and two or more sides that answer it.

Every side runs in a process of its own, so that peak memory is its own and no cache is shared; what it returns is
scored outside the clock. The first side is gramian.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

Scores = dict[str, Any]


def as_it_is(_: Any, result: Scores) -> Scores:
    """The score of a side that returns its figures."""
    return result


def over_states(answer: Callable[[int], dict[str, float]], states: Iterable[int], digits: int = 4) -> Scores:
    """Mean and range of every figure of an answer over random states."""
    found = [answer(state) for state in states]
    return {
        name: {
            "mean": round(float(np.mean([one[name] for one in found])), digits),
            "range": [round(float(f([one[name] for one in found])), digits) for f in (min, max)],
        }
        for name in found[0]
    }


@dataclass(frozen=True)
class Case:
    """One question to measure.

    Parameters
    ----------
    name : str
        What ``make bench ONLY=name`` selects.
    question, target : str
        As a user would ask it, and what we promised to reach.
    data : callable
        Makes the input, outside the clock.
    sides : dict of callables
        Name → function of the data; timed. The first is ours.
    score : callable
        (data, result) → JSON-able scores; not timed.
    compare : callable, optional
        Given the scores of all sides, adds what needs a reference (an error, say).
    repeats : int
        Fresh processes per side; the median time counts, also of scores that end in ``_seconds``. Other scores are
        those of the first process.
    """

    name: str
    question: str
    target: str
    data: Callable[[], Any]
    sides: dict[str, Callable[[Any], Any]]
    score: Callable[[Any, Any], Scores]
    compare: Callable[[dict[str, Scores]], None] | None = None
    repeats: int = 3

    def measure(self, module: str) -> list[dict[str, Any]]:
        """Run all sides, interleaved, and return one row per side."""
        runs: dict[str, list[dict[str, Any]]] = {side: [] for side in self.sides}
        for _ in range(self.repeats):
            for side in self.sides:
                print(f"{self.name}: {side} …", file=sys.stderr, flush=True)
                runs[side].append(_run_side(module, self.name, side))
        scores = {side: _in_the_middle([part["scores"] for part in parts]) for side, parts in runs.items()}
        if self.compare is not None:
            self.compare(scores)
        ours = median(part["seconds"] for part in next(iter(runs.values())))
        rows = []
        for side, parts in runs.items():
            seconds = median(part["seconds"] for part in parts)
            rows.append(
                {
                    "case": self.name,
                    "question": self.question,
                    "target": self.target,
                    "side": side,
                    "seconds": round(seconds, 4),
                    "spread": [round(min(p["seconds"] for p in parts), 4), round(max(p["seconds"] for p in parts), 4)],
                    "times_slower_than_ours": round(seconds / ours, 3),
                    "peak_mb": round(median(part["peak_mb"] for part in parts)),
                    "before_mb": round(median(part["before_mb"] for part in parts)),
                    "scores": {key: value for key, value in scores[side].items() if not key.startswith("_")},
                }
            )
        return rows


def _in_the_middle(runs: list[Scores]) -> Scores:
    if len(runs) == 1:
        return runs[0]
    seconds = {key: round(median(run[key] for run in runs), 4) for key in runs[0] if key.endswith("_seconds")}
    return runs[0] | seconds


def _run_side(module: str, case: str, side: str) -> dict[str, Any]:
    # On a virtual machine the first touch of memory the host has not given yet costs seconds, to whoever comes first.
    np.ones(300_000_000).sum()
    command = [sys.executable, "-m", "benchmarks.worker", module, case, side]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{case}, {side} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
