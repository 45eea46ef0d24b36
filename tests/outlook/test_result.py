"""Rules have names that people read."""

from gramian.outlook.result import Rival


def test_rules_are_named_in_words():
    assert Rival("lags", 1.0, 1.0).name == "a linear model of the last values"
    assert Rival("other", 1.0, 1.0).name == "other"
