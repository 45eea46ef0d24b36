"""Groups of a table with categories: latent classes, their number, and whether there are any.

The steps are pure functions. Mixtures of normal and multinomial columns are fitted for every number of classes; the
number is the one that saves most description (ICL) among those whose least stable class is found again; and tables of
a copula, which have the same columns and pairs of columns but no groups, say what a gain is worth. Wherever mixtures
are searched or compared, holes in numbers are filled from near rows, in the table and those of the copula alike;
the classes that are chosen are fitted with the holes, and chosen anew with them where one of them does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from gramian.clustering.automatic.class_tables import (
    ROUGHLY_SETTLED,
    Classes,
    ClassTable,
    Search,
    completed,
    completed_likelihood,
    search,
)
from gramian.clustering.automatic.stability import Resampled, cluster_stability, stability
from gramian.clustering.automatic.variables import Variables
from gramian.mixture.copula import KINDS, Kind, draw_tables, fit_copula
from gramian.mixture.em import Parameters, log_joint, memberships
from gramian.mixture.levels import indicators
from gramian.mixture.patterns import IncompleteTable
from gramian.randomness import spawn
from gramian.second_process import start
from gramian.typing import Array

Verdict = Literal["clear", "weak", "none"]

_STARTS = 12  # for a number of classes that is asked for and gains nothing
_SHARE_OF_GAIN = 0.9
_MOST_TRIED = 6
_PARTS, _PART = 10, 0.7
_FIRST_PARTS, _BEHIND = 4, 0.25  # after so many parts, numbers of classes so much less stable than the best are left
_PART_STARTS = 4
_AS_STABLE = 0.05
_AS_MUCH = 0.97  # of a gain
_STABLE, _FOUND_AGAIN = 0.75, 0.6  # the least stability of clear classes together, and of each
_SURE = 0.75  # of a level
_TESTED_ROWS = 500
_REFERENCES = 20
_ENOUGH = {3: (-np.inf, 12.0), 4: (-np.inf, 8.0), 8: (0.3, 3.0)}  # references, where the excess is not between these
_DEVIATIONS = 2.5  # beyond the mean of the references
_RESOLUTION = 0.02  # of a gain per row: finer differences between tables say nothing
_UNSURE = 0.9  # a row whose largest posterior is less lies in between
_FEW_BETWEEN = 0.05  # of the rows: with fewer, and half as many as in tables without groups, classes stand apart


@dataclass(frozen=True)
class ClassModel:
    """The parameters of latent classes, to tell the classes of new rows.

    Attributes
    ----------
    weights, means, covariances : ndarray
        As in :class:`gramian.mixture.em.Parameters`.
    levels : ndarray (k, L)
        Probabilities of all levels, side by side.
    sizes : ndarray (c,)
        Levels of each discrete column.
    """

    weights: Array
    means: Array
    covariances: Array
    levels: Array
    sizes: Array

    @classmethod
    def of(cls, parameters: Parameters, order: Array, sizes: Array) -> ClassModel:
        """The classes in another order."""
        assert parameters.levels is not None
        means, levels = parameters.means[order], parameters.levels[order]
        return cls(parameters.weights[order], means, parameters.covariances[order], levels, sizes)

    def ordered(self, order: Array) -> ClassModel:
        """The same with the classes in another order."""
        return replace(
            self,
            weights=self.weights[order],
            means=self.means[order],
            covariances=self.covariances[order],
            levels=self.levels[order],
        )

    def posteriors(self, variables: Variables) -> Array:
        """Probability (n, k) of each class, given what is known of a row."""
        d = variables.numbers.shape[1]
        covariances = self.covariances if d else np.ones((len(self.weights), 0))
        parameters = Parameters(self.weights, self.means, covariances, self.levels)
        table = IncompleteTable(variables.numbers, indicators(variables.codes, self.sizes))
        found: Array = memberships(log_joint(table, parameters, "full" if d else "diag"), axis=1)[0]
        return found


# How many classes, and are there any ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LatentClasses:
    """Latent classes of a table.

    Attributes
    ----------
    labels : ndarray (n,)
        From 0, by falling size.
    posteriors : ndarray (n, k)
    gains : ndarray (largest k tried,)
        Gain of ICL over one class, for 1, 2, … classes.
    tried : dict
        Least class stability for each number of classes that was resampled.
    alternatives : dict
        The labels (n,) for each of these numbers: coarser and finer groups than the chosen ones.
    alternative_stability : dict
        The stability of each of their classes.
    stability : float
        Mean adjusted Rand index with the classes of parts of the rows.
    cluster_stability : ndarray (k,)
    excess : float
        Gain beyond that of tables without groups; above 1, there is structure. With a given number of classes, too, it
        is that of the table: of 2, 3 and the number that gains most.
    between : float
        Share of rows whose largest posterior is below 0.9.
    verdict : {"clear", "weak", "none"}
    model : ClassModel
        For new rows.
    models : dict
        The same for the alternatives.
    """

    labels: Array
    posteriors: Array
    gains: Array
    tried: dict[int, float]
    alternatives: dict[int, Array]
    alternative_stability: dict[int, Array]
    stability: float
    cluster_stability: Array
    excess: float
    between: float
    verdict: Verdict
    model: ClassModel
    models: dict[int, ClassModel]

    @property
    def certain(self) -> bool:
        """Whether they should be preferred where categories are the minority of the told columns."""
        least = float(self.cluster_stability.min(initial=1.0))
        return len(self.cluster_stability) > 1 and self.excess > 1 and least >= 0.9 and self.between < 0.05


def latent_classes(
    variables: Variables,
    rows: float,
    rng: np.random.Generator,
    *,
    max_classes: int = 20,
    n_classes: int | None = None,
    found: Search | None = None,
) -> LatentClasses:
    """Classes of a table, as many as save most description among those that are found again.

    Parameters
    ----------
    variables : Variables
        The columns to group by; see :func:`told_columns` for which to leave out.
    rows : float
        Effective number of rows; see :func:`effective_rows`.
    rng : Generator
    max_classes : int
    n_classes : int, optional
        The number of classes, if it is known.
    found : Search, optional
        The mixtures for every number of classes; by default they are fitted.
    """
    n = len(variables)
    # All numbers are fitted where one is asked for, too: whether there are groups is asked of the table.
    searched = found or search(variables, rows, rng, max_classes=max_classes)
    gains = searched.gains
    fits, resampled, k = _selected(searched, n_classes, rng)
    if np.isnan(variables.numbers).any():
        table = ClassTable(variables)
        fits |= {other: table.fit(other, [fits[other].labels], tol=ROUGHLY_SETTLED) for other in resampled}
        # A class of filled-in values loses its rows where these are holes again; then all numbers are asked anew.
        if n_classes is None and k > 1 and _least(fits[k].labels, resampled[k]) < _FOUND_AGAIN:
            searched = _with_holes(table, searched.fits, rows)
            gains = searched.gains
            fits, resampled, k = _selected(searched, None, rng)
        else:
            fits[k] = table.fit(k, [fits[k].labels])
    # Rows change sides with their holes: what is told is the stability of the classes that are shown.
    tried = {other: _least(fits[other].labels, parts) for other, parts in resampled.items()}
    fit = fits[k]
    if k == 1:
        one = np.zeros(n, np.intp)
        model = ClassModel.of(fit.parameters, np.zeros(1, np.intp), variables.sizes)
        return LatentClasses(one, np.ones((n, 1)), gains, tried, {}, {}, 1.0, np.ones(1), 0.0, 0.0, "none", model, {})
    orders = {other: by_size(fits[other].labels, other) for other in tried}
    alternatives = {other: np.argsort(order)[fits[other].labels] for other, order in orders.items()}
    models = {other: ClassModel.of(fits[other].parameters, order, variables.sizes) for other, order in orders.items()}
    labels = alternatives[k]
    found_again = {other: cluster_stability(own, resampled[other]) for other, own in alternatives.items()}
    whole, each = stability(labels, resampled[k]), found_again[k]
    between = _between(fit)
    judged = {2, 3, k if n_classes is None else int(gains.argmax()) + 1} & set(fits) - {1} or {k}
    excess, usual = beyond_copula(variables, rows, {i: fits[i].labels for i in judged}, rng)
    verdict = _verdict(excess, whole, each, between, usual)
    posterior = fit.posteriors[:, orders[k]]
    return LatentClasses(
        labels, posterior, gains, tried, alternatives, found_again, whole, each, excess, between, verdict,
        models[k], models,
    )  # fmt: skip


def _verdict(excess: float, whole: float, each: Array, between: float, usual: float) -> Verdict:
    """From the excess, the stability of all classes and of each, and the share of rows between here and usually."""
    # Classes that gain no more than in tables without groups may still stand apart by how few rows lie between them.
    if excess <= 1 and between >= min(_FEW_BETWEEN, usual / 2):
        return "none"
    sure = whole >= _STABLE and each.min() >= _FOUND_AGAIN and between < 2 * _FEW_BETWEEN
    return "clear" if excess > 1 and sure else "weak"


def _selected(
    searched: Search, n_classes: int | None, rng: np.random.Generator
) -> tuple[dict[int, Classes], dict[int, Resampled], int]:
    """The mixtures, classes of parts of the rows for the numbers of classes that were tried, and the chosen number."""
    table, gains = searched.table, searched.gains
    fits = dict(searched.fits)
    if n_classes is not None and n_classes not in fits:
        fits[n_classes] = table.fit(n_classes, table.starts(n_classes, _STARTS, rng))
    wanted = _worth_trying(gains) if n_classes is None else [n_classes]
    resampled = _all_resampled(table, {k: fits[k].labels for k in wanted}, rng)
    tried = {k: _least(fits[k].labels, parts) for k, parts in resampled.items()}
    k = _chosen(tried, gains) if n_classes is None else n_classes
    for coarser in (3, 2):  # a level that a reader may prefer, though it says less
        sure = any(other < k and least >= _SURE for other, least in tried.items())
        if n_classes is None and coarser < k and not sure and gains[coarser - 1] >= gains[k - 1] / 2:
            resampled[coarser] = _resampled(table, fits[coarser].labels, coarser, _PARTS, rng)
            tried[coarser] = _least(fits[coarser].labels, resampled[coarser])
    return fits, resampled, k


def _with_holes(table: ClassTable, fits: dict[int, Classes], rows: float) -> Search:
    """Mixtures of a table with its holes, from those of the completed one."""
    refitted = {k: table.fit(k, [fit.labels], tol=ROUGHLY_SETTLED) for k, fit in fits.items()}
    scores = np.array([completed_likelihood(table, refitted[k], rows) for k in sorted(refitted)])
    return Search(table, refitted, scores - scores[0])


def finer_classes(variables: Variables, found: Search, rng: np.random.Generator) -> tuple[Array, Array, ClassModel]:
    """The classes that gain most: their labels by falling size, the stability of each, and the model."""
    k = int(found.gains.argmax()) + 1
    fit = found.fits[k]
    resampled = _resampled(found.table, fit.labels, k, _PARTS, rng)
    if np.isnan(variables.numbers).any():
        fit = ClassTable(variables).fit(k, [fit.labels])
    order = by_size(fit.labels, k)
    model = ClassModel.of(fit.parameters, order, variables.sizes)
    labels = np.argsort(order)[fit.labels]
    return labels, cluster_stability(labels, resampled), model


def by_size(labels: Array, k: int) -> Array:
    """The classes, the largest first."""
    return np.argsort(-np.bincount(labels, minlength=k), kind="stable")


def _worth_trying(gains: Array) -> list[int]:
    """Numbers of classes with nine tenths of the largest gain, at most six of them; none if nothing is gained."""
    if gains.max() <= 0:
        return []
    good = np.flatnonzero(gains >= _SHARE_OF_GAIN * gains.max())
    return sorted((good[np.argsort(-gains[good], kind="stable")][:_MOST_TRIED] + 1).tolist())


def _chosen(tried: dict[int, float], gains: Array) -> int:
    """Of the numbers of classes whose least stable class is nearly the most stable, the one of largest gain.

    Fewer classes that gain nearly as much are preferred: what they miss is rather the shape of a class than a group.
    """
    if not tried:
        return 1
    stable = [k for k, least in tried.items() if least >= max(tried.values()) - _AS_STABLE]
    largest = max(float(gains[k - 1]) for k in stable)
    return min(k for k in stable if gains[k - 1] >= _AS_MUCH * largest)


def _all_resampled(table: ClassTable, labels: dict[int, Array], rng: np.random.Generator) -> dict[int, Resampled]:
    """Classes of parts of the rows for several numbers of them; of fewer parts where classes are not found again."""
    found = {k: _resampled(table, own, k, _FIRST_PARTS, rng) for k, own in labels.items()}
    least = {k: _least(labels[k], parts) for k, parts in found.items()}
    for k, own in labels.items():
        if least[k] >= max(least.values()) - _BEHIND:
            found[k] += _resampled(table, own, k, _PARTS - _FIRST_PARTS, rng)
    return dict(found)


def _resampled(
    table: ClassTable, labels: Array, k: int, count: int, rng: np.random.Generator
) -> list[tuple[Array, Array]]:
    """Classes of parts of 70 % of the rows, the most likely from k-means and from the classes of all rows.

    Without the last start, a part that misses the best of many local optima would count against classes that it holds.
    """
    n = len(labels)
    parts = []
    for _ in range(count):
        rows = np.sort(rng.choice(n, max(int(_PART * n), k), replace=False))
        parts.append((rows, [*table.starts(k, _PART_STARTS, rng, rows), labels[rows]]))
    return [(rows, found) for (rows, _), found in zip(parts, table.fit_parts(k, parts), strict=True)]


def _least(labels: Array, resampled: Resampled) -> float:
    """The stability of the class that is found again least."""
    return float(cluster_stability(labels, resampled).min())


def beyond_copula(
    variables: Variables, rows: float, labels: dict[int, Array], rng: np.random.Generator
) -> tuple[float, float]:
    """By how much the gains exceed those of tables without groups, in what is usual among these.

    Where 500 rows say that there is nothing, all are asked.

    Parameters
    ----------
    variables : Variables
    rows : float
        Effective number of rows.
    labels : dict of int to ndarray (n,)
        The classes for each number of them that counts.
    rng : Generator

    Returns
    -------
    excess : float
        The largest gain per row over the mean of the references, in their standard deviations, divided by what one
        reference in hundreds would have over the others. Above 1, the table has structure that they do not have. The
        least over all kinds of references counts.
    between : float
        Mean share of rows between the classes of the references, for the largest number of them.
    """
    n = len(variables)
    few = np.sort(rng.choice(n, min(n, _TESTED_ROWS), replace=False))
    excess, between = _beyond_copula(variables, rows, labels, few, rng)
    if excess <= 1 and len(few) < n:  # groups that few columns tell need all rows
        excess, between = _beyond_copula(variables, rows, labels, np.arange(n), rng)
    return excess, between


def _beyond_copula(
    variables: Variables, rows: float, labels: dict[int, Array], index: Array, rng: np.random.Generator
) -> tuple[float, float]:
    """The same for some rows."""
    rows, sample = rows * len(index) / len(variables), _occurring(variables.rows(index))
    numbers = sorted(labels)
    found, _ = _tested(sample, rows, numbers, rng, {k: own[index] for k, own in labels.items()})
    streams = spawn(rng, len(KINDS))
    excesses: list[float] = []
    between: list[float] = []
    for kind in range(0, len(KINDS), 2):
        one, other = ((sample, rows, numbers, found, KINDS[i], streams[i]) for i in (kind, kind + 1))
        beside = start(_beyond_kind, *other)  # a second process may have it in the meantime
        for result in (partial(_beyond_kind, *one), beside):
            excess, unsure = result()
            excesses.append(excess)
            between += unsure
            if excess <= 1:
                return excess, float(np.mean(between))
    return min(excesses), float(np.mean(between))


def _beyond_kind(
    sample: Variables, rows: float, numbers: list[int], found: Array, kind: Kind, rng: np.random.Generator
) -> tuple[float, list[float]]:
    """The excess over references of one kind, as many as it takes, and the shares of rows between their classes."""
    copula = fit_copula(sample.numbers, sample.codes, sample.sizes, rng, kind=kind)
    references: list[Array] = []
    between: list[float] = []
    for drawn, codes in draw_tables(copula, len(sample), _REFERENCES, rng):
        drawn[np.isnan(sample.numbers)] = np.nan
        codes[sample.codes < 0] = -1
        gains, unsure = _tested(Variables(drawn, codes, sample.sizes, sample.categories), rows, numbers, rng, {})
        references.append(gains)
        between.append(unsure)
        near = _ENOUGH.get(len(references))
        if near and not near[0] < _excess(found, np.array(references)) < near[1]:
            break
    return _excess(found, np.array(references)), between


def _tested(
    variables: Variables, rows: float, numbers: list[int], rng: np.random.Generator, known: dict[int, Array]
) -> tuple[Array, float]:
    """Gains per row for some numbers of classes, and the share of rows between the most classes."""
    n = len(variables)
    table = ClassTable(completed(variables))
    base = completed_likelihood(table, table.fit(1, [np.zeros(n, np.intp)]), rows)
    gains, found = [], None
    for k in numbers:
        starts = table.starts(k, _PART_STARTS, rng) + ([known[k]] if k in known else [])
        found = table.fit(k, starts, finished=1, tol=ROUGHLY_SETTLED)
        gains.append((completed_likelihood(table, found, rows) - base) / n)
    return np.array(gains), 0.0 if found is None else _between(found)


def _occurring(variables: Variables) -> Variables:
    """Levels that occur, in the discrete columns that have two; numbers that have two values."""
    varying = [len(np.unique(column[~np.isnan(column)])) > 1 for column in variables.numbers.T]
    columns, sizes, kept = [], [], []
    for j, column in enumerate(variables.codes.T):
        levels = np.unique(column[column >= 0])
        if len(levels) > 1:
            columns.append(np.where(column < 0, -1, np.searchsorted(levels, column)))
            sizes.append(len(levels))
            kept.append(j)
    codes = np.column_stack([np.empty((len(variables), 0), np.intp), *columns])
    numbers = variables.numbers[:, np.array(varying, bool)]
    return Variables(numbers, codes, np.array(sizes, np.intp), variables.categories[kept])


def _between(found: Classes) -> float:
    """Share of rows whose largest posterior is small."""
    return float((found.posteriors.max(axis=1) < _UNSURE).mean())


def _excess(found: Array, references: Array) -> float:
    """Largest difference from the mean of the references, in their deviations, by what is usual of each of them."""

    def largest(values: Array, others: Array) -> float:
        deviation = np.maximum(others.std(axis=0), _RESOLUTION)
        return float(((values - others.mean(axis=0)) / deviation).max())

    usual = np.array([largest(own, np.delete(references, i, axis=0)) for i, own in enumerate(references)])
    level = max(1.0, float(usual.mean() + _DEVIATIONS * usual.std(ddof=1)))
    return largest(found, references) / level
