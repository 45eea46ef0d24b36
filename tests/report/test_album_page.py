"""The page of clustered images: every shown image is in it, with its name and nothing from outside."""

import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from albums.conftest import album
from gramian.report.album_page import png, render_album, write_album_report
from report.decoder import Page

__all__ = ["album"]


@pytest.fixture(scope="module")
def text(album):
    return render_album(album[0])


def test_sheets_show_the_images_of_their_clusters(album, text):
    found, _ = album
    shown = [row for cluster in found.clusters for row in (*cluster.clear, *cluster.doubtful)]
    sources = re.findall(r'<img src="data:image/png;base64,([^"]+)" width="64" height="64" alt="(\d+),', text)
    assert [name for _, name in sources] == [found.names[row] for row in shown]
    for (data, _), row in zip(sources[:5], shown, strict=False):
        np.testing.assert_array_equal(Image.open(BytesIO(b64decode(data))), found.pictures[row])
    part = Page(text).by_id("clusters").text
    for cluster in found.clusters:
        assert f"{cluster.size} images" in part


def test_sentences_are_told_and_nothing_is_fetched(album, text):
    overview = Page(text).by_id("overview").text.replace("\u00a0", " ").replace("\u200b", "")
    for sentence in album[0].sentences:
        assert sentence in overview
    assert not re.search(r'(src|href)="(?!data:|#)', text)


def test_names_of_strangers_stay_text_and_empty_clusters_are_said(album, tmp_path):
    found, _ = album
    empty = replace(found.clusters[-1], size=0, clear=[], doubtful=[])
    changed = replace(
        found,
        source="<script>alert(1)</script>",
        names=['"><img src=x onerror=alert(1)>'] * 120,
        clusters=[*found.clusters[:2], empty],
    )
    page = write_album_report(changed, tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "No image is in this cluster." in page


def test_colours_are_kept():
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    data = b64decode(png(pixels).removeprefix("data:image/png;base64,"))
    np.testing.assert_array_equal(Image.open(BytesIO(data)), pixels)
