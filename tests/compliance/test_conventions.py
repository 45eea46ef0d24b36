"""What users of scikit-learn expect of every estimator beyond scikit-learn's own checks."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from compliance.construct import ESTIMATORS, answers, can, data, dense, is_pairwise, name_of
from gramian import AutoClustering, KernelPCA, Nystroem, SpectralClustering
from gramian.kernels import RBF, Kernel

KERNELS = [estimator for estimator in ESTIMATORS if isinstance(estimator, Kernel)]
ROWS = [estimator for estimator in ESTIMATORS if not is_pairwise(estimator)]
TRANSFORMERS = [estimator for estimator in can("transform") if not is_pairwise(estimator)]
ANSWERING = [estimator for estimator in can("transform", "predict") if not is_pairwise(estimator)]
RANDOM = [estimator for estimator in ESTIMATORS if "random_state" in estimator.get_params()]
SPARSE = [estimator for estimator in ROWS if get_tags(estimator).input_tags.sparse]
COLUMNS = ["height", "weight", "age"]


def assert_same_answers(found, expected, tolerance=0.0):
    """Compare two dictionaries of answers."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("cls", [type(estimator) for estimator in ESTIMATORS], ids=lambda cls: cls.__name__)
def test_constructor_stores_only(cls):
    """The constructor keeps each argument itself, unchanged and unchecked, and sets nothing else."""
    arguments = {name: object() for name in cls._get_param_names()}
    estimator = cls(**arguments)
    assert vars(estimator) == arguments


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_all_but_the_first_parameters_of_a_task_are_keywords(estimator):
    """Estimators take one positional argument, so that adding a parameter never shifts another."""
    signature = inspect.signature(type(estimator).__init__).parameters.values()
    positional = [p.name for p in signature if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    assert estimator in KERNELS or len(positional) <= 1


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_fit_returns_self_and_changes_no_parameter(estimator):
    """``fit`` learns into attributes ending in an underscore and leaves the parameters as they were."""
    fresh = clone(estimator)
    before, description = dict(vars(fresh)), repr(fresh)
    assert fresh.fit(*data(fresh)) is fresh
    for name, value in before.items():
        assert vars(fresh)[name] is value
    assert repr(fresh) == description
    learned = vars(fresh).keys() - before.keys()
    assert {name for name in learned if not name.startswith("_") and not name.endswith("_")} == set()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_clone_of_a_fitted_estimator_is_unfitted(estimator):
    """A clone has the parameters and nothing of what was learned."""
    fitted = clone(estimator).fit(*data(estimator))
    assert vars(clone(fitted)).keys() == estimator.get_params(deep=False).keys()
    assert repr(clone(fitted)) == repr(estimator)


@pytest.mark.parametrize("estimator", RANDOM, ids=name_of)
def test_random_state_repeats(estimator):
    """The same seed gives the same answers, bit for bit."""
    X, y = data(estimator)
    first, second = (answers(clone(estimator).set_params(random_state=3).fit(X, y), X) for _ in range(2))
    assert_same_answers(first, second)


@pytest.mark.parametrize("make", [lambda: None, lambda: np.random.RandomState(0), lambda: np.random.default_rng(0)])
@pytest.mark.parametrize("estimator", RANDOM, ids=name_of)
def test_every_kind_of_random_state_is_taken(estimator, make):
    """None, a RandomState and a Generator serve as well as a seed."""
    X, y = data(estimator)
    found = answers(clone(estimator).set_params(random_state=make()).fit(X, y), X)
    assert all(np.all(np.isfinite(value)) for value in found.values())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_global_random_state_is_left_alone(estimator):
    """Fitting neither reads nor moves the global generators of NumPy and torch."""
    X, y = data(estimator)
    before, of_torch = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    clone(estimator).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), of_torch)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", ROWS, ids=name_of)
def test_data_frames_answer_as_arrays(estimator, frame):
    """A data frame is its array with names: same answers, and the names are kept."""
    X, y = data(estimator)
    table = frame(dict(zip(COLUMNS, X.T, strict=True)))
    fitted = clone(estimator).fit(table, y)
    assert list(fitted.feature_names_in_) == COLUMNS
    assert fitted.n_features_in_ == 3
    assert_same_answers(answers(fitted, table), answers(clone(estimator).fit(X, y), X), 1e-12)


@pytest.mark.parametrize("estimator", ROWS, ids=name_of)
def test_lists_and_column_major_arrays_answer_as_arrays(estimator):
    """Nested lists and Fortran-ordered arrays are taken as they are."""
    X, y = data(estimator)
    expected = answers(clone(estimator).fit(X, y), X)
    for same in (X.tolist(), np.asfortranarray(X)):
        assert_same_answers(answers(clone(estimator).fit(same, y), same), expected, 1e-7)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_input_is_not_changed(estimator):
    """Neither ``fit`` nor any answer writes into the user's array."""
    X, y = data(estimator)
    kept = X.copy()
    answers(clone(estimator).fit(X, y), X)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("estimator", SPARSE, ids=name_of)
