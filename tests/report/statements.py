"""What a report says, and the same computed again from the table: nothing here imports gramian.

:func:`statements` reads the folder that ``gramian explore`` wrote, and the CSV file it was made from with nothing but
pandas and NumPy. Groups, ranks and oddness are taken from rows.csv, everything else is computed anew.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from report.decoder import Page, merge, read_column

GAPS = ["", "?", "NA"]
TRUTH = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0, "t": 1.0, "f": 0.0, "true": 1.0, "false": 0.0, "0": 0.0, "1": 1.0}


@dataclass(frozen=True)
class Statement:
    """One thing that is said, and whether the table says so too."""

    kind: str
    said: str
    found: str
    holds: bool


class Told:
    """The folder of a report beside the table it tells of."""

    def __init__(self, table, folder):
        self.table, self.folder = table, folder
        self.cells = pd.read_csv(table, dtype=str, keep_default_na=False)
        self.known = self.cells.apply(lambda column: ~column.str.strip().isin(GAPS))
        self.rows = pd.read_csv(folder / "rows.csv", dtype=str, keep_default_na=False)
        self.summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        self.page = Page((folder / "report.html").read_text(encoding="utf-8"))
        self.kinds = {column["name"]: column["kind"] for column in self.summary["columns"]}
        self.used = [name for name, kind in self.kinds.items() if kind in ("number", "category", "boolean", "date")]

    @cached_property
    def groups(self):
        return self.rows["group"].astype(int).to_numpy()

    def numbers(self, name):
        """Values of a number, a date (days since 1970) or a truth value; NaN where missing."""
        cells = self.cells[name].str.strip()
        if self.kinds[name] == "date":
            form = "%d.%m.%Y" if cells.str.contains(r"^\d\d\.\d\d\.\d{4}$").any() else "%Y-%m-%d"
            moments = pd.to_datetime(cells, format=form, errors="coerce")
            days = (moments - pd.Timestamp("1970-01-01")).dt.days.to_numpy(float)
            return np.where(moments.notna(), days, np.nan)
        if self.kinds[name] == "boolean":
            return cells.str.lower().map(TRUTH).to_numpy(float)
        return pd.to_numeric(cells.where(self.known[name]), errors="coerce").to_numpy(float)

    def level(self, name, level):
        """Which rows have a level (or a gap), and in which rows one is known."""
        if level == "missing":
            return ~self.known[name].to_numpy(), np.ones(len(self.cells), bool)
        if self.kinds[name] == "boolean":
            values = self.numbers(name)
            return values == TRUTH[level], np.isfinite(values)
        cells = self.cells[name].str.strip()
        return same_level(cells, level.strip("'")), self.known[name].to_numpy()

    def inside(self, element):
        """All elements within one."""
        return [other for other in self.page.elements if _is_within(other, element)]

    def with_class(self, name, inside=None):
        elements = self.page.elements if inside is None else self.inside(inside)
        return [element for element in elements if name in element.attributes.get("class", "").split()]


def same_level(cells, level):
    """Cells with a level, which the page may have cut short; codes are written as whole numbers."""
    if level.endswith("…"):
        return cells.str.startswith(level[:-1]).to_numpy()
    plain = cells.str.replace(r"^(-?\d+)\.0*$", r"\1", regex=True)
    return (plain == level).to_numpy()


def _is_within(element, other):
    while element.parent is not None:
        element = element.parent
        if element is other:
            return True
    return False


# Numbers as they are written -----------------------------------------------------------------------------------------


def agrees(text, value):
    """Whether a number, share or date as it is written says a value, to the last digit written."""
    text = text.strip().replace("−", "-")
    if match := re.fullmatch(r"(\d{4}-\d\d-\d\d)( \d\d:\d\d)?", text):
        said = (pd.Timestamp(match[0]) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        return abs(said - value) < (1 if match[2] is None else 0.001)
    if isinstance(value, str):
        return text == value
    if text.endswith("%"):
        bound = re.fullmatch(r"(under|over) ([\d.]+) %", text)
        if bound:
            limit = float(bound[2])
            return 100 * value > limit if bound[1] == "over" else 0 < 100 * value < limit
        return agrees(text.removesuffix("%").strip(), 100 * value)
    digits = text.replace(",", "")
    said = float(digits)
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    step = 10.0 ** (int(exponent or 0) - decimals)
    return abs(said - value) <= 0.5 * step * (1 + 1e-9) + 1e-12


def _number(text):
    return float(text.replace(",", "").replace("−", "-"))


# Statements ----------------------------------------------------------------------------------------------------------


def statements(told):
    """Everything a report says that the table can confirm."""
    found = []

    def say(kind, said, value, holds=None):
        if holds is None:
            holds = agrees(said, value) if isinstance(said, str) else said == value
        found.append(Statement(kind, str(said), str(value), bool(holds)))

    for part in (_overview, _sentences, _cards, _columns, _histograms, _odd_rows, _gaps, _pairs, _map, _files):
        part(told, say)
    return found


def _overview(told, say):
    area = told.inside(told.page.by_id("overview"))
    words = [re.sub(r"\s+", " ", element.text).strip() for element in area if element.tag == "dt"]
    figures = dict(zip(words, [element.text for element in area if element.tag == "dd"], strict=True))
    gaps = 1 - told.known[told.used].to_numpy().mean()
    asked = told.summary["made"]["parameters"]["clusters"] == 1
    n_groups = 0 if told.summary["verdict"] == "none" and not asked else len(set(told.groups) - {0})
    for name, said in figures.items():
        if re.match(r"rows?\b", name):
            say("figure: rows", said, len(told.cells))
        elif "used" in name:
            say("figure: columns used", said, len(told.used))
            if of := re.search(r"of (\d+)", name):
                say("figure: columns", of[1], told.cells.shape[1])
        elif "missing" in name:
            say("figure: share of missing values", said, gaps)
        elif re.match(r"groups?\b", name):
            say("figure: groups", said, n_groups)
        elif "found again" in name:
            least = min(group["stability"] for group in told.summary["groups"])
            say("one number for found again", said, least)
            chart = {item["groups"]: item["stability"] for item in told.summary["numbers_of_groups"]}
            say("one number for found again", said, chart[n_groups])
            cards = [re.search(r"found again at ([\w. ]+ %)", card.text)[1] for card in _group_cards(told, "groups")]
            say(
                "one number for found again",
                min(cards, key=lambda text: _number(re.findall(r"[\d.]+", text)[0])),
                least,
            )


def _sentences(told, say):
    """The sentences at the top."""
    repeated = int(told.cells[told.used].where(told.known[told.used]).duplicated().sum())
    for text in told.summary["overview"]:
        if match := re.match(r"The ([\d,]+) rows fall (clearly|only weakly) into (\d+) groups\.", text):
            say("sentence: rows and groups", match[1], len(told.cells))
            say("sentence: rows and groups", match[3], len(set(told.groups) - {0}))
        if match := re.search(r"among the ([\d,]+) rows", text):
            say("sentence: no groups", match[1], len(told.cells))
            say("sentence: no groups", "one group", "one group", len(set(told.groups)) == 1)
        if match := re.match(r"([\d,]+) rows? ha(?:s|ve) no value to compare by", text):
            say("sentence: rows of no group", match[1], (~told.known[told.used].any(axis=1)).sum())
            say("sentence: rows of no group", match[1], (told.groups == 0).sum())
        if match := re.match(r"(.+ %) of the values are missing", text):
            say("sentence: missing values", match[1], 1 - told.known[told.used].to_numpy().mean())
        if match := re.match(r"([\d,]+) rows? (?:is a copy of another|are copies of others)", text):
            say("sentence: copies", match[1], repeated)
        if match := re.match(r"([\d,]+) rows? (?:is|are) like few others", text):
            # Each copy once, and none of the rows that are typical of a small group.
            odd = (told.rows["oddness"].astype(float) >= 0.59995).to_numpy(copy=True)
            odd &= ~told.cells[told.used].where(told.known[told.used]).duplicated().to_numpy()
            odd[[row - 1 for group in told.summary["groups"] for row in group["typical"]]] = False
            say("sentence: odd rows", match[1], odd.sum())
        if match := re.match(r"Not used to compare rows: (.*)\.$", text):
            for name in re.split(r", | and ", match[1].removesuffix(" and others")):
                say("sentence: column not used", name, told.kinds[name], _is_useless(told, name))
        if match := re.match(r"The groups differ most in (.*)\.$", text):
            for name in re.split(r", | and ", match[1]):
                depends = _depend(_places(told, name), told.groups[:, None].astype(float), categories=(False, True))
                say("sentence: telling column", name, "depends on the groups", depends)
        if match := re.match(r"(.*) alone says of nearly every row which group it is in", text):
            known = told.known[match[1]].to_numpy() & (told.groups > 0)
            table = pd.crosstab(told.cells[match[1]][known], told.groups[known]).to_numpy()
            share = table.max(axis=1).sum() / table.sum()
            say("sentence: one column says it all", match[1], f"{share:.2f} of rows", share > 0.9)
        if match := re.match(r"(\S+) counts as a value of (.*); if it means missing", text):
            for name in re.split(r", | and ", match[2]):
                values = told.numbers(name)
                others = values[np.isfinite(values) & (values != float(match[1]))]
                far = np.abs(others - float(match[1])).min() > np.ptp(others)
                say("sentence: a code for missing", name, match[1], far and float(match[1]) in values)
        if match := re.match(r"The rows also form (\d+) (larger|smaller|other) groups", text):
            levels = [len(level["groups"]) for level in told.summary["levels"]]
            say("sentence: levels", match[1], "one of the levels", int(match[1]) in levels)
            other = told.rows[f"group_of_{match[1]}"].to_numpy()
            say("sentence: levels", match[1], len(set(other) - {"0"}))
            if "divide" in text:
                fine, coarse = (other, told.groups) if match[2] == "smaller" else (told.groups, other)
                table = pd.crosstab(fine, coarse).to_numpy()
                share = table.max(axis=1).sum() / table.sum()
                say("sentence: levels divide", text, f"{share:.2f} of rows in one larger group", share >= 0.9)
    repeats = re.search(r"([\d,]+) rows? repeats? an earlier row", told.page.by_id("glance").text)
    if repeats or repeated:
        say("repeated rows", repeats[1] if repeats else "0", repeated)


def _is_useless(told, name):
    """Whether a column that is not used is constant, empty, unique, mostly unique text, or left out by request."""
    known = told.cells[name][told.known[name]]
    distinct = known.nunique()
    return {
        "constant": distinct == 1,
        "empty": distinct == 0,
        "identifier": distinct >= 0.95 * len(known),
        "text": distinct > 0.5 * len(known),
        "ignored": name == "label",
    }[told.kinds[name]]


# Groups --------------------------------------------------------------------------------------------------------------


def _group_cards(told, section):
    area = told.page.by_id(section)
    return [card for card in told.with_class("card", area) if not card.within("details")]


def _cards(told, say):
    """Cards of the groups, of coarser and finer levels, and of the other grouping."""
    if told.summary["verdict"] != "none" or len(set(told.groups)) > 1:
        _grouping(told, say, _group_cards(told, "groups"), told.summary["groups"], told.groups, ranked=True)
    for level in told.summary["levels"]:
        k = len(level["groups"])
        cards = [
            card for card in told.with_class("card") if card.attributes["aria-labelledby"].startswith(f"level-{k}-")
        ]
        _grouping(told, say, cards, level["groups"], told.rows[f"group_of_{k}"].astype(int).to_numpy())
    if told.summary["alternative"]:
        labels = told.rows["other_group"].astype(int).to_numpy()
        _grouping(told, say, _group_cards(told, "another"), told.summary["alternative"]["groups"], labels)
        shared = re.search(r"It shares ([\w. ]+ %) of its information", told.page.by_id("another").text)[1]
        grouped = (told.groups > 0) & (labels > 0)  # a row without any value has no group
        say("other grouping: overlap", shared, _mutual_information(told.groups[grouped], labels[grouped]))
        smallest = min(np.bincount(labels)[1:]) / len(labels)
        say("other grouping: not a few rows", "both groups", f"{smallest:.2f}", smallest >= 0.1)


def _grouping(told, say, cards, groups, labels, ranked=False):
    sizes = [(labels == group["label"]).sum() for group in groups]
    say("groups are numbered by size", "largest first", sizes, all(a >= b for a, b in pairwise(sizes)))
    say("groups have a card each", len(cards), len(groups))
    for card, group in zip(cards, groups, strict=True):
        own = labels == group["label"]
        size = told.with_class("size", card)[0].text
        rows, share = re.fullmatch(r"([\d,]+) rows? (.+)", re.sub(r"\s+", " ", size).strip()).groups()
        say("group: size", rows, own.sum())
        say("group: share", share, own.mean())
        for item in group["differences"]:
            _difference(told, say, item, own, labels > 0)
        for here, elsewhere in re.findall(r"\((?:around )?([^()]+), elsewhere ([^()]+)\)", group["sentence"]):
            both = {(item["here"], item["elsewhere"]) for item in group["differences"]}
            say("group: sentence", f"{here}, {elsewhere}", sorted(both), (here, elsewhere) in both)
        shares = re.findall(r" in ([\w.]+ ?[\d.]* %) \(elsewhere ([^()]+)\)", group["sentence"])
        for pair in shares:
            both = {(item["here"], item["elsewhere"]) for item in group["differences"] if item["level"]}
            say("group: sentence", ", ".join(pair), sorted(both), pair in both)
        text = card.text
        for item in group["differences"][:6]:
            shown = all(
                re.sub(r"\s+", " ", item[part])[:50] in re.sub(r"\s+", " ", text) for part in ("here", "elsewhere")
            )
            say("group: figures stand on the card", item["column"], "card", shown)
        _typical(told, say, card, group, own, ranked)


def _difference(told, say, item, own, all_rows):
    name, others = item["column"], all_rows & ~own
    if match := re.fullmatch(r"from (\S+(?: \d\d:\d\d)?) to (\S+(?: \d\d:\d\d)?)", item["level"]):
        values = told.numbers(name)
        inside = np.sort(values[own & np.isfinite(values)])
        ends = [inside[int(np.ceil(round(part * len(inside), 9))) - 1] for part in (0.05, 0.95)]
        for said, end in zip(match.groups(), ends, strict=True):
            say("group: end of an interval", said, end)
        for said, rows in ((item["here"], own), (item["elsewhere"], others)):
            known = values[rows & np.isfinite(values)]
            say("group: share of an interval", said, ((known >= ends[0]) & (known <= ends[1])).mean())
        return
    if item["level"]:
        has, known = told.level(name, item["level"])
        kind = "group: share of gaps" if item["level"] == "missing" else "group: share of a level"
        say(kind, item["here"], has[own & known].mean())
        say(kind, item["elsewhere"], has[others & known].mean())
        say(
            "group: difference of shares", f"{item['effect']:.6f}", has[own & known].mean() - has[others & known].mean()
        )
        return
    values = told.numbers(name)
    mean = item["here"].endswith(" on average")
    here, elsewhere = ((np.nanmean if mean else np.nanmedian)(values[part]) for part in (own, others))
    say("group: median or mean", item["here"].removesuffix(" on average"), here)
    say("group: median or mean", item["elsewhere"].removesuffix(" on average"), elsewhere)
    # Scales with heavy tails are tamed before means are compared, so ranks tell the direction best.
    ranks = pd.Series(values).rank().to_numpy()
    further = np.nanmean(ranks[own]) - np.nanmean(ranks[others])
    say("group: direction", "more" if item["effect"] > 0 else "less", round(further, 1), item["effect"] * further > 0)


def _typical(told, say, card, group, own, ranked):
    """Typical rows are of the group, the most typical first, and their cells those of the table."""
    tables = told.with_class("rows", card)
    head = [
        element.text.strip() for element in told.inside(tables[0]) if element.tag == "th" and element.within("thead")
    ]
    lines = [element for element in told.inside(tables[0]) if element.tag == "tr" and element.within("tbody")]
    for place, line in enumerate(lines):
        texts = [element.text.strip() for element in told.inside(line) if element.tag in ("th", "td")]
        row = int(texts[0].replace(",", ""))
        say("typical row: as in summary.json", row, group["typical"][place])
        say("typical row: of its group", row, "group", own[row - 1])
        if ranked:
            rank = int(told.rows["rank_in_group"][row - 1])
            last = int(told.rows["rank_in_group"][group["typical"][place - 1] - 1]) if place else 0
            copies = told.cells[told.used].duplicated(keep=False).sum()
            say("typical row: rank", f"place {place + 1}", rank, rank == last + 1 or (copies and rank > last))
        for name, text in zip(head[1:], texts[1:], strict=True):
            say("typical row: cell", f"{name} {text}", told.cells[name][row - 1], _same_cell(told, name, row - 1, text))


def _same_cell(told, name, row, text):
    if not told.known[name][row]:
        return text in ("", "–")
    if told.kinds[name] in ("number", "date"):
        return agrees(text, told.numbers(name)[row])
    if told.kinds[name] == "boolean":
        return TRUTH[text] == told.numbers(name)[row]
    return bool(same_level(told.cells[name].iloc[[row]].str.strip(), text)[0])


# Columns -------------------------------------------------------------------------------------------------------------


def _glance_cards(told):
    for card in told.with_class("glance", told.page.by_id("glance")):
        name = next(element.text for element in told.inside(card) if element.tag == "h3")
        yield card, name


def _columns(told, say):
    """Counts, ends, medians and most frequent levels at a glance, and missing values in tables."""
    for card, name in _glance_cards(told):
        told_of = told.with_class("quiet", card)[0].text
        known = told.known[name].to_numpy()
        say("column: kind", told_of.split(",")[0], told.kinds[name])
        values = told.numbers(name) if told.kinds[name] in ("number", "date", "boolean") else None
        distinct = told.cells[name][known].nunique() if values is None else len(np.unique(values[np.isfinite(values)]))
        say("column: different values", re.search(r"([\d,]+) different values?", told_of)[1], distinct)
        missing = re.search(r"([\d,]+) missing", told_of)
        say("column: missing values", missing[1] if missing else "0", (~known).sum())
        figures = {
            element.parent.text.strip().removesuffix(element.text).strip(): element.text.strip()
            for element in told.inside(card)
            if element.tag == "dd"
        }
        if told.kinds[name] in ("number", "date"):
            for word, compute in (("smallest", np.nanmin), ("median", np.nanmedian), ("largest", np.nanmax)):
                say(f"column: {word} value", figures[word], compute(values))
            continue
        if told.kinds[name] not in ("category", "boolean"):
            continue
        shares = []
        for level, share in figures.items():
            has, _ = told.level(name, level)
            shares.append(has[known].mean())
            say("column: share of a level", share, shares[-1])
        counts = (
            told.cells[name][known].str.strip().value_counts() if values is None else pd.Series(values).value_counts()
        )
        say("column: most frequent levels", list(figures), counts.index[:3].tolist(),
            np.allclose(shares, counts.to_numpy()[: len(shares)] / known.sum()))  # fmt: skip
    for item in told.summary["columns"]:
        say("column: share missing", f"{item['missing']:.6f}", (~told.known[item["name"]]).mean())


def _histograms(told, say):
    """Bars: all rows of any group are counted once; levels and whole numbers bar by bar."""
    inside = told.groups > 0
    for card, name in _glance_cards(told):
        titles = [element.text for element in told.inside(card) if element.tag == "title"]
        if not titles:
            continue
        bars = [re.fullmatch(r"(.+): ([\d,]+) rows?", title).groups() for title in titles]
        known = told.known[name].to_numpy() & inside
        say("histogram: all rows", sum(int(rows.replace(",", "")) for _, rows in bars), int(known.sum()))
        for word, rows in bars:
            if told.kinds[name] in ("category", "boolean") and not re.fullmatch(r"[\d,]+ others?", word):
                has, _ = told.level(name, word)
            elif told.kinds[name] == "number" and " to " not in word:
                has = told.numbers(name) == _number(word)
            else:
                continue
            say("histogram: bar", rows, (has & known).sum())


def _places(told, name):
    """A column for distances: its numbers, or indicators of its levels; NaN where missing."""
    if told.kinds[name] in ("number", "date", "boolean"):
        return told.numbers(name)[:, None]
    codes = pd.factorize(told.cells[name].where(told.known[name]))[0].astype(float)
    return np.where(codes >= 0, codes, np.nan)[:, None]


def _depend(first, second, categories):
    """Whether the distance correlation of two columns is beyond that of 99 random pairings."""
    rows = np.isfinite(first[:, 0]) & np.isfinite(second[:, 0])
    tables = []
    for values, category in zip((first, second), categories, strict=True):
        ranks = values[rows, 0] if category else pd.Series(values[rows, 0]).rank().to_numpy()
        apart = np.abs(ranks[:, None] - ranks)
        apart = (apart > 0).astype(float) if category else apart
        tables.append(apart - apart.mean(axis=0) - apart.mean(axis=1)[:, None] + apart.mean())
    rng = np.random.default_rng(0)
    real = (tables[0] * tables[1]).mean()
    orders = [rng.permutation(len(tables[0])) for _ in range(99)]
    return real > max((tables[0] * tables[1][order][:, order]).mean() for order in orders)


def _pairs(told, say):
    """Pairs of columns that go together do so by another measure; near-copies nearly determine each other."""
    text = told.page.by_id("glance").text
    match = re.search(r"Most closely: (.*?)\. The stronger", re.sub(r"\s+", " ", text))
    for pair in match[1].split("; ") if match else []:
        names = re.fullmatch(r"(.+) and (.+) \(([\d.]+)\)", pair)
        kinds = [told.kinds[names[i]] not in ("number", "date") for i in (1, 2)]
        depends = _depend(_places(told, names[1]), _places(told, names[2]), kinds)
        say("pair of columns", pair, "depend on each other", depends)
    for card, name in _glance_cards(told):
        for hint in told.with_class("hint", card):
            _hint(told, say, name, hint.text.strip())


def _hint(told, say, name, hint):
    values = told.numbers(name) if told.kinds[name] == "number" else None
    if match := re.match(r"(-?[\d.]+) occurs ([\d,]+) times?", hint):
        say("hint: code of missing values", match[2], (values == float(match[1])).sum())
    elif match := re.match(r"Says almost the same as (.*)\.$", hint):
        for other in re.split(r", | and ", match[1]):
            if not re.fullmatch(r"\d+ other columns?", other):
                pair = pd.DataFrame({"a": _places(told, name)[:, 0], "b": _places(told, other)[:, 0]}).dropna()
                related = abs(pair["a"].corr(pair["b"], method="spearman"))
                say("hint: near copy", f"{name}: {other}", f"{related:.3f}", related > 0.94)
    elif match := re.match(r"Only the whole numbers (.*): if", hint):
        said = [_number(text) for text in re.split(r", | and ", match[1])]
        say("hint: few whole numbers", said, np.unique(values[np.isfinite(values)]).tolist())
    elif match := re.match(r"Two heaps of values far apart, around (\S+) and around (\S+):", hint):
        cut = np.sqrt(_number(match[1]) * _number(match[2]))
        for said, part in zip(match.groups(), (values < cut, values >= cut), strict=True):
            middle = np.median(values[part])
            say("hint: two heaps", said, f"{middle:.4g}", abs(_number(said) / middle - 1) < 0.02)


# Odd rows and gaps ---------------------------------------------------------------------------------------------------


def _odd_rows(told, say):
    oddness = told.rows["oddness"].astype(float).to_numpy()
    listed = told.summary["odd_rows"]
    shown = [element for element in told.inside(told.page.by_id("odd")) if element.tag == "li"]
    say("odd rows: as many on the page", len(shown), len(listed))
    scores = [item["score"] for item in listed]
    say("odd rows: oddest first", "order", scores, all(a >= b for a, b in pairwise(scores)))
    typical = {row for group in told.summary["groups"] for row in group["typical"]}
    for item in listed:
        say("odd row: score", f"{item['score']:.4f}", oddness[item["row"] - 1])
        say("odd row: some score", item["row"], item["score"], item["score"] > 0)
        if len(set(told.groups)) > 1:
            say("odd row: is not typical", item["row"], "typical rows", item["row"] not in typical)
        for kind, said, found, holds in _reasons(told, item["row"] - 1, item["reason"]):
            say(kind, said, found, holds)


def _reasons(told, row, reason):
    """Every clause of a reason that names values."""
    own = told.groups == told.groups[row]
    names = sorted(told.used, key=len, reverse=True)
    column = "|".join(map(re.escape, names))
    share, group = r"((?:under |over )?[\d.]+ %)", "(?:its group|all rows)"
    usual = rf"({column}) (\S+(?: \d\d:\d\d)?), usual (\S+?)(?:–(\S+))? in {group}"
    for name, value, low, high in re.findall(usual, reason):
        values = told.numbers(name)
        known = values[own & np.isfinite(values)]
        ends = [_end(text) for text in (low, high or low)]
        slack = 0.006 * max(map(abs, ends))
        inside = np.mean((known >= ends[0] - slack) & (known <= ends[1] + slack))
        yield "odd row: value", f"{name} {value}", told.cells[name][row], agrees(value, values[row])
        yield "odd row: usual values", f"{low}–{high}", f"{inside:.2f} of its group", inside >= 0.85
        yield "odd row: beyond the usual", value, f"{low}–{high}", not ends[0] < values[row] < ends[1]
    for name, level in re.findall(rf"the only row of {group} with ({column}) (.+?)(?:; |$)", reason):
        has, _ = told.level(name, level)
        times = (has & own).sum()
        yield "odd row: only one with a level", f"{name} {level}", times, has[row] and times == 1
    for name, level, said in re.findall(rf"({column}) ([^,;()]+?),? (?:as|\(as) {share} of {group}", reason):
        has, known = told.level(name, level)
        there = has[own & known].mean()
        yield "odd row: rare level", f"{name} {level} {said}", there, has[row] and agrees(said, there)
    for name, value, word, said in re.findall(rf"({column}) (\S+) \((above|below) {share} of {group}\)", reason):
        values = told.numbers(name)
        known = values[own & np.isfinite(values)]
        there = np.mean(known < values[row]) if word == "above" else np.mean(known > values[row])
        holds = agrees(said, there) and agrees(value, values[row])
        yield "odd row: place of a value", f"{name} {value} {said}", there, holds
    for times, first, second in re.findall(r"(the only row|one of \d+ rows) with (.+?) and (.+?)(?:;|$)", reason):
        both = np.ones(len(told.cells), bool)
        for clause in (first, second):
            both &= _clause(told, clause, row, names)
        wanted = 1 if times == "the only row" else int(re.search(r"\d+", times)[0])
        yield "odd row: pair of values", f"{times}: {first}, {second}", both.sum(), both[row] and both.sum() == wanted
    if match := re.search(r"(\d+) of (\d+) values are missing", reason):
        said = int(match[1]), int(match[2])
        here = int((~told.known[told.used].iloc[row]).sum()), len(told.used)
        yield "odd row: missing values", said, here, said == here


def _end(text):
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return (pd.Timestamp(text) - pd.Timestamp("1970-01-01")).days
    return _number(text)


def _clause(told, clause, row, names):
    """Rows of which one half of a pair is true: a level, or a number below, above or between two ends."""
    name = next(name for name in names if clause.startswith(f"{name} "))
    rest = clause.removeprefix(name).strip()
    values = told.numbers(name) if told.kinds[name] in ("number", "date") else None
    if match := re.fullmatch(r"(\S+) \((below|above) (\S+)\)", rest):
        assert agrees(match[1], values[row]), clause
        end = _end(match[3])
        low, high = np.nanquantile(values, [0.2, 0.8])
        exact = low if match[2] == "below" else high
        assert agrees(match[3], exact), (clause, exact, end)
        return values < exact if match[2] == "below" else values > exact
    if match := re.fullmatch(r"(\S+) \(from (\S+) to (\S+)\)", rest):
        assert agrees(match[1], values[row]), clause
        low, high = np.nanquantile(values, [0.2, 0.8])
        assert agrees(match[2], low), clause
        assert agrees(match[3], high), clause
        return (values >= low) & (values <= high)
    return told.level(name, rest)[0]


def _gaps(told, say):
    """Sets of values missing together, complete rows, and the share of gaps of each column."""
    area = told.page.by_id("missing")
    text = re.sub(r"\s+", " ", area.text)
    gaps = ~told.known[told.used]
    complete = int((~gaps.any(axis=1)).sum())
    if match := re.search(
        r"([\w. ]+ %) of the values are missing; (no row is|1 row is|[\d,]+ of [\d,]+ rows are) complete", text
    ):
        say("missing: share", match[1].split("values")[-1].strip(), gaps.to_numpy().mean())
        rows = {"no row is": "0", "1 row is": "1"}.get(match[2], match[2].split()[0])
        say("missing: complete rows", rows, complete)
    say("missing: complete rows", told.summary["missing"]["complete_rows"], complete)
    for names, rows in told.summary["missing"]["patterns"]:
        wanted = np.isin(told.used, names)
        say("missing: values missing together", rows, int((gaps.to_numpy() == wanted).all(axis=1).sum()))
    heads = [element for element in told.inside(area) if element.tag == "tr" and element.within("tbody")]
    for line in heads:
        name = next(element.text for element in told.inside(line) if element.tag == "th").strip()
        say("missing: share of a column", told.with_class("total", line)[0].text, gaps[name].mean())


# Packed rows and files -----------------------------------------------------------------------------------------------


def _map(told, say):
    """The values that the page shows beside a dot and in its table of rows."""
    facts, n = told.page.facts, len(told.cells)
    say("map: rows", facts["rows"], n)
    labels = merge(told.page.block("group"), n, 1)
    say("map: groups of all rows", "groups", "rows.csv", (labels == told.groups).all())
    say("map: sizes of groups", [group["size"] for group in facts["groups"]], np.bincount(told.groups)[1:].tolist())
    ranks = merge(told.page.block("rank"), n, 4)
    say("rows on the page: rank", "ranks", "rows.csv", (ranks == told.rows["rank_in_group"].astype(int)).all())
    for name, column in (("membership", "membership"), ("oddness", "oddness")):
        shown = told.page.block(name) / 255
        near = np.abs(shown - told.rows[column].astype(float)).max()
        say(f"rows on the page: {name}", "within 1 of 255", near, near < 0.0021)
    for how in facts["columns"]:
        name = how["name"]
        shown = read_column(how, told.page.block(how["block"].removeprefix("block-")), n)
        if told.kinds[name] in ("number", "date"):
            values = told.numbers(name)
            shown = shown / 86_400 if told.kinds[name] == "date" else shown
            step = 0 if how["exact"] else np.nanmax(np.abs(values)) * 1e-3
            same = np.allclose(shown, values, atol=1e-9 + step, rtol=1e-9, equal_nan=True)
        else:
            same = all(
                (text is None) == (not known) and (text is None or _same_cell(told, name, row, text))
                for row, (text, known) in enumerate(zip(shown, told.known[name], strict=True))
            )
        say("rows on the page: values of a column", name, "the table", same)


def _files(told, say):
    """Rows.csv has the table cell by cell, as it came, and ranks that count every group from 1."""
    say("rows.csv: rows", len(told.rows), len(told.cells))
    for name in told.cells:
        same = ((told.rows[name] == told.cells[name]) | (~told.known[name] & (told.rows[name] == ""))).all()
        say("rows.csv: cells as they came", name, "the table", same)
    ranks = told.rows["rank_in_group"].astype(int).to_numpy()
    for group in np.unique(told.groups):
        own = np.sort(ranks[told.groups == group])
        say("rows.csv: ranks", f"group {group}", "1, 2, 3, …", (own == np.arange(1, len(own) + 1)).all())
    for item in told.summary["groups"]:
        say("summary.json: size", item["size"], int((told.groups == item["label"]).sum()))


def _mutual_information(first, second):
    """Mutual information over the mean of the entropies."""
    table = pd.crosstab(first, second).to_numpy() / len(first)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    entropies = [-(part * np.log(part)).sum() for part in (rows, columns)]
    expected = rows[:, None] * columns
    joint = table > 0
    return (table[joint] * np.log(table[joint] / expected[joint])).sum() / np.mean(entropies)
