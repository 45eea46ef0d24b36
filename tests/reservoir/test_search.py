"""Genetic and random search over boxes of hyper-parameters."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import NuSVR

from gramian import EchoStateNetwork, KernelPCA
from gramian.datasets import make_narma
from gramian.kernels import RBF
from gramian.metrics import nrmse
from gramian.reservoir import Box, GeneticSearch, search_space


class Sphere(RegressorMixin, BaseEstimator):
    """Its error is the squared distance of its parameters from (0.3, 0.7, −0.2), and its seed is remembered."""

    seen: ClassVar[list[tuple[float, ...]]] = []

    def __init__(self, a=0.0, b=0.0, c=0.0, units=10, random_state=None):
        self.a, self.b, self.c, self.units, self.random_state = a, b, c, units, random_state

    def fit(self, X, y):
        Sphere.seen.append((self.a, self.b, self.c, self.random_state))
        self.n_units, self.n_components_ = 100, self.units
        return self

    def predict(self, X):
        return np.zeros(len(X))


def distance(model, X, y):
    return (model.a - 0.3) ** 2 + (model.b - 0.7) ** 2 + (model.c + 0.2) ** 2


def searched(space, **parameters):
    X = np.arange(20.0)[:, None]
    usual = {"error": distance, "n_evaluations": 1, "random_state": 0, "refit": False}
    return GeneticSearch(Sphere(), param_space=space, **(usual | parameters)).fit(X, X[:, 0])


THREE = {"a": (-1.0, 1.0), "b": (-1.0, 1.0), "c": (-1.0, 1.0)}


def test_the_search_comes_near_the_optimum_of_a_sphere():
    found = searched(THREE, n_generations=40)
    assert found.best_error_ < 0.01 * 3  # within one per cent of the squared size of the box
    assert found.best_error_ == pytest.approx(distance(Sphere(**found.best_params_), None, None))


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from(["genetic", "random"]))
def test_the_best_never_gets_worse_and_all_candidates_are_inside_the_box(seed, method):
    space = THREE | {"units": (3, 9)}
    found = searched(space, population_size=6, n_generations=5, n_offspring=4, method=method, random_state=seed)
    assert (np.diff(found.history_["best"]) <= 0).all()
    assert found.history_["generation"].tolist() == [0, 1, 2, 3, 4, 5]
    assert found.history_["evaluations"][-1] == len(found.results_["params"]) <= 6 + 5 * 4
    for params in found.results_["params"]:
        assert all(-1 <= params[name] <= 1 for name in "abc")
        assert params["units"] in range(3, 10)
        assert isinstance(params["units"], int)


def test_a_seed_repeats_the_search_for_any_number_of_jobs():
    with parallel_config("threading"):
        first, again = (searched(THREE, n_generations=4, n_jobs=jobs).results_ for jobs in (None, 2))
    assert first == again


def test_candidates_are_judged_on_a_cluster(cluster):
    """With joblib's backend for Dask, and with the same result."""
    before = cluster.cluster.scheduler.transition_counter
    with parallel_config(backend="dask"):
        there = searched(THREE, n_generations=2).results_
    assert cluster.cluster.scheduler.transition_counter > before
    assert there == searched(THREE, n_generations=2).results_


def test_all_candidates_are_judged_with_the_same_random_states():
    Sphere.seen = []
    searched({"a": (-1.0, 1.0)}, population_size=5, n_generations=0, n_evaluations=3)
    seeds = [row[-1] for row in Sphere.seen]
    assert seeds == seeds[:3] * 5
    assert len(set(seeds[:3])) == 3


def test_a_weight_on_the_dimension_does_not_choose_a_larger_one():
    space = {"a": (-1.0, 1.0), "units": (1, 100)}
    sizes = [searched(space, dimension_weight=weight).best_params_["units"] for weight in (0.0, 0.1, 0.9)]
    assert sizes[2] <= 5
    assert sizes[1] <= 60
    found = searched(space, dimension_weight=0.1)
    share = found.best_params_["units"] / 100
    assert found.best_score_ == pytest.approx(0.9 * found.best_error_ + 0.1 * share)
    assert found.results_["dimension"][0] == found.results_["params"][0]["units"] / 100


def test_in_lexicographic_order_the_error_comes_first():
    found = searched({"a": (-1.0, 1.0), "units": (1, 100)}, objective="lexicographic", dimension_weight=1.0)
    assert found.best_error_ == min(found.results_["error"])


def test_ridges_are_chosen_by_the_last_rows_and_refitted_to_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    y = X[:, 0] + rng.normal(size=60)
    search = GeneticSearch(
        Ridge(),
        param_space={"alpha": (0.01, 300.0)},
        population_size=8,
        n_evaluations=1,
        n_generations=6,
        random_state=0,
    )
    search.fit(X, y)
    alpha = search.best_params_["alpha"]
    assert search.best_error_ == pytest.approx(nrmse(y[48:], Ridge(alpha=alpha).fit(X[:48], y[:48]).predict(X[48:])))
    np.testing.assert_allclose(search.predict(X), Ridge(alpha=alpha).fit(X, y).predict(X))
    grid = [nrmse(y[48:], Ridge(alpha=a).fit(X[:48], y[:48]).predict(X[48:])) for a in np.linspace(0.01, 300, 300)]
    assert search.best_error_ < min(grid) + 0.01


