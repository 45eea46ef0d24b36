"""Sentences say what the figures say, also where the model is no better than saying nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd

from gramian import learn
from gramian.learning.sentences import overview
from gramian.report.words import share


def test_figures_are_those_of_the_skill(priced, sold):
    found, _ = priced
    assert found.sentences[0] == f"The other columns explain {share(found.skill.explained)} of the variation of price."
    assert any(sentence.startswith("What matters most: area, ") for sentence in found.sentences)
    assert "Not used: id, country and sold." in found.sentences
    found, _ = sold
    right, trivial = (share(value) for value in found.skill.measures["accuracy"])
    assert found.sentences[0].startswith(
        f"The other columns predict sold right in {right} of the rows left out; always"
    )
    assert found.sentences[0].endswith(f"in {trivial}.")


def test_no_better_than_trivial_is_said_plainly(priced, sold):
    for found, _ in (priced, sold):
        told = overview(replace(found, verdict="none"), 100, 0)
        assert told[0].startswith(f"The other columns do not predict {found.target}: ")
        assert not any("matters" in sentence for sentence in told)


def test_better_probabilities_without_better_classes(sold):
    found, _ = sold
    measures = found.skill.measures | {"accuracy": (0.5, 0.5)}
    told = overview(replace(found, skill=replace(found.skill, measures=measures)), 100, 0)
    assert "no more than always saying" in told[0]


def test_codes_that_were_read_as_numbers_are_told(priced):
    found, _ = priced
    coded = replace(found, truth=np.where(found.judged, np.arange(len(found.truth)) % 3, np.nan))
    assert overview(coded, 9, 0)[0] == (
        "price is read as a number and has 3 different whole values; if they are classes, pass --category price."
    )


def test_numbers_that_were_read_as_classes_are_told():
    """Because of a name, with the way to undo it; not where the user asked for classes."""
    codes = np.arange(60) % 3 + 1
    frame = pd.DataFrame({"a": codes + 0.3 * np.random.default_rng(0).normal(size=60), "label": codes})
    told = (
        "label is read as classes: numbers that name something; if it is a quantity, pass --number label.",
        "label is read as a number and has 3 different whole values; if they are classes, pass --category label.",
    )
    found = learn(frame, "label").found
    assert found.classes == ["1", "2", "3"]
    assert found.sentences[0] == told[0]
    found = learn(frame.assign(label=codes * 1.0), "label").found
    assert found.classes == ["1", "2", "3"]
    assert learn(frame, "label", number=["label"]).found.sentences[0] == told[1]
    assert not set(told) & set(learn(frame, "label", category=["label"]).found.sentences)


def test_copies_and_columns_made_from_the_target_are_told(priced):
    found, _ = priced
    told = overview(replace(found, skill=replace(found.skill, explained=0.999)), 100, 3)
    assert "That is almost everything: see that no column is made from price." in told
    assert any(sentence.startswith("3 rows are copies of others in every column") for sentence in told)


def test_the_class_said_for_all_is_that_of_the_rows_learned_from(sold):
    """Of a large table the most frequent class of all rows may be another than that of the rows learned from."""
    found, _ = sold
    how = np.where(np.arange(len(found.truth)) < 50, "left out", "held out").astype(object)
    truth = np.r_[np.zeros(30, int), np.ones(20, int), np.ones(len(how) - 50, int)]
    told = overview(replace(found, how=how, truth=truth, skill=replace(found.skill, held_out=True)), 50, 0)
    assert "always saying open in" in told[0]


def test_rows_with_no_other_value_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(y=lambda rows: rows["a"] * 2)
    frame.loc[:7, ["a", "b"]] = np.nan
    trained = learn(frame, "y")
    assert "8 rows have no value but that of y: not learned from, and not in the errors." in trained.found.sentences
    assert trained.found.skill.rows == 52
