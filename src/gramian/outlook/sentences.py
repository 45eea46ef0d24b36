"""What was found about a series, in sentences."""

from __future__ import annotations

import numpy as np

from gramian.exploration.wording import count, listing, number_words, percent
from gramian.outlook.result import NAMES, Outlook, Rival

__all__ = ["overview", "simple_rival"]


def overview(outlook: Outlook) -> list[str]:
    """The most important first."""
    told = [_forecast(outlook), *_compared(outlook)]
    if outlook.periods:
        found = "Seasons" if len(outlook.periods) > 1 else "A season"
        told.append(f"{found} of {listing([str(period) for period in outlook.periods])} steps repeat in the series.")
    else:
        told.append("No season was found in the series.")
    if len(outlook.periods) == 1:
        told[-1] = told[-1].replace("repeat", "repeats")
    if outlook.n_missing:
        are = "is" if outlook.n_missing == 1 else "are"
        told.append(
            f"{outlook.n_missing:,} of {outlook.n_steps:,} values {are} missing; missing values are not learned from."
        )
    return told


def simple_rival(outlook: Outlook) -> Rival | None:
    """The best of the simple rules in the backtest; None without one."""
    simple = [rival for rival in outlook.rivals if rival.rule != "networks"]
    return min(simple, key=lambda rival: rival.mase, default=None)


def _forecast(outlook: Outlook) -> str:
    said = number_words(outlook.values[np.isfinite(outlook.values)])
    first, last = outlook.forecast[0], outlook.forecast[-1]
    width = float(np.mean(outlook.upper - outlook.lower))
    n = len(outlook.forecast)
    ahead = f"The next {f'{n:,} values' if n > 1 else 'value'} of {outlook.column}"
    when = "" if outlook.time else "step "
    start, end = (when + outlook.next_labels[place] for place in (0, -1))
    way = (
        f"is forecast to be {said(first)} ({start})"
        if n == 1
        else f"go from {said(first)} ({start}) to {said(last)} ({end})"
    )
    band = f"the band meant to hold {percent(outlook.coverage)} of them is {said(width)} wide on average"
    return f"{ahead} {way}; {band}."


def _compared(outlook: Outlook) -> list[str]:
    """How the forecast was made, and how such forecasts did before."""
    by = {rival.rule: rival for rival in outlook.rivals}
    told = []
    if outlook.chosen == "networks":
        told.append("The forecast is made by echo state networks.")
    else:
        reason = (
            "on the last fifth of the series the networks did no better"
            if outlook.tried
            else "the series has too few known values for networks"
        )
        told.append(f"The forecast is made by a simple rule, {NAMES[outlook.chosen]}: {reason}.")
    own, simple = by.get(outlook.chosen), simple_rival(outlook)
    if own is None or simple is None or not np.isfinite(own.mase):
        return told
    compared = (
        f"Forecasts made in the same way from {count(outlook.origins, 'moment')} of the past had {own.mase:.2f} times "
        f"the error of {outlook.repeating} (MASE)"
    )
    if simple.rule != own.rule:
        compared += f"; the best simple rule, {simple.name}, {simple.mase:.2f} times"
    told.append(compared + ".")
    if np.isfinite(own.coverage):
        told.append(f"The bands held {percent(own.coverage)} of those values.")
    return told
