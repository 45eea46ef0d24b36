"""Mixtures of normal and multinomial columns for every number of classes, fitted to one table.

A search takes hundreds of mixtures. It is done on numbers without holes, where a step of EM is a few products;
``latent_classes.py`` fits what it chooses once more, with the holes. Used by the latent classes of clustering.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from gramian.clustering.automatic.completion import Completion
from gramian.clustering.automatic.variables import Variables
from gramian.mixture.em import Parameters
from gramian.mixture.levels import indicators, observed_levels
from gramian.mixture.scaling import free_parameters
from gramian.mixture.starts import quick_clusters, start_from_labels, start_levels
from gramian.mixture.tied import Mixtures, TiedTable, posteriors, run_tied
from gramian.typing import Array

_STARTS, _CUTS, _MERGES = 6, 4, 4
_MOVES = 10  # of k-means
_SHORT, _LONG = 8, 60  # steps of EM for every start, and for the best
_SETTLED = 1e-5  # change of the bound per row
ROUGHLY_SETTLED = 1e-4  # that of parts and references
_FINISHED = 2
_PATIENCE = 3  # numbers of classes in a row that bring nothing


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
        return [quick_clusters(spaces[i % 2], k, rng, _MOVES) for i in range(count)]

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
        improved = partial(run_tied, self.table, tol=ROUGHLY_SETTLED, ridge=1 / len(parts[0][0]))
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


def completed(variables: Variables) -> Variables:
    """The same with the holes of numbers filled from the nearest rows, in numbers and categories; see Completion."""
    numbers, d = variables.numbers, variables.numbers.shape[1]
    if not np.isnan(numbers).any():
        return variables
    hot = indicators(variables.codes, variables.sizes).T.astype(np.float64)
    hot[np.repeat(variables.codes < 0, variables.sizes, axis=1)] = np.nan
    owners = np.concatenate([np.arange(d), d + np.repeat(np.arange(len(variables.sizes)), variables.sizes)])
    completion = Completion(owners).fit(np.hstack([numbers, hot]))
    filled = completion.filled(np.hstack([numbers, hot]))
    used = np.flatnonzero(completion.used_)
    at = np.flatnonzero(used < d)
    out = np.where(np.isnan(numbers), 0.0, numbers)
    out[:, used[at]] = filled[:, at] * completion.scale_[at] + completion.center_[at]
    return Variables(out, variables.codes, variables.sizes, variables.categories)


def principal_axes(features: Array) -> Array:
    """Coordinates of rows along their principal axes, by falling variance."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, ::-1][:, : max(1, int((values > 1e-10 * values.max(initial=0.0)).sum()))]


def completed_likelihood(table: ClassTable, found: Classes, rows: float) -> float:
    """ICL = (e / n)(log L − entropy) − ½ · parameters · log e, for e effective ``rows``; the higher, the better."""
    n, k = found.posteriors.shape
    return rows / n * (found.likelihood - found.entropy) - 0.5 * table.n_parameters(k) * float(np.log(rows))


class Search(NamedTuple):
    """Mixtures of a table, its numbers completed, for every number of classes."""

    table: ClassTable
    fits: dict[int, Classes]
    gains: Array  # of ICL over one class, for 1, 2, … classes


def search(variables: Variables, rows: float, rng: np.random.Generator, *, max_classes: int) -> Search:
    """Mixtures of a table for every number of classes, see :func:`fit_all`."""
    table = ClassTable(completed(variables))
    return Search(table, *fit_all(table, rows, max(min(max_classes, len(variables) // 2), 1), rng))


def fit_all(
    table: ClassTable, rows: float, most: int, rng: np.random.Generator, *, back: bool = True
) -> tuple[dict[int, Classes], Array]:
    """Mixtures of 1, 2, … classes until three in a row bring nothing, and their gains of ICL over one class.

    EM ends in the optimum next to where it starts. So each mixture starts from k-means and from that of one class less,
    one class of which is cut in two; and on the way ``back`` from that of one class more, two of which are made one.
    """
    fits = {1: table.fit(1, [np.zeros(len(table.numbers), np.intp)])}
    scores = [completed_likelihood(table, fits[1], rows)]
    for k in range(2, most + 1):
        starts = table.starts(k, _STARTS, rng) + table.cuts(fits[k - 1].labels, rng)
        fits[k] = table.fit(k, starts)
        scores.append(completed_likelihood(table, fits[k], rows))
        if k - 1 - int(np.argmax(scores)) >= _PATIENCE:
            break
    for k in range(len(fits) - 1, 1, -1) if back else ():
        merges = table.merges(fits[k + 1].labels)  # none where one class has taken all rows
        if merges and (again := table.fit(k, merges)).bound > fits[k].bound:
            fits[k] = again
            scores[k - 1] = completed_likelihood(table, again, rows)
    return fits, np.array(scores) - scores[0]
