"""scikit-learn's own checks, over every estimator and kernel of the registry."""

import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from compliance.construct import ESTIMATORS, by_defaults, name_of

# Checks that do not apply, with the reason; one that passes again fails its test, so none outlives its cause.
_DRAWS = "weighted and repeated rows are drawn by different random numbers: one draw is of rows, the other of copies"
_STARTS = (
    "weighted and repeated rows draw different random starts, as in scikit-learn's KMeans; zero weights are refused"
)
_FOLDS = "weighted and repeated rows draw different prototypes and folds; where nothing is drawn they are equal"
_STEPS = "the check sets 1,000 steps, a tenth of 1/penalty; Pegasos has not settled by then on columns of such a scale"
_ROWS = "the check passes rows of features, whatever the tags say; X is the square adjacency matrix of a network"
_CLASSIFIER = "the check looks for the classifier tags of everything that takes sparse rows and has predict_proba"
_TIME = {
    "check_methods_subset_invariance": "rows are steps in time: the answer for a row depends on the rows before it",
    "check_methods_sample_order_invariance": "rows are steps in time: in another order they are another sequence",
}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "EvolvingKSC": {
        "check_estimator_sparse_array": _CLASSIFIER,
        "check_estimator_sparse_matrix": _CLASSIFIER,
    },
    "EchoStateNetwork": _TIME,
    "NextGenerationReservoir": _TIME,
    "Reservoir": _TIME,
    "FixedSizeLSSVMClassifier": {
        "check_sample_weight_equivalence_on_dense_data": _FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": _FOLDS,
    },
    "FixedSizeLSSVMRegressor": {
        "check_sample_weight_equivalence_on_dense_data": _FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": _FOLDS,
    },
    "PegasosClassifier()": {"check_class_weight_classifiers": _STEPS},  # by its defaults, the linear one
    "PegasosClassifier": {
        "check_sample_weight_equivalence_on_dense_data": _DRAWS,
        "check_sample_weight_equivalence_on_sparse_data": _DRAWS,
    },
    "SemiSupervisedKSC": {
        "check_classifiers_classes": "-1 is an unlabelled row, as in LabelSpreading, which the check spares by its name"
    },
    "KernelKMeans": {
        "check_sample_weight_equivalence_on_dense_data": _STARTS,
        "check_sample_weight_equivalence_on_sparse_data": _STARTS,
    },
    "MultilevelKSC": {"check_clustering": _ROWS},
    "MultilevelKSC(kernel=rbf)": {"check_clustering": ""},  # applies, where X are rows
    "NetworkKSC": {
        "check_clustering": _ROWS,
        "check_estimator_sparse_array": _CLASSIFIER,
        "check_estimator_sparse_matrix": _CLASSIFIER,
    },
    "KernelSpectralClustering": {
        "check_estimator_sparse_array": _CLASSIFIER,
        "check_estimator_sparse_matrix": _CLASSIFIER,
    },
    "ClusterKernel": {"check_sample_weight_equivalence_on_dense_data": _DRAWS},
    "Nystroem": {
        "check_sample_weight_equivalence_on_dense_data": _DRAWS,
        "check_sample_weight_equivalence_on_sparse_data": _DRAWS,
    },
}

# gramian promises NumPy arrays, sparse matrices and data frames, not the array API of other libraries.
NOT_PROMISED = {"check_array_api_input"}


def checks():
    """Every check of every estimator, with ids that do not change between runs.

    This is scikit-learn's ``parametrize_with_checks`` without the checks of what is not promised: they would be
    reported as skipped in every run.
    """
    # Several checks pass rows, or similarities that no kernel gives, whatever the tags say. The other compliance tests
    # hold the variants of similarities to the same promises with proper ones.
    named = [(name_of(estimator), estimator) for estimator in ESTIMATORS]
    named = [(name, estimator) for name, estimator in named if not name.endswith("(kernel=precomputed)")]
    for owner, estimator in named + [(f"{type(estimator).__name__}()", estimator) for estimator in by_defaults()]:
        failures = EXPECTED_FAILURES.get(type(estimator).__name__, {}) | EXPECTED_FAILURES.get(owner, {})
        failures = {check: reason for check, reason in failures.items() if reason}
        if not get_tags(estimator).input_tags.sparse:  # such a check then wants to see sparse rows refused
            failures = {check: reason for check, reason in failures.items() if "sparse" not in check}
        for item in estimator_checks_generator(estimator, expected_failed_checks=failures, mark="xfail"):
            (instance, check), marks = getattr(item, "values", item), getattr(item, "marks", ())
            if (name := check.func.__name__) not in NOT_PROMISED:
                yield pytest.param(instance, check, marks=marks, id=f"{owner}-{name}")


# The checks' data are degenerate at times, and an estimator may say so.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    """The estimator keeps the convention that the check is named after."""
    check(estimator)


def test_expected_failures_name_real_estimators():
    """No entry of the table is left over from a class that has gone."""
    named = {name.partition("(")[0] for name in EXPECTED_FAILURES}
    assert named <= {type(estimator).__name__ for estimator in ESTIMATORS}
