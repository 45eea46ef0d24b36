"""Imputation and the two forms of the RBF kernel."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from gramian.kernels import resolve_width
from gramian.mixture import mcar
from reproduce.baselines import (
    FILLED,
    IMPUTATIONS,
    WITH_HOLES,
    Ensemble,
    contest,
    impute,
    rbf,
    standardize,
)


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.fixture
def blobs():
    """Three groups in five dimensions with a quarter of the cells missing, the complete table, and the labels."""
    X, y = make_blobs(90, centers=3, n_features=5, cluster_std=1.5, random_state=2)
    return mcar(X, 0.25, random_state=0)[0], X, y


# Treatments of holes -------------------------------------------------------------------------------------------------


def test_standardize_uses_observed_values_only(blobs):
    """Observed values have mean 0 and variance 1, holes stay, and a constant column becomes zero."""
    X = np.column_stack([blobs[0], np.full(90, 3.0)])
    Z = standardize(X)
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(X))
    np.testing.assert_allclose(np.nanmean(Z, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(Z, axis=0), [1] * 5 + [0], atol=1e-12)


def test_imputations_fill_what_they_are_called(rng):
    """Zero, mean, median and most frequent value of the observed part of each column."""
    X = np.array([[1.0], [1.0], [2.0], [8.0], [9.0], [np.nan]])
    found = {name: impute(X, name)[-1, 0] for name in IMPUTATIONS}
    assert found == {"zero": 0.0, "mean": 4.2, "median": 2.0, "most frequent": 1.0}


def test_the_two_forms_of_rbf_differ_by_the_factor_two(rng):
    """ "half" is exp(−d²/(2σ²)), "paper" exp(−d²/σ²), both with σ = 20 % of the median distance."""
    X = rng.standard_normal((30, 3))
    squared = cdist(X, X, "sqeuclidean")
    sigma = 0.2 * np.median(np.sqrt(squared[np.triu_indices(30, 1)]))
    assert resolve_width("median20", X) == pytest.approx(sigma)
    np.testing.assert_allclose(rbf(X, "half").fit(X)(X), np.exp(-squared / (2 * sigma**2)), atol=1e-12)
    np.testing.assert_allclose(rbf(X, "paper").fit(X)(X), np.exp(-squared / sigma**2), atol=1e-12)
    with pytest.raises(ValueError, match="rbf_convention='whole' is not known"):
        rbf(X, "whole")


# Contest -------------------------------------------------------------------------------------------------------------


def test_contest_scores_every_method_on_every_imputation(blobs):
    """Methods for holes appear once, the others once per imputation; clear groups are found by all but RBF."""
    X, _, y = blobs
    methods = (*WITH_HOLES, *FILLED)
    scores = list(contest(standardize(X), y, 0, methods=methods, ensemble=Ensemble(3, 6)))
    expected = [(method, "") for method in WITH_HOLES] + [(method, how) for method in FILLED for how in IMPUTATIONS]
    assert [(score["method"], score["imputation"]) for score in scores] == expected
    for score in scores:
        assert 0 <= score["acc"] <= 1
        assert score["seconds"] > 0
        if score["method"] in ("PCKID", "GMM, 10 starts", "k-POD"):
            assert score["acc"] > 0.9


def test_contest_answers_once_where_zero_is_the_mean(blobs):
    """On standardised columns zero and mean imputation share one answer; in raw units they do not."""
    X, _, y = blobs

    def answers(table):
        scores = contest(table, y, 0, methods=("k-means",), ensemble=Ensemble())
        return {score.pop("imputation"): score for score in scores}

    same, apart = answers(standardize(X)), answers(X)
    assert same["zero"] == same["mean"]
    assert apart["zero"] != apart["mean"]
