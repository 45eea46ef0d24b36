"""Bad data and bad parameters, over every estimator of the registry.

Each case either works with finite answers or raises a ValueError or TypeError whose message names what is wrong;
never another error, never a silent NaN. Cases marked *refused* must raise.
"""

import re
import warnings
from numbers import Real

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from compliance.construct import ESTIMATORS, METHODS, answers, data, is_pairwise, name_of, samples

# How scikit-learn's own validation speaks of X where it does not say "X".
_OF_THE_DATA = (
    r"\bX\b|\by\b|\binput\b|\barray\b|\b(n_)?samples?\b|\bfeatures?\b|\brows?\b"
    r"|Complex data|string to float|must be a string or a real number"
)


# These take the adjacency matrix of a network, and average the two directions of its edges.
DIRECTED = {"MultilevelKSC", "NetworkKSC"}


class Anything:
    """An object that no parameter can mean."""

    def __repr__(self):
        return "Anything()"


def refusal(action, *names):
    """Run ``action``; None if it worked, else its error, which must be clear and name one of ``names``."""
    try:
        with warnings.catch_warnings():
            # To work with a word of warning is a good answer; a RuntimeWarning of NumPy's is none.
            warnings.simplefilter("ignore", UserWarning)
            action()
            return None
    except (ValueError, TypeError) as raised:
        error = raised
    pattern = "|".join([_OF_THE_DATA, *(rf"\b{name}\b" for name in names)])
    assert not isinstance(error, np.linalg.LinAlgError), f"raw LinAlgError: {error}"
    assert re.search(pattern, str(error), re.IGNORECASE), f"does not say what is wrong: {error}"
    return error


def fit(estimator, X, y=None):
    """Fit a clone and ask it everything, insisting on finite answers."""
    fitted = clone(estimator).fit(X, y)
    for name, value in answers(fitted, X).items():
        assert np.all(np.isfinite(value)), f"{name} is not finite"
    return fitted


def parameters(estimator):
    """The parameters and their values."""
    return estimator.get_params(deep=False)


def names(estimator):
    """The names a message may mention: the parameters, those of nested kernels, and a kernel's width."""
    return {part for name in estimator.get_params() for part in name.split("__")} | {"width"}


def spoiled(estimator, value):
    """The estimator's own data with ``value`` in one cell (and its mirror image, if X is a Gram matrix)."""
    X, y = data(estimator)
    X[3, 1] = value
    if is_pairwise(estimator):
        X[1, 3] = value
    return X, y


ROWS = [estimator for estimator in ESTIMATORS if not is_pairwise(estimator)]
PAIRWISE = [estimator for estimator in ESTIMATORS if is_pairwise(estimator)]
COMPLETE = [estimator for estimator in ESTIMATORS if not get_tags(estimator).input_tags.allow_nan]
WEIGHTED = [estimator for estimator in ESTIMATORS if has_fit_parameter(estimator, "sample_weight")]

REFUSED = {
    "no rows": np.empty((0, 3)),
    "no columns": np.empty((10, 0)),
    "one dimension": np.arange(10.0),
    "three dimensions": np.zeros((4, 3, 2)),
    "scalar": np.float64(3.0),
    "strings": np.array([["a", "b", "c"]] * 10),
    "objects": np.array([["a", None, 1.0]] * 10, dtype=object),
    "dictionaries": np.array([[{}, {}, {}]] * 10, dtype=object),
    "complex": samples(10) + 1j,
    "None": None,
}

