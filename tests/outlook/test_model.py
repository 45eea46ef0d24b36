"""A model of a series is saved, read and refused like the models of tables."""

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian.outlook import load_series_model
from gramian.persistence import ModelFileError


def test_a_saved_model_forecasts_the_same(outlook, tmp_path):
    found, model = outlook
    gramian.save(model, tmp_path / "model.gramian")
    again = load_series_model(tmp_path / "model.gramian")
    np.testing.assert_array_equal(again.forecaster.predict(), found.forecast)
    np.testing.assert_array_equal(again.history, model.history)
    np.testing.assert_array_equal(again.history.index, model.history.index)


def test_other_models_and_parts_that_do_not_fit_are_refused(outlook, tmp_path):
    _, model = outlook
    gramian.save(gramian.KernelPCA(), tmp_path / "other.gramian")
    with pytest.raises(ModelFileError, match="holds a KernelPCA"):
        load_series_model(tmp_path / "other.gramian")
    broken = clone(model)
    with pytest.raises(AttributeError):
        broken.check()
    broken.values_, broken.times_ = np.zeros(3), np.zeros(2)
    broken.forecaster = model.forecaster
    with pytest.raises(ValueError, match="number of steps"):
        broken.check()
    broken.forecaster = None
    with pytest.raises(TypeError, match="of another kind"):
        broken.check()
