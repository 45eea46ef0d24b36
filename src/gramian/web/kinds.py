"""What a file can be uploaded for: one entry for each kind of work, with everything that differs between them.

The page makes its form of it, the application reads settings by it, the worker runs it, and the queue tells by it what
was found. A new kind is a new entry of ``KINDS``. Libraries are imported when a kind runs, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

COUNT, NAMES, TEXT, FLAG = "count", "names", "text", "flag"
MOST = 1_000_000
"""Largest number that a person may ask for."""

_YES, _NO = ("1", "on", "true", "yes"), ("", "0", "false", "no", "off")

Notify = Callable[[str, float], None]
Run = Callable[[Path, str, dict[str, Any], Notify], Any]


@dataclass(frozen=True)
class Setting:
    """A field of the form.

    Attributes
    ----------
    name : str
        In forms and in ``job.json``.
    label, hint : str
        For people; the hint stands in an empty field.
    type : {"count", "names", "text", "flag"}
        A number from 1 on or None; a list of texts, with commas between; a text; whether or not.
    longest : int
        Characters.
    required : bool
    """

    name: str
    label: str
    type: str
    hint: str = ""
    longest: int = 1_000
    required: bool = False

    def read(self, value: Any) -> Any:
        """The value that a client or ``job.json`` gives; what is wrong with it is one line."""
        if isinstance(value, str) and len(value) > self.longest:
            raise ValueError(f"{self.name}: {len(value):,} characters; pass at most {self.longest:,}")
        if self.required and not value:
            raise ValueError(f"{self.name}: it is missing; fill in {self.label.lower()}")
        if self.type == COUNT:
            return self._number(value)
        if self.type == NAMES:
            parts = value if isinstance(value, list) else str(value or "").split(",")
            return [part.strip() for part in map(str, parts) if part.strip()]
        if self.type == FLAG:
            text = str(value or "").lower()
            if text not in (*_YES, *_NO):
                raise ValueError(f"{self.name}: {text[:40]!r} is neither yes nor no; pass one of them")
            return text in _YES
        return str(value or "").strip()

    def _number(self, value: Any) -> int | None:
        if value is None or value == "":
            return None
        text = str(value)
        if isinstance(value, bool) or not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST:
            raise ValueError(f"{self.name}: {text[:40]!r} is no whole number from 1 to {MOST:,}; pass one, or nothing")
        return int(text)


@dataclass(frozen=True)
class Kind:
    """What is done with a file.

    Attributes
    ----------
    title, act : str
        What is looked for, as a choice on the page, and the button that begins.
    noun, unit : str
        What is uploaded, and what there may be too many of in it.
    formats, accept : str
        Of files, for people and for their browsers.
    settings : tuple of Setting
    run : callable
        Takes the file, its name for people, the settings and who to notify; returns a :class:`gramian.outcome.Outcome`.
    found : callable
        From ``summary.json`` to what the queue remembers, with a ``title``, and numbers by name.
    files : mapping from str to str
        What is written, with what it is for.
    again : str
        The button for another number of ``parts``, a setting called ``clusters``; empty if there is no such number.
    parts : pair of str
        One of them, and many.
    rows_like : bool
        Whether rows can be asked for those like them.
    """

    title: str
    act: str
    noun: str
    unit: str
    formats: str
    accept: str
    settings: tuple[Setting, ...]
    run: Run
    found: Callable[[dict[str, Any]], dict[str, Any]]
    files: Mapping[str, str]
    again: str = ""
    parts: tuple[str, str] = ("", "")
    rows_like: bool = False

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, those that are not given by default; what is wrong with them is one line."""
        known = {setting.name: setting for setting in self.settings}
        if unknown := [name for name in given if name not in known]:
            raise ValueError(f"{str(unknown[0])[:40]}: there is no such setting; the settings are {', '.join(known)}")
        return {name: setting.read(given.get(name)) for name, setting in known.items()}

    def told(self, settings: Mapping[str, Any]) -> str:
        """The number of parts that was asked for, in words; empty if none was."""
        asked = settings.get("clusters")
        return f"{_many(asked, *self.parts)} asked for" if asked is not None and self.again else ""

    def described(self) -> dict[str, Any]:
        """All but the functions, for the page."""
        told = {name: getattr(self, name) for name in ("title", "act", "noun", "formats", "accept", "again", "parts")}
        return told | {
            "rows_like": self.rows_like,
            "files": dict(self.files),
            "settings": [asdict(setting) for setting in self.settings],
        }


