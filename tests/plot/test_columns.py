"""Weights of the columns are those of the components, largest first."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import plot


@pytest.fixture(scope="module")
def reduced(wine):
    return gramian.DependenceReduction(2).fit(pd.DataFrame(wine.X, columns=wine.feature_names), wine.y)


def test_cells_are_the_signed_weights(reduced, wine):
    ax = plot.components(reduced)
    order = np.argsort(-np.abs(reduced.components_).max(axis=0), kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), reduced.components_[:, order].T)
    assert [text.get_text() for text in ax.get_yticklabels()] == [wine.feature_names[j] for j in order]
    first = f"{reduced.components_[0, order[0]]:+.2f}".replace("-", "−")
    assert ax.texts[0].get_text() == first


def test_only_the_heaviest_columns_are_shown(reduced):
    ax = plot.components(reduced, top=3)
    assert ax.images[0].get_array().shape == (3, 2)
    assert ax.get_title() == "Weights of 3 of 13 columns"


def test_bad_arguments_are_told(reduced):
    with pytest.raises(ValueError, match="names has 1 entries for 13 columns"):
        plot.components(reduced, names=["one"])
    with pytest.raises(ValueError, match="top=0 must be a whole number >= 1"):
        plot.components(reduced, top=0)
