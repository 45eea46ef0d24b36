"""Groups of a table with categories: latent classes, their number, and whether there are any.

The steps are pure functions. Categories that no other column tells are left out; mixtures of normal and multinomial
columns are fitted for every number of classes; the number is the one that saves most description (ICL) among those
whose least stable class is found again; and tables of a normal copula, which have the same columns and pairs of columns
but no groups, say what a gain is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from gramian.clustering.automatic.stability import cluster_stability, stability
from gramian.mixture.copula import draw_tables, fit_copula
from gramian.mixture.em import CovarianceType, Parameters, log_joint, memberships, run_em
from gramian.mixture.levels import Levels, indicators, observed_levels
from gramian.mixture.patterns import IncompleteTable
from gramian.mixture.scaling import free_parameters
from gramian.mixture.starts import start_from_labels, start_levels
from gramian.typing import Array

Verdict = Literal["clear", "weak", "none"]
Path = Literal["views", "classes", "classes if certain"]

_BINS = 5
_FEW_VALUES = 10  # of a number that counts by its values
_LEVEL = 0.01  # of all tests together
_STARTS, _CUTS = 6, 4
_SHORT, _LONG = 8, 60  # steps of EM for every start, and for the best
_FINISHED = 2
_PATIENCE = 3  # numbers of classes in a row that bring nothing
_SHARE_OF_GAIN = 0.9
_MOST_TRIED = 6
_PARTS, _PART = 10, 0.7
_PART_STARTS = 4
_AS_STABLE = 0.05
_REFERENCES = 20
_DEVIATIONS = 2.5  # beyond the mean of the references
_RESOLUTION = 0.02  # of a gain per row: finer differences between tables say nothing
_UNSURE = 0.9  # a row whose largest posterior is less lies in between


@dataclass(frozen=True)
class Variables:
    """One variable for each column of a table.

    Attributes
    ----------
    numbers : ndarray (n, d)
        Columns of numbers in standard units, NaN where missing.
    codes : ndarray (n, c) of int
        Levels of the discrete columns: categories, and numbers of few values. −1 where missing.
    sizes : ndarray (c,) of int
        How many levels each of them has; at least two, and each occurs.
    categories : ndarray (c,) of bool
        Which discrete columns are categories; the others are numbers and are never left out.
    """

    numbers: Array
    codes: Array
    sizes: Array
    categories: Array

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, index: Array) -> Variables:
        """Some of the rows; levels keep their numbers."""
        return Variables(self.numbers[index], self.codes[index], self.sizes, self.categories)

    def keep(self, discrete: Array) -> Variables:
        """Without the discrete columns that a mask leaves out."""
        return Variables(self.numbers, self.codes[:, discrete], self.sizes[discrete], self.categories[discrete])


def variables_of(numbers: Array, codes: Array) -> Variables:
    """Variables from columns of numbers (n, d) with NaN and columns of codes (n, c) with −1 where missing.

    Numbers with at most ten values count by value, and those with one value in more than half of their rows by
    quantile; the others in standard units. A column with a single value says nothing and is left out.
    """
    plain, discrete, categories = [], [], []
    for column in numbers.T:
        observed = column[~np.isnan(column)]
        values, counts = np.unique(observed, return_counts=True)
        if len(values) < 2:
            continue
        if len(values) <= _FEW_VALUES or counts.max() > len(observed) / 2:
            discrete.append(quantile_codes(column))
            categories.append(False)
        else:
            plain.append((column - observed.mean()) / observed.std())
    for column in codes.T:
        known, compact = np.unique(column[column >= 0], return_inverse=True)
        if len(known) > 1:
            renumbered = np.full(len(column), -1)
            renumbered[column >= 0] = compact
            discrete.append(renumbered)
            categories.append(True)
    n = len(numbers)
    table = np.column_stack([np.empty((n, 0), np.intp), *discrete])
    sizes = table.max(axis=0, initial=-1) + 1
    return Variables(np.column_stack([np.empty((n, 0)), *plain]), table, sizes, np.array(categories, bool))


def quantile_codes(column: Array) -> Array:
    """Numbers as codes: their values if there are at most ten, else five parts of equally many rows; −1 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> quantile_codes(np.array([3.0, np.nan, 1.0, 3.0])).tolist()
    [1, -1, 0, 1]
    """
    observed = ~np.isnan(column)
    codes = np.full(len(column), -1)
    values = np.unique(column[observed])
    if len(values) <= _FEW_VALUES:
        codes[observed] = np.searchsorted(values, column[observed])
        return codes
    edges = np.unique(np.quantile(column[observed], np.arange(1, _BINS) / _BINS))
    codes[observed] = np.unique(np.searchsorted(edges, column[observed], side="left"), return_inverse=True)[1]
    return codes


def effective_rows(variables: Variables, rng: np.random.Generator) -> float:
    """n · min(1, different rows / different rows after each column is shuffled).

    Copies of rows say nothing new, while the cells of a small cross table repeat in any order.
    """
    table = np.column_stack([np.nan_to_num(variables.numbers, nan=np.inf), variables.codes])
    if not table.shape[1]:
        return float(len(table))
    found = len(np.unique(table, axis=0))
    shuffled = [len(np.unique(rng.permuted(table, axis=0), axis=0)) for _ in range(3)]
    return len(table) * min(1.0, found / float(np.mean(shuffled)))


def told_columns(variables: Variables, rows: float) -> tuple[Array, Array]:
    """Which columns of numbers, and which discrete ones, depend on at least one other column.

    Pearson's χ² of the codes of each pair, scaled to the effective number of ``rows``, at a level of 1 % over all pairs
    together (Bonferroni). All cross tables come from one product.
    """
    n, d = variables.numbers.shape
    codes = np.column_stack([*(quantile_codes(column) for column in variables.numbers.T), variables.codes])
    sizes = codes.max(axis=0, initial=-1) + 1
    total = codes.shape[1]
    if total < 2:
        return np.zeros(d, bool), np.zeros(total - d, bool)
    hot = indicators(codes, sizes).astype(np.float64)
    tables = hot @ hot.T
    ends = np.cumsum(sizes)
    told = np.zeros(total, bool)
    least = _LEVEL / (total * (total - 1) / 2)
    for i in range(total):
        for j in range(i):
            if told[i] and told[j]:
                continue
            table = tables[ends[i] - sizes[i] : ends[i], ends[j] - sizes[j] : ends[j]]
            table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
            freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
            if freedom < 1:
                continue
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            statistic = float(((table - expected) ** 2 / expected).sum()) * rows / n
            if chi2.sf(statistic, freedom) < least:
                told[i] = told[j] = True
    return told[:d], told[d:]


def choose_path(n_told_categories: int, n_told: int) -> Path:
    """Whether the similarities of numbers or latent classes group the table, by the told columns.

    Classes where a third of them or more are categories; similarities where fewer than an eighth are; in between
    classes if they are certain.
    """
    if n_told_categories == 0 or n_told_categories < n_told / 8:
        return "views"
    return "classes if certain" if n_told_categories < n_told / 3 else "classes"


# Mixtures of one table ----------------------------------------------------------------------------------------


class Classes(NamedTuple):
    """A mixture fitted to a table."""

    labels: Array  # (n,)
    posteriors: Array  # (n, k)
    parameters: Parameters
    likelihood: float
    entropy: float


class ClassTable:
    """A table prepared for mixtures of any number of classes.

    Attributes
    ----------
    features : ndarray (n, p)
        Complete rows for k-means: numbers, and indicators over the root of their share.
    """

    def __init__(self, variables: Variables, levels: Levels | None = None) -> None:
        numbers, sizes = variables.numbers, variables.sizes
        hot = indicators(variables.codes, sizes)
        self.levels = observed_levels(variables.codes, sizes, 1.0) if levels is None else levels
        self.table = IncompleteTable(numbers, hot)
        self.kind: CovarianceType = "tied" if numbers.shape[1] else "diag"
        self.hot = hot
        self.numbers = np.where(np.isnan(numbers), 0.0, numbers)
        seen = np.repeat(variables.codes.T >= 0, sizes, axis=0)
        filled = np.where(seen, hot, self.levels.shares[:, None]) / np.sqrt(self.levels.shares)[:, None]
        self.features = np.hstack([self.numbers, filled.T])
        centred = self.features - self.features.mean(axis=0)
        left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
        self.axes = left * lengths

    def starts(self, k: int, count: int, rng: np.random.Generator) -> list[Array]:
        """Labels of k-means, alternately in the first k principal axes and in all features."""
        spaces = (self.axes[:, :k], self.features)
        return [_kmeans(spaces[i % 2], k, rng) for i in range(count)]

    def cuts(self, labels: Array, rng: np.random.Generator) -> list[Array]:
        """Labels with one more class, of one of the largest cut in two."""
        counts = np.bincount(labels)
        cut = []
        for largest in np.argsort(-counts)[:_CUTS]:
            rows = np.flatnonzero(labels == largest)
            if len(rows) > 1:
                new = labels.copy()
                new[rows[_kmeans(self.axes[rows], 2, rng) == 1]] = counts.size
                cut.append(new)
        return cut

    def fit(self, k: int, starts: list[Array]) -> Classes:
        """The mixture of highest likelihood: a few steps of EM from every start, more from the best."""
        short = [self._run(self._start(labels, k), _SHORT) for labels in starts]
        best = sorted(short, key=lambda found: -found[1])[:_FINISHED]
        done = [self._run(parameters, _LONG - _SHORT) for parameters, _ in best] if k > 1 else best
        parameters = max(done, key=lambda found: found[1])[0]
        gamma, likelihoods = memberships(log_joint(self.table, parameters, self.kind), axis=1)
        entropy = -float((gamma * np.log(np.maximum(gamma, 1e-300))).sum())
        return Classes(gamma.argmax(axis=1), gamma, parameters, float(likelihoods.sum()), entropy)

    def n_parameters(self, k: int) -> int:
        """Free parameters of a mixture of k classes."""
        sizes = self.levels.sizes
        return free_parameters(self.kind, k, self.numbers.shape[1]) + k * int((sizes - 1).sum())

    def _start(self, labels: Array, k: int) -> Parameters:
        start = start_from_labels(self.features, labels, k, self.kind, 1 / len(labels), self.numbers.shape[1])
        return start._replace(levels=start_levels(self.hot, labels, k, self.levels))

    def _run(self, start: Parameters, steps: int) -> tuple[Parameters, float]:
        fit = run_em(
            self.table,
            start,
            covariance_type=self.kind,
            max_iter=steps,
            tol=1e-5,
            ridge=1 / self.table.shape[0],  # one row of N(0, I)
            levels=self.levels,
        )
        return fit.parameters, float(fit.bounds[-1])


def _kmeans(X: Array, k: int, rng: np.random.Generator) -> Array:
    with catch_warnings():  # fewer different rows than classes are no trouble: EM empties a class
        simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(X).labels_


def completed_likelihood(table: ClassTable, found: Classes, rows: float) -> float:
    """ICL = (e / n)(log L − entropy) − ½ · parameters · log e, for e effective ``rows``; the higher, the better."""
    n, k = found.posteriors.shape
    return rows / n * (found.likelihood - found.entropy) - 0.5 * table.n_parameters(k) * float(np.log(rows))


def fit_all(table: ClassTable, rows: float, most: int, rng: np.random.Generator) -> tuple[dict[int, Classes], Array]:
    """Mixtures of 1, 2, … classes until three in a row bring nothing, and their gains of ICL over one class."""
    fits = {1: table.fit(1, [np.zeros(len(table.numbers), np.intp)])}
    scores = [completed_likelihood(table, fits[1], rows)]
    for k in range(2, most + 1):
        starts = table.starts(k, _STARTS, rng) + table.cuts(fits[k - 1].labels, rng)
        fits[k] = table.fit(k, starts)
        scores.append(completed_likelihood(table, fits[k], rows))
        if k - 1 - int(np.argmax(scores)) >= _PATIENCE:
            break
    return fits, np.array(scores) - scores[0]


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
        Gain beyond that of tables without groups; above 1, there is structure.
    between : float
        Share of rows whose largest posterior is below 0.9.
    verdict : {"clear", "weak", "none"}
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
    most = min(max_classes, n // 2) if n_classes is None else n_classes
    fits, gains = fit_all(table, rows, max(most, 1), rng)
    if n_classes is not None and n_classes not in fits:
        fits[n_classes] = table.fit(n_classes, table.starts(n_classes, 2 * _STARTS, rng))
    resampled: dict[int, list[tuple[Array, Array]]] = {}
    tried: dict[int, float] = {}
    for k in [n_classes] if n_classes is not None else _worth_trying(gains):
        resampled[k] = _resampled(variables, table.levels, fits[k].labels, k, rng)
        tried[k] = float(cluster_stability(fits[k].labels, resampled[k]).min())
    k = _chosen(tried, gains) if n_classes is None else n_classes
    found = fits[k]
    if k == 1:
        one = np.zeros(n, np.intp)
        return LatentClasses(one, np.ones((n, 1)), gains, tried, {}, 1.0, np.ones(1), 0.0, 0.0, "none")
    order = _by_size(found.labels, k)
    labels = np.argsort(order)[found.labels]
    alternatives = {other: np.argsort(_by_size(fits[other].labels, other))[fits[other].labels] for other in tried}
    again, each = stability(labels, resampled[k]), cluster_stability(labels, resampled[k])
    between = float((found.posteriors.max(axis=1) < _UNSURE).mean())
    excess = beyond_copula(variables, rows, sorted({2, 3, k} & set(fits)), gains_of(table, fits, rows), rng)
    verdict: Verdict = "weak"
    if excess <= 1 and between >= 0.05:
        verdict = "none"
    elif excess > 1 and again >= 0.75 and each.min() >= 0.6 and between < 0.1:
        verdict = "clear"
    posteriors = found.posteriors[:, order]
    return LatentClasses(labels, posteriors, gains, tried, alternatives, again, each, excess, between, verdict)


def _by_size(labels: Array, k: int) -> Array:
    """The classes, the largest first."""
    return np.argsort(-np.bincount(labels, minlength=k), kind="stable")


def gains_of(table: ClassTable, fits: dict[int, Classes], rows: float) -> dict[int, float]:
    """Gain of ICL over one class for every number of classes that was fitted."""
    base = completed_likelihood(table, fits[1], rows)
    return {k: completed_likelihood(table, found, rows) - base for k, found in fits.items()}


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


def _resampled(
    variables: Variables, levels: Levels, labels: Array, k: int, rng: np.random.Generator
) -> list[tuple[Array, Array]]:
    """Classes of ten parts of 70 % of the rows, the most likely from k-means and from the classes of all rows.

    Without the last start, a part that misses the best of many local optima would count against classes that it holds.
    """
    n = len(variables)
    found = []
    for _ in range(_PARTS):
        rows = np.sort(rng.choice(n, max(int(_PART * n), k), replace=False))
        part = ClassTable(variables.rows(rows), levels)
        found.append((rows, part.fit(k, [*part.starts(k, _PART_STARTS, rng), labels[rows]]).labels))
    return found


def beyond_copula(
    variables: Variables, rows: float, numbers: list[int], gains: dict[int, float], rng: np.random.Generator
) -> float:
    """By how much the gains exceed those of tables without groups, in what is usual among these.

    Parameters
    ----------
    variables : Variables
    rows : float
        Effective number of rows.
    numbers : list of int
        The numbers of classes that count.
    gains : dict
        Of the table, by number of classes.
    rng : Generator

    Returns
    -------
    excess : float
        The largest gain per row over the mean of the references, in their standard deviations, divided by what one
        reference in hundreds would have over the others. Above 1, the table has structure that they do not have.
    """
    n = len(variables)
    copula = fit_copula(variables.numbers, variables.codes, variables.sizes, rng)
    references = []
    for drawn, codes in draw_tables(copula, n, _REFERENCES, rng):
        drawn[np.isnan(variables.numbers)] = np.nan
        codes[variables.codes < 0] = -1
        table = ClassTable(Variables(drawn, codes, variables.sizes, variables.categories))
        fits = {1: table.fit(1, [np.zeros(n, np.intp)])}
        fits |= {k: table.fit(k, table.starts(k, _PART_STARTS, rng)) for k in numbers}
        own = gains_of(table, fits, rows)
        references.append([own[k] / n for k in numbers])
    return _excess(np.array([gains[k] / n for k in numbers]), np.array(references))


def _excess(found: Array, references: Array) -> float:
    """Largest difference from the mean of the references, in their deviations, by what is usual of each of them."""

    def largest(values: Array, others: Array) -> float:
        deviation = np.maximum(others.std(axis=0), _RESOLUTION)
        return float(((values - others.mean(axis=0)) / deviation).max())

    usual = np.array([largest(own, np.delete(references, i, axis=0)) for i, own in enumerate(references)])
    level = max(1.0, float(usual.mean() + _DEVIATIONS * usual.std(ddof=1)))
    return largest(found, references) / level
