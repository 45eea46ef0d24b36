"""Fitted estimators say below scikit-learn's diagram what was found and chosen."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone

import gramian
from compliance.construct import ESTIMATORS, name_of
from gramian.diagram import Estimator, chosen_html, told
from gramian.kernels import RBF


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 2)) + 9.0 * np.repeat(np.eye(2), 30, axis=0)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_every_estimator_has_the_diagram(estimator):
    assert isinstance(estimator, Estimator)
    assert chosen_html(clone(estimator)) == ""  # not fitted


def test_lines_tell_the_fitted_attributes(rows):
    model = gramian.AutoClustering(random_state=0).fit(rows)
    lines = told(model)
    assert lines["Found"][0] == f"{model.n_clusters_} clusters (chosen)"
    assert lines["Found"][1] == f"verdict: {model.verdict_}"
    (way,) = (candidate["name"] for candidate in model.candidates_ if candidate["chosen"])
    assert lines["Chosen"][0] == f"way: {way.replace('_', ' ')}"
    given = told(gramian.SpectralClustering(2, random_state=0).fit(rows))
    assert given["Found"] == ["2 clusters"]


def test_width_and_regularization_are_those_of_the_model(rows):
    model = gramian.LSSVMRegressor(kernel=RBF(2.0), regularization=3.0).fit(rows, rows[:, 0])
    assert told(model)["Chosen"][:2] == ["kernel RBF, width 2", "regularization 3"]


def test_both_doors_of_a_notebook_show_scikit_learns_diagram_and_the_lines(rows):
    model = gramian.KernelPCA(1, kernel=RBF(2.0)).fit(rows)
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    for html in (bundle["text/html"], model._repr_html_()):
        assert "sk-top-container" in html
        assert html.endswith(">Found: 1 component<br>Chosen: kernel RBF, width 2</div>")


def test_text_display_has_no_diagram(rows):
    model = gramian.KernelPCA(1).fit(rows)
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_names_are_escaped():
    class Odd(BaseEstimator):
        verdict_ = "<script>"

    assert "<script>" not in chosen_html(Odd())
    assert "&lt;script&gt;" in chosen_html(Odd())


def test_one_of_a_kind_is_told_in_the_singular():
    class Single:
        n_clusters_, n_layers_, classes_, n_steps_ = 1, 1, ["yes"], 1

    assert told(Single())["Found"] == ["1 cluster", "1 class", "1 layer", "1 step seen"]
