"""How an echo state network learns: one call of ``fit`` or ``partial_fit``, step by step.

Used by :mod:`gramian.reservoir.network` alone, whose parameters it reads and whose learned attributes it returns.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.configuration import require_memory
from gramian.grams.tiles import slices
from gramian.landmarks import NormalEquations
from gramian.lssvm.preparation import Standardization
from gramian.progress import steps
from gramian.reservoir import reductions
from gramian.reservoir.readouts import LINEAR, StreamedReadout, check_regularization, fitted_regressor
from gramian.reservoir.reservoir import STRIP
from gramian.reservoir.sequences import Sequences
from gramian.typing import Array

_JUDGED = 0.2  # share of the steps, the last ones, that judge the penalty
_EXPLODED = 1e6  # deviations of the targets from which a closed loop has diverged
_FADED = 1e-3  # echo state index up to which the initial state is forgotten

OPTIONAL = ("coef_", "intercept_", "regularization_", "tuning_", "leak_rate_", "bias_scaling_")
"""Attributes that not every network has; those of an earlier fit must not stay."""


class Learner:
    """One call of ``fit`` or ``partial_fit``; :meth:`learn` returns what the network then knows."""

    def __init__(self, network: Any, sequences: Sequences, targets: list[Array], *, again: bool) -> None:
        self.network, self.sequences, self.again = network, sequences, again
        self.streams = isinstance(network.readout, str) and network.readout in LINEAR
        draft = self.draft = copy.copy(network)  # a refused call leaves the network as it was
        if not again:
            for name in OPTIONAL:
                vars(draft).pop(name, None)
            draft.reservoir_ = network._new_reservoir()
            standard = network.standardize
            draft._input_scaling = Standardization(np.concatenate(sequences.parts)) if standard else None
            draft._target_scaling = Standardization(np.concatenate(targets)) if standard else None
            draft.n_outputs_ = targets[0].shape[1]
        self.inputs = [draft._scaled(part) for part in sequences.parts]
        self.targets = [draft._teacher(part) for part in targets]
        if not again:
            draft.reservoir_.fit(self.inputs, self.targets)
        self.goes_on = again and sequences.single
        self.washouts = [0] if self.goes_on else [self._washout(i) for i in range(len(self.inputs))]
        self.n_kept = sum(len(rows) - w for rows, w in zip(self.inputs, self.washouts, strict=True))
        if not again:
            self._check_echo()
            largest = max(float(np.abs(part).max()) for part in self.targets)
            draft._bound = _EXPLODED * (1.0 if standard else max(largest, 1e-300))
            draft._dtype = sequences.dtype

    def learn(self) -> dict[str, Any]:
        draft = self.draft
        if not self.again:
            self._fit_reduction()
        regularization = check_regularization(self.network.regularization)
        if self.streams:
            self._stream(regularization)
        else:
            self._fit_regressor(regularization)
        draft.washout_ = max(self.washouts) if not self.again else draft.washout_
        return {name: value for name, value in vars(draft).items() if name not in self.network.get_params(deep=False)}

    # Steps -------------------------------------------------------------------------------------------------

    def _washout(self, number: int) -> int:
        length = len(self.inputs[number])
        given = self.network.washout
        washout = self.draft.reservoir_.washout_of(length) if given is None else int(given)
        if washout >= length:
            which = "" if self.sequences.single else f" of sequence {number}"
            raise ValueError(f"washout={washout} leaves none of the {length} rows of X{which}; pass washout < {length}")
        return washout

    def _check_echo(self) -> None:
        reservoir = self.draft.reservoir_
        if getattr(reservoir, "spectral_radius", 0.0) <= 1:
            return
        index = reservoir._echo(self.inputs[0][: self.washouts[0] + 1])
        if index > _FADED:
            warnings.warn(
                f"after a washout of {self.washouts[0]} steps, states that began elsewhere are still {index:.2g} apart "
                "(echo_state_index); pass a smaller spectral_radius, a larger input_scaling or a longer washout",
                stacklevel=6,
            )

    def _blocks(self) -> Iterator[tuple[Array, Array, Array]]:
        """States, scaled inputs and targets of the steps that are learned from, by blocks; the run's end is kept."""
        draft = self.draft
        reservoir = draft.reservoir_
        rng = reservoir.noise_source(use=1)
        with steps("Running the reservoir", total=self.sequences.n_rows, verbose=self.network.verbose) as advance:
            for rows, targets, washout in zip(self.inputs, self.targets, self.washouts, strict=True):
                state = self.network.state_ if self.goes_on else None
                first = self.network._last_target if self.goes_on else np.zeros(draft.n_outputs_)
                course = reservoir.start(state, n_steps=self.sequences.n_rows, rng=rng)
                for block in slices(len(rows), STRIP):
                    before = first if block.start == 0 else targets[block.start - 1]
                    fed = np.vstack([before[None], targets[block.start : block.stop - 1]])
                    H = course.advance(rows[block], fed)
                    skip = max(washout - block.start, 0)
                    if skip < len(H):
                        yield H[skip:], rows[block][skip:], targets[block][skip:]
                    advance(block.stop - block.start)
                draft.state_, draft._last_target = course.state, targets[-1].copy()

    def _fit_reduction(self) -> None:
        draft = self.draft
        reduction, n_states = self.network.reduction, draft.reservoir_.n_states_
        draft.reduction_, draft._folded, draft.n_components_ = None, False, n_states
        if reduction is None:
            return
        if isinstance(reduction, str):
            count = reductions.count_components(reduction, self.network.n_components, n_states, self.n_kept)
            draft.n_components_ = count
            if reduction == "pca" and self.streams:
                draft._folded = True  # its directions come with the sums of the readout
                return
        if reduction == "pca":
            sums = NormalEquations()
            for H, _, Y in self._blocks():
                sums.add(H, Y)
            draft.reduction_ = reductions.PrincipalStates(sums, n_states, count)
            draft.n_components_ = draft.reduction_.components.shape[1]
            return
        most = reductions.MOST_KERNEL_STATES if reduction == "kpca" else self.n_kept
        H, Y = self._sample(min(most, self.n_kept))
        fresh = reductions.new_reduction(reduction, count if isinstance(reduction, str) else None)
        draft.reduction_ = fresh.fit(H, Y[:, 0] if Y.shape[1] == 1 else Y)
        draft.n_components_ = np.asarray(draft.reduction_.transform(H[:1])).shape[1]

    def _sample(self, n: int) -> tuple[Array, Array]:
        """States and targets of n steps, evenly spread over those that are learned from."""
        n_states = self.draft.reservoir_.n_states_
        require_memory(8.0 * n * n_states, f"the states of {n} steps", "pass reduction=None or 'pca', which streams")
        chosen = np.linspace(0, self.n_kept - 1, n).round().astype(int)
        held, targets, seen = [], [], 0
        for H, _, Y in self._blocks():
            here = chosen[(chosen >= seen) & (chosen < seen + len(H))] - seen
            held.append(H[here])
            targets.append(Y[here])
            seen += len(H)
        return np.concatenate(held), np.concatenate(targets)

    def _stream(self, regularization: float | None) -> None:
        draft, network = self.draft, self.network
        n_states = draft.reservoir_.n_states_
        if self.again:
            readout = copy.deepcopy(network.readout_)
        else:
            projection = reductions.StateProjection(n_states, draft.n_components_) if draft._folded else None
            readout = StreamedReadout(network.readout, regularization, projection)
        learned, judged_from = 0, self.n_kept - int(_JUDGED * self.n_kept)
        for H, U, Y in self._blocks():
            S = draft._features(H, U)
            cut = min(max(judged_from - learned, 0), len(S))
            if cut:
                readout.add(S[:cut], Y[:cut])
            if cut < len(S):
                readout.add(S[cut:], Y[cut:], judge=True)
            learned += len(S)
        draft.readout_ = readout
        draft.coef_, draft.intercept_, penalties = readout.solve()
        draft.regularization_ = float(penalties[0]) if len(penalties) == 1 else penalties
        scaling = draft._target_scaling
        finite = (
            np.ones(draft.n_outputs_) if scaling is None else np.where(np.isfinite(scaling.scale), scaling.scale, 0.0)
        )
        draft.tuning_ = readout.tuning(finite)
        if draft._folded:
            asked: Any = readout.projection
            draft.reduction_ = reductions.PrincipalStates(readout.sums, n_states, asked.n_components)
            draft.n_components_ = draft.reduction_.components.shape[1]  # fewer where states span fewer

    def _fit_regressor(self, regularization: float | None) -> None:
        draft = self.draft
        width = draft.n_components_ + self.inputs[0].shape[1]
        require_memory(
            8.0 * self.n_kept * width, f"the states of {self.n_kept} steps", f"pass a readout from {', '.join(LINEAR)}"
        )
        blocks = [(draft._features(H, U), Y) for H, U, Y in self._blocks()]
        S, Y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        ratio = float(getattr(draft.reservoir_, "teacher_scaling", 1.0))
        draft.readout_ = fitted_regressor(self.network.readout, regularization, S, ratio * Y)
