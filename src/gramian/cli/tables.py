"""``gramian explore`` and ``gramian learn``: from a table to a folder with a report, rows and a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import gramian
from gramian.cli.terminal import (
    AsJson,
    Category,
    Force,
    Missing,
    Number,
    Quiet,
    Seed,
    all_names,
    app,
    folder_for,
    loading,
    names,
    one_line_errors,
    progress,
    tell,
)

# The table that is explored when none is named: horses with colic, 368 × 23, a quarter of the cells missing (UCI;
# M. McLeish, M. Cecile; CC BY 4.0), and the column that says what became of the horse, which is left out.
_EXAMPLE = Path(gramian.__file__).parent / "datasets" / "data" / "horse_colic.csv.gz"
_ANSWER = "label"


@app.command(
    epilog="Examples:  [bold]gramian explore data.csv[/bold]   |   "
    "[bold]gramian explore data.xlsx --out result --clusters 4 --ignore id[/bold]   |   "
    "[bold]cat data.csv | gramian explore -[/bold]   |   [bold]gramian explore sales/ --workers 4[/bold]"
)
def explore(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV, TSV, Parquet, Excel or JSON lines; a folder of files; - for standard input. "
            "Without one: an example.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; by default named after the file.")] = None,
    clusters: Annotated[int | None, typer.Option(min=1, help="Number of groups; by default it is found.")] = None,
    columns: Annotated[str | None, typer.Option(help="Use only these columns, separated by commas.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Leave these columns out, separated by commas.")] = None,
    category: Category = None,
    number: Number = None,
    missing: Missing = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read a folder of files; by default two.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers read a folder of files.")
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows of a table; report groups, what separates them, odd rows, and a model for new rows."""
    with one_line_errors():
        with loading():
            import gramian.explorer
            from gramian.report import check_free, prepare_to_write
            from gramian.second_process import second_process
            from gramian.tables import in_partitions, name_of_partitions

        source = str(_EXAMPLE) if file is None else file
        many = in_partitions(source)
        if not many and (workers is not None or scheduler is not None):
            raise ValueError(f"--workers and --scheduler are for a folder of files; {source} is one file")
        folder = out or folder_for(name_of_partitions(source) if many else source, "table", "explored")
        check_free(folder, force=force)
        asked: dict[str, Any] = {
            "n_clusters": clusters,
            "columns": names(columns),
            "ignore": [*(names(ignore) or ()), *([_ANSWER] if file is None else [])],
            "category": all_names(category),
            "number": all_names(number),
            "missing": missing or (),
            "random_state": seed,
        }
        # The second process is a copy of this one, and is made before the bar has its thread.
        with second_process(), progress(not quiet and not as_json) as notify:
            prepare_to_write()
            if many:
                explored = gramian.explorer.explore_folder(
                    source, folder, workers=workers, scheduler=scheduler, force=force, notify=notify, **asked
                )
            else:
                explored = gramian.explore(source, notify=notify, **asked)
                explored.save(folder, force=force)
        tell(explored, folder, as_json=as_json, quiet=quiet)


@app.command(
    epilog="Examples:  [bold]gramian learn houses.csv --target price[/bold]   |   "
    "[bold]gramian learn horses.xlsx --target lived --ignore id --out result[/bold]"
)
def learn(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, Excel or JSON lines; - for standard input.")
    ],
    target: Annotated[str, typer.Option(help="The column to predict: numbers, categories or truth values.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; by default named after the file.")] = None,
    columns: Annotated[str | None, typer.Option(help="Predict from these columns only, separated by commas.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Leave these columns out, separated by commas.")] = None,
    category: Category = None,
    number: Number = None,
    missing: Missing = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict one column of a table from the others; report the error, what matters, and a model for new rows."""
    with one_line_errors():
        from gramian.report import check_free

        folder = out or folder_for(file, "table", "learned")
        check_free(folder, force=force)
        with progress(not quiet and not as_json) as notify:
            trained = gramian.learn(
                file,
                target,
                columns=names(columns),
                ignore=names(ignore),
                category=all_names(category),
                number=all_names(number),
                missing=missing or (),
                random_state=seed,
                notify=notify,
            )
            trained.save(folder, force=force)
        tell(trained, folder, as_json=as_json, quiet=quiet)