# Unusual but meaningful: these may work, and if not, say why.
UNUSUAL = {
    "constant column": np.column_stack([samples(20)[:, :2], np.full(20, 7.0)]),
    "constant everywhere": np.full((20, 3), 7.0),
    "all zero": np.zeros((20, 3)),
    "duplicate rows": np.repeat(samples(1), 20, axis=0),
    "two distinct rows": np.repeat(samples(2), 10, axis=0),
    "one row": samples(1),
    "two rows": samples(2),
    "three rows": samples(3),
    "one column": samples(20)[:, :1],
    "more columns than rows": np.hstack([samples(6)] * 8),
    "huge": samples(20) * 1e150,
    "tiny": samples(20) * 1e-150,
    "far from zero": samples(20) + 1e9,
    "one outlier": np.vstack([samples(20), [[1e9, 0.0, 0.0]]]),
    "integers": np.arange(60).reshape(20, 3),
    "booleans": samples(20) > 0,
    "numbers as objects": samples(20).astype(object),
    "single precision": samples(20, np.float32),
    "half precision": samples(20).astype(np.float16),
    "huge in single precision": samples(20, np.float32) * np.float32(1e18),
}


def target(estimator, n):
    """A y of n values for estimators that need one."""
    y = data(estimator)[1]
    return None if y is None else y[:n]


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_data_that_mean_nothing_are_refused(estimator, case):
    """Data of the wrong shape or type are refused by name at ``fit``."""
    X = REFUSED[case]
    n = len(X) if np.ndim(X) else 0
    assert refusal(lambda: fit(estimator, X, target(estimator, n)), *names(estimator)) is not None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("estimator", COMPLETE, ids=name_of)
def test_missing_and_infinite_values_are_refused(estimator, value):
    """Where the tags do not promise missing values, NaN is refused at ``fit``; so is infinity."""
    X, y = spoiled(estimator, value)
    assert refusal(lambda: fit(estimator, X, y)) is not None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("estimator", COMPLETE, ids=name_of)
def test_missing_and_infinite_values_are_refused_later_too(estimator, value):
    """A fitted estimator refuses NaN and infinity in new rows."""
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    bad, _ = spoiled(estimator, value)
    for method in METHODS:
        if hasattr(fitted, method):
            assert refusal(lambda method=method: getattr(fitted, method)(bad), "finite features") is not None


@pytest.mark.parametrize("case", UNUSUAL)
@pytest.mark.parametrize("estimator", ROWS, ids=name_of)
def test_unusual_data_work_or_are_refused(estimator, case):
    """Degenerate data give finite answers or an error that says why not."""
    X = UNUSUAL[case]
    refusal(lambda: fit(estimator, X, target(estimator, len(X))), *names(estimator))


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_another_number_of_features_is_refused(estimator, columns):
    """New rows with other columns than those fitted are refused, and both numbers are named."""
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    for method in METHODS:
        if hasattr(fitted, method) and (method != "features" or fitted.has_features):
            error = refusal(lambda method=method: getattr(fitted, method)(np.ones((5, columns))))
            assert error is not None
            assert re.search(rf"\b{columns}\b", str(error))
            assert re.search(rf"\b{X.shape[1]}\b", str(error))


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_one_new_row_is_enough_and_none_is_refused(estimator, rows):
    """A fitted estimator answers for one row, and says that no rows are too few."""
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    for method in METHODS:
        if hasattr(fitted, method) and (method != "features" or fitted.has_features):
            ask = lambda method=method: getattr(fitted, method)(X[:rows])  # noqa: E731
            if rows and method == "diagonal" and fitted.pairwise:
                # Similarities to the fitted samples do not tell that of a new sample to itself.
                with pytest.raises(ValueError, match="square"):
                    ask()
            elif rows:
                assert ask().shape[0] == 1
            else:
                assert refusal(ask) is not None


