"""The degrees of kernel spectral clustering, which must be positive: what is done where row sums of a kernel are not.

Uses Grams alone; :mod:`gramian.clustering.ksc.model` weights the samples by 1/d.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from gramian.checks import one_of
from gramian.clustering.core.components import large_components
from gramian.grams import Gram
from gramian.grams.tiles import slices
from gramian.typing import Array

RULES = ("auto", "strict", "abs", "shift")
_BLOCK = 2**22  # entries of K looked at together
_COLUMNS = 5000  # of larger Grams, absolute values are summed over so many random columns and scaled up
_LEAST = {8: 1e-9, 4: 1e-5}  # of the mean degree, by itemsize: what an approximation leaves of a row like no landmark


@dataclass(frozen=True)
class Degrees:
    """Positive degrees of the samples that take part, and what had to be done for it.

    Attributes
    ----------
    values : ndarray (n,)
        d; zero for a sample that is left out because it is similar to nothing, or to too few.
    rule : {"sums", "abs", "shift"}
        Whether d are the row sums of K, those of |K|, or the sums raised by a constant.
    n_negative : int
        Samples whose row sum is negative.
    """

    values: Array
    rule: str
    n_negative: int

    @property
    def inside(self) -> Array:
        """Mask (n,) of the samples that take part."""
        return self.values > 0

    @property
    def weights(self) -> Array:
        """1/d; zero for samples that are left out."""
        return np.divide(1.0, self.values, out=np.zeros_like(self.values), where=self.values > 0)

    @classmethod
    def of(
        cls,
        gram: Gram,
        rule: str = "auto",
        *,
        least: float = 0.0,
        approximate: bool = False,
        among: Array | None = None,
        quiet: bool = False,
    ) -> Degrees:
        """The degrees of a Gram.

        Parameters
        ----------
        gram : Gram
        rule : {"auto", "strict", "abs", "shift"}
            For negative row sums. "strict" is an error; "abs" takes d_i = Σ_j |K_ij|; "shift" adds a constant to all
            entries, such that the smallest degree is half the mean (the eigenproblem sees the constant through the
            degrees alone). "auto" is "abs" where a row sum is negative. Anything but row sums leaves the published
            definition.
        least : float
            Samples in a connected component of fewer samples than this are left out.
        approximate : bool
            Whether a definite kernel is approximated: row sums at or below zero are then errors of the approximation,
            of rows that are like no landmark, and left out.
        among : ndarray of bool (n,), optional
            The samples that may take part, where the Gram cannot tell its components.
        quiet : bool
            Whether nothing is said about negative row sums.

        Warns
        -----
        UserWarning
            With the number of negative row sums, where something was done about them.
        """
        one_of(rule, "degrees", RULES)
        sums = np.asarray(gram.degrees(), np.float64)
        rounding = 100 * float(np.finfo(gram.dtype).eps) * float(np.abs(sums).max(initial=0.0))
        if approximate:
            rounding = max(rounding, _LEAST[gram.dtype.itemsize] * float(np.abs(sums).mean()))
        negative = sums < -rounding
        n_negative = 0 if approximate else int(negative.sum())
        if rule == "strict" and n_negative:
            raise ValueError(
                f"degrees='strict' needs positive row sums of the kernel but {n_negative} of {len(sums)} are negative, "
                f"down to {sums.min():.3g}; use degrees='abs' or 'shift', or a kernel with values >= 0"
            )
        used = "abs" if rule == "auto" and n_negative else {"auto": "sums", "strict": "sums"}.get(rule, rule)
        if used == "abs":
            values = absolute_sums(gram)
        elif used == "shift":
            above = sums - sums.min()
            values = (
                above + max(float(above.mean()), 0.1 * float(np.abs(sums).mean())) if sums.min() <= rounding else sums
            )
        else:
            values = sums
        if n_negative and not quiet:
            _warn_negative(n_negative, len(sums), used)
        inside = values > rounding
        if not approximate and used != "shift":  # whose diagonals say nothing about what a row shares with others
            own = np.abs(gram.diagonal()) if used == "abs" else gram.diagonal()
            inside &= np.abs(values - own) > rounding
        if least > 1 and used == "sums":
            inside &= large_components(gram, least)
        if among is not None:
            inside &= among
        return cls(np.where(inside, values, 0.0), used, n_negative)


def absolute_sums(gram: Gram) -> Array:
    """Σ_j |K_ij| for every row, a block at a time; of more than 5,000 columns a random part stands for all."""
    n = gram.shape[0]
    some = np.arange(n)
    if n > 4 * _COLUMNS:
        some = np.sort(np.random.default_rng(0).choice(n, _COLUMNS, replace=False))
    sums = np.empty(n)
    for rows in slices(n, max(1, _BLOCK // len(some))):
        sums[rows] = np.abs(gram.block(rows, some)).sum(axis=1, dtype=np.float64)
    return sums * (n / len(some))


def _warn_negative(count: int, n: int, used: str) -> None:
    what = "the sums of the absolute similarities are" if used == "abs" else "row sums raised by a constant are"
    warnings.warn(
        f"{count} of {n} rows have a negative sum of similarities under this kernel, so {what} taken as degrees "
        f"(degrees={used!r}); pass degrees='strict' to refuse that, or a kernel with values >= 0",
        UserWarning,
        stacklevel=4,
    )
