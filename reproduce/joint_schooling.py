"""Educational attainment in the thesis on joint ranking and clustering: kinds of countries, and those like Norway.

Barro and Lee, year 2010, both sexes, 25 and older: seven percentages of attainment and four mean years of schooling.
The table is the authors' (``BL2013_MF2599_v2.2.csv``), saved as ``series/barro_lee_attainment.csv.gz`` in the data
folder; other years in it are passed over. ``series/barro_lee_schooling.csv.gz`` has mean years of schooling alone, at
15 and older, for 1950 to 2010; these 13 columns are a substitute that shares the countries but not the features.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from gramian.datasets import Table, read_csv
from reproduce.baselines import Ensemble
from reproduce.joint import data_file, figure, full_covariances, joint, matched, overlap, quietly, side_by_side
from reproduce.table import Experiment, Options, Record, Task, markdown, select

ATTAINMENT, YEARS = "attainment in 2010", "years of schooling, 1950 to 2010"
FULL = ", full covariances"
FILES = {
    ATTAINMENT + FULL: "series/barro_lee_attainment.csv.gz",
    ATTAINMENT: "series/barro_lee_attainment.csv.gz",
    YEARS: "series/barro_lee_schooling.csv.gz",
}
"""Table and kind of mixtures → file; mixtures have diagonal covariances unless the name says otherwise."""

FEATURES = ("lu", "lp", "lpc", "ls", "lsc", "lh", "lhc", "yr_sch", "yr_sch_pri", "yr_sch_sec", "yr_sch_ter")
"""No schooling; primary, secondary and tertiary, attained and completed; years in all, and at each level."""

QUERY = "Norway"
TOP = 10

PUBLISHED = {
    "blue": (
        "Jordan",
        "Chile",
        "Sri Lanka",
        "Malaysia",
        "Guyana",
        "China",
        "Malta",
        "Albania",
        "Cuba",
        "South Africa",
    ),
    "red": (
        "Central African Republic",
        "Mali",
        "Mozambique",
        "Niger",
        "Mauritania",
        "Yemen",
        "Senegal",
        "Sudan",
        "Burundi",
        "Sierra Leone",
    ),
    "green": (
        "Denmark",
        "Switzerland",
        "Lithuania",
        "Sweden",
        "United Kingdom",
        "Netherlands",
        "Estonia",
        "Japan",
        "Bulgaria",
        "Germany",
    ),
    QUERY: (
        "Denmark",
        "Netherlands",
        "Sweden",
        "United Kingdom",
        "Switzerland",
        "Japan",
        "Lithuania",
        "Bulgaria",
        "Estonia",
        "Germany",
    ),
}
"""Best-ranked countries of each cluster, and for Norway."""

COLOURS = ("blue", "red", "green")
PUBLISHED_RANGE = (3.9, 81.37)
"""Percentages without schooling in the red cluster."""


def countries(name: str, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Names, and one row of features each."""
    table = read_csv(path, target="country")
    names, column = np.array(table.target_names)[np.asarray(table.y)], partial(_column, table)
    if name == ATTAINMENT:
        then = column("year") == 2010
        return names[then], np.column_stack([column(feature)[then] for feature in FEATURES])
    known, rows = np.unique(names, return_inverse=True)
    years, columns = np.unique(column("year"), return_inverse=True)
    X = np.full((len(known), len(years)), np.nan)
    X[rows, columns] = column("years_of_schooling_15plus")
    return known, X


def _column(table: Table, name: str) -> np.ndarray:
    return table.X[:, table.feature_names.index(name)]