@pytest.mark.parametrize("value", [41, 10**4, 0, -1, 2.5, "many", True], ids=repr)
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(estimator, name, id=f"{name_of(estimator)}-{name}")
        for estimator in ESTIMATORS
        for name in ("n_clusters", "n_components", "n_neighbors")
        if name in parameters(estimator)
    ],
)
def test_impossible_counts_are_refused_or_served(estimator, name, value):
    """A count below one or of no number is refused by name; one above the samples works or is refused."""
    X, y = data(estimator)
    error = refusal(lambda: fit(clone(estimator).set_params(**{name: value}), X, y), name)
    assert error is None or name in str(error)
    if isinstance(value, str) or value < 1 or value != int(value):
        assert error is not None


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(estimator, name, id=f"{name_of(estimator)}-{name}")
        for estimator in ESTIMATORS
        for name in parameters(estimator)
    ],
)
def test_parameters_that_mean_nothing_are_refused(estimator, name):
    """An object of a wrong type is refused at ``fit`` with the parameter's name, never at construction."""
    X, y = data(estimator)
    wrong = clone(estimator).set_params(**{name: Anything()})
    with pytest.raises((TypeError, ValueError), match=name):
        wrong.fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 0, -3, "", None], ids=repr)
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(estimator, name, id=f"{name_of(estimator)}-{name}")
        for estimator in ESTIMATORS
        for name, usual in parameters(estimator).items()
        if isinstance(usual, Real) and not isinstance(usual, bool)
    ],
)
def test_numbers_out_of_range_work_or_are_refused(estimator, name, value):
    """A numeric parameter out of its range is refused by its own name, or works; nothing else goes wrong."""
    X, y = data(estimator)
    error = refusal(lambda: fit(clone(estimator).set_params(**{name: value}), X, y), name)
    assert error is None or name in str(error)


@pytest.mark.parametrize("estimator", PAIRWISE, ids=name_of)
@pytest.mark.parametrize("case", ["not square", "not symmetric", "NaN", "infinity"])
def test_bad_gram_matrices_are_refused(estimator, case):
    """A precomputed matrix must be square, symmetric and finite; a network may have directions."""
    directed = type(estimator).__name__ in DIRECTED and "precomputed" not in name_of(estimator)
    if case == "not symmetric" and directed:
        case = "not square"
    K, y = data(estimator)
    if case == "not square":
        K = K[:, :-1]
    else:
        K[0, 1] += {"not symmetric": 0.5, "NaN": np.nan, "infinity": np.inf}[case]
    error = refusal(lambda: fit(estimator, K, y))
    assert error is not None
    assert re.search("square|symmetric|NaN|infinity", str(error))


@pytest.mark.parametrize("estimator", [e for e in ROWS if "kernel" in parameters(e)], ids=name_of)
@pytest.mark.parametrize("kernel", ["precomputed", "no such kernel", 3, np.add], ids=str)
def test_kernels_that_do_not_fit_are_refused(estimator, kernel):
    """Rows where similarities are due, unknown names and broken functions are refused."""
    X, y = data(estimator)
    assert refusal(lambda: fit(clone(estimator).set_params(kernel=kernel), X, y), "kernel") is not None


@pytest.mark.parametrize("estimator", WEIGHTED, ids=name_of)
@pytest.mark.parametrize("case", ["negative", "NaN", "all zero", "too few", "two dimensions"])
def test_bad_sample_weights_are_refused(estimator, case):
    """Weights must be one finite number >= 0 per sample, not all zero."""
    X, y = data(estimator)
    weights = {
        "negative": np.linspace(-1, 1, len(X)),
        "NaN": np.where(np.arange(len(X)) == 2, np.nan, 1.0),
        "all zero": np.zeros(len(X)),
        "too few": np.ones(len(X) - 1),
        "two dimensions": np.ones((len(X), 2)),
    }[case]
    with pytest.raises((TypeError, ValueError), match=r"(?i)sample.?weight"):
        clone(estimator).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_a_failed_fit_leaves_nothing_half_learned(estimator):
    """After a refused ``fit`` an estimator has learned nothing that an answer could be made of."""
    X, y = data(estimator)
    fresh = clone(estimator)
    X[0, 0] = np.inf
    with pytest.raises((TypeError, ValueError)):
        fresh.fit(X, y)
    learned = vars(fresh).keys() - parameters(estimator).keys() - {"n_features_in_", "feature_names_in_"}
    assert learned == set()