def _many(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


# Work ----------------------------------------------------------------------------------------------------------------


def _read_table(path: Path, name: str, settings: dict[str, Any]) -> Any:
    from gramian.tables import read_table

    return replace(read_table(path, ignore=settings["ignore"] or None, missing=settings["missing"]), source=name)


def _explore(path: Path, name: str, settings: dict[str, Any], notify: Notify) -> Any:
    from gramian.explorer import explore

    return explore(_read_table(path, name, settings), n_clusters=settings["clusters"], notify=notify)


def _learn(path: Path, name: str, settings: dict[str, Any], notify: Notify) -> Any:
    from gramian.learner import learn

    return learn(_read_table(path, name, settings), settings["target"], notify=notify)


def _network(path: Path, name: str, settings: dict[str, Any], notify: Notify) -> Any:
    from gramian.communities import read_edges
    from gramian.networker import network

    edges = replace(read_edges(path, weighted=not settings["unweighted"]), source=name)
    return network(edges, communities=settings["clusters"], levels=settings["levels"], notify=notify)


def _forecast(path: Path, name: str, settings: dict[str, Any], notify: Notify) -> Any:
    from gramian.forecaster import forecast
    from gramian.outlook import read_series

    series = read_series(path, settings["column"] or None, time=settings["time"] or None, missing=settings["missing"])
    steps = {} if settings["horizon"] is None else {"horizon": settings["horizon"]}
    return forecast(replace(series, source=name), notify=notify, **steps)


def _groups(summary: dict[str, Any]) -> dict[str, Any]:
    rows, groups = summary["rows"], len(summary["groups"])
    title = f"{_many(rows, 'row', 'rows')}, {_many(groups, 'group', 'groups')}"
    return {"rows": rows, "groups": groups, "most": rows, "title": title}


def _target(summary: dict[str, Any]) -> dict[str, Any]:
    rows = summary["rows"]
    return {"rows": rows, "title": f"{summary['target']}, {_many(rows, 'row', 'rows')}"}


def _communities(summary: dict[str, Any]) -> dict[str, Any]:
    nodes, parts = summary["nodes"], summary["number_of_communities"]
    title = f"{_many(nodes, 'node', 'nodes')}, {_many(parts, 'community', 'communities')}"
    return {"nodes": nodes, "communities": parts, "most": nodes, "title": title}


def _steps(summary: dict[str, Any]) -> dict[str, Any]:
    seen, ahead = summary["steps"], len(summary["forecast"])
    return {"steps": seen, "title": f"{summary['column']}, {_many(seen, 'step', 'steps')}, {ahead:,} forecast"}


_IGNORE = Setting("ignore", "Columns to leave out", NAMES, "name, name", 10_000)
_MISSING = Setting("missing", "Codes of missing values", NAMES, "-999")
_of_tables = partial(
    Kind,
    noun="table",
    unit="rows",
    formats="CSV, TSV, Excel, Parquet or JSON lines",
    accept=".csv,.tsv,.txt,.data,.dat,.parquet,.xlsx,.json,.jsonl,.ndjson,.gz",
)
_REPORT = {"report.html": "the report, one page that opens offline"}
_SUMMARY = {"summary.json": "all findings, for programs"}

EXPLORE = "explore"
KINDS: dict[str, Kind] = {
    EXPLORE: _of_tables(
        title="groups of rows",
        act="Explore it",
        settings=(Setting("clusters", "Number of groups", COUNT, "found"), _IGNORE, _MISSING),
        run=_explore,
        found=_groups,
        files=_REPORT
        | {"rows.csv": "every row with its group, rank and oddness"}
        | _SUMMARY
        | {"model.gramian": "assigns new rows: gramian assign"}
        | {"map.png": "map of the rows", "groups.png": "what makes groups different", "missing.png": "missing values"},
        again="Group again",
        parts=("group", "groups"),
        rows_like=True,
    ),
    "learn": _of_tables(
        title="what predicts a column",
        act="Learn it",
        settings=(Setting("target", "Column to predict", TEXT, "its name", required=True), _IGNORE, _MISSING),
        run=_learn,
        found=_target,
        files=_REPORT
        | {"rows.csv": "every row with its prediction"}
        | _SUMMARY
        | {"model.gramian": "predicts new rows: gramian predict"},
    ),
    "network": Kind(
        title="communities of a network",
        act="Find communities",
        noun="network",
        unit="edges",
        formats="Lines ‘u v’ or ‘u v weight’, CSV, TSV or GraphML",
        accept=".txt,.csv,.tsv,.edges,.edgelist,.graphml,.xml,.dat,.gz",
        settings=(
            Setting("clusters", "Number of communities", COUNT, "found"),
            Setting("levels", "Finer and coarser communities as well", FLAG),
            Setting("unweighted", "Do not read weights", FLAG),
        ),
        run=_network,
        found=_communities,
        files=_REPORT
        | {"nodes.csv": "every node with its community and membership"}
        | _SUMMARY
        | {"model.gramian": "places new nodes: gramian assign"},
        again="Divide again",
        parts=("community", "communities"),
    ),
    "forecast": _of_tables(
        title="what comes next in a series",
        act="Forecast it",
        noun="series",
        settings=(
            Setting("column", "Column to forecast", TEXT, "the only numbers"),
            Setting("horizon", "Steps to forecast", COUNT, "12"),
            Setting("time", "Column of time", TEXT, "the first dates"),
            _MISSING,
        ),
        run=_forecast,
        found=_steps,
        files=_REPORT
        | {"forecast.csv": "every step to come with its band"}
        | _SUMMARY
        | {"model.gramian": "goes on when later values come: gramian forecast"},
    ),
}
