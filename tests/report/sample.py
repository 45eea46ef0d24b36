"""Explorations made by hand: a table of customers with three kinds of them, holes, categories and dates.

Nothing here is analysed; the parts are filled with what a good analysis would say, so that reports can be tested
and looked at without one.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from gramian.exploration.association import Associations
from gramian.exploration.glance import glances
from gramian.exploration.result import (
    Alternative,
    Cluster,
    Difference,
    Exploration,
    Importance,
    Missingness,
    Oddity,
    View,
)
from gramian.exploration.wording import number
from gramian.tables.table import Column

# Names and values that try to break out of the page, or to break it.
NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "]]>\u2028\u2029",
    "שלום עולם \u202eevil",
    "🙂🏳️‍🌈",
    "\x00\x08\ud800 end",
    "x" * 10_000,
]

SHARES = np.array([0.5, 0.3, 0.2])


def make_table(n_rows=1000, n_extra=0, seed=0):
    """Customers, the kind of each, and another grouping; ``n_extra`` appends columns of plain numbers."""
    random = np.random.default_rng(seed)
    kind = np.searchsorted(np.cumsum(SHARES)[:-1], random.random(n_rows))
    other = random.integers(0, 2, n_rows)
    noise = random.standard_normal((n_rows, 8))
    frame = pd.DataFrame(
        {
            "customer": [f"C-{i:06d}" for i in random.permutation(n_rows)],
            "age": np.rint(np.array([34, 52, 43])[kind] + 7 * noise[:, 0]),
            "income": np.round(np.exp(np.array([10.2, 10.7, 11.4])[kind] + 0.45 * noise[:, 1]), 2),
            "visits per month": np.maximum(np.rint(np.array([3, 9, 1])[kind] + 1.6 * noise[:, 2]), 0),
            "basket": np.round(np.array([18, 31, 120])[kind] * np.exp(0.35 * noise[:, 3]), 2),
            "distance km": np.exp(1.2 + 0.9 * noise[:, 4] + 0.8 * other),
            "rating": np.round(np.clip(4.1 - 0.8 * other + 0.5 * noise[:, 5], 1, 5), 1),
            "returns share": 1 / (1 + np.exp(2.5 - noise[:, 6])),
            "plan": np.array(["basic", "family", "business"], dtype=object)[
                np.where(random.random(n_rows) < 0.8, kind, random.integers(0, 3, n_rows))
            ],
            "region": np.array(["north", "south", "east", "west"], dtype=object)[
                np.where(random.random(n_rows) < 0.7, other * 2, random.integers(0, 4, n_rows))
            ],
            "newsletter": random.random(n_rows) < np.array([0.3, 0.8, 0.5])[kind],
            "joined": pd.Timestamp("2015-01-01")
            + pd.to_timedelta(random.integers(0, 3000, n_rows) + 400 * (kind == 0), unit="D"),
            "last seen": pd.Timestamp("2024-06-01") + pd.to_timedelta(random.integers(0, 86400 * 90, n_rows), unit="s"),
            "remark": np.where(noise[:, 7] > 1.5, "called twice about the invoice", ""),
            "currency": "EUR",
        }
    )
    frame["newsletter"] = frame["newsletter"].astype(object)
    frame.loc[frame["remark"] == "", "remark"] = None
    for j in range(n_extra):
        frame[f"measure {j + 1}"] = random.standard_normal(n_rows) + 0.5 * (kind == j % 3)
    for name in frame.columns.drop(["customer", "currency", "remark"]):
        frame.loc[random.random(n_rows) < 0.05, name] = None
    # Business customers do not tell their income.
    frame.loc[(kind == 2) & (random.random(n_rows) < 0.5), "income"] = np.nan
    return frame, kind, other


def kinds_of(frame):
    named = {"customer": "identifier", "currency": "constant", "remark": "text"}
    named |= {"plan": "category", "region": "category", "newsletter": "boolean", "joined": "date", "last seen": "date"}
    notes = {
        "customer": "every value is different",
        "currency": "always “EUR”",
        "remark": "free text",
        "last seen": "read as a moment, with the hour",
    }
    return [
        Column(name, named.get(name, "number"), float(frame[name].isna().mean()), notes.get(name, ""))
        for name in frame.columns
    ]


def make_exploration(n_rows=1000, n_extra=0, seed=0, n_directions=24, verdict="clear"):
    """An exploration of the customers, as an analysis would return it."""
    frame, kind, other = make_table(n_rows, n_extra, seed)
    columns = kinds_of(frame)
    matrix = _standardised(frame, columns)
    labels = np.argsort(np.argsort(-np.bincount(kind, minlength=3), kind="stable"))[kind]
    # A few rows far away, which are the odd ones.
    random = np.random.default_rng(seed + 1)
    strange = np.sort(random.choice(n_rows, min(12, n_rows // 20 + 1), replace=False))
    matrix[strange] *= 3
    pulled = matrix + 1.1 * np.eye(3)[kind] @ random.standard_normal((3, matrix.shape[1]))
    directions = np.linalg.svd(pulled - pulled.mean(axis=0), full_matrices=False)[2]
    coordinates = pulled @ directions[:2].T
    features = np.cos(
        pulled @ random.standard_normal((matrix.shape[1], n_directions)) / 3 + 6 * random.random(n_directions)
    )
    features += 2 * np.eye(n_directions)[labels]
    embedding = (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32)
    centres = np.array([embedding[labels == g].mean(axis=0) for g in range(3)])
    fit = np.einsum("ij,ij->i", embedding, centres[labels])
    membership = np.clip(fit / fit.max(), 0, 1)
    rank = np.empty(n_rows, dtype=int)
    for g in range(3):
        own = np.flatnonzero(labels == g)
        rank[own[np.argsort(-membership[own], kind="stable")]] = np.arange(1, len(own) + 1)
    oddness = np.clip(0.4 * (1 - membership), 0, 1)
    oddness[strange] = random.uniform(0.85, 1, len(strange))
    return Exploration(
        source="customers.csv",
        columns=columns,
        frame=frame,
        verdict=verdict,
        stability=0.93,
        sentences=[
            f"The {n_rows:,} rows fall into three clear groups, told apart by basket, visits per month and plan.",
            "The largest is half of the table: younger people who come rarely and buy little.",
            "Income is missing for half of the business customers: the gap itself is informative.",
        ],
        views=[
            View("cluster_kernel", "Mixtures that allow gaps", 3, 0.93, 0.71, 0.82, chosen=True),
            View("neighbours", "Nearest neighbours", 4, 0.74, 0.52, 0.63),
            View("sharpened", "Mixtures, sharpened", 3, 0.9, 0.66, 0.78),
        ],
        evidence=[(2, 0.81), (3, 0.93), (4, 0.72), (5, 0.61), (6, 0.64), (7, 0.55), (8, 0.52)],
        labels=labels,
        membership=membership,
        rank=rank,
        oddness=oddness,
        coordinates=coordinates,
        embedding=embedding,
        clusters=_clusters(frame, columns, labels, rank, CUSTOMERS),
        importances=_importances(frame, columns, matrix, labels),
        oddities=[
            Oddity(
                int(row),
                float(oddness[row]),
                f"Basket is {matrix[row, 3]:.1f} times as far from the middle as usual, with few visits.",
            )
            for row in strange[np.argsort(-oddness[strange])]
        ],
        missingness=_missingness(frame, columns),
        alternative=Alternative(
            other,
            0.02,
            0.71,
            _clusters(frame, columns, other, rank, LIVING),
            "Leaving the three kinds aside, rows differ by where people live: near and content, or far and less so.",
        ),
        made={
            "parameters": {"clusters": "chosen from 2 to 8", "seed": 0, "rows resampled": 0.8},
            "versions": {"gramian": "0.1.0", "numpy": np.__version__, "pandas": pd.__version__},
            "seconds": {"reading": 0.12, "fitting": 4.31, "choosing": 2.05},
            "notes": ["Columns that name rows were kept for display only."],
        },
        glances=glances(frame, columns, labels, TOGETHER),
        associations=TOGETHER,
        repeated=2,
    )


def nasty_exploration():
    """The customers with names, values and sentences that try to break out."""
    exploration = make_exploration(200)
    frame = exploration.frame.copy()
    names = dict(zip(frame.columns, NASTY, strict=False))
    frame["plan"] = pd.Series(np.resize(np.array(NASTY, dtype=object), len(frame)), dtype=object)
    frame.columns = pd.Index([names.get(name, name) for name in frame.columns], dtype=object)
    columns = [
        replace(column, name=names.get(column.name, column.name), note=NASTY[0]) for column in exploration.columns
    ]
    clusters = [
        replace(
            cluster,
            sentence=NASTY[i],
            differences=[
                replace(d, column=names.get(d.column, d.column), here=NASTY[1], elsewhere=NASTY[9], level=NASTY[0])
                for d in cluster.differences
            ],
        )
        for i, cluster in enumerate(exploration.clusters)
    ]
    gaps = exploration.missingness
    return replace(
        exploration,
        source=NASTY[0],
        frame=frame,
        columns=columns,
        clusters=clusters,
        sentences=NASTY,
        importances=[replace(item, column=names.get(item.column, item.column)) for item in exploration.importances],
        oddities=[replace(odd, reason=NASTY[i % len(NASTY)]) for i, odd in enumerate(exploration.oddities)],
        views=[replace(view, title=NASTY[0]) for view in exploration.views],
        missingness=Missingness(
            gaps.share,
            gaps.complete_rows,
            [([names.get(name, name) for name in pattern], rows) for pattern, rows in gaps.patterns],
            [(name, 0.01, name) for name in NASTY],
        ),
        alternative=replace(exploration.alternative, sentence=NASTY[0], clusters=clusters[:2]),
        made={NASTY[0]: {NASTY[1]: NASTY[2]}, "notes": NASTY, NASTY[2]: NASTY[0]},
        glances=[
            replace(item, column=name, names=[name] * len(item.names), figures=[(name, name)], hints=[name])
            for item, name in zip(exploration.glances, NASTY, strict=False)
        ],
        associations=Associations(NASTY[:3], TOGETHER.strength),
    )


TOGETHER = Associations(["basket", "plan", "income"], np.array([[1, 0.8, 0.1], [0.8, 1, np.nan], [0.1, np.nan, 1]]))
CUSTOMERS = [
    "Young people on the basic plan who come rarely.",
    "Families who come often.",
    "Businesses with large baskets.",
]
LIVING = ["People who live close and are content.", "People who live far away and give lower ratings."]


def _standardised(frame, columns):
    parts = []
    for column in columns:
        if column.kind == "number":
            values = frame[column.name].astype(float)
        elif column.kind == "date":
            values = pd.Series(frame[column.name].astype("datetime64[s]").astype("int64").astype(float))
            values[frame[column.name].isna()] = np.nan
        elif column.kind in ("category", "boolean"):
            values = pd.Series(pd.factorize(frame[column.name])[0].astype(float))
        else:
            continue
        filled = values.fillna(values.mean()).to_numpy()
        parts.append((filled - filled.mean()) / (filled.std() or 1))
    return np.column_stack(parts)


def _clusters(frame, columns, labels, rank, sentences):
    found = []
    for g, sentence in enumerate(sentences):
        here = labels == g
        own = np.flatnonzero(here)
        found.append(
            Cluster(
                label=g,
                size=int(here.sum()),
                stability=(0.95, 0.88, 0.69)[g],
                typical=[int(row) for row in own[np.argsort(rank[own], kind="stable")][:5]],
                differences=_differences(frame, columns, here),
                sentence=sentence,
            )
        )
    return found


def _differences(frame, columns, here):
    found = []
    for column in columns:
        series = frame[column.name]
        if column.kind == "number":
            inside, outside = series[here].astype(float), series[~here].astype(float)
            effect = float((inside.mean() - outside.mean()) / (series.astype(float).std() or 1))
            found.append(Difference(column.name, effect, number(inside.median()), number(outside.median())))
        elif column.kind in ("category", "boolean"):
            for level in series.dropna().unique():
                inside, outside = (series[here] == level).mean(), (series[~here] == level).mean()
                text = "yes" if level is True else "no" if level is False else level
                found.append(Difference(column.name, float(inside - outside), f"{inside:.0%}", f"{outside:.0%}", text))
    return sorted(found, key=lambda difference: -abs(difference.effect) / (1 if difference.level else 2))[:8]


def _importances(frame, columns, matrix, labels):
    used = [column for column in columns if column.kind in ("number", "category", "boolean", "date")]
    means = np.array([matrix[labels == g].mean(axis=0) for g in range(3)])
    spread = means.std(axis=0)
    weights = np.linalg.svd(means - means.mean(axis=0))[2][:2]
    found = [
        Importance(
            column.name, column.kind, float(np.clip(spread[j], 0, 1)), [float(w) for w in weights[:, j]], column.missing
        )
        for j, column in enumerate(used)
    ]
    return sorted(found, key=lambda item: -item.dependence)


def _missingness(frame, columns):
    used = [column.name for column in columns if column.kind in ("number", "category", "boolean", "date")]
    gaps = frame[used].isna()
    counts = gaps[gaps.any(axis=1)].value_counts()
    patterns = [([name for name, gap in zip(used, key, strict=True) if gap], int(rows)) for key, rows in counts.items()]
    return Missingness(
        share=float(gaps.to_numpy().mean()),
        complete_rows=int((~gaps.any(axis=1)).sum()),
        patterns=patterns[:40],
        informative=[("income", 1e-9, "Income is missing in 52 % of business customers and in 5 % of the others.")],
    )
