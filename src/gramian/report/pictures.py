"""The pictures of a report for slides and papers: the map, what makes groups different, and the gaps.

Drawn with matplotlib's objects, never through its global state, and in the colours of the page. Names come from
strangers' tables: they are not read as formulas, and letters that the font lacks are drawn as boxes.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.colours import INK, PAPER, group_colour, group_shape
from gramian.exploration import Cluster, Difference, Exploration
from gramian.exploration.wording import count
from gramian.report.data import first_view, label_places
from gramian.report.words import clean, group_name, share
from gramian.tables import USED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 200
_COMPRESSION = 3  # of 9: the files of 6, the usual one, are a tenth smaller and take twice as long
_GREY, _PALE = "#5d6166", "#e9e7e3"
_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D"}
_MOST_GROUPS, _DIFFERENCES, _MOST_COLUMNS, _MOST_PATTERNS = 12, 6, 30, 16
_MOST_DOTS = 50_000  # more cover each other
_LONGEST = 28
_NAME, _VALUE = 9, 7.5  # points of the words beside bars
_BARS = 2.4  # inches that bars have between them


def write_pictures(exploration: Exploration, folder: str | Path) -> list[Path]:
    """Write ``map.png``, ``groups.png`` and ``missing.png`` into a folder.

    Parameters
    ----------
    exploration : Exploration
    folder : path-like
        An existing folder.

    Returns
    -------
    paths : list of Path
    """
    paths = []
    for name, content in drawn_pictures(exploration).items():
        path = Path(folder) / name
        path.write_bytes(content)
        paths.append(path)
    return paths


def prepare_pictures() -> None:
    """Load what draws the pictures, and the font."""
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    _letters()


def drawn_pictures(exploration: Exploration) -> dict[str, bytes]:
    """The pictures by the names of their files; neither the frame nor the cells of the exploration are looked at."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pictures = {}
    for name, draw in (("map", _map), ("groups", _groups), ("missing", _missing)):
        # Straight from the canvas: savefig would draw every figure twice, the first time for its layout alone.
        canvas: Any = FigureCanvasAgg(draw(exploration))
        content = BytesIO()
        canvas.print_png(content, pil_kwargs={"compress_level": _COMPRESSION})
        pictures[f"{name}.png"] = content.getvalue()
    return pictures


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    spaced = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.06, hspace=0.06)
    return Figure(figsize=(width, height), dpi=_DPI, facecolor=PAPER["light"], layout=spaced)


def _map(exploration: Exploration) -> Figure:
    figure = _figure(8, 5.6)
    axes = figure.add_subplot()
    coordinates = np.nan_to_num(np.asarray(exploration.coordinates, dtype=float))
    labels = np.asarray(exploration.labels)
    size = float(np.clip(60 / np.sqrt(max(len(labels), 1)) * 9, 0.6, 34))
    # Rows of all groups mixed: no group may hide another for being drawn last.
    order = np.random.default_rng(0).permutation(len(labels))[:_MOST_DOTS]
    rounds = np.array([group_shape(label) if label >= 0 else "circle" for label in range(-1, int(labels.max()) + 1)])
    colours = np.array([_GREY, *(group_colour(label) for label in range(int(labels.max()) + 1))])
    for shape in dict.fromkeys(rounds):
        own = order[rounds[labels[order] + 1] == shape]
        axes.scatter(
            coordinates[own, 0], coordinates[own, 1], s=size, c=colours[labels[own] + 1], marker=_MARKERS[shape],
            linewidths=0, alpha=0.75, rasterized=True,
        )  # fmt: skip
    left, right, bottom, top = first_view(coordinates)
    margin = 0.04 * max(right - left, top - bottom, 1e-12)
    # The frame keeps its shape, also around rows on a line: one pair of limits gives way.
    axes.set_xlim(left - margin, right + margin, auto=True)
    axes.set_ylim(bottom - margin, top + margin, auto=True)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color(_PALE)
    axes.set_facecolor("none")
    if len(exploration.clusters) > 1:
        places = label_places(coordinates, labels)
        for cluster in exploration.clusters:
            _number_on(axes, places[cluster.label], group_name(cluster.label))
    groups = f" in {count(exploration.n_clusters, 'group')}" if exploration.n_clusters > 1 else ""
    _title(figure, f"{exploration.source}: {count(exploration.n_rows, 'row')}{groups}")
    return figure


def _number_on(axes: Axes, place: Any, text: str) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3, foreground=PAPER["light"])]
    axes.text(
        place[0],
        place[1],
        text,
        ha="center",
        va="center",
        weight="bold",
        size=12,
        color=INK["light"],
        path_effects=halo,
    )