def one_fit(name: str, path: Path, run: int, ensemble: Ensemble) -> list[Record]:
    """Clusters and lists of one cluster kernel."""
    names, X = countries(name.removesuffix(FULL), path)
    kernel = full_covariances(ensemble, run) if name.endswith(FULL) else ensemble.kernel(run)
    model = quietly(joint(3, run), kernel.fit(X)(X))
    tops = [names[index].tolist() for index in model.top_per_cluster(TOP)]
    members = [names[model.labels_ == c].tolist() for c in range(model.n_clusters_)]
    answers = matched(members, {colour: PUBLISHED[colour] for colour in COLOURS})
    query = int(np.flatnonzero(names == QUERY)[0])
    lists = {colour: tops[c] for colour, c in answers.items()} | {QUERY: names[model.query(query, top=TOP)].tolist()}
    setting = partial(figure, name)
    records = [
        setting(kind, run, f"place {place}", country)
        for kind, listed in (lists | {"everything": names[model.rank(top=TOP)].tolist()}).items()
        for place, country in enumerate(listed, 1)
    ]
    for colour, c in answers.items():
        here = model.labels_ == c
        records.append(setting(colour, run, "size", int(here.sum())))
        for other in COLOURS:
            records.append(setting(colour, run, f"holds of {other}", len(overlap(PUBLISHED[other], members[c]))))
        if name.startswith(ATTAINMENT):
            records.append(setting(colour, run, "least without schooling", float(X[here, 0].min())))
            records.append(setting(colour, run, "most without schooling", float(X[here, 0].max())))
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    ensemble = Ensemble(options.restarts, options.components)
    found = {name: path for name, file in FILES.items() if (path := data_file(options.data, file)) is not None}
    for name, path in found.items():
        for run in range(runs):
            yield partial(one_fit, name, path, run, ensemble)
    if not found:
        yield list  # nothing to do, and the report says why


def report(records: list[Record]) -> str:
    seen = {record["dataset"] for record in records}
    missing = list(dict.fromkeys(file for name, file in FILES.items() if name not in seen))
    parts = [f"{' and '.join(missing)} not in the data folder (--data or GRAMIAN_DATA): left out."] if missing else []
    for name in FILES:
        if here := select(records, dataset=name):
            parts += [f"### {name[0].upper()}{name[1:]}", *_one_table(here, name)]
    return "\n\n".join(parts)


def _one_table(records: list[Record], name: str) -> Iterator[str]:
    runs = sorted({record["run"] for record in records})
    first = {kind: _places(records, kind, runs[0]) for kind in PUBLISHED}
    yield f"Best-ranked countries of run {runs[0]}; bold where the published list has the country, too."
    yield side_by_side(first, PUBLISHED)
    rows = []
    for kind in PUBLISHED:
        shared = [len(overlap(PUBLISHED[kind], _places(records, kind, run))) for run in runs]
        cells: list[object] = [f"{np.mean(shared):.1f} ({min(shared)} to {max(shared)})"]
        if kind in COLOURS:
            cells.append(_span(records, kind, "size"))
            cells += [_span(records, kind, f"holds of {other}") for other in COLOURS]
        else:
            cells += [None] * (1 + len(COLOURS))
        rows.append((kind, *cells))
    yield (
        f"Means over runs (lowest to highest): names shared with the published list of {TOP}, cluster sizes, and how "
        "many countries of each published list fall into the cluster."
    )
    yield markdown(("list", "shared", "size", *(f"of published {colour}" for colour in COLOURS)), rows)
    if name.startswith(ATTAINMENT):
        low, high = (_span(records, "red", f"{end} without schooling", 2) for end in ("least", "most"))
        yield (
            f"Without schooling in the red cluster: from {low} % to {high} % (published: {PUBLISHED_RANGE[0]} % to "
            f"{PUBLISHED_RANGE[1]} %)."
        )
    everything = ", ".join(_places(records, "everything", runs[0]))
    yield f"Highest ranks among all countries (published: in Africa), run {runs[0]}: {everything}."


def _places(records: list[Record], kind: str, run: int) -> list[str]:
    return [record["value"] for record in select(records, method=kind, run=run) if record["measure"][:5] == "place"]


def _span(records: list[Record], kind: str, measure: str, digits: int = 1) -> str:
    values = [record["value"] for record in select(records, method=kind, measure=measure)]
    return f"{np.mean(values):.{digits}f} ({min(values):g} to {max(values):g})"


EXPERIMENT = Experiment(
    name="joint_schooling",
    title="Educational attainment of countries (joint ranking and clustering)",
    runs=10,
    tasks=tasks,
    report=report,
)
