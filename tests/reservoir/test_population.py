"""The offspring of a population, and what they cost."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from gramian.reservoir import Box, GeneticSearch
from gramian.reservoir._population import Population, _varied


class Two(RegressorMixin, BaseEstimator):
    def __init__(self, a=0, b=0):
        self.a, self.b = a, b

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def searched(space, **parameters):
    X = np.arange(20.0)[:, None]
    search = GeneticSearch(
        Two(),
        param_space=space,
        population_size=6,
        n_evaluations=1,
        refit=False,
        error=lambda model, X, y: (model.a - 0.3) ** 2 + model.b**2,
        random_state=0,
        **parameters,
    )
    return search.fit(X, X[:, 0])


@pytest.mark.parametrize("method", ["genetic", "random"])
def test_every_generation_judges_as_many_new_candidates(method):
    found = searched({"a": (-1.0, 1.0), "b": (-1.0, 1.0)}, n_generations=8, n_offspring=5, method=method)
    assert found.history_["evaluations"].tolist() == [6 + 5 * generation for generation in range(9)]
    drawn = [tuple(params.values()) for params in found.results_["params"]]
    assert len(set(drawn)) == len(drawn) == 46


def test_of_one_parameter_as_many_new_candidates_are_judged():
    found = searched({"a": (-1.0, 1.0)}, n_generations=8, n_offspring=5)
    assert found.history_["evaluations"].tolist() == [6 + 5 * generation for generation in range(9)]


def test_a_box_without_further_candidates_ends_the_search():
    found = searched({"a": (0, 2), "b": (0, 1)}, n_generations=30, n_offspring=5, gene_mutation_prob=1.0)
    assert len(found.results_["params"]) == 6
    assert found.best_params_ == {"a": 0, "b": 0}


def test_copies_alone_find_nothing_new():
    found = searched({"a": (-1.0, 1.0)}, n_generations=3, n_offspring=4, crossover_prob=0.0, mutation_prob=0.0)
    assert found.history_["evaluations"].tolist() == [6, 6, 6, 6]


# The operators -----------------------------------------------------------------------------------------------------

BOXES = {"a": Box(-100.0, 100.0, 0.5), "b": Box(-100.0, 100.0, 3.0)}


def children(parents, n=20_000, **parameters):
    search = GeneticSearch(Two(), param_space=BOXES, n_offspring=n, **parameters)
    return _varied(parents, search, BOXES, np.random.default_rng(0))


def test_mutation_moves_each_gene_by_itself_with_its_own_step():
    """A gene is moved with a probability of 0.3, by a normal step of its box's size; both are with 0.09."""
    moved = children(np.zeros((4, 2)), crossover_prob=0.0, mutation_prob=1.0, gene_mutation_prob=0.3)
    np.testing.assert_allclose((moved != 0).mean(axis=0), 0.3, atol=0.015)
    assert abs((moved != 0).all(axis=1).mean() - 0.09) < 0.01
    for gene, step in zip(moved.T, (0.5, 3.0), strict=True):
        assert abs(gene[gene != 0].std() / step - 1) < 0.05
        assert abs(gene[gene != 0].mean()) < 0.05 * step


def test_crossing_takes_each_gene_from_either_parent():
    """Of two parents all four children are as likely; a gene never comes from anywhere else."""
    crossed = children(np.array([[1.0, 10.0], [2.0, 20.0]]), crossover_prob=1.0, mutation_prob=0.0)
    kinds, counts = np.unique(crossed, axis=0, return_counts=True)
    assert kinds.tolist() == [[1.0, 10.0], [1.0, 20.0], [2.0, 10.0], [2.0, 20.0]]
    # Half of the pairs are a parent with itself, whose children are copies.
    np.testing.assert_allclose(counts / len(crossed), [3 / 8, 1 / 8, 1 / 8, 3 / 8], atol=0.015)


def test_ways_have_their_probabilities_and_children_stay_inside_the_box():
    parents = np.array([[99.9, 0.0], [99.9, 1.0]])
    found = children(parents, crossover_prob=0.5, mutation_prob=0.2, gene_mutation_prob=1.0)
    mutated = ~np.isin(found[:, 1], [0.0, 1.0])
    assert abs(mutated.mean() - 0.2) < 0.01
    assert found.max() == 100.0


def test_the_best_and_winners_of_tournaments_survive():
    """The best of four drawn at random has a mean rank of n / 5; the best of all is always there."""
    search = GeneticSearch(Two(), param_space=BOXES, population_size=200, tournament_size=4)
    ranks = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        population = Population(search, BOXES, lambda params: (params["a"], 1.0, ""))
        population.add(rng.permutation(np.column_stack([np.arange(1.0, 400.0) / 4, np.zeros(399)])))
        population.survive(rng)
        assert population.genes[0, 0] == 0.25
        assert len(population.genes) == len(population.errors) == 200
        assert population.errors == population.genes[:, 0].tolist()
        ranks.append(4 * population.genes[1:, 0].mean())
    assert abs(np.mean(ranks) / (400 / 5) - 1) < 0.05
