"""What both mixtures share: the best of several starts, criteria of fit, and words where EM does not settle."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gramian.mixture import IncompleteGaussianMixture, IncompleteMixture


@pytest.fixture(params=[IncompleteGaussianMixture, IncompleteMixture])
def Mixture(request):
    return request.param


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 5])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def test_of_several_starts_the_one_of_the_highest_bound_is_kept(Mixture, rows):
    many = Mixture(3, n_init=8, random_state=0).fit(rows).lower_bound_
    one = Mixture(3, n_init=1, random_state=0).fit(rows).lower_bound_
    assert many >= one


def test_criteria_follow_from_the_likelihood(Mixture, rows):
    model = Mixture(2, covariance_type="diag", random_state=0).fit(rows)
    likelihood = model.score_samples(rows).sum()
    free = 1 + 2 * 2 + 2 * 2  # a weight, two means and two variances of each component
    assert model.score(rows) == pytest.approx(likelihood / len(rows))
    assert model.bic(rows) == pytest.approx(-2 * likelihood + free * np.log(len(rows)))
    assert model.aic(rows) == pytest.approx(-2 * likelihood + 2 * free)


def test_fit_predict_is_fit_and_predict(Mixture, rows):
    labels = Mixture(2, random_state=0).fit_predict(rows)
    np.testing.assert_array_equal(labels, Mixture(2, random_state=0).fit(rows).predict(rows))


def test_what_does_not_settle_is_said(Mixture, rows):
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 iterations"):
        model = Mixture(2, max_iter=1, random_state=0).fit(rows)
    assert not model.converged_
    assert model.n_iter_ == 1


def test_columns_without_values_are_left_out_with_a_word(Mixture, rows):
    with pytest.warns(UserWarning, match=r"columns \[2\] of X have no observed value"):
        Mixture(2, random_state=0).fit(np.column_stack([rows, np.full(len(rows), np.nan)]))
    with pytest.raises(ValueError, match="no observed value"):
        Mixture(1).fit(np.full((5, 2), np.nan))
