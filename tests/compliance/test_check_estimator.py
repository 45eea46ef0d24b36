"""scikit-learn's own checks, over every estimator and kernel of the registry."""

import pytest
from sklearn.base import clone, is_clusterer
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    estimator_checks_generator,
)
from sklearn.utils.validation import has_fit_parameter

from compliance.construct import ESTIMATORS, name_of
from gramian.kernels import RBF

# Checks that do not apply, with the reason; one that passes again fails its test, so none outlives its cause.
_WIDTH_RULE = "the default kernel's width rule counts rows, not weights; with a fixed width it holds, see below"
_STARTS = (
    "weighted and repeated rows draw different random starts, as in scikit-learn's KMeans; zero weights are refused"
)
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "KernelKMeans": {
        "check_sample_weight_equivalence_on_dense_data": _STARTS,
        "check_sample_weight_equivalence_on_sparse_data": _STARTS,
    },
    "KernelPCA": {
        "check_sample_weight_equivalence_on_dense_data": _WIDTH_RULE,
        "check_sample_weight_equivalence_on_sparse_data": _WIDTH_RULE,
    },
}

# gramian promises NumPy arrays, sparse matrices and data frames, not the array API of other libraries.
NOT_PROMISED = {"check_array_api_input"}


def checks():
    """Every check of every estimator, with ids that do not change between runs.

    This is scikit-learn's ``parametrize_with_checks`` without the checks of what is not promised: they would be
    reported as skipped in every run.
    """
    for estimator in ESTIMATORS:
        if name_of(estimator).endswith("(kernel=precomputed)"):
            # Several checks pass rows, or similarities that no kernel gives, whatever the tags say. The other
            # compliance tests hold these variants to the same promises with proper similarities.
            continue
        failures = EXPECTED_FAILURES.get(type(estimator).__name__, {})
        for item in estimator_checks_generator(estimator, expected_failed_checks=failures, mark="xfail"):
            (instance, check), marks = getattr(item, "values", item), getattr(item, "marks", ())
            if (name := check.func.__name__) not in NOT_PROMISED:
                yield pytest.param(instance, check, marks=marks, id=f"{name_of(instance)}-{name}")


def weighs_its_kernel(estimator):
    """Whether the estimator has a kernel, takes sample weights, and starts from no random rows."""
    has_kernel = "kernel" in estimator.get_params(deep=False)
    return has_kernel and has_fit_parameter(estimator, "sample_weight") and not is_clusterer(estimator)


# The checks' data are degenerate at times, and an estimator may say so.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    """The estimator keeps the convention that the check is named after."""
    check(estimator)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if weighs_its_kernel(e)], ids=name_of)
def test_weights_are_repetitions_under_a_fixed_kernel(estimator):
    """Once the kernel does not depend on the data, an integer weight equals so many copies of the row."""
    fixed = clone(estimator).set_params(kernel=RBF(width=2.0))
    check_sample_weight_equivalence_on_dense_data(name_of(estimator), fixed)


def test_expected_failures_name_real_estimators():
    """No entry of the table is left over from a class that has gone."""
    assert set(EXPECTED_FAILURES) <= {type(estimator).__name__ for estimator in ESTIMATORS}
