"""The offspring of a population, and what they cost."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from gramian.reservoir import GeneticSearch


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
