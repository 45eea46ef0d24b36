"""What all commands share: their options, one-line errors, progress bars, and names with commas between.

It uses no other module of the folder; every command uses it.
"""

from __future__ import annotations

import csv
import gc
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

app = typer.Typer(
    name="gramian",
    help="What is in a table, a network or a series: groups, predictions and forecasts. Holes are welcome.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

BAD_INPUT = 2
INTERRUPTED = 130
# Libraries of the extra "app": what the commands import, and what these import in turn.
_APP = frozenset(
    {"fastapi", "h11", "jinja2", "matplotlib", "openpyxl", "pandas", "pyarrow", "pydantic", "python_multipart"}
    | {"starlette", "uvicorn", "PIL"}
)
_EXTRAS = dict.fromkeys(_APP, "app") | {"torch": "deep", "dask": "scale", "distributed": "scale"}

Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print the result as JSON, and nothing else.")]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace the output of an earlier run.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random; the same seed gives the same result.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.gramian that an earlier command wrote.")]
Rows = Annotated[
    str, typer.Argument(metavar="NEW", help="Rows with the same columns, edges, or images; - for standard input.")
]
OutFile = Annotated[Path | None, typer.Option(help="CSV file to write; by default rows go to standard output.")]
Category = Annotated[
    list[str] | None, typer.Option(help="Columns to read as categories, such as codes 1, 2, 3; separated by commas.")
]
Number = Annotated[
    list[str] | None,
    typer.Option(help="Columns to read as numbers although they look like codes; separated by commas."),
]
Missing = Annotated[
    list[str] | None, typer.Option(help="A value that means missing, such as -999; repeat the option for more.")
]


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    text = " ".join(str(message).split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]gramian:[/red] {escape(text)}")
    sys.exit(code)


def fail_without_extra(error: ModuleNotFoundError) -> None:
    """Say how to install a library that the commands need, if one of these is missing."""
    if extra := _EXTRAS.get((error.name or "").partition(".")[0]):
        fail(f"this command needs {error.name}, which is not installed; run pip install 'gramian[{extra}]'")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What is wrong with the input, as one line; what is wrong with gramian keeps its traceback."""
    from gramian.configuration import MemoryBudgetError

    try:
        yield
    except KeyboardInterrupt:
        fail("stopped", INTERRUPTED)
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        fail_without_extra(error)
        raise
    except OSError as error:
        # Those of the operating system have a number and the file apart.
        fail(f"{error.filename}: {error.strerror}; check the path" if error.filename else str(error))
    except (ValueError, MemoryBudgetError) as error:
        fail(str(error))
    except MemoryError:
        fail("the input is too large for the memory; take fewer rows, columns or edges of it")


@contextmanager
def loading() -> Iterator[None]:
    """Import libraries without looking for garbage among their many objects: there is none."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def progress(show: bool) -> Iterator[Callable[[str, float], None] | None]:
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


def folder_for(file: str, kind: str, done: str) -> Path:
    """The folder to write when none is named: after the file, or after its kind where it comes by standard input."""
    return Path((kind if file == "-" else Path(file).name.split(".")[0]) + f"_{done}")


def tell(outcome: Any, folder: Path, *, as_json: bool, quiet: bool) -> None:
    """Say what was found and where it was written."""
    if as_json:
        print(json.dumps(outcome.summary() | {"folder": str(folder)}, ensure_ascii=False))
    elif not quiet:
        from gramian.report import REPORT

        console = Console(highlight=False)
        for sentence in outcome.found.sentences:
            console.print(escape(sentence))
        _say_codes(console, getattr(outcome.found, "columns", ()))
        console.print(f"\nOpen [bold]{escape(str(folder / REPORT))}[/bold] in a browser.", soft_wrap=True)


def _say_codes(console: Console, columns: Any) -> None:
    from gramian.tables import CODES

    if coded := [column.name for column in columns if column.note.startswith(CODES)]:
        console.print(escape(f"Read as codes: {', '.join(coded)}; --number NAME reads one as a number."))


def all_names(texts: list[str] | None) -> list[str]:
    """Names of an option that may be given again."""
    return [name for text in texts or () for name in names(text) or ()]


def names(text: str | None) -> list[str] | None:
    """Names with commas between, in quotes where they contain one."""
    if text is None:
        return None
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]


def check_free_file(out: Path | None, force: bool) -> None:
    if out is not None and out.is_dir():
        raise ValueError(f"{out} is a folder; name a file with --out")
    if out is not None and out.exists() and not force:
        raise ValueError(f"{out} exists; add --force to replace it")


def give(rows: Any, out: Path | None, as_json: bool) -> None:
    """Write rows to a file or to the standard output."""
    from gramian.report import json_lines, write_file

    text = json_lines(rows) if as_json else rows.to_csv(index=False)
    if out is None:
        print(text, end="")
    else:
        write_file(out, text)