def test_sparse_input_answers_as_dense(estimator):
    """Where the tags promise sparse input, it gives the answers of the dense array."""
    X, y = data(estimator)
    X = np.where(abs(X) > 0.8, X, 0.0)
    expected = answers(clone(estimator).fit(X, y), X)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        assert_same_answers(answers(clone(estimator).fit(kind(X), y), kind(X)), expected, 1e-7)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_float32_stays_float32(estimator):
    """Single precision in is single precision out, without a silent upcast, and close to the double answer."""
    X, y = data(estimator, dtype=np.float32)
    found = answers(clone(estimator).fit(X, y), X)
    for name in {"transform", "block", "features", "diagonal", "embedding_"} & found.keys():
        assert found[name].dtype == np.float32, name


@pytest.mark.parametrize("estimator", [*TRANSFORMERS], ids=name_of)
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_names_the_columns(estimator, container):
    """``set_output`` gives a data frame with the names of ``get_feature_names_out`` and the same values."""
    X, y = data(estimator)
    fitted = clone(estimator).set_output(transform=container).fit(X, y)
    table = fitted.transform(X)
    assert isinstance(table, pd.DataFrame if container == "pandas" else pl.DataFrame)
    assert list(table.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(dense(table), dense(clone(estimator).fit(X, y).transform(X)))


@pytest.mark.parametrize("estimator", ANSWERING, ids=name_of)
def test_pipeline_answers_as_its_steps(estimator):
    """Behind a scaler in a Pipeline the estimator answers as when both are called by hand."""
    X, y = data(estimator)
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    by_hand = clone(estimator).fit(scaled, y)
    for method in ("transform", "predict"):
        if hasattr(by_hand, method):
            found, expected = getattr(pipeline, method)(X), getattr(by_hand, method)(scaled)
            np.testing.assert_array_equal(dense(found), dense(expected))


def spread(estimator, X, y=None):
    """A score for estimators that have none of their own."""
    return float(np.var(dense((estimator.transform if hasattr(estimator, "transform") else estimator.predict)(X))))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # on some processors, of a narrow kernel
@pytest.mark.parametrize("estimator", ANSWERING, ids=name_of)
def test_grid_search_reaches_the_kernel(estimator):
    """GridSearchCV tunes a parameter of the kernel inside the estimator, by its nested name."""
    X, y = data(estimator)
    formula = estimator.get_params(deep=False).get("kernel") in ("polynomial", "exponential")  # and no Kernel
    nested = "kernel" in estimator.get_params(deep=False) and not formula
    tuned = clone(estimator).set_params(kernel=RBF()) if nested else clone(estimator)
    grid = {"kernel__width": [0.5, 2.0]} if nested else {}
    scoring = None if hasattr(estimator, "score") else spread
    search = GridSearchCV(tuned, grid, cv=2, scoring=scoring, error_score="raise").fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert not nested or search.best_estimator_.kernel.width in (0.5, 2.0)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_verbose_is_silent_without_a_terminal(estimator, capsys):
    """``verbose=1`` draws for people at a terminal and prints nothing into a pipe."""
    X, y = data(estimator)
    loud = clone(estimator)
    if "verbose" in loud.get_params():
        loud.set_params(verbose=1)
    loud.fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_docstring_shows_the_class_at_work(estimator):
    """The class docstring has an example, which the doctests run."""
    assert "Examples\n--------\n>>> " in (inspect.getdoc(type(estimator)) or "")


FRAMED = [
    AutoClustering(2, random_state=0),
    SpectralClustering(2, random_state=0),
    KernelPCA(1, preimage="ridge"),
    Nystroem(5, selection="renyi", random_state=0),
]


@pytest.mark.parametrize("estimator", FRAMED, ids=name_of)
def test_frames_asked_for_everywhere_change_no_fit(estimator):
    """With ``set_config(transform_output="pandas")`` what an estimator computes inside is arrays all the same."""
    X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * (np.arange(60)[:, None] % 2)
    expected = clone(estimator).fit(X)
    with config_context(transform_output="pandas"):
        found = clone(estimator).fit(X)
        for method in ("predict", "transform"):
            if hasattr(estimator, method):
                answer = getattr(found, method)(X)
                assert isinstance(answer, pd.DataFrame) == (method == "transform")
                np.testing.assert_array_equal(answer, getattr(expected, method)(X))
        if hasattr(estimator, "inverse_transform"):
            np.testing.assert_array_equal(
                found.inverse_transform(found.embedding_), expected.inverse_transform(expected.embedding_)
            )
