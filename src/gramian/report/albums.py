"""Write clusters of images: the whole folder or nothing, and the answers for new images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.persistence import save
from gramian.report.album_page import write_album_report
from gramian.report.outputs import MODEL, REPORT, ROWS, SUMMARY, plain, whole_folder
from gramian.typing import Array

if TYPE_CHECKING:
    from gramian.albums import Album, AlbumModel, Images

_DIGITS = 4


def write_album_folder(album: Album, model: AlbumModel, folder: Path, *, force: bool = False) -> None:
    """Write the report, the rows, the summary and the model."""
    with whole_folder(folder, force=force) as draft:
        write_album_report(album, draft / REPORT)
        album_rows(album).to_csv(draft / ROWS, index=False, lineterminator="\n")
        text = json.dumps(album_summary(album), indent=1, ensure_ascii=False) + "\n"
        (draft / SUMMARY).write_text(text, "utf-8")
        save(model, draft / MODEL)


def album_rows(album: Album) -> Any:
    """One row per image: its name or number, its cluster and the probability of that; a DataFrame."""
    return _rows(album.names, album.labels, album.probability)


def placed_images(model: AlbumModel, images: Images) -> Any:
    """One row per new image: its name or number, its cluster and the probability of that; a DataFrame."""
    return _rows(images.names, *model.place(images))


def _rows(names: list[str], labels: Array, probability: Array) -> Any:
    import pandas as pd

    found = np.round(probability.astype(np.float64), _DIGITS)
    return pd.DataFrame({"image": names, "cluster": labels, "probability": found})


def album_summary(album: Album) -> dict[str, Any]:
    """The findings without the single images, ready for JSON."""
    told: dict[str, Any] = plain(
        {
            "source": album.source,
            "images": len(album.names),
            "image_shape": list(album.shape),
            "overview": album.sentences,
            "clusters": [
                {
                    "cluster": cluster.number,
                    "size": cluster.size,
                    "share": cluster.share,
                    "mean_probability": cluster.probability,
                    "clearest": [album.names[row] for row in cluster.clear],
                    "most_doubtful": [album.names[row] for row in cluster.doubtful],
                }
                for cluster in album.clusters
            ],
            "kept_from_spectral_clustering": album.kept,
            "notes": album.notes,
            "made": album.made,
        }
    )
    return told
