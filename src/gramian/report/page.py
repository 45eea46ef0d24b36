"""The report: one HTML file that needs nothing else.

Python fills the template with everything that stands still, the scripts of ``templates/`` draw the map from the
packed rows. Names and values come from strangers' tables: Jinja escapes them, scripts write them as text only, and the
page's content security policy runs no script but its own and opens no connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramian.colours import PAPER
from gramian.exploration import Alternative, Cluster, Difference, Exploration, Glance
from gramian.exploration.wording import are_years
from gramian.report import words
from gramian.report.data import MOST_ROWS, Packed, pack
from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates
from gramian.report.stills import StackedBars, evidence_points, stacked_bars, still_map
from gramian.tables import IDENTIFIER, NUMBER, USED

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE_LIMIT = 5_000_000
"""Bytes of a report at most."""

_SPARE = 40_000  # facts about the columns and sentences about what was left out, which are known last
_SCRIPTS = ("page", "decode", "colour", "points", "nearest", "rows", "pointers", "map", "table", "start")
_DIFFERENCES, _TYPICAL, _TYPICAL_COLUMNS = 6, 5, 5
_CARDS, _IMPORTANCES, _WEIGHTS, _ODDITIES = 60, 200, 4, 50
_PATTERNS, _PATTERN_COLUMNS = 12, 30
_GLANCES = 60
_AS_SURE = 0.02  # of overlap that nobody would call a difference
_VERDICTS = {
    "clear": ("Clear groups", "Every group is found again when part of the table is left out."),
    "weak": ("Weak groups", "There are groups, but their borders are soft: read them as tendencies."),
    "none": ("No groups", "Nothing in the table says where one group would end and another begin."),
}
_ONE_GROUP = ("One group", "As asked; whether the table has more was not looked at.")


def write_report(exploration: Exploration, path: str | Path, *, limit: int = PAGE_LIMIT) -> Path:
    """Write the report of an exploration as one HTML file.

    The file opens offline in any current browser, holds the rows for its map, and stays below 5 MB: values of the
    least important columns are left out where they do not fit, and the page says so.

    Parameters
    ----------
    exploration : Exploration
    path : path-like
        The file to write; its folder must exist.
    limit : int, default 5,000,000
        Bytes of the file at most, as long as they are enough for the page without its rows.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import numpy as np, pandas as pd, tempfile
    >>> from gramian.exploration import Cluster, Exploration, Missingness
    >>> from gramian.tables import Column
    >>> from gramian.report import write_report
    >>> labels = np.array([0, 0, 1])
    >>> corners = np.array([[0.0, 0.1], [0.1, 0.0], [1.0, 1.0]])
    >>> found = Exploration(
    ...     source="three.csv", columns=[Column("size", "number", 0.0)], frame=pd.DataFrame({"size": [1.0, 1.2, 9.0]}),
    ...     verdict="clear", stability=1.0, sentences=["Two groups."], views=[], evidence=[(2, 1.0)], labels=labels,
    ...     membership=np.ones(3), rank=np.array([1, 2, 1]), oddness=np.zeros(3), coordinates=corners,
    ...     embedding=np.eye(2, dtype=np.float32)[labels], importances=[], oddities=[], alternative=None,
    ...     clusters=[Cluster(0, 2, 1.0, [0], [], "Small ones."), Cluster(1, 1, 1.0, [2], [], "A large one.")],
    ...     missingness=Missingness(0.0, 3, [], []),
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(found, f"{folder}/report.html").read_text(encoding="utf-8")
    >>> "Small ones." in page
    True
    """
    target = Path(path)
    target.write_text(render(exploration, limit=limit), encoding="utf-8", newline="\n")
    return target


def render(exploration: Exploration, *, limit: int = PAGE_LIMIT, most_rows: int = MOST_ROWS) -> str:
    """The page as text of at most ``limit`` bytes."""
    environment = templates()
    content = _content(exploration)
    bare = _fill(environment, content, Packed({"rows": 0, "all_rows": 0, "left_out": [], "rounded": []}))
    packed = pack(exploration, limit - len(bare.encode()) - _SPARE, most_rows=most_rows)
    return _fill(environment, content, packed)


def _fill(environment: Environment, content: dict[str, Any], packed: Packed) -> str:
    return environment.get_template("report.html.j2").render(
        **content, facts=packed.facts, facts_json=json_for_script(packed.facts), blocks=packed.blocks
    )


def _content(exploration: Exploration) -> dict[str, Any]:
    """Everything the template shows, but for the packed rows."""
    from markupsafe import Markup

    style, script = style_sheet(), scripts(_SCRIPTS)
    one_asked = exploration.made.get("parameters", {}).get("clusters") == 1
    badge, meaning = _ONE_GROUP if one_asked else _VERDICTS[exploration.verdict]
    kinds = {
        column.name: "year" if column.kind == NUMBER and are_years(exploration.frame.iloc[:, j]) else column.kind
        for j, column in enumerate(exploration.columns)
    }
    alternative = exploration.alternative
    return {
        "exploration": exploration,
        "source": words.clean(exploration.source, 2 * words.LONGEST_NAME),
        "badge": badge,
        "meaning": meaning,
        "n_groups": 0
        if exploration.verdict == "none" and len(exploration.clusters) == 1 and not one_asked
        else len(exploration.clusters),
        "n_rows": exploration.n_rows,
        "used": [column for column in exploration.columns if column.kind in USED],
        "unused": [column for column in exploration.columns if column.kind not in USED],
        "noted": [column for column in exploration.columns if column.kind in USED and column.note],
        "cards": [_card(cluster, exploration, kinds) for cluster in exploration.clusters[:_CARDS]],
        "alternative_cards": [_card(cluster, exploration, kinds) for cluster in _clusters_of(alternative)[:_CARDS]],
        "levels": [
            (level, [_card(cluster, exploration, kinds) for cluster in level.clusters[:_CARDS]])
            for level in exploration.levels
        ],
        "map_still": still_map(exploration.coordinates, exploration.labels),
        "alternative_still": still_map(exploration.coordinates, alternative.labels) if alternative else None,
        "importances": exploration.importances[:_IMPORTANCES],
        "n_weights": min(max((len(item.weights) for item in exploration.importances), default=0), _WEIGHTS),
        "heaviest": max((abs(w) for item in exploration.importances for w in item.weights[:_WEIGHTS]), default=1) or 1,
        "oddities": exploration.oddities[:_ODDITIES],
        "gaps": _gaps(exploration),
        "glances": _glances(exploration),
        "pairs": exploration.associations.strongest() if exploration.associations else [],
        "evidence": evidence_points(exploration.evidence, exploration.n_clusters, width=400, height=120),
        "runner_up": _runner_up(exploration.evidence, exploration.n_clusters),
        "why_chosen": _why_chosen(exploration),
        "made": how_made(exploration.made),
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy(style, script),
        "paper": PAPER,
    }


@dataclass(frozen=True)
class _Shown:
    """A difference with its bar: ``extent`` from 0 to 1."""

    column: str
    level: str
    here: str
    elsewhere: str
    effect: float
    extent: float


@dataclass(frozen=True)
class _Card:
    """What a cluster's card shows."""

    cluster: Cluster
    share: float
    differences: list[_Shown]
    head: list[str]
    typical: list[tuple[int, list[str]]]


def _clusters_of(alternative: Alternative | None) -> list[Cluster]:
    return alternative.clusters if alternative is not None else []


def _card(cluster: Cluster, exploration: Exploration, kinds: dict[str, str]) -> _Card:
    """The largest differences, and typical rows in the columns that differ."""
    places = {column.name: j for j, column in reversed(list(enumerate(exploration.columns)))}
    names = [column.name for column in exploration.columns if column.kind == IDENTIFIER][:1]
    wanted = [difference.column for difference in cluster.differences]
    wanted += [item.column for item in exploration.importances]
    for name in wanted:
        if len(names) < _TYPICAL_COLUMNS and name not in names and name in places:
            names.append(name)
    typical = [
        (exploration.number(row), [words.cell(exploration.frame.iat[row, places[name]], kinds[name]) for name in names])
        for row in cluster.typical[:_TYPICAL]
    ]
    return _Card(
        cluster=cluster,
        share=cluster.size / max(exploration.n_rows, 1),
        differences=[_shown(difference) for difference in cluster.differences[:_DIFFERENCES]],
        head=[words.clean(name, words.LONGEST_NAME) for name in names],
        typical=typical,
    )


def _shown(difference: Difference) -> _Shown:
    # Shares differ by 1 at most; three standard deviations is as far as anybody needs to see.
    extent = abs(difference.effect) / (1 if difference.level else 3)
    return _Shown(
        column=words.clean(difference.column, words.LONGEST_NAME),
        level=words.clean(difference.level, words.LONGEST_NAME),
        here=words.clean(difference.here, words.LONGEST_NAME),
        elsewhere=words.clean(difference.elsewhere, words.LONGEST_NAME),
        effect=difference.effect,
        extent=min(extent, 1.0) if extent == extent else 0.0,
    )


def _glances(exploration: Exploration) -> list[tuple[Glance, StackedBars]]:
    """Columns that tell the groups apart first, as many as a page can show."""
    place = {item.column: i for i, item in enumerate(exploration.importances)}
    order = sorted(exploration.glances, key=lambda item: place.get(item.column, len(place)))
    return [
        (item, stacked_bars(item.bars, [words.clean(name, words.LONGEST_NAME) for name in item.names]))
        for item in order[:_GLANCES]
    ]


def _gaps(exploration: Exploration) -> dict[str, Any]:
    """The map of missing values: columns that miss values, most first, against what is missing together."""
    missingness = exploration.missingness
    patterns = [(set(names), rows) for names, rows in missingness.patterns if names]
    holed = [column for column in exploration.columns if column.kind in USED and column.missing > 0]
    holed.sort(key=lambda column: -column.missing)
    return {
        "columns": holed[:_PATTERN_COLUMNS],
        "more_columns": max(len(holed) - _PATTERN_COLUMNS, 0),
        "patterns": patterns[:_PATTERNS],
        "more_patterns": max(len(patterns) - _PATTERNS, 0),
        "largest": max((rows for _, rows in patterns), default=1),
    }


def _why_chosen(exploration: Exploration) -> str:
    """What the score of the chosen way says beside the others, as the end of a sentence; empty if one is higher."""
    chosen = next((view.score for view in exploration.views if view.chosen), None)
    others = [view.score for view in exploration.views if not view.chosen]
    if chosen is None or not others or chosen < max(others):
        return ""
    # Scores that are printed alike are no reason to prefer one.
    alike = f"{chosen:.2f}" == f"{max(others):.2f}"
    return ", because no score is higher" if alike else ", because its score is the highest"


def _runner_up(evidence: list[tuple[int, float]], chosen: int) -> str:
    """The other number of groups that is found again best, in words; empty where no other was tried."""
    found = dict(evidence)
    others = {k: value for k, value in evidence if k not in (1, chosen) and value == value}
    if not others or chosen not in found:
        return ""
    best = max(others, key=lambda k: others[k])
    size = "finer" if best > chosen else "coarser"
    share, own = words.share(others[best]), words.share(found[chosen])
    if others[best] >= found[chosen] - _AS_SURE:
        if share == own:
            return f"{best} groups are {size} and found again as surely ({share})."
        surely = "more surely" if others[best] > found[chosen] else "nearly as surely"
        return f"{best} groups are {size} and found again {surely} ({share}, against {own})."
    return f"The runner-up, {best} groups, is {size} and found again less surely ({words.share(others[best])})."
