"""Direct linear forecasts of all horizons, from lags alone or from the states of a reservoir beside them.

:class:`DirectForecast` is one such model; :class:`NetworkEnsemble` is the mean of several with reservoirs of their own.
Both run through a window block by block, so that memory does not grow with the series.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.grams.tiles import slices
from gramian.reservoir.forecasting.direct import DirectSums, Solution, chosen, solved
from gramian.reservoir.forecasting.window import Layout, Window
from gramian.reservoir.reservoir import STRIP
from gramian.typing import Array

_GROUPS = (1, 2, 4, 8)
_LEARNED, _JUDGED = 30, 10  # fewest origins with known values to learn from and to judge by: fewer tell what they hold
_LOST = 0.08  # share of origins that a group of horizons may lose beside those of its own holes


class DirectForecast:
    """A linear forecast of every horizon from the columns of a layout and, with a reservoir, from its states.

    Parameters
    ----------
    layout : Layout
    reservoir : StateTransformer, optional
        Not fitted yet. Without it the model is a ridge regression on lags.
    horizons : list of int, optional
        Those that are forecast, all by default.
    """

    def __init__(self, layout: Layout, reservoir: Any = None, horizons: list[int] | None = None) -> None:
        self.layout, self.reservoir = layout, reservoir
        self.horizons = list(range(1, layout.horizon + 1)) if horizons is None else horizons
        self.groups: list[list[int]] = []
        self.solutions: list[Solution] = []
        self.penalties: list[Array] = []

    def start(self) -> Array | None:
        """The state before the first step."""
        return None

    def learn(self, window: Window, first: int, cut: int) -> tuple[Array, Array | None]:
        """Learn from the whole window, and forecast its end by what was learned before it.

        Parameters
        ----------
        window : Window
        first : int
            First origin to learn from.
        cut : int
            Step from which the series judges the penalties.

        Returns
        -------
        forecasts : ndarray (window.stop − cut, H, q)
            From the origins from ``cut`` on, by a model that has seen nothing from there on.
        state : ndarray or None
            Before the last H steps of the window, whose forecasts the steps to come will judge.
        """
        layout = self.layout
        if self.reservoir is not None:
            self.reservoir.fit(layout.inputs(window, slice(window.first, min(window.first + 2, window.stop))))
        self.groups = _groups(window, self.horizons, first)
        parts = [[DirectSums(len(group)) for _ in range(3)] for group in self.groups]
        before = None
        for rows, S, state in self._blocks(window, window.first, cut, None):
            self._add(window, rows, S, first, cut, parts)
            before = state
        for rows, S, _ in self._blocks(window, cut, window.stop, before):
            self._add(window, rows, S, first, cut, parts)
        self.solutions, self.penalties, totals = [], [], []
        for learned, between, judged in parts:
            relative, solution = _judged(learned, judged)
            self.penalties.append(relative)
            self.solutions.append(solution)
            totals.append(learned + between + judged)
        split = window.stop - layout.horizon
        forecasts, state = self.run(window, cut, split, before)
        last, _ = self.run(window, split, window.stop, state)
        self.solutions = [solved(total, relative) for total, relative in zip(totals, self.penalties, strict=True)]
        return np.concatenate([forecasts, last]), state

    def run(
        self, window: Window, start: int, stop: int, state: Array | None, ahead: int | None = None
    ) -> tuple[Array, Array | None]:
        """Forecasts (stop − start, H, q) from these origins, and the state after the last; ``state`` is that before.

        ``ahead`` is for the first horizons alone.
        """
        out = np.empty((stop - start, ahead or self.layout.horizon, window.values.shape[1]))
        for rows, S, after in self._blocks(window, start, stop, state):
            out[rows.start - start : rows.stop - start] = self.read(window, rows, S, ahead)
            state = after
        return out, state

    def read(self, window: Window, rows: slice, S: Array, ahead: int | None = None) -> Array:
        """Forecasts (n, H, q) from shared columns S (n, m) of these origins."""
        steps = np.arange(rows.start, rows.stop)
        most = ahead or self.layout.horizon
        out = np.full((len(steps), most, window.values.shape[1]), np.nan)
        for group, solution in zip(self.groups, self.solutions, strict=True):
            n = sum(h <= most for h in group)
            _, m, q = solution.shared.shape
            linear = S @ solution.shared[:n].transpose(1, 0, 2).reshape(m, n * q)
            for place, h in enumerate(group[:n]):
                own = self.layout.specific(window, steps, h) @ solution.own[place]
                anchors = self.layout.anchors(window, steps, h)
                out[:, h - 1] = linear[:, place * q : (place + 1) * q] + own + solution.intercept[place] + anchors
        return out

    def _blocks(
        self, window: Window, start: int, stop: int, state: Array | None
    ) -> Iterator[tuple[slice, Array, Array | None]]:
        """Steps, their shared columns and the state after them."""
        course = None if self.reservoir is None else self.reservoir.start(state, n_steps=len(window.values))
        for part in slices(stop - start, STRIP):
            rows = slice(start + part.start, start + part.stop)
            S = self.layout.common(window, rows)
            if course is not None:
                S = np.hstack([course.advance(self.layout.inputs(window, rows)), S])
            yield rows, S, None if course is None else course.state

    def _add(self, window: Window, rows: slice, S: Array, first: int, cut: int, parts: list[list[DirectSums]]) -> None:
        """Add a block of origins to the sums before, across and after the cut."""
        steps = np.arange(rows.start, rows.stop)
        for group, sums in zip(self.groups, parts, strict=True):
            usable = (steps >= first) & (steps + group[-1] < window.stop)
            usable[usable] = _targets_known(window, steps[usable], group)
            if not usable.any():
                continue
            kept = steps[usable]
            own = [self.layout.specific(window, kept, h) for h in group]
            targets = [window.values[kept + h - window.first] - self.layout.anchors(window, kept, h) for h in group]
            phase = np.where(kept >= cut, 2, np.where(kept + group[-1] >= cut, 1, 0))
            for number in range(3):
                here = phase == number
                if here.any():
                    sums[number].add(S[usable][here], [G[here] for G in own], [R[here] for R in targets])


class NetworkEnsemble:
    """The mean forecast of direct models with reservoirs of their own."""

    def __init__(self, members: list[DirectForecast]) -> None:
        self.members = members

    def start(self) -> list[Any]:
        return [None] * len(self.members)

    def learn(self, window: Window, first: int, cut: int) -> tuple[Array, list[Any]]:
        found = [member.learn(window, first, cut) for member in self.members]
        return np.mean([forecast for forecast, _ in found], axis=0), [state for _, state in found]

    def run(
        self, window: Window, start: int, stop: int, state: Any, ahead: int | None = None
    ) -> tuple[Array, list[Any]]:
        found = [member.run(window, start, stop, s, ahead) for member, s in zip(self.members, state, strict=True)]
        return np.mean([forecast for forecast, _ in found], axis=0), [after for _, after in found]


def _judged(learned: DirectSums, judged: DirectSums) -> tuple[Array, Solution]:
    if learned.shared.n_samples >= _LEARNED and judged.shared.n_samples >= _JUDGED:
        return chosen(learned, judged)
    raise TooShort("y has too few known values for a network; pass a longer series, or safeguard=True")


class TooShort(ValueError):
    """The series has too few known steps for a model."""


def _targets_known(window: Window, steps: Array, group: list[int]) -> Array:
    known = np.asarray(window.known.all(axis=1))
    return np.all([known[steps + h - window.first] for h in group], axis=0)


def _groups(window: Window, horizons: list[int], first: int) -> list[list[int]]:
    """Horizons that share their origins: all, or fewer where holes would leave too few origins for all."""
    known = window.known.all(axis=1)
    steps = np.arange(first, window.stop - horizons[-1])
    if known.all() or not len(steps):
        return [horizons]
    alone = float(_targets_known(window, steps, [1]).mean())
    for count in _GROUPS:
        size = -(-len(horizons) // count)
        share = float(_targets_known(window, steps, horizons[:size]).mean())
        if share >= alone - _LOST or size == 1:
            break
    return [horizons[i : i + size] for i in range(0, len(horizons), size)]
