"""The candidates of a search and their offspring: arrays of genes, one row for each candidate.

Used by :mod:`gramian.reservoir.search` alone, whose estimator holds the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.reservoir.search import Box, GeneticSearch

FAILED = 1e6  # the objective of a model that cannot be fitted, or whose error is no number
_REFILLS = 100  # tries to find as many new candidates as a generation may judge: of one parameter few offspring are new

Judge = Callable[[dict[str, Any]], tuple[float, float, str]]
"""The error of a candidate, d / N, and what went wrong, if anything did."""


class Population:
    """Candidates that live, all that were judged, and how the search went."""

    def __init__(self, search: GeneticSearch, boxes: dict[str, Box], judge: Judge) -> None:
        self.search, self.boxes, self.judge = search, boxes, judge
        self.genes = np.empty((0, len(boxes)))
        self.objectives: list[tuple[float, ...]] = []  # in the order that candidates are compared by
        self.errors: list[float] = []
        self.known: dict[tuple[Any, ...], tuple[float, float, str]] = {}
        self.results: dict[str, list[Any]] = {name: [] for name in ("params", "error", "dimension", "objective")}
        self.history: dict[str, list[float]] = {
            name: [] for name in ("generation", "evaluations", "best", "mean", "std")
        }
        self.best: tuple[float, float] = (np.inf, np.inf)
        self.best_rank: tuple[float, ...] = (np.inf,)
        self.best_genes, self.trouble = self.genes, ""

    def params_of(self, genes: Array) -> dict[str, Any]:
        return {name: box.value(gene) for (name, box), gene in zip(self.boxes.items(), genes, strict=True)}

    def unknown(self, genes: Array) -> list[int]:
        """The places of candidates that have not been judged yet, without repetitions."""
        first: dict[tuple[Any, ...], int] = {}
        for place, row in enumerate(genes):
            first.setdefault(tuple(self.params_of(row).values()), place)
        return [place for key, place in first.items() if key not in self.known]

    def add(self, genes: Array) -> None:
        """Judge new candidates, those met before without fitting them again."""
        keys = [tuple(self.params_of(row).values()) for row in genes]
        new = list({key: None for key in keys if key not in self.known})
        names = list(self.boxes)
        candidates = [dict(zip(names, key, strict=True)) for key in new]
        judged = Parallel(n_jobs=self.search.n_jobs)(delayed(self.judge)(params) for params in candidates)
        for key, params, (error, dimension, trouble) in zip(new, candidates, judged, strict=True):
            self.known[key] = error, dimension, trouble
            self.trouble = trouble or self.trouble
            for name, value in zip(
                self.results,
                (params, error, dimension, self._weighted(error, dimension)),
                strict=True,
            ):
                self.results[name].append(value)
        for row, key in zip(genes, keys, strict=True):
            error, dimension, _ = self.known[key]
            weighted = self._weighted(error, dimension)
            rank = (error, dimension) if self.search.objective == "lexicographic" else (weighted,)
            self.objectives.append(rank)
            self.errors.append(error)
            if rank < self.best_rank:
                self.best_rank, self.best_genes, self.best = rank, row, (error, weighted)
        self.genes = np.vstack([self.genes, genes])
        if not self.history["generation"]:
            self._log()

    def _weighted(self, error: float, dimension: float) -> float:
        a = float(self.search.dimension_weight)
        return error if error >= FAILED else (1 - a) * error + a * dimension

    def survive(self, rng: np.random.Generator) -> None:
        """The best candidate and winners of tournaments; random search keeps the best ones."""
        n = int(self.search.population_size)
        order = sorted(range(len(self.objectives)), key=lambda i: self.objectives[i])
        if self.search.method == "random":
            kept = order[:n]
        else:
            place = np.argsort(order)  # of each candidate
            drawn = rng.integers(len(order), size=(n - 1, int(self.search.tournament_size)))
            winners = drawn[np.arange(n - 1), np.argmin(place[drawn], axis=1)]
            kept = [order[0], *winners.tolist()]
        self.genes = self.genes[kept]
        self.objectives, self.errors = [self.objectives[i] for i in kept], [self.errors[i] for i in kept]
        self._log()

    def _log(self) -> None:
        fitted = np.array([error for error in self.errors if error < FAILED])
        row = (
            len(self.history["generation"]),
            len(self.known),
            self.best[0],
            fitted.mean() if len(fitted) else np.nan,
            fitted.std() if len(fitted) else np.nan,
        )
        for name, value in zip(self.history, row, strict=True):
            self.history[name].append(float(value))


def offspring(
    population: Population, search: GeneticSearch, boxes: Mapping[str, Box], rng: np.random.Generator
) -> Array:
    """Offspring of a population, with ``n_offspring`` new candidates among them.

    Copies, and children of parents that are alike, cost no fit. They stay, but with them alone the search would spend
    less than random search: more offspring are drawn, of which only new ones are taken.
    """
    found = _varied(population.genes, search, boxes, rng)
    for _ in range(_REFILLS):
        missing = int(search.n_offspring) - len(population.unknown(found))
        if not missing:
            break
        both = np.vstack([found, _varied(population.genes, search, boxes, rng)])
        new = [place for place in population.unknown(both) if place >= len(found)]
        found = both[[*range(len(found)), *new[:missing]]]
    return found


def _varied(parents: Array, search: GeneticSearch, boxes: Mapping[str, Box], rng: np.random.Generator) -> Array:
    """Offspring by crossing, mutation or copying, inside the box."""
    n, d = int(search.n_offspring), parents.shape[1]
    first, second = parents[rng.integers(len(parents), size=n)], parents[rng.integers(len(parents), size=n)]
    way = rng.uniform(size=(n, 1))
    crossed = np.where(rng.uniform(size=(n, d)) < 0.5, first, second)
    steps = rng.normal(size=(n, d)) * np.array([box.sigma for box in boxes.values()])
    mutated = first + steps * (rng.uniform(size=(n, d)) < search.gene_mutation_prob)
    cross, mutate = search.crossover_prob, search.crossover_prob + search.mutation_prob
    offspring = np.where(way < cross, crossed, np.where(way < mutate, mutated, first))
    lows, highs = np.array([box.ends for box in boxes.values()]).T
    return np.clip(offspring, lows, highs)