def test_classifiers_are_searched_by_their_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    search = GeneticSearch(
        LogisticRegression(),
        param_space={"C": (0.01, 10.0)},
        population_size=4,
        n_generations=1,
        n_evaluations=1,
        random_state=0,
    ).fit(X, y)
    assert search.score(X, y) > 0.9
    assert search.predict_proba(X).shape == (80, 2)
    assert list(search.classes_) == ["no", "yes"]


def test_failures_are_passed_over_until_there_are_nothing_but_failures():
    def sometimes(model, X, y):
        if model.a < 0:
            raise ValueError("a is negative")
        return np.nan if model.b < 0 else distance(model, X, y)

    found = searched(THREE, error=sometimes, population_size=12, n_generations=2)
    assert found.best_params_["a"] >= 0
    assert found.best_params_["b"] >= 0
    with pytest.raises(ValueError, match=r"no candidate could be fitted.*a is negative"):
        searched({"a": (-1.0, -0.5)}, error=sometimes)


def test_no_generation_is_begun_after_the_time_is_up():
    assert searched(THREE, time_budget=0).history_["generation"].tolist() == [0]


@pytest.mark.parametrize("reduction", [None, "pca", "kpca"])
@pytest.mark.parametrize("readout", ["ridge", "nu_svr"])
def test_the_published_box_fits_the_network(reduction, readout):
    network = EchoStateNetwork(
        reduction=KernelPCA(kernel=RBF(1.0)) if reduction == "kpca" else reduction,
        readout=NuSVR() if readout == "nu_svr" else "ridge",
    )
    boxes = search_space(reduction=reduction, readout=readout)
    assert set(boxes) <= set(network.get_params())


def test_a_network_is_searched_in_its_published_box():
    u, y = make_narma(500, random_state=0)
    boxes = search_space(reduction="pca") | {"n_units": Box(20, 40, whole=True), "spectral_radius": Box(0.5, 0.9)}
    search = GeneticSearch(
        EchoStateNetwork(reduction="pca"), param_space=boxes, population_size=4, n_generations=1, n_offspring=3,
        n_evaluations=2, dimension_weight=0.1, random_state=0,
    ).fit(u.reshape(-1, 1), y)  # fmt: skip
    assert search.best_error_ < 1
    assert 0 < search.results_["dimension"][0] <= 1
    assert len(search.predict(u.reshape(-1, 1))) == 500


@pytest.mark.parametrize(
    ("space", "parameters", "message"),
    [
        ({}, {}, "param_space={} must be a dict"),
        ({"d": (0, 1)}, {}, "'d', which is not a parameter of Sphere"),
        ({"a": (1.0, 0.0)}, {}, "low <= high"),
        ({"a": ("low", "high")}, {}, "'low' to 'high', which are not numbers"),
        ({"a": (False, True)}, {}, "False to True, which are not numbers"),
        ({"a": Box(1, "high")}, {}, "1 to 'high', which are not numbers"),
        ({"a": Box(1, 2, step="small")}, {}, "step='small'"),
        ({"a": 3}, {}, "must be .low, high. or a Box"),
        (THREE, {"validation": 1.0}, "validation=1.0"),
        (THREE, {"validation": 0.999}, "leaves no rows"),
        (THREE, {"population_size": 0}, "population_size=0"),
        (THREE, {"crossover_prob": 0.9}, "sum to more than 1"),
        (THREE, {"method": "grid"}, "method='grid'"),
        (THREE, {"dimension_weight": 2}, "dimension_weight=2"),
    ],
)
def test_bad_input_names_what_is_wrong(space, parameters, message):
    with pytest.raises(ValueError, match=message):
        searched(space, **parameters)


def test_unknown_boxes_are_refused():
    with pytest.raises(ValueError, match="reduction='umap'"):
        search_space(reduction="umap")
    with pytest.raises(ValueError, match="readout='tree'"):
        search_space(readout="tree")


def test_without_a_refit_there_is_nothing_to_predict_with():
    with pytest.raises(AttributeError, match="refit=True"):
        searched(THREE, population_size=2, n_generations=0).predict([[1.0]])


def test_logarithmic_boxes():
    """Values of a logarithmic box stay inside it, ends included, and every decade is as likely."""
    box = Box(0.001, 1.0, log=True)
    np.testing.assert_allclose([box.value(end) for end in box.ends], [0.001, 1.0], rtol=1e-12)
    assert all(0.001 <= box.value(end) <= 1.0 for end in box.ends)
    genes = np.random.default_rng(0).uniform(*box.ends, size=3000)
    share = np.mean([box.value(gene) < 0.01 for gene in genes])
    assert abs(share - 1 / 3) < 0.03


@pytest.mark.parametrize(("low", "high"), [(0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-2.0, -1.0), (float("nan"), 1.0)])
def test_logarithmic_boxes_are_positive(low, high):
    with pytest.raises(ValueError, match=rf"low={low!r} and high={high!r} of a box with log=True must be positive"):
        Box(low, high, log=True)
    assert Box(low, high).ends == pytest.approx((low, high), nan_ok=True)  # without logarithms any range will do


def test_constant_targets_are_judged_by_the_error_itself():
    class Zero(Sphere):
        def predict(self, X):
            return np.zeros((len(X), 2))

    X = np.arange(20.0)[:, None]
    search = GeneticSearch(
        Zero(), param_space={"a": (0.0, 1.0)}, population_size=2, n_generations=0, n_evaluations=1, refit=False
    ).fit(X, np.tile([3.0, 4.0], (20, 1)))
    assert search.best_error_ == pytest.approx(np.sqrt(12.5))
