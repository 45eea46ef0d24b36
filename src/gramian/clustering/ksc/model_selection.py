"""Which kernel and how many clusters? One eigenproblem per kernel, sliced for every number, judged on rows held back.

:func:`candidates` tries kernels and numbers and writes a table; :func:`proposals` reads it. The estimators of the
family fit what is proposed to all rows.

How k is chosen, and what speaks for it. On draws of 2 to 8 separated Gaussian clusters of unequal size the largest
relative gap of the eigenvalues over all widths (p = 0.5) found k, where the published criteria did so in half of the
draws or fewer. Clusters of clusters have several such gaps; the finest number whose gap stands out is taken. Long and
thin clusters have none at any width. There the walk between clusters is at least 20 times slower than within them (the
gap of p = 1, here called the separation); the widest kernel of which that holds decides, if it holds for all rows too.
On noise neither happens, and the user is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.clustering.core.components import least_cluster
from gramian.clustering.core.n_clusters import relative_gaps
from gramian.clustering.ksc.decoding import Decoder, decoder_of
from gramian.clustering.ksc.degrees import Degrees
from gramian.clustering.ksc.model import Eigenproblem, ScoreModel
from gramian.grams import Gram
from gramian.kernels import Kernel
from gramian.score_criteria import (
    average_membership_strength,
    balanced_angular_fit,
    balanced_angular_similarity,
    balanced_line_fit,
)
from gramian.typing import Array, Matrix

CRITERIA = ("auto", "gap", "ams", "blf", "baf", "bas")
BALANCE = {"ams": 0.25, "blf": 0.25, "baf": 0.0, "bas": 0.25}  # the weight of even sizes where the user gives none
WIDTHS = np.geomspace(0.03, 1.0, 10)  # of a kernel given by name, as shares of the width that its own rule gives
STANDS_OUT = 0.6  # of the relative gap: one Gaussian, a uniform cloud or a line have at most 0.5, clusters 0.7 and more
SEPARATED = 0.95  # of the separation: walks change 20 times faster within clusters than between them
CONFIRMED = 0.9  # the same on all rows, where chance has less to say
_SMALLEST, _SMALLEST_LONG = 0.01, 0.05  # shares of the rows that a cluster must have, the second one to be a long one
_MOST_OUTSIDE = 0.05  # share of rows similar to nothing: a narrower kernel has no say
_LOSS = 10.0  # what a row similar to nothing costs where the number of clusters is given
_NEARLY = 0.02  # of criteria that differ by less, the wider kernel is taken
_DECODED = 2000  # rows whose scores tell the directions of the clusters
_JUDGED = 5000  # rows whose scores are judged
_TRIED = 3  # separations looked at on all rows


@dataclass(frozen=True)
class Proposal:
    """A kernel and a number of clusters to fit to all rows.

    Attributes
    ----------
    kernel : int
        Its place among the candidates.
    n_clusters : int
    reason : {"gap", "separation", "criterion", "nothing"}
        Why; "separation" is to be confirmed on all rows, and "nothing" is the largest gap where none stands out.
    """

    kernel: int
    n_clusters: int
    reason: str


def named_kernels(kernel: Kernel, X: Matrix) -> list[Kernel]:
    """A kernel given by name in ten widths; the kernel alone where it has no width.

    Parameters
    ----------
    kernel : Kernel
        Not fitted.
    X : array or CSR (n, d)
        Rows whose distances the kernel's own rule reads.
    """
    if "width" not in kernel.get_params(deep=False):
        return [kernel]
    width = float(_again(kernel)._fitted(X).width_)
    return [_again(kernel).set_params(width=float(share * width)) for share in WIDTHS]


def _again(kernel: Kernel) -> Kernel:
    return type(kernel)(**kernel.get_params(deep=False))


def split(n: int, share: float, most: int | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows to fit and rows to judge by, each in increasing order, at most ``most`` of either.

    More than 5,000 rows judge no better, for the criteria are means.

    Fewer than 20 rows are too few to hold any back: all of them do both.
    """
    if n < 20:
        return np.arange(n), np.arange(n)
    order = rng.permutation(n)
    held = min(max(round(share * n), 2), n - 10)
    fitted, judged = order[held:], order[:held]
    return np.sort(fitted[:most]), np.sort(judged[: _JUDGED if most is None else most])


class Table:
    """The whole selection, one row per kernel and number of clusters.

    Attributes
    ----------
    columns : dict of ndarray
        ``kernel`` (its place among the candidates), ``width`` (NaN where it has none), ``n_clusters``, the relative
        ``gap`` and the ``separation`` of the eigenvalues, the criteria ``ams``, ``blf``, ``baf`` and ``bas`` on the
        rows held back (NaN where they say nothing about two clusters), ``smallest`` (share of the rows that the
        smallest cluster has) and ``outside`` (share of the rows that are similar to nothing).
    """

    _NAMES = ("kernel", "width", "n_clusters", "gap", "separation", "ams", "blf", "baf", "bas", "smallest", "outside")

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []

    def add(self, **row: float) -> None:
        self._rows.append(row)

    @property
    def columns(self) -> dict[str, Array]:
        whole = ("kernel", "n_clusters")
        return {
            name: np.array([row[name] for row in self._rows], np.intp if name in whole else np.float64)
            for name in self._NAMES
        }


