"""Reads a page as a browser would: its elements, and the packed blocks, decoded as ``decode.js`` decodes them.

Written from the description in ``decode.js``, not from ``data.py``: a test that both agree is worth something.
"""

import json
import zlib
from base64 import b64decode
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict
    parent: "Element | None" = None
    texts: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(self.texts)

    def within(self, tag):
        return self.parent is not None and (self.parent.tag == tag or self.parent.within(tag))


class Page(HTMLParser):
    """All elements of a page, with every piece of text given to all elements around it."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements = []
        self._open = []
        self.mismatched = []
        self.feed(html)
        self.close()
        self.unclosed = [element.tag for element in self._open]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), self._open[-1] if self._open else None)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs), self._open[-1] if self._open else None))

    def handle_endtag(self, tag):
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            self.mismatched.append(tag)

    def handle_data(self, data):
        for element in self._open:
            element.texts.append(data.replace("\xa0", " "))

    def all(self, tag):
        return [element for element in self.elements if element.tag == tag]

    def by_id(self, name):
        found = [element for element in self.elements if element.attributes.get("id") == name]
        assert len(found) == 1, name
        return found[0]

    @property
    def facts(self):
        return json.loads(self.by_id("facts").text)

    def block(self, name):
        return inflate(self.by_id(f"block-{name}").text)


def inflate(text):
    return np.frombuffer(zlib.decompress(b64decode(text, validate=True)), dtype=np.uint8)


def merge(raw, count, width, start=0):
    """Unsigned integers whose lowest bytes come first, all of them, then the next bytes."""
    return sum(
        raw[start + plane * count : start + (plane + 1) * count].astype(np.int64) << (8 * plane)
        for plane in range(width)
    )


def read_column(how, raw, count):
    """Values of a column: floats, seconds or texts; NaN or None where missing."""
    codes = merge(raw, count, how["width"])
    if how["scale"] == "levels":
        levels = [None, *json.loads(raw[count * how["width"] :].tobytes())]
        return [levels[code] for code in codes]
    place = how["low"] + (codes - 1) * how["step"]
    values = {
        "grid": lambda: place / 10 ** how.get("decimals", 0),
        "date": lambda: (how["low"] + codes - 1.0) * how["step"],
        "linear": lambda: place,
        "curved": lambda: how["centre"] + how["spread"] * np.sinh(place),
    }[how["scale"]]()
    return np.where(codes == 0, np.nan, values)


def read_embedding(how, raw, count):
    """Rows by directions."""
    width = how["width"]
    parts = [
        merge(raw, count, width, j * width * count).astype(f"<u{width}").view(f"<i{width}")
        for j in range(len(how["steps"]))
    ]
    return np.column_stack(parts) * np.array(how["steps"])