def _groups(exploration: Exploration) -> Figure:
    """A panel for each group: bars to the right where it has more, to the left where it has less."""
    shown = exploration.clusters[:_MOST_GROUPS]
    differences = [difference for cluster in shown for difference in cluster.differences[:_DIFFERENCES]]
    if not differences:
        return _only_words("There are no groups to compare.")
    n_columns = min(len(shown), 2)
    n_lines = -(-len(shown) // n_columns)
    most = max(min(len(cluster.differences), _DIFFERENCES) for cluster in shown)
    names = max(_inches(_named(d), _NAME) for d in differences)
    values = max(_inches(_valued(d), _VALUE) for d in differences)
    # All sizes are known: a layout engine would measure every word again, twice.
    panel, bars = names + _BARS + values + 0.5, 0.45 * most
    line = bars + 0.5
    width, height = n_columns * panel, n_lines * line + 0.6
    figure = _figure(width, height)
    figure.set_layout_engine("none")
    for i, cluster in enumerate(shown):
        down, across = divmod(i, n_columns)
        left, bottom = across * panel + names + 0.25, height - 0.4 - down * line - 0.4 - bars
        _differences(figure.add_axes((left / width, bottom / height, _BARS / width, bars / height)), cluster, most)
    more = len(exploration.clusters) - len(shown)
    _title(figure, "What is different in each group" + (f" (the {len(shown)} largest)" if more else ""))
    return figure


def _differences(axes: Axes, cluster: Cluster, most: int) -> None:
    differences = cluster.differences[:_DIFFERENCES]
    extents = [float(np.clip(np.nan_to_num(d.effect) / (1 if d.level else 3), -1, 1)) for d in differences]
    places = np.arange(len(differences))
    axes.barh(places, extents, height=0.55, color=group_colour(cluster.label))
    axes.axvline(0, color=INK["light"], linewidth=0.8)
    axes.set(xlim=(-1.02, 1.02), ylim=(most - 0.4, -0.6))
    axes.set_axis_off()  # words as texts: ticks would take several times as long
    for place, difference in enumerate(differences):
        named, valued = _named(difference), _valued(difference)
        axes.text(-1.08, place, named, ha="right", va="center", size=_NAME, color=INK["light"], parse_math=False)
        axes.text(1.08, place, valued, va="center", size=_VALUE, color=_GREY, parse_math=False)
    title = f"Group {group_name(cluster.label)}, {count(cluster.size, 'row')}"
    axes.text(-1, -0.7, title, va="bottom", size=10.5, weight="bold", color=INK["light"])


def _named(difference: Difference) -> str:
    return _drawable(f"{difference.column}: {difference.level}" if difference.level else difference.column)


def _valued(difference: Difference) -> str:
    return _drawable(f"{difference.here} (others {difference.elsewhere})", 32)


def _missing(exploration: Exploration) -> Figure:
    """Columns with gaps against sets of values that are missing together."""
    holed = [column for column in exploration.columns if column.kind in USED and column.missing > 0]
    holed = sorted(holed, key=lambda column: -column.missing)[:_MOST_COLUMNS]
    patterns = [(set(names), rows) for names, rows in exploration.missingness.patterns if names][:_MOST_PATTERNS]
    if not holed or not patterns:
        return _only_words("No value is missing in the columns that were used.")
    figure = _figure(3.4 + 0.46 * len(patterns), 2.2 + 0.27 * len(holed))
    above, axes = figure.subplots(2, 1, sharex=True, height_ratios=[1.1, max(0.27 * len(holed), 0.5)])
    places = np.arange(len(patterns))
    rows = [amount for _, amount in patterns]
    bars = above.bar(places, rows, width=0.6, color=group_colour(0))
    above.bar_label(bars, [f"{amount:,}" for amount in rows], size=7.5, padding=2, color=_GREY)
    above.set(yticks=[], ylim=(0, 1.2 * max(rows)))
    grid = np.array([[column.name in names for names, _ in patterns] for column in holed])
    for filled, colour in ((False, _PALE), (True, group_colour(0))):
        y, x = np.nonzero(grid == filled)
        axes.scatter(x, y, marker="s", s=70, color=colour, linewidths=0)
    labels = [_drawable(f"{clean(column.name, _LONGEST)}  {share(column.missing)}", _LONGEST + 14) for column in holed]
    axes.set_yticks(np.arange(len(holed)), labels, parse_math=False, size=9, color=INK["light"])
    axes.set(ylim=(len(holed) - 0.4, -0.6), xlim=(-0.6, len(patterns) - 0.4), xticks=[])
    axes.set_xlabel("sets of values missing together; above, their rows", size=8.5, color=_GREY)
    for each in (above, axes):
        each.spines[:].set_visible(False)
        each.tick_params(length=0)
        each.set_facecolor("none")
    _title(figure, f"{share(exploration.missingness.share)} of the values are missing")
    return figure


def _only_words(text: str) -> Figure:
    figure = _figure(6, 1.6)
    figure.text(0.5, 0.5, text, ha="center", va="center", size=11, color=INK["light"])
    return figure


def _title(figure: Figure, text: str) -> None:
    figure.suptitle(
        _drawable(text, 90), x=0.01, ha="left", size=13, weight="bold", color=INK["light"], parse_math=False
    )


def _drawable(text: str, longest: int = _LONGEST + 12) -> str:
    """The text cut to a length, with a box for every letter that the font lacks."""
    known = _letters()
    return "".join(letter if ord(letter) in known or letter == " " else "□" for letter in clean(text, longest))


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())


def _inches(text: str, size: float) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width) / 72
