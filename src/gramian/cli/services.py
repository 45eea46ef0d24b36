"""``gramian info``, ``serve`` and ``reproduce``: read a model file, open the page, compute published tables again."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import gramian
from gramian.cli.terminal import AsJson, Model, Quiet, app, fail, fail_without_extra, one_line_errors

_LOADERS = {
    "gramian.albums.model.AlbumModel": ("gramian.albums", "load_album_model"),
    "gramian.communities.model.CommunityModel": ("gramian.communities", "load_community_model"),
    "gramian.exploration.model.TableModel": ("gramian.exploration", "load_table_model"),
    "gramian.learning.model.TargetModel": ("gramian.learning", "load_target_model"),
    "gramian.outlook.model.SeriesModel": ("gramian.outlook", "load_series_model"),
}
"""What reads the models of the applications, which say something of themselves."""


@app.command()
def info(model: Model, as_json: AsJson = False) -> None:
    """Show what a model file contains: the kind of model, the versions that wrote it, and when."""
    with one_line_errors():
        found = gramian.persistence.info(model)
        fields: dict[str, Any] = {
            "model": found.model,
            "gramian": found.gramian,
            "scikit-learn": found.sklearn,
            "saved": found.saved.isoformat(),
        }
        if found.model in _LOADERS:
            package, loader = _LOADERS[found.model]
            fields |= getattr(import_module(package), loader)(model).facts()
        if as_json:
            print(json.dumps(fields))
        else:
            for name, value in fields.items():
                print(f"{name}: {', '.join(value) if isinstance(value, list) else value}")


@app.command(epilog="Example:  [bold]gramian serve --folder tables --port 9000[/bold]")
def serve(
    folder: Annotated[Path, typer.Option(help="Where tables and results are kept.")] = Path("gramian_jobs"),
    host: Annotated[
        str, typer.Option(help="Address to listen at; whoever can reach it can read every table.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of this machine; repeat the option for more.")
    ] = None,
    max_size: Annotated[float, typer.Option(min=0.001, help="Largest upload, in MB.")] = 200,
    time_limit: Annotated[float, typer.Option(min=0.01, help="Minutes for one exploration.")] = 30,
    memory_limit: Annotated[float, typer.Option(min=1, help="GiB for one exploration.")] = 6,
    keep: Annotated[int, typer.Option(min=1, help="Explorations to keep; the oldest are deleted first.")] = 100,
    keep_size: Annotated[float, typer.Option(min=0.001, help="GB of them to keep; the newest always stays.")] = 10,
    quiet: Quiet = False,
) -> None:
    """Explore tables and networks in a browser, on this machine."""
    with one_line_errors():
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
        fail("the scripts are not part of the package; run this in a checkout of the project")
    from importlib import import_module

    try:
        sys.exit(import_module("reproduce.__main__").main(list(names or [])))
    except ModuleNotFoundError as error:
        fail_without_extra(error)
        raise
