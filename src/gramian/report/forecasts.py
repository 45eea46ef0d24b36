"""Write the forecast of a series: the whole folder or nothing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramian.persistence import save
from gramian.report.forecast_page import write_forecast_report
from gramian.report.outputs import MODEL, REPORT, STEPS, SUMMARY, free_name, plain, whole_folder
from gramian.report.words import rounded

if TYPE_CHECKING:
    from gramian.outlook import Outlook, SeriesModel


def write_forecast_folder(outlook: Outlook, model: SeriesModel, folder: Path, *, force: bool = False) -> None:
    """Write the report, the steps, the summary and the model."""
    with whole_folder(folder, force=force) as draft:
        write_forecast_report(outlook, draft / REPORT)
        forecast_steps(outlook).to_csv(draft / STEPS, index=False, lineterminator="\n")
        text = json.dumps(forecast_summary(outlook), indent=1, ensure_ascii=False) + "\n"
        (draft / SUMMARY).write_text(text, "utf-8")
        save(model, draft / MODEL)


def forecast_steps(outlook: Outlook) -> Any:
    """One row per step to come: time, forecast, lower and upper end of its band; a DataFrame."""
    import pandas as pd

    width = float((outlook.upper - outlook.lower).mean())
    found = {"forecast": outlook.forecast, "lower": outlook.lower, "upper": outlook.upper}
    time = free_name(outlook.time or "step", found)
    return pd.DataFrame({time: outlook.next_labels} | {name: rounded(values, width) for name, values in found.items()})


def forecast_summary(outlook: Outlook) -> dict[str, Any]:
    """The findings without the single steps of the history, ready for JSON."""
    told: dict[str, Any] = plain(
        {
            "source": outlook.source,
            "column": outlook.column,
            "time": outlook.time,
            "steps": outlook.n_steps,
            "missing": outlook.n_missing,
            "overview": outlook.sentences,
            "chosen": outlook.chosen,
            "seasons": outlook.periods,
            "known": outlook.known,
            "coverage": outlook.coverage,
            "forecast": forecast_steps(outlook).to_dict("records"),
            "backtest": {
                "moments": outlook.origins,
                "rules": [asdict(rival) for rival in outlook.rivals],
                "mean_absolute_error_by_step": outlook.errors,
            },
            "notes": outlook.notes,
            "made": outlook.made,
        }
    )
    return told
