"""Sentences tell the figures of the outlook."""

from dataclasses import replace

import numpy as np

from gramian.outlook.sentences import overview, simple_rival


def test_figures_are_those_of_the_outlook(outlook):
    found, _ = outlook
    told = overview(found)
    assert told[0].startswith("The next 7 values of sold go from")
    assert "(2024-09-17)" in told[0]
    assert "(2024-09-23)" in told[0]
    own = next(rival for rival in found.rivals if rival.rule == found.chosen)
    assert any(f"had {own.mase:.2f} times the error of repeating the last season" in text for text in told)
    assert "A season of 7 steps repeats in the series." in told
    assert "4 of 260 values are missing; missing values are not learned from." in told
    assert "1 of 260 values is missing; missing values are not learned from." in overview(replace(found, n_missing=1))


def test_steps_without_times_are_called_steps(outlook):
    found, _ = outlook
    assert "(step 2024-09-17) to" in overview(replace(found, time=None))[0]


def test_a_simple_rule_and_no_look_back_are_said(outlook):
    found, _ = outlook
    one = {name: getattr(found, name)[:1] for name in ("forecast", "lower", "upper", "next_labels")}
    told = overview(replace(found, chosen="naive", rivals=[], periods=[], n_missing=0, **one))
    assert told[0].startswith("The next value of sold is forecast to be")
    assert "a simple rule, the last value" in told[1]
    assert told[2:] == ["No season was found in the series."]
    assert simple_rival(replace(found, rivals=[])) is None
    assert "Seasons of 7 and 30 steps repeat" in " ".join(overview(replace(found, periods=[7, 30])))


def test_the_best_simple_rule_is_the_one_of_least_error(outlook):
    found, _ = outlook
    simple = [rival.mase for rival in found.rivals if rival.rule != "networks"]
    assert simple_rival(found).mase == np.min(simple)


def test_networks_that_were_not_tried_did_not_lose(outlook):
    found, _ = outlook
    told = " ".join(overview(replace(found, chosen="naive", tried=False)))
    assert "too few known values for networks" in told
    assert "did no better" not in told
