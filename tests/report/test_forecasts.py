"""The files of a forecast hold its steps, with as many digits as the band allows."""

import numpy as np

from gramian.report.forecasts import forecast_steps, forecast_summary
from outlook.conftest import outlook

__all__ = ["outlook"]


def test_steps_are_the_forecast_but_for_digits_nobody_knows(outlook):
    found, _ = outlook
    steps = forecast_steps(found)
    width = (found.upper - found.lower).mean()
    for name in ("forecast", "lower", "upper"):
        np.testing.assert_allclose(steps[name], getattr(found, name), atol=1e-4 * width)
    assert steps["day"].tolist() == found.next_labels


def test_the_summary_tells_rules_and_steps(outlook):
    found, _ = outlook
    told = forecast_summary(found)
    assert (told["steps"], told["missing"], told["seasons"]) == (260, 4, [7])
    assert [rule["rule"] for rule in told["backtest"]["rules"]] == [rival.rule for rival in found.rivals]
    assert len(told["forecast"]) == len(told["backtest"]["mean_absolute_error_by_step"]) == 7
