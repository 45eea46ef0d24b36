"""Groups of a table with categories: latent classes, their number, and whether there are any.

The steps are pure functions. Mixtures of normal and multinomial columns are fitted for every number of classes; the
number is the one that saves most description (ICL) among those whose least stable class is found again; and tables of
a copula, which have the same columns and pairs of columns but no groups, say what a gain is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from gramian.clustering.automatic.stability import cluster_stability, stability
from gramian.clustering.automatic.variables import Variables
from gramian.mixture.copula import KINDS, draw_tables, fit_copula
from gramian.mixture.em import Parameters, log_joint, memberships
from gramian.mixture.levels import indicators, observed_levels
from gramian.mixture.patterns import IncompleteTable
from gramian.mixture.scaling import free_parameters
from gramian.mixture.starts import quick_clusters, start_from_labels, start_levels
from gramian.mixture.tied import Mixtures, TiedTable, posteriors, run_tied
from gramian.typing import Array

Verdict = Literal["clear", "weak", "none"]

_STARTS, _CUTS, _MERGES = 6, 4, 4
_SHORT, _LONG = 8, 60  # steps of EM for every start, and for the best
_SETTLED, _ROUGHLY_SETTLED = 1e-5, 1e-4  # change of the bound per row: of the table, of parts and references
_FINISHED = 2
_PATIENCE = 3  # numbers of classes in a row that bring nothing
_SHARE_OF_GAIN = 0.9
_MOST_TRIED = 6
_PARTS, _PART = 10, 0.7
_PART_STARTS = 4
_AS_STABLE = 0.05
_SURE = 0.75  # of a level
_TESTED_ROWS = 500
_REFERENCES = 20
_FEW_REFERENCES, _NEAR = 8, (0.3, 3.0)  # are enough where the excess is not between these
_DEVIATIONS = 2.5  # beyond the mean of the references
_RESOLUTION = 0.02  # of a gain per row: finer differences between tables say nothing
_UNSURE = 0.9  # a row whose largest posterior is less lies in between
_FEW_BETWEEN = 0.05  # of the rows: with fewer, and half as many as in tables without groups, classes stand apart


# Mixtures of one table ----------------------------------------------------------------------------------------


class Classes(NamedTuple):
    """A mixture fitted to a table."""

    labels: Array  # (n,)
    posteriors: Array  # (n, k)
    parameters: Parameters
    likelihood: float
    entropy: float
    bound: float  # that EM has raised: of the likelihood and the prior


class ClassTable:
    """A table prepared for mixtures of any number of classes.

    Attributes
    ----------
    features : ndarray (n, p)
        Complete rows for k-means: numbers, and indicators over the root of their share.
    """

    def __init__(self, variables: Variables) -> None:
        numbers, sizes = variables.numbers, variables.sizes
        self.hot = indicators(variables.codes, sizes)
        self.levels = observed_levels(variables.codes, sizes, 1.0)
        self.table = TiedTable(numbers, self.hot, self.levels)
        self.numbers = np.where(np.isnan(numbers), 0.0, numbers)
        seen = np.repeat(variables.codes.T >= 0, sizes, axis=0)
        filled = np.where(seen, self.hot, self.levels.shares[:, None]) / np.sqrt(self.levels.shares)[:, None]
        self.features = np.hstack([self.numbers, filled.T])
        self.axes = principal_axes(self.features)

    def starts(self, k: int, count: int, rng: np.random.Generator, rows: Array | slice = slice(None)) -> list[Array]:
        """Labels of k-means of some rows, alternately in the first k principal axes and in all features."""
        spaces = (self.axes[rows, :k], self.features[rows])
        return [quick_clusters(spaces[i % 2], k, rng) for i in range(count)]

    def cuts(self, labels: Array, rng: np.random.Generator) -> list[Array]:
        """Labels with one more class, of one of the largest cut in two."""
        counts = np.bincount(labels)
        cut = []
        for largest in np.argsort(-counts)[:_CUTS]:
            rows = np.flatnonzero(labels == largest)
            if len(rows) > 1:
                new = labels.copy()
                new[rows[quick_clusters(self.axes[rows], 2, rng) == 1]] = counts.size
                cut.append(new)
        return cut

    def merges(self, labels: Array) -> list[Array]:
        """Labels with one class less: two that are near each other, in rows and by Ward's criterion, made one."""
        counts = np.bincount(labels)
        hot = (labels[:, None] == np.arange(len(counts))).astype(np.float64)
        means = hot.T @ self.features / np.maximum(counts, 1)[:, None]
        first, second = np.triu_indices(len(counts), 1)
        gaps = ((means[first] - means[second]) ** 2).sum(axis=1)
        loss = gaps * counts[first] * counts[second] / np.maximum(counts[first] + counts[second], 1)
        merged = []
        for pair in np.argsort(loss, kind="stable")[:_MERGES]:
            new = np.where(labels == second[pair], first[pair], labels)
            merged.append(new - (new > second[pair]))
        return merged

    def fit(self, k: int, starts: list[Array], *, finished: int = _FINISHED, tol: float = _SETTLED) -> Classes:
        """The mixture of highest likelihood: a few steps of EM from every start, more from the best ``finished``."""
        begin = Mixtures.of([self._start(labels, k) for labels in starts])
        ridge = 1 / len(self.numbers)  # one row of N(0, I)
        found, bounds = run_tied(self.table, begin, steps=_SHORT, tol=tol, ridge=ridge)
        if k > 1:
            best = np.argsort(-bounds, kind="stable")[:finished]
            found, bounds = run_tied(self.table, found.take(best), steps=_LONG - _SHORT, tol=tol, ridge=ridge)
        top = int(bounds.argmax())
        found, bound = found.take(slice(top, top + 1)), float(bounds[top])
        gamma, likelihoods = (part[0] for part in posteriors(self.table, found))
        entropy = -float((gamma * np.log(np.maximum(gamma, 1e-300))).sum())
        return Classes(gamma.argmax(axis=1), gamma, found.single(0), float(likelihoods.sum()), entropy, bound)

    def fit_parts(self, k: int, parts: list[tuple[Array, list[Array]]]) -> list[Array]:
        """Labels of the rows of each part of the table, from starts of its own; all parts at once."""
        rows = np.zeros((len(parts), len(self.numbers)))
        begin = []
        for i, (index, starts) in enumerate(parts):
            rows[i, index] = 1
            begin += [self._start(labels, k, index) for labels in starts]
        count = len(parts[0][1])
        improved = partial(run_tied, self.table, tol=_ROUGHLY_SETTLED, ridge=1 / len(parts[0][0]))
        found, bounds = improved(Mixtures.of(begin), steps=_SHORT, rows=rows.repeat(count, 0))
        best = np.argsort(-bounds.reshape(-1, count), axis=1, kind="stable")[:, :_FINISHED]
        chosen = (best + np.arange(len(parts))[:, None] * count).ravel()
        rows = rows.repeat(best.shape[1], 0)
        found, bounds = improved(found.take(chosen), steps=_LONG - _SHORT, rows=rows)
        winners = bounds.reshape(best.shape).argmax(axis=1) + np.arange(len(parts)) * best.shape[1]
        labels = posteriors(self.table, found.take(winners))[0].argmax(axis=2)
        return [own[index] for own, (index, _) in zip(labels, parts, strict=True)]

    def n_parameters(self, k: int) -> int:
        """Free parameters of a mixture of k classes."""
        sizes = self.levels.sizes
        d = self.numbers.shape[1]
        return free_parameters("tied", k, d) + (k - 1) * (d > 0) + k * int((sizes - 1).sum())

    def _start(self, labels: Array, k: int, rows: Array | slice = slice(None)) -> Parameters:
        d = self.numbers.shape[1]
        start = start_from_labels(self.features[rows], labels, k, "tied", 1 / len(labels), d)
        return start._replace(levels=start_levels(self.hot[:, rows], labels, k, self.levels))


