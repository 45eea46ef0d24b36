"""Odd rows are those furthest from their prediction, and a planted error is the first of them."""

import numpy as np

from gramian.learning import learn
from gramian.learning.model import Predicted
from gramian.learning.surprise import surprises
from gramian.learning.target import Target
from gramian.tables import read_table
from learning.houses import houses


def test_a_planted_error_is_found():
    frame = houses(120)
    frame.loc[17, "price"] = 2000.0
    found, _ = learn(read_table(frame, ignore=["sold"]), "price")
    assert found.surprises[0].row == 17
    assert "price is 2,000" in found.surprises[0].reason


def test_numbers_count_in_halves_of_the_interval():
    values = np.array([0.0, 5.0, 9.0, np.nan, 1.9])  # the last lies inside
    said = Predicted(np.zeros(5), np.full(5, -2.0), np.full(5, 2.0), np.empty((5, 0)))
    found = surprises(Target("y", values, []), said, np.array([True, True, True, False, True]))
    assert [(item.row, item.score) for item in found] == [(2, 4.5), (1, 2.5)]
    assert found[0].reason == "y is 9, predicted 0 (from −2 to 2)"


def test_a_value_outside_its_interval_does_not_read_like_its_end():
    """Three digits of 101.4 and 101.3 are the same."""
    said = Predicted(np.array([100.2]), np.array([99.1]), np.array([101.3]), np.empty((1, 0)))
    found = surprises(Target("heat", np.array([101.4]), []), said, np.ones(1, bool))
    assert found[0].reason == "heat is 101.4, predicted 100.2 (from 99.1 to 101.3)"


def test_classes_count_by_their_probability():
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    said = Predicted(shares.argmax(axis=1), np.full(3, np.nan), np.full(3, np.nan), shares)
    found = surprises(Target("kind", np.array([1, 1, 1]), ["a", "b"]), said, np.ones(3, bool))
    assert [(item.row, round(item.score, 3)) for item in found] == [(0, 0.9), (2, 0.6)]
    assert found[0].reason == "kind is b, to which the other rows give 10 %; predicted a (90 %)"
