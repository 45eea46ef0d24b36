"""The solution of a machine: weights of rows, the sample with its kernel, coefficients, and what is left out.

:class:`Solution` holds the factors of the bordered systems of one sample; :mod:`gramian.lssvm.machine` makes it, and
regression and classification ask it for residuals of rows left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gramian.grams.base import Gram
from gramian.kernels import Expansion, Kernel
from gramian.lssvm.indefinite import Repaired
from gramian.lssvm.preparation import Preparation
from gramian.lssvm.system import BorderedSystem, left_out
from gramian.typing import Array, Matrix, RandomState


@dataclass
class Weights:
    """How much each row counts: copies of it, and the share of its error.

    Parameters
    ----------
    counts : ndarray (n,), optional
        Whole numbers; a row of 2 is the row given twice.
    importance : ndarray (n,), optional
        Any numbers > 0; leaving the row out leaves all of it out.
    """

    counts: Array | None = None
    importance: Array | None = None

    @classmethod
    def of(cls, sample_weight: Array | None, importance: Array | None = None) -> Weights:
        """Weights that are all whole numbers count copies; others say how much an error counts."""
        if sample_weight is None:
            return cls(None, importance)
        weights = sample_weight.astype(np.float64)
        if np.array_equal(weights, np.round(weights)):
            return cls(None if (weights == 1).all() else weights, importance)
        return cls(None, weights if importance is None else weights * importance)

    @property
    def product(self) -> Array | None:
        """v, or None where every row counts once."""
        if self.counts is None or self.importance is None:
            return self.counts if self.importance is None else self.importance
        return self.counts * self.importance

    @property
    def typical(self) -> float:
        """The mean share of the error of a row."""
        return 1.0 if self.importance is None else float(np.average(self.importance, weights=self.counts))

    def __getitem__(self, index: Array) -> Weights:
        return Weights(*(None if part is None else part[index] for part in (self.counts, self.importance)))

    def times(self, factor: Array | None) -> Array | None:
        """v with another factor."""
        product = self.product
        if factor is None or product is None:
            return product if factor is None else factor
        return product * factor


@dataclass
class Sample:
    """Rows as the kernel sees them, what belongs to them, and the kernel with its Gram."""

    rows: Matrix
    Y: Array
    weights: Weights
    kernel: Kernel
    gram: Gram
    preparation: Preparation | None
    active: Array | None
    repaired: Repaired | None = None

    def repair(self, indefinite: str) -> Gram:
        """The Gram that the machine is to learn from: as it is, or with another spectrum, which is computed once."""
        if indefinite != "direct" and not self.kernel.definite and self.repaired is None:
            self.repaired = Repaired(self.gram, indefinite)
        return self.gram if self.repaired is None else self.repaired.gram

    def spread(self, values: Array) -> Array:
        """Values of the rows in use, with zeros for those of weight zero."""
        if self.active is None:
            return values
        out = np.zeros((len(self.active), *values.shape[1:]), values.dtype)
        out[self.active] = values
        return out


class Solution:
    """Coefficients and intercepts of a sample, with the factors that leave-one-out and deviations need.

    Parameters
    ----------
    sample : Sample
    indefinite, solver : str
    random_state : int, Generator, RandomState or None
    inverse : bool
        Whether :meth:`left_out` will be asked for. Where it is not said and asked for later, the factor in single
        precision that a large sample may have got is replaced.

    Attributes
    ----------
    alpha : ndarray (n, q)
    intercept : ndarray (q,)
    systems : list of BorderedSystem
        One for all outputs, or one for each.
    """

    def __init__(
        self, sample: Sample, indefinite: str, solver: str, random_state: RandomState, *, inverse: bool = True
    ) -> None:
        self.inverse = inverse
        self.sample = sample
        self.solver = solver
        self.random_state = 0 if random_state is None else random_state
        self.gram = sample.repair(indefinite)

    def system(
        self,
        regularization: float,
        robust: Array | None = None,
        *,
        consume: bool = False,
        members: Array | None = None,
    ) -> BorderedSystem:
        """The system for one regularization, its errors weighted by ``robust`` too, of all rows or of some."""
        weights = self.sample.weights.times(robust)
        kernel = self.sample.kernel
        featureless = self.sample.repaired is None and not kernel.has_features and kernel.feature_signs is None
        if self.solver == "dual" and featureless:
            raise ValueError(
                f"solver='dual' needs a kernel with features, and {kernel!r} has none; use solver='auto', or "
                "landmarks, kernel=gramian.Nystroem(n_components, kernel=...)"
            )
        with self._own_words(regularization):
            return BorderedSystem(
                self.gram if members is None else self.gram.restricted(members),
                regularization,
                weights if weights is None or members is None else weights[members],
                method=self.solver,
                consume=consume,
                random_state=self.random_state,
                inverse=self.inverse,
            )

    @contextmanager
    def _own_words(self, regularization: float) -> Iterator[None]:
        """Errors of a factorization by the names of the machine's parameters."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"the system is singular or not positive definite at regularization={regularization:.3g}, so "
                f"solver={self.solver!r} cannot solve it; use solver='ldl', or a smaller regularization"
            ) from error

    def fit(self, regularization: Array, robust: Array | None = None, members: Array | None = None) -> Solution:
        """Solve for all outputs.

        Parameters
        ----------
        regularization : ndarray (1,) or (q,)
        robust : ndarray (n, q), optional
            Weights, where outliers are to count less.
        members : ndarray of bool (n, q), optional
            The rows that each output is learned from, where these are not all.
        """
        Y, self.members = self.sample.Y, members
        base = Y[:1] + (Y - Y[:1]).mean(axis=0)  # of a constant output exactly that constant
        centred = Y - base
        regularization = np.broadcast_to(regularization, (Y.shape[1],))
        together = robust is None and members is None and (regularization == regularization[0]).all()
        groups = [slice(0, Y.shape[1])] if together else [slice(j, j + 1) for j in range(Y.shape[1])]
        self.alpha, self.intercept = np.zeros_like(centred), np.empty(Y.shape[1], Y.dtype)
        self.systems = []
        for outputs in groups:
            weights = None if robust is None else robust[:, outputs.start]
            here = None if members is None else members[:, outputs.start]
            gamma = float(regularization[outputs][0])
            system = self.system(gamma, weights, consume=len(groups) == 1, members=here)
            rows = slice(None) if here is None else here
            with self._own_words(gamma):
                self.alpha[rows, outputs], self.intercept[outputs] = system.solve(centred[rows, outputs])
            self.systems.append(system)
        self.intercept += base[0]
        return self

    @property
    def method(self) -> str:
        """How the system was solved."""
        return self.systems[0].factorization.method

    @property
    def signature(self) -> tuple[int, int, int | None]:
        """How many eigenvalues are positive, negative and zero; see :class:`gramian.grams.Signature`."""
        sample = self.sample
        gram = sample.kernel._unchecked("gram")(sample.rows)
        gram = gram.restricted(sample.active) if sample.kernel.pairwise and sample.active is not None else gram
        found = gram.signature()
        return found.n_positive, found.n_negative, found.n_zero

    def expansion(self) -> Expansion:
        """f − b for new rows."""
        sample = self.sample
        alpha = self.alpha if sample.repaired is None else sample.repaired.coefficients(self.alpha)
        if sample.kernel.pairwise:
            return Expansion(sample.kernel, sample.rows, sample.spread(alpha))
        gram = self.gram if self.gram is sample.gram else None
        return Expansion(sample.kernel, sample.rows, alpha, gram=gram)

    def left_out(self) -> Array:
        """Residuals y_i − f^(−i)(x_i), shape (n, q)."""
        out = np.empty_like(self.alpha)
        counts = self.sample.weights.counts
        if self.members is not None:  # a row that an output is not learned from is left out already
            out = self.sample.Y - self.gram @ self.alpha - self.intercept
        for j in range(self.alpha.shape[1]):
            system = self.systems[min(j, len(self.systems) - 1)]
            here = slice(None) if self.members is None else self.members[:, j]
            own = None if counts is None else counts[here]
            out[here, j : j + 1] = left_out(self.alpha[here, j : j + 1], system.inverse_diagonal, system.noise, own)
        return out

    def left_out_values(self) -> Array:
        """f^(−i)(x_i), shape (n, q)."""
        return self.sample.Y - self.left_out()
