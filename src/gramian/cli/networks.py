"""``gramian network``: from an edge list to a folder with a report, nodes and a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import gramian
from gramian.cli.terminal import AsJson, Force, Quiet, Seed, app, folder_for, one_line_errors, progress, tell


@app.command(
    epilog="Examples:  [bold]gramian network edges.txt[/bold]   |   "
    "[bold]gramian network mails.csv.gz --communities 12 --levels --out result[/bold]   |   "
    "[bold]cat edges.txt | gramian network -[/bold]"
)
def network(
    file: Annotated[
        str,
        typer.Argument(
            metavar="EDGES", help="Lines 'u v' or 'u v weight', CSV, TSV, GraphML, also gzipped; - for standard input."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder to write; by default named after the file.")] = None,
    communities: Annotated[
        int | None, typer.Option(min=1, help="Number of communities; by default it is found.")
    ] = None,
    levels: Annotated[
        bool, typer.Option("--levels", metavar="", help="Find finer and coarser communities as well.")
    ] = False,
    unweighted: Annotated[bool, typer.Option("--unweighted", metavar="", help="Do not read weights of edges.")] = False,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the communities of a network; report them, their bridges, and a model for new nodes."""
    with one_line_errors():
        from gramian.report import check_free

        folder = out or folder_for(file, "network", "network")
        check_free(folder, force=force)
        with progress(not quiet and not as_json) as notify:
            divided = gramian.network(
                file,
                communities=communities,
                levels=levels,
                weighted=not unweighted,
                random_state=seed,
                notify=notify,
            )
            divided.save(folder, force=force)
        tell(divided, folder, as_json=as_json, quiet=quiet)
