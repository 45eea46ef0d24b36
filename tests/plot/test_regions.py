"""Regions have the colour of what the model says there."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import plot
from gramian.colours import GROUPS, rgb
from gramian.datasets import make_crescents


def answered(ax, theme="light"):
    """The group whose colour each place of the picture leans to."""
    picture = np.asarray(ax.images[0].get_array())
    away = picture - 1.0  # from white paper
    directions = np.array([rgb(colour) - 1.0 for colour in GROUPS[theme][:3]])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.argmax(away @ directions.T, axis=-1)


def grid(ax, side):
    left, right, bottom, top = ax.images[0].get_extent()
    return np.stack(np.meshgrid(np.linspace(left, right, side), np.linspace(bottom, top, side)), axis=-1)


def test_regions_are_the_predictions_and_dots_the_rows():
    X, y = make_crescents(random_state=0)
    model = gramian.LSSVMClassifier().fit(X, y)
    ax = plot.decision(model, X, y, resolution=30)
    expected = model.predict(grid(ax, 30).reshape(-1, 2)).reshape(30, 30)
    np.testing.assert_array_equal(answered(ax), expected)
    for group, dots in enumerate(ax.collections):
        np.testing.assert_allclose(dots.get_offsets(), X[y == group])


def test_regions_are_paler_where_the_model_is_less_sure():
    X, y = make_crescents(random_state=0)
    model = gramian.LSSVMClassifier().fit(X, y)
    ax = plot.decision(model, X, resolution=30)
    sure = model.predict_proba(grid(ax, 30).reshape(-1, 2)).max(axis=1)
    depth = np.linalg.norm(np.asarray(ax.images[0].get_array()).reshape(-1, 3) - 1.0, axis=1)
    own = answered(ax).ravel() == 0
    assert (np.diff(depth[own][np.argsort(sure[own])]) > -1e-9).all()


def test_clusters_of_a_frame_have_the_names_of_its_columns(rings, split_rings):
    frame = pd.DataFrame(rings, columns=["east", "north"])
    model = gramian.SpectralClustering(2, random_state=0).fit(frame)
    ax = plot.decision(model, frame, resolution=20)
    assert ax.get_xlabel() == "east"
    np.testing.assert_array_equal(len(ax.collections), 2)


def test_predictions_of_a_regressor_are_amounts():
    X, _ = make_crescents(random_state=0)
    model = gramian.LSSVMRegressor().fit(X, X[:, 0] ** 2)
    ax = plot.decision(model, X, resolution=15)
    expected = model.predict(grid(ax, 15).reshape(-1, 2)).reshape(15, 15)
    np.testing.assert_allclose(ax.images[0].get_array(), expected)


def test_more_columns_than_two_are_refused(blobs, ranked):
    with pytest.raises(ValueError, match=r"X has shape \(75, 3\); plot.decision draws a model of two columns"):
        plot.decision(ranked, blobs[0])
    with pytest.raises(ValueError, match="resolution=1 must be a whole number >= 2"):
        plot.decision(ranked, blobs[0][:, :2], resolution=1)


def test_a_model_of_several_targets_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="2 outputs for each row"):
        plot.decision(gramian.LSSVMRegressor(regularization=1.0).fit(X, X), X, resolution=5)


@pytest.mark.parametrize("model", [gramian.LSSVMClassifier(), gramian.LSSVMRegressor()])
def test_rows_without_a_class_or_a_place_are_refused(model):
    X, y = make_crescents(random_state=0)
    model = model.fit(X, y)
    with pytest.raises(ValueError, match=rf"y has shape \(3,\) for {len(X)} rows"):
        plot.decision(model, X, y[:3])
    with pytest.raises(ValueError, match="a column without values"):
        plot.decision(model, X * [1.0, np.nan], y)
