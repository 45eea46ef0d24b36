"""The folder of a prediction, its rows and summary, and the rows of new tables."""

import json

import numpy as np
import pandas as pd
import pytest

from gramian.report import OutputExists, learned_rows, learned_summary, predicted_rows, write_learned_folder
from gramian.tables import read_table
from learning.conftest import priced, sold
from learning.houses import houses

__all__ = ["priced", "sold"]


def test_the_folder_is_whole_and_its_figures_can_be_computed_again(priced, tmp_path):
    """Root mean squared error, explained share and coverage of summary.json follow from rows.csv alone."""
    found, model = priced
    write_learned_folder(found, model, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["model.gramian", "report.html", "rows.csv", "summary.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    rows = pd.read_csv(tmp_path / "out" / "rows.csv")
    told = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    known = rows[rows["price"].notna()]
    assert (known["row_was"] == "left out").all()
    error = known["price"] - known["prediction"]
    np.testing.assert_allclose(error, known["residual"], atol=1e-3)
    trivial = (known["price"] - known["price"].mean()) * len(known) / (len(known) - 1)
    assert told["errors"]["rmse"]["model"] == pytest.approx(np.sqrt((error**2).mean()), rel=1e-3)
    assert told["errors"]["rmse"]["trivial"] == pytest.approx(np.sqrt((trivial**2).mean()), rel=1e-6)
    assert told["explained"] == pytest.approx(1 - (error**2).sum() / (trivial**2).sum(), abs=1e-3)
    inside = (known["lower"] <= known["price"]) & (known["price"] <= known["upper"])
    assert told["interval"]["held"] == pytest.approx(inside.mean(), abs=0.01)
    with pytest.raises(OutputExists, match="--force"):
        write_learned_folder(found, model, tmp_path / "out")
    write_learned_folder(found, model, tmp_path / "out", force=True)


def test_values_come_back_as_they_came(priced, tmp_path):
    found, model = priced
    write_learned_folder(found, model, tmp_path / "out")
    rows, given = pd.read_csv(tmp_path / "out" / "rows.csv"), houses()
    assert rows["built"].equals(given["built"])
    assert rows["garden"].equals(given["garden"])


def test_probabilities_have_the_names_of_classes(sold):
    found, model = sold
    rows = learned_rows(found)
    assert (rows[["probability_open", "probability_sold"]].sum(axis=1) - 1).abs().max() < 2e-4
    assert (rows["prediction"] == rows[["probability_open", "probability_sold"]].idxmax(axis=1).str[12:]).mean() > 0.99
    told = learned_summary(found)
    right = sum(told["confusion"][i][i] for i in range(2))
    assert told["errors"]["accuracy"]["model"] == pytest.approx(right / told["rows_judged"])
    new = houses(20, seed=7)
    said = predicted_rows(model, read_table(new.drop(columns="sold"), like=model.preparation))
    assert set(said["prediction"]) <= {"open", "sold"}


def test_new_rows_have_notes_and_taken_names_are_freed(priced):
    _, model = priced
    new = houses(6, seed=7).drop(columns="price").assign(prediction="mine")
    new.loc[0, "area"] = 1e6
    new.loc[1, "town"] = "moon"
    for as_read in (True, False):
        said = predicted_rows(model, read_table(new, like=model.preparation), as_read=as_read)
        assert (said["prediction"] == "mine").all()
        assert said["gramian_prediction"].notna().all()
        assert (said["lower"] < said["upper"]).all()
        assert "lies outside" in said["note"][0]
        assert "was not seen" in said["note"][1]
