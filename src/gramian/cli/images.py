"""``gramian cluster-images``: from a folder of images to clusters, a report and a model for images to come."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import gramian
from gramian.cli.terminal import AsJson, Force, Quiet, Seed, app, folder_for, one_line_errors, progress, tell


@app.command(
    "cluster-images",
    epilog="Examples:  [bold]gramian cluster-images scans --clusters 10[/bold]   |   "
    "[bold]gramian assign scans_clustered/model.gramian new_scans --out placed.csv[/bold]",
)
def cluster_images(
    source: Annotated[
        str,
        typer.Argument(metavar="IMAGES", help="Folder or .zip of PNG or JPEG images, or .npz with an array of them."),
    ],
    clusters: Annotated[int, typer.Option(min=2, help="How many clusters.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; by default named after the images, in the current folder.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Pixels a side that images get; by default 28, or their own where all are small and alike."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the network; more take longer.")] = 1000,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster images from their pixels with a network, and show what each cluster contains. Needs torch."""
    with one_line_errors():
        import_module("gramian.deep")  # a missing torch is said before images are read
        from gramian.report import check_free

        folder = out or folder_for(str(Path(source).resolve()), "images", "clustered")
        check_free(folder, force=force)
        with progress(not quiet and not as_json) as notify:
            found = gramian.cluster_images(
                source, clusters, size=size, max_iter=steps, random_state=seed, notify=notify
            )
            found.save(folder, force=force)
        tell(found, folder, as_json=as_json, quiet=quiet)
