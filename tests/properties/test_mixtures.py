"""Laws of mixtures on arbitrary small tables with holes: finite, uphill, normalised, indifferent to order."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from gramian import IncompleteGaussianMixture

KINDS = st.sampled_from(["full", "tied", "diag", "spherical"])


@st.composite
def tables(draw):
    """Small tables with holes, duplicates, constant columns and empty rows, at many scales and offsets."""
    n, d = draw(st.integers(2, 14)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, -3.3]))
    if draw(st.booleans()):
        X[n // 2 :] = X[0]
    if draw(st.booleans()):
        X = np.round(X)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = np.nan
    X[0] = np.where(np.isnan(X[0]), 0.5, X[0])  # every column has a value
    X = X + draw(st.sampled_from([0.0, 1e6]))
    return X * 10.0 ** draw(st.integers(-60, 60))


def fitted(X, K, kind, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return IncompleteGaussianMixture(K, covariance_type=kind, random_state=0, max_iter=20, **options).fit(X)


@given(tables(), KINDS, st.integers(1, 4), st.sampled_from([None, "conjugate"]))
@settings(max_examples=120, deadline=None)
def test_answers_are_finite_and_normalised(X, kind, K, prior):
    """Whatever the table, memberships are probabilities, densities finite, and imputed tables complete."""
    model = fitted(X, min(K, len(X)), kind, prior=prior)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    assert proba.min() >= 0
    assert np.isfinite(model.score_samples(X)).all()
    for filled in (model.impute(X), *model.impute(X, 2)):
        assert np.isfinite(filled).all()
        np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert np.isfinite(model.sample(3)[0]).all()


@given(tables(), KINDS, st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_posterior_density_never_falls(X, kind, K):
    """With a prior and no ridge, EM goes uphill on every table."""
    bounds = fitted(X, min(K, len(X)), kind, prior="conjugate", reg_covar=0).lower_bounds_
    assert np.all(np.diff(bounds) >= -1e-8 * np.abs(bounds).max())


@given(tables(), KINDS, st.integers(1, 3), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_rows_and_new_holes_answer_for_themselves(X, kind, K, seed):
    """A row's answers depend neither on the other rows it is asked with nor on their order."""
    model = fitted(X, min(K, len(X)), kind)
    order = np.random.default_rng(seed).permutation(len(X))
    proba = model.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X[order]), proba[order], atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X[:1]), proba[:1], atol=1e-7)
