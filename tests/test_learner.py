"""gramian.learn takes frames, paths and tables, and its result writes what the command line writes."""

import json

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian.learner import Trained
from gramian.tables import read_table
from learning.houses import houses


@pytest.fixture(scope="module")
def trained():
    return gramian.learn(houses(100), target="price", ignore=["sold"])


def test_frames_paths_and_tables_give_the_same(trained, tmp_path):
    houses(100).to_csv(tmp_path / "h.csv", index=False)
    for source in (tmp_path / "h.csv", read_table(tmp_path / "h.csv", ignore=["sold"])):
        again = gramian.learn(source, "price", ignore=["sold"])
        np.testing.assert_allclose(again.found.predicted, trained.found.predicted)
    assert isinstance(again, Trained)


def test_rows_and_matters_are_frames(trained):
    assert trained.verdict == "clear"
    assert trained.matters.index[0] == "area"
    assert {"prediction", "lower", "upper", "residual", "row_was"} <= set(trained.rows)
    named = houses(100).set_axis([f"house {i}" for i in range(100)])
    again = gramian.learn(named, "price", columns=["area", "town", "garden"])
    assert again.rows.index.equals(named.index)
    assert list(again.model.preparation.kinds_) == ["area", "town", "garden"]
    assert again.predict(named.iloc[:3]).index.equals(named.index[:3])


def test_what_is_saved_is_read_again(trained, tmp_path):
    folder = trained.save(tmp_path / "out")
    assert json.loads((folder / "summary.json").read_text("utf-8")) == trained.summary()
    model = gramian.load(folder / "model.gramian")
    new = read_table(houses(5, seed=3), like=model.preparation)
    said = model.predict(model.preparation.transform(new))
    np.testing.assert_allclose(said.values, trained.predict(new)["prediction"], rtol=1e-3)
    assert trained.report().read_text("utf-8").startswith("<!doctype html>")
    assert repr(trained).startswith("The other columns explain ")


def test_a_target_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="the data frame has no column 'prize'; did you mean 'price'"):
        gramian.learn(houses(30), "prize")
    with pytest.raises(ValueError, match="no column 'prize'; did you mean 'price'"):
        gramian.learn(houses(30), "prize", columns=["area"])
    with pytest.raises(TypeError, match="pass a path"):
        gramian.learn(pd.Series([1.0]).to_numpy(), "y")
