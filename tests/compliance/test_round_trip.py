"""Every estimator of the registry answers the same after ``save`` and ``load``."""

import numpy as np
import pytest
from sklearn.base import clone

from compliance.construct import ESTIMATORS, answers, data, name_of
from gramian.persistence import info, load, save

# Estimators whose parameters are code; a model file carries none.
CODE = {"FunctionKernel", "ProfileKernel"}
SAVED = [estimator for estimator in ESTIMATORS if name_of(estimator) not in CODE]


@pytest.mark.parametrize("estimator", SAVED, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fitted_estimator_answers_the_same(estimator, dtype, tmp_path):
    """A fitted estimator gives identical answers, bit for bit, after the round trip."""
    X, y = data(estimator, dtype=dtype)
    fitted = clone(estimator).fit(X, y)
    save(fitted, tmp_path / "model.gramian")
    back = load(tmp_path / "model.gramian")
    expected, found = answers(fitted, X), answers(back, X)
    assert type(back) is type(fitted)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
        assert found[name].dtype == value.dtype


@pytest.mark.parametrize("estimator", SAVED, ids=name_of)
def test_unfitted_estimator_keeps_its_parameters(estimator, tmp_path):
    """An estimator that was never fitted comes back with the same parameters, and can be fitted."""
    path = tmp_path / "model.gramian"
    save(estimator, path)
    back = load(path)
    assert repr(back) == repr(estimator)
    assert info(path).model.endswith(f".{type(estimator).__name__}")
    back.fit(*data(back))


@pytest.mark.parametrize("estimator", SAVED, ids=name_of)
def test_loaded_estimator_can_be_saved_again(estimator, tmp_path):
    """A second generation of the file answers as the first."""
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    save(fitted, tmp_path / "first.gramian")
    save(load(tmp_path / "first.gramian"), tmp_path / "second.gramian")
    expected, found = answers(fitted, X), answers(load(tmp_path / "second.gramian"), X)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("name", sorted(CODE))
def test_estimators_of_code_say_why_they_cannot_be_saved(name, tmp_path):
    """What holds a user's function is refused by name, with the way out."""
    estimator = next(estimator for estimator in ESTIMATORS if name_of(estimator) == name)
    with pytest.raises(TypeError, match=f"cannot save {name}: it holds .*; use "):
        save(estimator, tmp_path / "model.gramian")
