"""The tables and pictures of the performance page, made from ``benchmarks/results.json`` while the pages are built.

``docs/guide/performance.md`` holds the words and includes what is written here. Nothing is measured: a figure on the
page is a figure of the file.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from performance_questions import GROWTH, OTHER, TOPICS, Growth, Question

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results.json"
FOLDER = Path(__file__).parent / "generated"
PROCESSOR = ("processor_seconds", "process_seconds", "processor_s", "cpu_seconds", "cpu seconds", "cpu")

Row = dict[str, Any]
Cases = dict[str, list[Row]]


def write_pages(app: Any = None) -> None:
    """Write what ``docs/guide/performance.md`` includes."""
    cases = measured()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "machine.inc").write_text(machine(cases) + "\n", encoding="utf-8")
    (FOLDER / "faster.inc").write_text(faster(cases) + "\n", encoding="utf-8")
    (FOLDER / "tables.inc").write_text(tables(cases), encoding="utf-8")
    for theme in ("light", "dark"):
        draw_ratios(cases, theme, FOLDER / f"ratios_{theme}.svg")
        draw_growth(cases, theme, FOLDER / f"growth_{theme}.svg")


def measured(path: Path = RESULTS) -> Cases:
    """Rows of the file by case, ours first."""
    cases: Cases = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        cases.setdefault(row["case"], []).append(row)
    return cases


def machine(cases: Cases) -> str:
    """What the figures depend on, in a sentence for each machine and set of versions."""
    kinds: dict[str, list[str]] = {}
    for rows in cases.values():
        m = rows[0]["measured"]
        versions = ", ".join(f"{name} {m[name]}" for name in ("python", "numpy", "scipy", "scikit-learn", "gramian"))
        text = f"{m['cores']} cores of an {m['processor']}, {m['memory_gb']:.0f} GB; {versions}"
        kinds.setdefault(text.replace("python", "Python"), []).append(m["date"])
    return "\n".join(f"- {text}. {len(days)} questions, {span(days)}." for text, days in kinds.items())


def span(days: list[str]) -> str:
    """From the first day to the last."""
    return min(days) if min(days) == max(days) else f"{min(days)} to {max(days)}"


def topics(cases: Cases) -> dict[str, list[Question]]:
    """The questions that were measured, by heading; those that no heading names come last."""
    named = {question.case for questions in TOPICS.values() for question in questions}
    found = {topic: [q for q in questions if q.case in cases] for topic, questions in TOPICS.items()}
    found[OTHER] = [Question(case) for case in cases if case not in named]
    return {topic: questions for topic, questions in found.items() if questions}


def clock(question: Question, rows: list[Row]) -> tuple[str, list[float]]:
    """The kind of time that is compared, and the time of each side."""
    every = [key for key in (question.seconds, *PROCESSOR) if key and all(key in row["scores"] for row in rows)]
    seconds = [number(row["scores"][every[0]]) if every else float(row["seconds"]) for row in rows]
    kind = "clock" if not every or every[0] == "wall_seconds" else "processor"
    factors = [question.times.get(row["side"], 1.0) for row in rows]
    return kind, [factor * second for factor, second in zip(factors, seconds, strict=True)]


def number(value: Any) -> float:
    """A score; of several runs their mean."""
    return float(value["mean"] if isinstance(value, dict) else value)


def tables(cases: Cases) -> str:
    """One table for each heading."""
    parts = []
    for topic, questions in topics(cases).items():
        body = "\n".join(table_rows(question, cases[question.case]) for question in questions)
        head = "<tr><th></th><th>time</th><th>ratio</th><th>memory</th><th>how good</th></tr>"
        parts.append(
            f"### {topic}\n\n"
            f'<div class="table-wrapper docutils container"><table class="docutils measured">\n'
            f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
        )
    return "\n".join(parts)


def table_rows(question: Question, rows: list[Row]) -> str:
    """The question, and a row for each side."""
    kind, seconds = clock(question, rows)
    m = rows[0]["measured"]
    title = escape(question.title or rows[0]["question"])
    note = f"<small>{kind} time; {m['date']}, {escape(m['commit'])}</small>"
    lines = [f'<tr><th colspan="5" scope="rowgroup"><span>{title} {note}</span></th></tr>']
    for row, second in zip(rows, seconds, strict=True):
        lines.append(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells(question, row, second, seconds[0])) + "</tr>"
        )
    return "\n".join(lines)


def cells(question: Question, row: Row, seconds: float, ours: float) -> list[str]:
    """Side, time, ratio to ours, memory that the call added, scores."""
    side = escape(row["side"])
    if not seconds:  # figures of a paper, which were not measured here
        return [side, "", "", "", scores(question, row)]
    ratio = "1" if seconds == ours else f"{significant(seconds / ours)} ×"
    memory = row["scores"][question.megabytes] if question.megabytes else max(row["peak_mb"] - row["before_mb"], 0)
    return [
        side,
        duration(seconds),
        ratio,
        f"{memory / 1000:.1f} GB" if memory >= 1000 else f"{memory} MB",
        scores(question, row),
    ]


def scores(question: Question, row: Row) -> str:
    """The scores of a side that the question asks for."""
    found = ((label, row["scores"][key]) for key, label in question.scores.items() if key in row["scores"])
    return escape(", ".join(f"{label} {shown(value)}" for label, value in found))


def shown(value: Any) -> str:
    """A score as text."""
    if isinstance(value, str):
        return value.split(" (")[0]
    return significant(number(value), 3) if isinstance(value, float | dict) else str(value)


def significant(value: float, digits: int = 2) -> str:
    """A number without an exponent where it needs none."""
    if value == 0 or 1e-4 <= abs(value) < 10**digits:
        return f"{value:.{digits}g}"
    return f"{value:.1e}" if abs(value) < 1e-4 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1:
        return f"{significant(1000 * seconds)} ms"
    return f"{significant(seconds)} s" if seconds < 600 else f"{significant(seconds / 60)} min"


def ratios(cases: Cases) -> list[tuple[str, str, list[tuple[str, float]]]]:
    """Of every question with rivals: heading, title, and how many times as long each rival takes, fastest first."""
    found = []
    for topic, questions in topics(cases).items():
        for question in questions:
            rows = cases[question.case]
            seconds = clock(question, rows)[1]
            pairs = zip(rows, seconds, strict=True)
            rivals = [(row["side"], second / seconds[0]) for row, second in pairs if row["side"] in question.rivals]
            if rivals:
                found.append((topic, question.title, sorted(rivals, key=lambda rival: rival[1])))
    return found


def faster(cases: Cases) -> str:
    """The questions where a rival takes less time, in words."""
    lost = [(title, *rivals[0]) for _, title, rivals in ratios(cases) if rivals[0][1] < 1]
    return "\n".join(
        f"- {title}: {side} takes {significant(ratio)} of our time."
        for title, side, ratio in sorted(lost, key=lambda x: x[2])
    )


def draw_ratios(cases: Cases, theme: str, path: Path) -> None:
    """A line for each question, from the fastest rival to the slowest, on a scale where 1 is as fast as we are."""
    import matplotlib.pyplot as plt
    from matplotlib.patheffects import withStroke

    from gramian import plot
    from gramian.colours import GROUPS, INK, PAPER, mixed

    found = ratios(cases)
    quiet, better, worse = mixed(INK[theme], PAPER[theme], 0.3), GROUPS[theme][0], GROUPS[theme][1]
    with plot.style(theme):
        figure, ax = plt.subplots(figsize=(4.3, 0.36 * len(found) + 0.5), layout="constrained")
        for y, (_, title, rivals) in enumerate(found):
            values = [ratio for _, ratio in rivals]
            colour = better if values[0] >= 1 else worse
            ax.plot([1, 1], [y - 0.15, y + 0.2], color=INK[theme], linewidth=1)
            ax.plot([1, values[0]], [y, y], color=colour, linewidth=3, solid_capstyle="butt")
            ax.plot([values[0], values[-1]], [y, y], color=quiet, linewidth=1.5, zorder=1)
            ax.plot(values[1:], [y] * (len(values) - 1), "o", color=quiet, markersize=4)
            ax.plot(values[0], y, "o", color=colour, markersize=6)
            ax.annotate(
                title, (0, y), (0, 5), xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
                path_effects=[withStroke(linewidth=3, foreground=PAPER[theme])],
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_ylim(len(found) - 0.4, -0.9)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]]
        ax.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
        ax.set_xlabel("← other software is faster      gramian is faster →")
        ax.xaxis.set_label_position("top")
        ax.xaxis.tick_top()
        ax.spines["top"].set_visible(True)
        ax.spines["bottom"].set_visible(False)
        save(figure, path)


def draw_growth(cases: Cases, theme: str, path: Path) -> None:
    """Time against the number of rows, steps or nodes, for the tasks that were measured at several sizes."""
    import matplotlib.pyplot as plt

    from gramian import plot
    from gramian.colours import INK, PAPER, mixed

    with plot.style(theme):
        figure, ax = plt.subplots(figsize=(4.3, 4.6), layout="constrained")
        ax.set_xscale("log")
        ax.set_yscale("log")
        for growth in GROWTH:
            sizes, seconds = line(growth, cases)
            if len(sizes) > 1:
                ax.plot(sizes, seconds, "o-", markersize=5, label=growth.name)
        low, high = ax.get_xlim()
        bottom, top = ax.get_ylim()
        quiet = mixed(INK[theme], PAPER[theme], 0.3)
        ax.plot(
            [low, high],
            [bottom * 1.2, bottom * 1.2 * high / low],
            ":",
            color=quiet,
            label="ten times the data, ten times the time",
            zorder=1,
        )
        ax.set_xlim(low, high)
        ax.set_ylim(bottom, top)
        ax.set_xlabel("rows, nodes or steps")
        ax.set_ylabel("seconds")
        figure.legend(loc="outside lower center", ncols=1)
        save(figure, path)


def line(growth: Growth, cases: Cases) -> tuple[list[float], list[float]]:
    """Sizes and times of a task, as far as they were measured."""
    sizes, seconds = [], []
    for size, case, side in growth.points:
        rows = [row for row in cases.get(case, []) if not side or row["side"] == side][:1]
        if rows:
            question = next(q for questions in TOPICS.values() for q in questions if q.case == case)
            sizes.append(size)
            seconds.append(clock(question, rows)[1][0])
    return sizes, seconds


def save(figure: Any, path: Path) -> None:
    """As SVG on the paper of the page, the same bytes for the same figures."""
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(path, transparent=True, metadata={"Date": None})
    plt.close(figure)
