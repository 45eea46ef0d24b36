"""What learn says is what can be computed again from its rows, and from refits without each of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import gramian.learning.analyse as analyse
from gramian import LSSVMRegressor
from gramian.learning import learn
from gramian.tables import Preparation, read_table
from learning.houses import houses


def test_errors_are_those_of_the_rows(priced):
    """Errors of the model and of the mean of all other rows, by loops over the rows."""
    found, _ = priced
    rows = np.flatnonzero(found.how == "left out")
    assert len(rows) == found.skill.rows == 158
    true = found.truth[rows]
    means = np.array([np.delete(true, i).mean() for i in range(len(true))])
    error, trivial = true - found.predicted[rows], true - means
    assert found.skill.measures["rmse"] == pytest.approx(
        (np.sqrt(np.mean(error**2)), np.sqrt(np.mean(trivial**2))), rel=1e-9
    )
    assert found.skill.measures["mae"] == pytest.approx((np.abs(error).mean(), np.abs(trivial).mean()), rel=1e-9)
    assert found.skill.explained == pytest.approx(1 - np.sum(error**2) / np.sum(trivial**2))
    inside = (found.lower[rows] <= true) & (true <= found.upper[rows])
    assert found.skill.inside == pytest.approx(inside.mean())
    assert abs(found.skill.inside - 0.9) < 0.02
    assert found.verdict == "clear"


def test_left_out_predictions_are_those_of_refits(priced):
    """A machine of the same kernel and regularization, fitted without a row, predicts what the result says of it."""
    found, model = priced
    machine = model.machine
    rows = np.flatnonzero(found.how == "left out")
    used = Preparation().fit(_others(found))
    X = machine.preparation_(used.transform(_others(found))[rows])
    for place in (0, 40, 157):
        rest = np.arange(len(rows)) != place
        again = LSSVMRegressor(clone(machine.kernel_), regularization=machine.regularization_)
        again.fit(X[rest], found.truth[rows][rest])
        assert again.predict(X[place : place + 1])[0] == pytest.approx(found.predicted[rows[place]], rel=1e-5)


def _others(found):
    return read_table(found.frame.drop(columns=["price", "sold"]))


def test_classes_are_judged_beside_their_shares(sold):
    found, _ = sold
    assert found.classes == ["open", "sold"]
    shares = np.bincount(found.truth) / len(found.truth)
    assert found.skill.measures["accuracy"] == pytest.approx(
        ((found.predicted == found.truth).mean(), shares.max()), abs=1e-12
    )
    trivial = np.tile(shares, (len(found.truth), 1))
    expected = log_loss(found.truth, found.probabilities), log_loss(found.truth, trivial)
    assert found.skill.measures["log_loss"] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(
        found.confusion, pd.crosstab(found.truth, found.predicted).reindex(index=[0, 1], columns=[0, 1], fill_value=0)
    )
    assert sum(item.rows for item in found.confidences) == len(found.truth)
    assert found.skill.measures["accuracy"][0] > 0.8


def test_rows_without_a_value_are_predicted_but_not_learned_from(priced):
    found, model = priced
    assert list(np.flatnonzero(found.how == "new")) == [3, 50]
    true = houses()["price"].iloc[[3, 50]]
    assert (np.abs(found.predicted[[3, 50]] - true) < 80).all()
    assert model.n_rows_ == 158
    assert any("2 rows have no value of price" in sentence for sentence in found.sentences)


def test_noise_is_said_to_be_noise():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    found, _ = learn(read_table(frame), "d")
    assert found.verdict == "none"
    assert found.sentences[0].startswith("The other columns do not predict d: ")
    frame["d"] = rng.choice(["x", "y", "z"], 80)
    found, _ = learn(read_table(frame), "d")
    assert found.verdict == "none"
    assert found.surprises == []  # no class is unexpected


def test_large_tables_are_judged_by_rows_that_were_not_learned_from(monkeypatch):
    monkeypatch.setattr(analyse, "_LEARNED_ROWS", 100)
    frame = houses(300)
    frame.loc[:4, "sold"] = "withdrawn"
    found, model = learn(read_table(frame, ignore=["price"]), "sold")
    assert (model.n_rows_, found.skill.rows, found.skill.held_out) == (100, 200, True)
    assert found.classes == ["open", "sold", "withdrawn"]
    held = found.how == "held out"
    assert found.skill.measures["accuracy"][0] == pytest.approx((found.predicted == found.truth)[held].mean())
    assert any("Learned from 100 of the 300 rows" in sentence for sentence in found.sentences)
    found, _ = learn(read_table(frame, ignore=["sold"]), "price")
    rows = found.how == "held out"
    trivial = found.truth[rows] - found.truth[~rows].mean()
    assert found.skill.measures["rmse"][1] == pytest.approx(np.sqrt(np.mean(trivial**2)))
    assert abs(found.skill.inside - 0.9) < 0.09


def test_the_same_seed_gives_the_same_result(priced):
    frame = houses()
    frame.loc[[3, 50], "price"] = None
    again, _ = learn(read_table(frame, ignore=["sold"]), "price")
    np.testing.assert_array_equal(again.predicted, priced[0].predicted)
    assert again.matters == priced[0].matters


def test_rows_without_any_other_value_are_not_learned_from():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = frame["a"] + 0.1 * rng.normal(size=60)
    frame.loc[:7, ["a", "b"]] = np.nan
    found, model = learn(read_table(frame), "y")
    assert model.n_rows_ == 52
    assert np.isfinite(found.predicted).all()
    assert not {item.row for item in found.surprises} & set(range(8))  # nothing lets expect anything of them
    frame.loc[:54, ["a", "b"]] = np.nan
    with pytest.raises(ValueError, match="5 rows with a value of 'y' and of another column"):
        learn(read_table(frame), "y")
