"""``gramian info``, ``serve`` and ``reproduce``: read a model file, open the page, compute published tables again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import gramian
from gramian.cli.terminal import AsJson, Model, Quiet, app, fail, fail_without_extra, one_line_errors


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
        elif found.model.endswith("CommunityModel"):
            from gramian.communities import load_community_model

            divided = load_community_model(model)
            fields |= {"communities": len(divided.numbers_), "nodes fitted": len(divided.stops_)}
            fields |= {"modularity": f"{divided.modularity_:.4g}"}
            fields |= {"levels": [str(len(own)) for own in divided.level_numbers_]} if divided.level_numbers_ else {}
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
