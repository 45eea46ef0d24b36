"""The page of clustered images: one HTML file that holds the images that it shows and needs nothing else.

Everything stands still but the theme. Names of files come from strangers and are treated as on the other pages.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gramian.albums import SURE
from gramian.colours import PAPER
from gramian.report import words
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.albums import Album, Cluster

_SHOWN = 64  # pixels of the longer side of an image on the page


def write_album_report(album: Album, path: str | Path) -> Path:
    """Write the report of clustered images as one HTML file.

    Parameters
    ----------
    album : Album
    path : path-like
        The file to write; its folder must exist.

    Returns
    -------
    path : Path
    """
    target = Path(path)
    target.write_text(render_album(album), encoding="utf-8", newline="\n")
    return target


def render_album(album: Album) -> str:
    """The page as text."""
    from markupsafe import Markup

    style, script = style_sheet(), scripts(("page", "forecast"))
    return (
        templates()
        .get_template("album.html.j2")
        .render(
            album=album,
            source=words.clean(album.source, 2 * words.LONGEST_NAME),
            figures=_figures(album),
            sheets=[_sheet(album, cluster) for cluster in album.clusters],
            made=how_made(album.made),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            paper=PAPER,
            facts_json=json_for_script({}),
        )
    )


def _figures(album: Album) -> list[tuple[str, str]]:
    told = [("images", words.number(len(album.names)))]
    told.append(("clusters", words.number(sum(cluster.size > 0 for cluster in album.clusters))))
    told.append((f"placed with probability {SURE} or more", words.share(float(np.mean(album.probability >= SURE)))))
    if np.isfinite(album.kept):
        told.append(("where spectral clustering put them", words.share(album.kept)))
    return told


@dataclass(frozen=True)
class _Picture:
    """An image of the page: its data, its size there, and what is said when the pointer rests on it."""

    data: str
    width: int
    height: int
    said: str


@dataclass(frozen=True)
class _Sheet:
    """The contact sheet of a cluster."""

    cluster: Cluster
    clear: list[_Picture]
    doubtful: list[_Picture]


def _sheet(album: Album, cluster: Cluster) -> _Sheet:
    def pictures(rows: list[int]) -> list[_Picture]:
        return [_picture(album, row) for row in rows]

    return _Sheet(cluster, pictures(cluster.clear), pictures(cluster.doubtful))


def _picture(album: Album, row: int) -> _Picture:
    pixels = album.pictures[row]
    height, width = pixels.shape[:2]
    scale = _SHOWN / max(height, width)
    said = f"{words.clean(album.names[row], words.LONGEST_NAME)}, probability {album.probability[row]:.3f}"
    return _Picture(png(pixels), round(width * scale), round(height * scale), said)


def png(pixels: Array) -> str:
    """An image as the address of a PNG that holds its data."""
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode()
