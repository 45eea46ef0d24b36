"""``gramian`` on the command line: explore a table, learn a column, answer for new rows, and read model files."""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import gramian

app = typer.Typer(
    name="gramian",
    help="Find groups in a table, what makes them different, who is typical and who is odd. Holes are welcome.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# The table that is explored when none is named: horses with colic, 368 × 23, a quarter of the cells missing (UCI;
# M. McLeish, M. Cecile; CC BY 4.0), and the column that says what became of the horse, which is left out.
_EXAMPLE = Path(gramian.__file__).parent / "datasets" / "data" / "horse_colic.csv.gz"
_ANSWER = "label"
_BAD_INPUT = 2
_INTERRUPTED = 130
# Libraries of the extra "app": what the commands import, and what these import in turn.
_APP = frozenset(
    {"fastapi", "h11", "jinja2", "matplotlib", "openpyxl", "pandas", "pyarrow", "pydantic", "python_multipart"}
    | {"starlette", "uvicorn"}
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output of an earlier run.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random; the same seed gives the same result.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.gramian that explore or learn wrote.")]
Rows = Annotated[str, typer.Argument(metavar="NEW", help="Rows with the same columns; - for standard input.")]
OutFile = Annotated[Path | None, typer.Option(help="CSV file to write; by default rows go to standard output.")]
Category = Annotated[
    list[str] | None, typer.Option(help="Read these as categories, as codes 1, 2, 3 are; with commas, or again.")
]
Number = Annotated[
    list[str] | None, typer.Option(help="Read these as numbers, where they look like codes; with commas, or again.")
]
Missing = Annotated[
    list[str] | None, typer.Option(help="A value that means missing, such as -999; may be given again.")
]


def main() -> None:
    """Run the command line; errors are one line."""
    # A polite kill ends like Ctrl-C: nothing half-written stays.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _fail(message: str, code: int = _BAD_INPUT) -> NoReturn:
    text = " ".join(str(message).split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]gramian:[/red] {escape(text)}")
    sys.exit(code)


def _fail_without_extra(error: ModuleNotFoundError) -> None:
    """Say how to install a library that the commands need, if one of these is missing."""
    if (error.name or "").partition(".")[0] in _APP:
        _fail(f"this command needs {error.name}, which is not installed; run pip install 'gramian[app]'")


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """What is wrong with the input, as one line; what is wrong with gramian keeps its traceback."""
    from gramian.configuration import MemoryBudgetError

    try:
        yield
    except KeyboardInterrupt:
        _fail("stopped", _INTERRUPTED)
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        _fail_without_extra(error)
        raise
    except OSError as error:
        # Those of the operating system have a number and the file apart.
        _fail(f"{error.filename}: {error.strerror}; check the path" if error.filename else str(error))
    except (ValueError, MemoryBudgetError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("the table is too large for the memory; explore fewer rows or columns of it")


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[str, float], None] | None]:
    if not show or not sys.stderr.isatty():  # a log has no use for a bar
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda name, done: bar.update(task, description=name or "writing", completed=done)


def _version(asked: bool) -> None:
    if asked:
        print(f"gramian {gramian.__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    epilog="Examples:  [bold]gramian explore data.csv[/bold]   |   "
    "[bold]gramian explore data.xlsx --out result --clusters 4 --ignore id[/bold]   |   "
    "[bold]cat data.csv | gramian explore -[/bold]"
)
def explore(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="CSV, TSV, Parquet, Excel or JSON lines; - for standard input; none: an example."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; by default named after the file.")] = None,
    clusters: Annotated[int | None, typer.Option(min=1, help="Number of groups; by default it is found.")] = None,
    columns: Annotated[str | None, typer.Option(help="Use only these columns, with commas between.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Leave these columns out, with commas between.")] = None,
    category: Category = None,
    number: Number = None,
    missing: Missing = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """From a table to groups, reasons, odd rows, another grouping, and a model for tomorrow's rows."""
    with _one_line_errors():
        from gramian.report import REPORT, check_free

        source = str(_EXAMPLE) if file is None else file
        folder = out or Path(("table" if source == "-" else Path(source).name.split(".")[0]) + "_explored")
        check_free(folder, force=force)
        ignored = [*(_names(ignore) or ()), *([_ANSWER] if file is None else [])]
        with _progress(not quiet and not as_json) as notify:
            explored = gramian.explore(
                source,
                n_clusters=clusters,
                columns=_names(columns),
                ignore=ignored,
                category=_all_names(category),
                number=_all_names(number),
                missing=missing or (),
                random_state=seed,
                notify=notify,
            )
            explored.save(folder, force=force)
        if as_json:
            print(json.dumps(explored.summary() | {"folder": str(folder)}, ensure_ascii=False))
        elif not quiet:
            console = Console(highlight=False)
            for sentence in explored.found.sentences:
                console.print(escape(sentence))
            _say_codes(console, explored.found.columns)
            console.print(f"\nOpen [bold]{escape(str(folder / REPORT))}[/bold] in a browser.", soft_wrap=True)


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
    columns: Annotated[str | None, typer.Option(help="Predict from these columns only, with commas between.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Leave these columns out, with commas between.")] = None,
    category: Category = None,
    number: Number = None,
    missing: Missing = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """From a table to a prediction of one column, its error, what matters, and a model for tomorrow's rows."""
    with _one_line_errors():
        from gramian.report import REPORT, check_free

        folder = out or Path(("table" if file == "-" else Path(file).name.split(".")[0]) + "_learned")
        check_free(folder, force=force)
        with _progress(not quiet and not as_json) as notify:
            trained = gramian.learn(
                file,
                target,
                columns=_names(columns),
                ignore=_names(ignore),
                category=_all_names(category),
                number=_all_names(number),
                missing=missing or (),
                random_state=seed,
                notify=notify,
            )
            trained.save(folder, force=force)
        if as_json:
            print(json.dumps(trained.summary() | {"folder": str(folder)}, ensure_ascii=False))
        elif not quiet:
            console = Console(highlight=False)
            for sentence in trained.found.sentences:
                console.print(escape(sentence))
            _say_codes(console, trained.found.columns)
            console.print(f"\nOpen [bold]{escape(str(folder / REPORT))}[/bold] in a browser.", soft_wrap=True)


def _say_codes(console: Console, columns: Any) -> None:
    from gramian.tables import CODES

    if coded := [column.name for column in columns if column.note.startswith(CODES)]:
        console.print(escape(f"Read as codes: {', '.join(coded)}; --number NAME reads one as a number."))


def _all_names(texts: list[str] | None) -> list[str]:
    """Names of an option that may be given again."""
    return [name for text in texts or () for name in _names(text) or ()]


def _names(text: str | None) -> list[str] | None:
    """Names with commas between, in quotes where they contain one."""
    if text is None:
        return None
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]


@app.command(epilog="Example:  [bold]gramian assign data_explored/model.gramian new.csv --out assigned.csv[/bold]")
def assign(
    model: Model,
    file: Rows,
    out: OutFile = None,
    missing: Missing = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """The group, membership and oddness of rows that come later."""
    with _one_line_errors():
        from gramian.exploration import load_table_model
        from gramian.report import assigned_rows

        fitted = load_table_model(model)
        _check_free_file(out, force)
        table, unseen = _new_rows(fitted.preparation, file, missing, groups=True)
        _give(assigned_rows(fitted, table, unseen=unseen, as_read=not as_json), out, as_json)


@app.command(epilog="Example:  [bold]gramian predict data_learned/model.gramian new.csv --out predicted.csv[/bold]")
def predict(
    model: Model,
    file: Rows,
    out: OutFile = None,
    missing: Missing = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """The prediction of rows that come later, with its interval or the probabilities of the classes."""
    with _one_line_errors():
        from gramian.learning import load_target_model
        from gramian.report import predicted_rows

        fitted = load_target_model(model)
        _check_free_file(out, force)
        table, unseen = _new_rows(fitted.preparation, file, missing, groups=False)
        _give(predicted_rows(fitted, table, unseen=unseen, as_read=not as_json), out, as_json)


def _check_free_file(out: Path | None, force: bool) -> None:
    if out is not None and out.is_dir():
        raise ValueError(f"{out} is a folder; name a file with --out")
    if out is not None and out.exists() and not force:
        raise ValueError(f"{out} exists; add --force to replace it")


def _new_rows(preparation: Any, file: str, missing: list[str] | None, *, groups: bool) -> tuple[Any, Any]:
    """Rows as the table was read, and what is unusual about them, which is also said."""
    from gramian.tables import read_table, unseen_values

    table = read_table(file, missing=missing or (), like=preparation)
    for column in table.columns:
        if column.name in preparation.kinds_ and column.note:
            print(f"gramian: {table.source}, column {column.name!r}: {column.note}", file=sys.stderr)
    unseen = unseen_values(preparation, table)
    for sentence in unseen.summary(groups=groups):
        print(f"gramian: {table.source}: {sentence}", file=sys.stderr)
    return table, unseen


def _give(rows: Any, out: Path | None, as_json: bool) -> None:
    """Write rows to a file or to the standard output."""
    from gramian.report import json_lines, write_file

    text = json_lines(rows) if as_json else rows.to_csv(index=False)
    if out is None:
        print(text, end="")
    else:
        write_file(out, text)


@app.command(epilog="Example:  [bold]gramian rank data_explored/model.gramian --like 17 --top 5[/bold]")
def rank(
    model: Model,
    like: Annotated[int | None, typer.Option(min=1, help="Row of the explored table, counted from 1.")] = None,
    cluster: Annotated[int | None, typer.Option(min=1, help="Group, counted from 1.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many rows.")] = 10,
    as_json: AsJson = False,
) -> None:
    """The rows most like one row, or the most typical ones of a group."""
    with _one_line_errors():
        from gramian.exploration import load_table_model

        fitted = load_table_model(model)
        if like is not None and cluster is None:
            rows, scores = fitted.like(like - 1, top)
        elif cluster is not None and like is None:
            if cluster > fitted.n_clusters_:
                raise ValueError(f"--cluster {cluster}: there are {fitted.n_clusters_} groups")
            rows, scores = fitted.typical(cluster - 1, top)
        else:
            raise ValueError("pass either --like ROW or --cluster K")
        cells, groups = fitted.cells(rows), fitted.groups_[rows] + 1
        if as_json:
            found = [
                {"row": int(row) + 1, "group": int(group), "score": float(score), "values": values}
                for row, group, score, values in zip(rows, groups, scores, cells, strict=True)
            ]
            print(json.dumps(found, ensure_ascii=False))
        else:
            digits = _digits_that_differ(scores)
            lines = [["row", "group", "score", *fitted.shown_]] + [
                [str(row + 1), str(group), f"{score:.{digits}f}", *values.values()]
                for row, group, score, values in zip(rows, groups, scores, cells, strict=True)
            ]
            widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
            for line in lines:
                padded = [text.ljust(width) for text, width in zip(line, widths, strict=True)]
                print("  ".join(padded).rstrip())


def _digits_that_differ(scores: Any) -> int:
    """The fewest decimals, from 2 to 7, that tell all different scores apart."""
    digits = 2
    while digits < 7 and len({f"{score:.{digits}f}" for score in scores}) < len({f"{score:.7f}" for score in scores}):
        digits += 1
    return digits


@app.command()
def info(model: Model, as_json: AsJson = False) -> None:
    """What a model file says about itself."""
    with _one_line_errors():
        found = gramian.persistence.info(model)
        fields: dict[str, Any] = {
            "model": found.model,
            "gramian": found.gramian,
            "scikit-learn": found.sklearn,
            "saved": found.saved.isoformat(),
        }
        if found.model.endswith("TableModel"):
            from gramian.exploration import load_table_model

            fitted = load_table_model(model)
            groups = fitted.n_clusters_ if fitted.n_clusters_ > 1 else 0  # one is none, as the report says
            fields |= {"groups": groups, "rows fitted": len(fitted.rows_)}
            fields["columns"] = list(fitted.preparation.kinds_)
        elif found.model.endswith("TargetModel"):
            from gramian.learning import load_target_model

            learned = load_target_model(model)
            fields |= {"predicts": learned.target, "rows fitted": learned.n_rows_}
            fields |= {"classes": learned.classes} if learned.classes else {}
            for name, (own, trivial) in learned.measures_.items():
                fields[name.replace("_", " ")] = f"{own:.4g} (trivial predictor {trivial:.4g})"
            fields["columns"] = list(learned.preparation.kinds_)
        if as_json:
            print(json.dumps(fields))
        else:
            for name, value in fields.items():
                print(f"{name}: {', '.join(value) if isinstance(value, list) else value}")


@app.command(epilog="Example:  [bold]gramian serve --folder tables --port 9000[/bold]")
def serve(
    folder: Annotated[Path, typer.Option(help="Where tables and results are kept.")] = Path("gramian_jobs"),
    host: Annotated[
        str, typer.Option(help="Address to listen at; whoever reaches it reads every table.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of this machine; may be given again.")
    ] = None,
    max_size: Annotated[float, typer.Option(min=0.001, help="Largest upload, in MB.")] = 200,
    time_limit: Annotated[float, typer.Option(min=0.01, help="Minutes for one exploration.")] = 30,
    memory_limit: Annotated[float, typer.Option(min=1, help="GiB for one exploration.")] = 6,
    keep: Annotated[int, typer.Option(min=1, help="Explorations to keep; the oldest are deleted first.")] = 100,
    keep_size: Annotated[float, typer.Option(min=0.001, help="GB of them to keep; the newest always stays.")] = 10,
    quiet: Quiet = False,
) -> None:
    """Explore tables in a browser, on this machine."""
    with _one_line_errors():
        from gramian.web import serve as run

        def ready(url: str) -> None:
            if not quiet:
                Console(highlight=False).print(f"Open [bold]{escape(url)}[/bold] in a browser; Ctrl-C ends.")

        run(
            folder,
            host=host,
            port=port,
            also_known_as=allow_host or (),
            ready=ready,
            max_bytes=int(max_size * 1e6),
            time_limit=60 * time_limit,
            memory_limit=int(memory_limit * 2**30),
            keep=keep,
            keep_bytes=int(keep_size * 1e9),
        )


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments; none lists them.")
    ] = None,
) -> None:
    """Compute published tables again; needs a checkout of the project, whose folder reproduce has the scripts."""
    from importlib.util import find_spec

    sys.path.insert(0, os.getcwd())
    if find_spec("reproduce") is None:
        _fail("the scripts are not part of the package; run this in a checkout of the project")
    from importlib import import_module

    try:
        sys.exit(import_module("reproduce.__main__").main(list(names or [])))
    except ModuleNotFoundError as error:
        _fail_without_extra(error)
        raise


if __name__ == "__main__":
    main()