def candidates(
    kernels: Sequence[Kernel],
    numbers: Sequence[int],
    prepare: Callable[[Kernel], tuple[Kernel, Gram, Matrix, Matrix]],
    *,
    model_of: Callable[..., ScoreModel] = Eigenproblem.model,
    parts_of: Callable[[Kernel, Matrix, float], Array | None] | None = None,
    decoding: str = "auto",
    degrees: str = "auto",
    balance: float | None = None,
) -> dict[str, Array]:
    """Try kernels and numbers of clusters.

    Parameters
    ----------
    kernels : sequence of Kernel
        Not fitted.
    numbers : sequence of int
        Numbers of clusters, increasing.
    prepare : callable
        Gives the fitted kernel, the Gram of the rows to fit, these rows, and the rows held back.
    model_of : callable
        Gives the scores of new rows, from the eigenproblem, the fitted kernel, the rows fitted and their Gram.
    parts_of : callable, optional
        Gives the mask of the rows that may take part, from the fitted kernel, the rows and the fewest rows of a part.
    decoding, degrees : str
        As in :class:`~gramian.KernelSpectralClustering`.
    balance : float, optional
        Weight of even sizes in all criteria; by default 0.25, for "baf" 0.

    Returns
    -------
    columns : dict of ndarray
        Those of :class:`Table`; without rows for kernels under which nothing is similar to anything.
    """
    table = Table()
    most = max(numbers)
    for place, kernel in enumerate(kernels):
        fitted, gram, rows, held = prepare(kernel)
        least = least_cluster(gram.shape[0], most)
        try:
            found = Degrees.of(
                gram,
                degrees,
                least=least,
                among=None if parts_of is None else parts_of(fitted, rows, least),
                approximate=fitted.approximate and fitted.definite,
                quiet=True,
            )
            problem = Eigenproblem.of(gram, most, found, tol=1e-6)
        except ValueError:  # a kernel so narrow, or so wide, that it tells nothing: others may tell more
            continue
        scores, degrees_of_held, alone = model_of(problem, fitted, rows, gram)(held)
        scores, degrees_of_held = scores[~alone], degrees_of_held[~alone]
        outside = max(float(alone.mean()), 1 - float(problem.degrees.inside.mean()))
        if len(scores) < 2:
            continue
        trained = problem.scores()[problem.degrees.inside]
        trained = trained[:: -(-len(trained) // _DECODED)]
        gaps, separations = eigenvalue_gaps(problem.values, most, graph=not gram.diagonal().any())
        width = float(getattr(fitted, "width_", getattr(getattr(fitted, "kernel_", None), "width_", np.nan)))
        for k in numbers:
            if k > len(problem.values) + 1:
                break
            decoder = decoder_of(trained[:, : k - 1], k, decoding)
            judged = _judged(decoder, trained[:, : k - 1], scores[:, : k - 1], degrees_of_held, k, balance)
            table.add(
                kernel=place,
                width=width,
                n_clusters=k,
                gap=gaps[k - 2],
                separation=separations[k - 2],
                outside=outside,
                **judged,
            )
    return table.columns


def eigenvalue_gaps(values: Array, most: int, *, graph: bool = False) -> tuple[Array, Array]:
    """The relative gap and the separation after k clusters, for k = 2, …, ``most``.

    Parameters
    ----------
    values : ndarray (q,)
        Eigenvalues of the weighted, centred Gram; those that are missing are zero.
    most : int
    graph : bool
        Whether the kernel has a zero diagonal; the gap then has p = 0.9, as elsewhere in the library.
    """
    walk = np.zeros(most + 1)
    walk[0] = 1.0
    known = min(most, len(values))
    walk[1 : known + 1] = np.clip(values[:known], 0, 1)
    if walk[-1] > 1 - 1e-8:  # rows fall apart into more components than clusters considered: no number stands out
        return np.zeros(most - 1), np.zeros(most - 1)
    return relative_gaps(walk, 0.9 if graph else 0.5), relative_gaps(walk, 1.0)


def _judged(
    decoder: Decoder, trained: Array, scores: Array, degrees: Array, k: int, balance: float | None
) -> dict[str, float]:
    """The criteria of k clusters on rows held back, and the share of the smallest cluster on either side."""
    nothing = {"ams": -np.inf, "blf": -np.inf, "baf": np.nan, "bas": np.nan, "smallest": 0.0}
    if decoder.n_clusters < k:  # sign words have missed some, or rows of scores are too few
        return nothing
    labels = decoder.labels(scores)
    weights = {name: usual if balance is None else balance for name, usual in BALANCE.items()}
    sizes = [np.bincount(some, minlength=k) for some in (labels, decoder.labels(trained))]
    prototypes = decoder.prototypes
    found = {
        "ams": average_membership_strength(scores, labels, prototypes=prototypes, balance=weights["ams"]),
        "blf": balanced_line_fit(scores, labels, degrees=degrees, balance=weights["blf"]),
        "baf": np.nan,
        "bas": np.nan,
        "smallest": min(float(part.min() / part.sum()) for part in sizes),
    }
    if k > 2:
        found["baf"] = balanced_angular_fit(scores, labels, balance=weights["baf"])
        found["bas"] = balanced_angular_similarity(scores, labels, prototypes=prototypes, balance=weights["bas"])
    return found


# Reading the table -----------------------------------------------------------------------------------------


def proposals(table: dict[str, Array], criterion: str, *, given: bool) -> list[Proposal]:
    """What to fit to all rows, the first choice first.

    Parameters
    ----------
    table : dict of ndarray
        From :func:`candidates`.
    criterion : str
        One of ``CRITERIA``.
    given : bool
        Whether the number of clusters is given, so that only the kernel is chosen.

    Returns
    -------
    proposals : list of Proposal
        At least one. All but the last are of the reason "separation" and to be confirmed.
    """
    if not len(table["kernel"]):
        raise ValueError(
            "under every kernel tried all rows of X are alike, or each is similar to itself alone, so there is nothing "
            "to choose from; pass a kernel of a suitable width, or check X"
        )
    allowed = (table["smallest"] >= _SMALLEST) & (table["outside"] <= _MOST_OUTSIDE)
    if not allowed.any():
        allowed = table["smallest"] > 0
    if not allowed.any():
        allowed = np.ones(len(allowed), bool)
    if criterion not in ("auto", "gap"):
        return [_best(table, _known(table, criterion), allowed, "criterion")]
    if given:
        if criterion == "gap":
            return [_best(table, table["gap"], allowed, "criterion")]
        usefulness = table["ams"] + table["separation"] - _LOSS * table["outside"]
        enough = allowed & (usefulness >= usefulness[allowed].max() - _NEARLY)
        return [_best(table, _widths(table), enough, "criterion")]
    widest_gap = _best(table, table["gap"], allowed, "gap")
    clear = allowed & (table["gap"] >= STANDS_OUT)
    if criterion == "gap":
        return [widest_gap]
    if clear.any():
        finest = clear & (table["n_clusters"] == table["n_clusters"][clear].max())
        return [_best(table, table["gap"], finest, "gap")]
    long = allowed & (table["separation"] >= SEPARATED) & (table["smallest"] >= _SMALLEST_LONG)
    order = np.lexsort((-table["separation"], -_widths(table)))
    separated = [_proposal(table, row, "separation") for row in order if long[row]][:_TRIED]
    return [*separated, Proposal(widest_gap.kernel, widest_gap.n_clusters, "nothing")]


def preferred_numbers(table: dict[str, Array]) -> dict[str, int]:
    """The number of clusters that each criterion would have chosen alone."""
    allowed = (table["smallest"] >= _SMALLEST) & (table["outside"] <= _MOST_OUTSIDE)
    return {
        name: _best(table, table[name], allowed, "criterion").n_clusters
        for name in BALANCE
        if (allowed & np.isfinite(table[name])).any()
    }


def confirmed(problem: Eigenproblem, labels: Array, k: int) -> bool:
    """Whether k clusters are separated on all rows too.

    Parameters
    ----------
    problem : Eigenproblem
        With one solution more than k clusters have.
    labels : ndarray (n,)
        −1 for rows without a cluster.
    k : int
    """
    sizes = np.bincount(labels[labels >= 0], minlength=k)
    separation = eigenvalue_gaps(problem.values, k)[1][k - 2]
    return bool(separation >= CONFIRMED and sizes.min() >= _SMALLEST_LONG * len(labels))


def _widths(table: dict[str, Array]) -> Array:
    """How wide the kernels are; where one has no width, their place in the list, the last being the widest."""
    return table["width"] if np.isfinite(table["width"]).all() else table["kernel"].astype(np.float64)


def _known(table: dict[str, Array], criterion: str) -> Array:
    values = table[criterion]
    if np.isnan(values).all():
        raise ValueError(
            f"criterion={criterion!r} cannot judge two clusters, because single scores have no angle; use 'ams' or "
            "'blf', or more clusters"
        )
    return values


def _best(table: dict[str, Array], values: Array, allowed: Array, reason: str) -> Proposal:
    """The allowed row of the largest value; of equal ones that of the fewest clusters, then of the widest kernel."""
    usable = allowed & np.isfinite(values)
    usable = usable if usable.any() else np.isfinite(values)
    if not usable.any():
        usable = np.ones(len(values), bool)
    rounded = np.where(usable, np.round(np.nan_to_num(values, neginf=-1e9), 9), -np.inf)
    return _proposal(table, np.lexsort((-table["kernel"], table["n_clusters"], -rounded))[0], reason)


def _proposal(table: dict[str, Array], row: Any, reason: str) -> Proposal:
    return Proposal(int(table["kernel"][row]), int(table["n_clusters"][row]), reason)
