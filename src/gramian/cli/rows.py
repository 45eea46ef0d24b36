"""``gramian assign``, ``predict`` and ``rank``: what a model file answers about rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import gramian
from gramian.cli.terminal import (
    AsJson,
    Force,
    Missing,
    Model,
    OutFile,
    Rows,
    app,
    check_free_file,
    give,
    one_line_errors,
)


@app.command(epilog="Example:  [bold]gramian assign data_explored/model.gramian new.csv --out assigned.csv[/bold]")
def assign(
    model: Model,
    file: Rows,
    out: OutFile = None,
    missing: Missing = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Assign new rows to groups, new nodes to communities or new images to clusters, by a saved model."""
    with one_line_errors():
        kind = gramian.persistence.info(model).model.rpartition(".")[2]
        if others := {"CommunityModel": _new_nodes, "AlbumModel": _new_images}.get(kind):
            give(others(model, file, out, missing, force), out, as_json)
            return
        from gramian.exploration import load_table_model
        from gramian.report import assigned_rows

        fitted = load_table_model(model)
        check_free_file(out, force)
        table, unseen = _new_rows(fitted.preparation, file, missing, groups=True)
        give(assigned_rows(fitted, table, unseen=unseen, as_read=not as_json), out, as_json)


@app.command(epilog="Example:  [bold]gramian predict data_learned/model.gramian new.csv --out predicted.csv[/bold]")
def predict(
    model: Model,
    file: Rows,
    out: OutFile = None,
    missing: Missing = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict new rows by a saved model, with intervals or class probabilities."""
    with one_line_errors():
        from gramian.learning import load_target_model
        from gramian.report import predicted_rows

        fitted = load_target_model(model)
        check_free_file(out, force)
        table, unseen = _new_rows(fitted.preparation, file, missing, groups=False)
        give(predicted_rows(fitted, table, unseen=unseen, as_read=not as_json), out, as_json)


def _new_nodes(model: Path, file: str, out: Path | None, missing: list[str] | None, force: bool) -> Any:
    """New nodes of a network with their communities; what was not used is said."""
    from gramian.communities import load_community_model, read_edges
    from gramian.report import placed_nodes

    fitted = load_community_model(model)
    check_free_file(out, force)
    if missing:
        raise ValueError("--missing is for tables; the model is one of a network")
    edges = read_edges(file)
    placed = fitted.place(edges)
    for sentence in placed.remarks:
        print(f"gramian: {edges.source}: {sentence}", file=sys.stderr)
    return placed_nodes(fitted, edges, placed=placed)


def _new_images(model: Path, file: str, out: Path | None, missing: list[str] | None, force: bool) -> Any:
    """New images with their clusters; what was done to them is said."""
    from gramian.albums import load_album_model, read_images
    from gramian.report import placed_images

    fitted = load_album_model(model)
    check_free_file(out, force)
    if missing:
        raise ValueError("--missing is for tables; the model is one of images")
    images = read_images(file, shape=fitted.shape, levels=fitted.levels)
    for sentence in images.notes:
        print(f"gramian: {images.source}: {sentence}", file=sys.stderr)
    return placed_images(fitted, images)


def _new_rows(preparation: Any, file: str, missing: list[str] | None, *, groups: bool) -> tuple[Any, Any]:
    """Rows as the table was read, and what is unusual about them, which is also said."""
    from gramian.tables import read_table, unseen_values

    table = read_table(file, missing=missing or (), like=preparation)
    unseen = unseen_values(preparation, table)
    for sentence in unseen.summary(groups=groups):
        print(f"gramian: {table.source}: {sentence}", file=sys.stderr)
    return table, unseen


@app.command(epilog="Example:  [bold]gramian rank data_explored/model.gramian --like 17 --top 5[/bold]")
def rank(
    model: Model,
    like: Annotated[int | None, typer.Option(min=1, help="Row of the explored table, counted from 1.")] = None,
    cluster: Annotated[int | None, typer.Option(min=1, help="Group, counted from 1.")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many rows.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the rows most like one row, or the most typical rows of a group."""
    with one_line_errors():
        from gramian.exploration import load_table_model

        fitted = load_table_model(model)
        if like is not None and cluster is None:
            rows, scores = fitted.like(like - 1, top)
        elif cluster is not None and like is None:
            if cluster > fitted.n_clusters_:
                there_are = "is 1 group" if fitted.n_clusters_ == 1 else f"are {fitted.n_clusters_} groups"
                raise ValueError(f"--cluster {cluster}: there {there_are}")
            rows, scores = fitted.typical(cluster - 1, top)
        else:
            raise ValueError("pass either --like ROW or --cluster K")
        cells, groups = fitted.cells(rows), fitted.groups(rows) + 1
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
