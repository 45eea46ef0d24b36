"""The model predicts new rows as it did before it was saved, and a damaged file is refused in one line."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian.learning import TargetModel, load_target_model
from gramian.persistence import ModelFileError
from gramian.tables import read_table
from learning.houses import houses


def test_new_rows_are_predicted(priced, sold):
    new = houses(120, seed=4)
    _, model = priced
    said = model.predict(model.preparation.transform(read_table(new, like=model.preparation)))
    assert np.sqrt(np.mean((said.values - new["price"]) ** 2)) < 0.5 * new["price"].std()
    assert 0.8 < ((said.lower <= new["price"]) & (new["price"] <= said.upper)).mean() <= 1
    _, model = sold
    said = model.predict(model.preparation.transform(read_table(new, like=model.preparation)))
    np.testing.assert_allclose(said.probabilities.sum(axis=1), 1)
    assert (np.asarray(model.classes)[said.values] == new["sold"]).mean() > 0.75
    assert len(model.predict(np.empty((0, model.some_rows_.shape[1]))).values) == 0


@pytest.mark.parametrize("which", ["priced", "sold"])
def test_a_saved_model_says_the_same(which, request, tmp_path):
    _, model = request.getfixturevalue(which)
    gramian.save(model, tmp_path / "m.gramian")
    again = load_target_model(tmp_path / "m.gramian")
    for one, other in zip(again.predict(model.some_rows_), model.predict(model.some_rows_), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    assert (again.target, again.classes, again.measures_) == (model.target, model.classes, model.measures_)


def test_other_models_and_broken_ones_are_refused(priced, tmp_path):
    gramian.save(gramian.KernelPCA(), tmp_path / "pca.gramian")
    with pytest.raises(ModelFileError, match="holds a KernelPCA, not what learn writes"):
        load_target_model(tmp_path / "pca.gramian")
    gramian.save(TargetModel(target="x"), tmp_path / "empty.gramian")
    with pytest.raises(ModelFileError, match="learn from the table again"):
        load_target_model(tmp_path / "empty.gramian")
    _, model = priced
    broken = TargetModel(model.preparation, model.machine, "price", None)
    broken.remember(model.some_rows_[:, :-1], {"rmse": (1.0, 2.0)})
    with pytest.raises(ValueError, match="disagree on the number of columns"):
        broken.check()


def test_rows_of_other_columns_are_refused(priced):
    _, model = priced
    with pytest.raises(ValueError, match="have no column 'area'"):
        model.preparation.transform(pd.DataFrame({"town": ["north"], "garden": [True]}))