def principal_axes(features: Array) -> Array:
    """Coordinates of rows along their principal axes, by falling variance."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, ::-1][:, : max(1, int((values > 1e-10 * values.max(initial=0.0)).sum()))]


def completed_likelihood(table: ClassTable, found: Classes, rows: float) -> float:
    """ICL = (e / n)(log L − entropy) − ½ · parameters · log e, for e effective ``rows``; the higher, the better."""
    n, k = found.posteriors.shape
    return rows / n * (found.likelihood - found.entropy) - 0.5 * table.n_parameters(k) * float(np.log(rows))


def fit_all(table: ClassTable, rows: float, most: int, rng: np.random.Generator) -> tuple[dict[int, Classes], Array]:
    """Mixtures of 1, 2, … classes until three in a row bring nothing, and their gains of ICL over one class.

    EM ends in the optimum next to where it starts. So each mixture starts from k-means and from that of one class less,
    one class of which is cut in two; and on the way back from that of one class more, two of which are made one.
    """
    fits = {1: table.fit(1, [np.zeros(len(table.numbers), np.intp)])}
    scores = [completed_likelihood(table, fits[1], rows)]
    for k in range(2, most + 1):
        starts = table.starts(k, _STARTS, rng) + table.cuts(fits[k - 1].labels, rng)
        fits[k] = table.fit(k, starts)
        scores.append(completed_likelihood(table, fits[k], rows))
        if k - 1 - int(np.argmax(scores)) >= _PATIENCE:
            break
    for k in range(len(fits) - 1, 1, -1):
        again = table.fit(k, table.merges(fits[k + 1].labels))
        if again.bound > fits[k].bound:
            fits[k] = again
            scores[k - 1] = completed_likelihood(table, again, rows)
    return fits, np.array(scores) - scores[0]


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
    variables: Variables, rows: float, rng: np.random.Generator, *, max_classes: int = 20, n_classes: int | None = None
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
    """
    n = len(variables)
    table = ClassTable(variables)
    # All numbers are fitted where one is asked for, too: whether there are groups is asked of the table.
    fits, gains = fit_all(table, rows, max(min(max_classes, n // 2), 1), rng)
    if n_classes is not None and n_classes not in fits:
        fits[n_classes] = table.fit(n_classes, table.starts(n_classes, 2 * _STARTS, rng))
    resampled: dict[int, list[tuple[Array, Array]]] = {}
    tried: dict[int, float] = {}
    for k in [n_classes] if n_classes is not None else _worth_trying(gains):
        resampled[k] = _resampled(table, fits[k].labels, k, rng)
        tried[k] = float(cluster_stability(fits[k].labels, resampled[k]).min())
    k = _chosen(tried, gains) if n_classes is None else n_classes
    found = fits[k]
    for coarser in (3, 2):  # a level that a reader may prefer, though it says less
        sure = any(other < k and least >= _SURE for other, least in tried.items())
        if n_classes is None and coarser < k and not sure and gains[coarser - 1] >= gains[k - 1] / 2:
            again = _resampled(table, fits[coarser].labels, coarser, rng)
            tried[coarser] = float(cluster_stability(fits[coarser].labels, again).min())
    if k == 1:
        one = np.zeros(n, np.intp)
        model = ClassModel.of(found.parameters, np.zeros(1, np.intp), variables.sizes)
        return LatentClasses(one, np.ones((n, 1)), gains, tried, {}, 1.0, np.ones(1), 0.0, 0.0, "none", model, {})
    orders = {other: _by_size(fits[other].labels, other) for other in tried}
    alternatives = {other: np.argsort(order)[fits[other].labels] for other, order in orders.items()}
    models = {other: ClassModel.of(fits[other].parameters, order, variables.sizes) for other, order in orders.items()}
    labels = alternatives[k]
    whole, each = stability(labels, resampled[k]), cluster_stability(labels, resampled[k])
    between = _between(found)
    judged = {2, 3, k if n_classes is None else int(gains.argmax()) + 1} & set(fits) - {1} or {k}
    excess, usual = beyond_copula(variables, rows, {i: fits[i].labels for i in judged}, rng)
    verdict: Verdict = "weak"
    # Classes that gain no more than in tables without groups may still stand apart by how few rows lie between them.
    if excess <= 1 and between >= min(_FEW_BETWEEN, usual / 2):
        verdict = "none"
    elif excess > 1 and whole >= 0.75 and each.min() >= 0.6 and between < 2 * _FEW_BETWEEN:
        verdict = "clear"
    posterior = found.posteriors[:, orders[k]]
    return LatentClasses(
        labels, posterior, gains, tried, alternatives, whole, each, excess, between, verdict, models[k], models
    )


def _by_size(labels: Array, k: int) -> Array:
    """The classes, the largest first."""
    return np.argsort(-np.bincount(labels, minlength=k), kind="stable")


def _worth_trying(gains: Array) -> list[int]:
    """Numbers of classes with nine tenths of the largest gain, at most six of them; none if nothing is gained."""
    if gains.max() <= 0:
        return []
    good = np.flatnonzero(gains >= _SHARE_OF_GAIN * gains.max())
    return sorted((good[np.argsort(-gains[good], kind="stable")][:_MOST_TRIED] + 1).tolist())


def _chosen(tried: dict[int, float], gains: Array) -> int:
    """Of the numbers of classes whose least stable class is nearly the most stable, the one of largest gain."""
    if not tried:
        return 1
    stable = [k for k, least in tried.items() if least >= max(tried.values()) - _AS_STABLE]
    return max(stable, key=lambda k: float(gains[k - 1]))


def _resampled(table: ClassTable, labels: Array, k: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Classes of ten parts of 70 % of the rows, the most likely from k-means and from the classes of all rows.

    Without the last start, a part that misses the best of many local optima would count against classes that it holds.
    """
    n = len(labels)
    parts = []
    for _ in range(_PARTS):
        rows = np.sort(rng.choice(n, max(int(_PART * n), k), replace=False))
        parts.append((rows, [*table.starts(k, _PART_STARTS, rng, rows), labels[rows]]))
    return [(rows, found) for (rows, _), found in zip(parts, table.fit_parts(k, parts), strict=True)]


def beyond_copula(
    variables: Variables, rows: float, labels: dict[int, Array], rng: np.random.Generator
) -> tuple[float, float]:
    """By how much the gains exceed those of tables without groups, in what is usual among these.

    At most 500 rows are enough to tell.

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
    index = np.sort(rng.choice(n, min(n, _TESTED_ROWS), replace=False))
    rows, sample = rows * len(index) / n, _occurring(variables.rows(index))
    numbers = sorted(labels)
    found, _ = _tested(sample, rows, numbers, rng, {k: own[index] for k, own in labels.items()})
    excesses, between = [], []
    for kind in KINDS:
        copula = fit_copula(sample.numbers, sample.codes, sample.sizes, rng, kind=kind)
        references: list[Array] = []
        for drawn, codes in draw_tables(copula, len(index), _REFERENCES, rng):
            drawn[np.isnan(sample.numbers)] = np.nan
            codes[sample.codes < 0] = -1
            gains, unsure = _tested(Variables(drawn, codes, sample.sizes, sample.categories), rows, numbers, rng, {})
            references.append(gains)
            between.append(unsure)
            if len(references) == _FEW_REFERENCES:
                so_far = _excess(found, np.array(references))
                if not _NEAR[0] < so_far < _NEAR[1]:
                    break
        excesses.append(_excess(found, np.array(references)))
        if excesses[-1] <= 1:
            break
    return min(excesses), float(np.mean(between))


def _tested(
    variables: Variables, rows: float, numbers: list[int], rng: np.random.Generator, known: dict[int, Array]
) -> tuple[Array, float]:
    """Gains per row for some numbers of classes, and the share of rows between the most classes."""
    n = len(variables)
    table = ClassTable(variables)
    base = completed_likelihood(table, table.fit(1, [np.zeros(n, np.intp)]), rows)
    gains, found = [], None
    for k in numbers:
        starts = table.starts(k, _PART_STARTS, rng) + ([known[k]] if k in known else [])
        found = table.fit(k, starts, finished=1, tol=_ROUGHLY_SETTLED)
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
