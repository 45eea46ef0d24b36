"""``gramian forecast``: from a series to a folder with its next steps, a report and a model that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import gramian
from gramian.cli.terminal import (
    AsJson,
    Force,
    Missing,
    Quiet,
    Seed,
    all_names,
    app,
    folder_for,
    one_line_errors,
    progress,
    tell,
)

# The series that is forecast when none is named: daily temperatures in Melbourne, 1981 to 1990.
_EXAMPLE = Path(gramian.__file__).parent / "datasets" / "data" / "series" / "melbourne_temperature.csv.gz"
_EXAMPLE_COLUMN = "tmin"
_MODEL_ENDING = ".gramian"


@app.command(
    epilog="Examples:  [bold]gramian forecast load.csv --column demand --horizon 48[/bold]   |   "
    "[bold]gramian forecast load_forecast/model.gramian --update new.csv --out next[/bold]"
)
def forecast(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Table whose rows are steps of time, or a model.gramian to go on with; - for standard input; "
            "without one: an example.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="The column to forecast; by default the only numbers.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(min=1, help="Steps to forecast; 12 by default, with a model as many as before.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="The column of time; by default the first of dates.")] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns known in advance, separated by commas; rows without a value of "
            "the column hold the coming ones."
        ),
    ] = None,
    period: Annotated[
        list[int] | None, typer.Option(min=1, help="Steps of a season; repeat the option for more.")
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Share of the values that the bands should contain; 0.9 by default, or as the model has it."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="auto|esn", help="esn: the networks even where a simple rule does as well.")
    ] = "auto",
    update: Annotated[
        str | None, typer.Option(metavar="NEW", help="Later rows, for a model; - for standard input.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; by default named after the file.")] = None,
    missing: Missing = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Forecast a series with bands; report the error of past forecasts, and a model to continue with."""
    with one_line_errors():
        from gramian.report import check_free

        source = str(_EXAMPLE) if file is None else file
        going_on = source.endswith(_MODEL_ENDING)
        _check_options(going_on, update, model, column=column, time=time, known=known, period=period)
        wanted = column[0] if column else None
        folder = out or folder_for(update or source if going_on else source, "series", "forecast")
        check_free(folder, force=force)
        with progress(not quiet and not as_json) as notify:
            if going_on:
                from gramian.forecaster import forecast_again
                from gramian.outlook import load_series_model

                found = forecast_again(
                    load_series_model(source), update, horizon=horizon, coverage=coverage, missing=missing or ()
                )
            else:
                found = gramian.forecast(
                    source,
                    _EXAMPLE_COLUMN if file is None and wanted is None else wanted,
                    horizon=horizon or 12,
                    time=time,
                    known=all_names(known),
                    period=tuple(period) if period else "auto",
                    coverage=0.9 if coverage is None else coverage,
                    safeguard=model == "auto",
                    missing=missing or (),
                    random_state=seed,
                    notify=notify,
                )
            found.save(folder, force=force)
        tell(found, folder, as_json=as_json, quiet=quiet)


def _check_options(going_on: bool, update: str | None, model: str, **of_series: object) -> None:
    """Refuse options that mean nothing together."""
    if model not in ("auto", "esn"):
        raise ValueError(f"--model {model}: pass auto or esn")
    if update is not None and not going_on:
        raise ValueError("--update goes with a model: gramian forecast model.gramian --update new.csv")
    if isinstance(columns := of_series["column"], list) and len(columns) > 1:
        raise ValueError(f"--column {columns[1]}: one column is forecast at a time; name one")
    given = [name for name, value in of_series.items() if value is not None] + ["model"] * (model != "auto")
    if going_on and given:
        raise ValueError(f"--{given[0]} is part of the model already; leave it out, or forecast from the table again")
