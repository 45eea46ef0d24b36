"""Curves are those that the model kept while it was trained."""

import numpy as np

import gramian
from gramian import plot


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def test_terms_of_the_loss_are_drawn_by_name(blobs):
    from gramian.deep import DivergenceClustering

    model = DivergenceClustering(3, hidden_layer_sizes=(8,), max_iter=12, random_state=0).fit(blobs[0])
    found = curves(plot.curve(model))
    assert set(found) == {name.replace("_", " ") for name in model.term_curves_}
    for name, values in model.term_curves_.items():
        np.testing.assert_allclose(found[name.replace("_", " ")], values)


def test_losses_and_checks_on_rows_held_back_are_drawn_where_they_were_made():
    kept = {
        "loss_curve_": np.array([3.0, 2.0, 1.0]),
        "reconstruction_curve_": np.array([2.0, 1.5, 0.5]),
        "validation_curve_": np.array([[1.0, 2.5], [3.0, 1.2]]),
    }
    ax = plot.curve(type("Model", (), kept))
    assert list(curves(ax)) == ["loss", "reconstruction", "validation"]
    np.testing.assert_array_equal(ax.lines[2].get_xdata(), [1, 3])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3])


def test_an_objective_is_drawn_with_its_name(wine):
    model = gramian.DependenceReduction(2).fit(wine.X, wine.y)
    ax = plot.curve(model)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.objective_path_)
    assert ax.get_ylabel() == "objective"


def test_losses_that_fall_a_hundredfold_are_drawn_in_logarithms():
    ax = plot.curve(type("Model", (), {"loss_curve_": np.geomspace(1, 1e-4, 9)}))
    assert ax.get_yscale() == "log"
