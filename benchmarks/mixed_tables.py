"""Does ``gramian explore`` count groups rightly in tables of numbers and categories?

``python -m benchmarks.mixed_tables``: 40 tables with planted groups (right: a verdict other than "none" and the planted
number of groups), 60 tables without (right: "none"), penguins and tables of UCI with categories (adjusted Rand index
with the classes, the number of groups not given). Each table goes through a file. By default it is read, prepared and
grouped by the calls that ``exploration/analyse.py`` makes: verdict and groups are those of the command line, without
ranks, reasons and pictures, which take as long again. ``--command-line`` runs the command line instead, of this
checkout or that of ``--package-path``. ``--check`` verifies instead that an oracle finds the planted groups. The
designs are in ``mixed_designs.py``; nothing may be tuned on them.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.mixed_designs import PLANTED, WITHOUT, Draw, planted, without

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "uci"
TABLE = ROOT / "benchmarks" / "mixed_tables.md"
UCI = {
    "zoo": [], "soybean": [], "vote": [], "mushroom": [], "dermatology": [], "heart_cleveland": [], "hepatitis": [],
    "horse_colic": [], "adult": ["split"], "vowel": ["train_or_test"], "car_evaluation": [],
    "monks": ["problem", "split"],
}  # fmt: skip
"""Tables with categories, and the columns that are no data."""
MOST_ROWS = 1000
KINDS = ("planted", "without", "real")
PREAMBLE = """# Groups in tables of numbers and categories

`python -m benchmarks.mixed_tables` writes each table to a file, groups it as `gramian explore` does and reads the
verdict and the groups. *Planted*: 40 draws of 2 to 6 groups; right is a verdict other than "none" and the planted
number. *Without*: 60 draws of noise, gradients, factors, heavy tails, copies and cross tables; right is "none".
*Real*: the classes are taken away (not in penguins_whole, the file as users have it) and compared by the adjusted
Rand index with the groups found, their number unknown; at most 1,000 rows. Where the verdict is "none", the index is
that of the cut, which `explore` no longer shows. Designs and seeds (`benchmarks/mixed_designs.py`) were committed
before the method they judge. They were chosen by looking at the oracle, at the code before, and at whether an ICL of
the true groups beats that of merged ones (in one draw, 29, it does not), which is the criterion that latent classes
use; and the planted model is theirs, since classes have sizes of their own. That favours the method: read the figures
so.

The first form of the method was mended on tables of other seeds (52 planted ones and about 30 without groups) and run
on these three times: once; once with a milder limit of the verdict, chosen after the first run had called four tables
of two groups "none"; and once more with the limit of the first run. That gave 34 of 40 and 60 of 60. The present form
(columns bent within classes, numbers completed for the search, fewer classes where they gain 97 % as much, classes that
are certain also where categories are few) was chosen on other seeds again: 39 planted tables, on which the number is
right in 37 and was in 24 of the first 34 before the bends, and 30 without groups, of which 29 are "none". It was run
here once, so these tables have been looked at four times in all. About a quarter of the columns of numbers are
log-normal by design, which is what bends are for. Bends and the limit of 97 % were not tried on the real tables.

Latent classes beside categories that cross them, no bends for columns with a pile of rows at one end, and grades that
are no codes came after that. They were chosen on penguins, tables of UCI, and 20 planted tables and 24 without groups
of other seeds (19 and 23 right, the same tables as before). The run at `b72a8dc` is with them, and nothing was changed
after it: 37 of 40 and 60 of 60, the same tables as before them. A run on another machine had planted tables 27 and 30
wrong too, 35 of 40 right, with and without these changes: both are near a limit of the verdict.

Of the planted tables that are wrong, 9 has one group too few, the two groups of 15 are found but called "none", and 29
is the draw in which an ICL of merged groups is better than that of the true ones. Penguins are three groups (0.98, or
1.00 with the species as a column), sex crosses them.
Dermatology has 34 columns, 32 of them grades from 0 to 3, and is grouped by the similarities of numbers. Until a larger
number of groups was preferred where one walk has its widest gap and every group is found again, it had 5 groups instead
of 6 (0.85, "clear"); with that rule 6, 0.93, "weak", beside 0.94, "clear", at `a163599`. The form of the rule was found
with this table among others in view, its limit on the others. A run with it: 37 of 40 and 60 of 60. The real tables
were run again at `3f0cb82`: but for dermatology all have the groups and verdicts of `b72a8dc`.

Other real tables that lose against `a163599`: soybean 0.52 to 0.40 (0.43 before the limit of 97 %), vote 0.61 to 0.55,
horse_colic 0.138 to 0.106 (4 groups, "weak"; 6 groups, "clear" at `a163599`), hepatitis 0.177 to 0.150 (2 groups,
"none" both times). Horse_colic hangs on the seed: of seeds 0 to 4 the mean is 0.104 at `a163599` (0.070 to 0.138) and
0.114 at `37efe7e` (0.106 to 0.138); hepatitis is 0.150 for all five.

Seconds of `a163599` are those of the command line, by the clock; later ones are processor time of the grouping alone.
"""


def real(name: str, data: Path, penguins: Path | None) -> Draw:
    """A real table without its classes (a random part of the rows of a large one)."""
    if name.startswith("penguins"):
        path = penguins or Path(str(find_spec("palmerpenguins").origin)).parent / "data" / "penguins.csv"  # type: ignore[union-attr]
        frame, label, dropped = pd.read_csv(path, dtype=str), "species", []
    else:
        frame, label, dropped = pd.read_csv(data / f"{name}.csv.gz", dtype=str), "label", UCI[name]
    if name == "monks":
        frame = frame[frame["problem"] == "1"]
    kept = np.sort(np.random.default_rng(0).choice(len(frame), min(MOST_ROWS, len(frame)), replace=False))
    frame = frame.iloc[kept].reset_index(drop=True)
    groups = np.unique(frame[label], return_inverse=True)[1]
    taken = [label] if name != "penguins_whole" else []  # the file as a user has it, species and all
    frame = frame.drop(columns=[*taken, *[c for c in frame.columns if c.lower().replace(" ", "_") in dropped]])
    return Draw(f"{name}, {frame.shape[0]} × {frame.shape[1]}", frame, groups)


def cases(given: argparse.Namespace) -> dict[str, Callable[[], Draw]]:
    """All tables by name, such as planted/7, without/0 and real/zoo."""
    out: dict[str, Callable[[], Draw]] = {}
    for i in range(PLANTED):
        out[f"planted/{i}"] = lambda i=i: planted(i)  # type: ignore[misc]
    for i in range(WITHOUT):
        out[f"without/{i}"] = lambda i=i: without(i)  # type: ignore[misc]
    names = ["penguins", "penguins_whole"] if given.penguins or find_spec("palmerpenguins") else []
    for name in [*names, *UCI]:
        if name in names or (given.data / f"{name}.csv.gz").exists():
            out[f"real/{name}"] = lambda name=name: real(name, given.data, given.penguins)  # type: ignore[misc]
    wanted = given.only
    return {name: make for name, make in out.items() if not wanted or name in wanted or name.split("/")[0] in wanted}


def grouped(draw: Draw) -> dict[str, Any]:
    """What ``explore`` says of a table: verdict, number of groups, agreement with the true ones, processor seconds."""
    from gramian import AutoClustering
    from gramian.tables import BOOLEAN, CATEGORY, Preparation, read_table, without_copies

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        draw.frame.to_csv(path, index=False)
        table = read_table(path)
    start, n = time.process_time(), len(table.frame)
    kept, place = without_copies((table.frame[name] for name in table.used), n)
    preparation = Preparation().fit(dataclasses.replace(table, frame=table.frame.iloc[kept]))
    X = preparation.transform(table)
    fitted = kept[np.isfinite(X[kept]).any(axis=1)]
    categories = [column.name for column in table.columns if column.kind in (CATEGORY, BOOLEAN)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        choice = AutoClustering(random_state=0).fit(
            X[fitted], feature_columns=preparation.feature_columns_, categorical_columns=categories
        )
    result = {"verdict": choice.verdict_, "groups": choice.n_clusters_}
    result["seconds"] = time.process_time() - start
    if draw.groups is not None:
        labels = np.full(n, -1)  # an empty row has no group
        labels[fitted] = choice.labels_
        result["ari"] = float(adjusted_rand_score(draw.groups, labels[kept[place]]))
    return result


def explored(draw: Draw, package: Path, python: str) -> dict[str, Any]:
    """What the command line says of a table: verdict, number of groups, agreement with the true ones, seconds."""
    environment = os.environ | {"PYTHONPATH": str(package / "src"), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "table.csv", Path(folder) / "out"
        draw.frame.to_csv(path, index=False)
        command = [python, "-m", "gramian", "explore", str(path), "--out", str(out), "--json", "--quiet"]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)
        seconds = time.perf_counter() - start
        if done.returncode:
            return {"verdict": "error", "groups": 0, "seconds": seconds, "error": done.stderr.strip()[-300:]}
        summary = json.loads(done.stdout)
        with (out / "rows.csv").open(newline="", encoding="utf-8") as file:
            labels = [row["group"] for row in csv.DictReader(file)]
    result = {"verdict": summary["verdict"], "groups": len(summary["groups"]), "seconds": seconds}
    if draw.groups is not None:
        result["ari"] = float(adjusted_rand_score(draw.groups, labels))
    return result


def right(result: dict[str, Any]) -> bool:
    """Whether the verdict and the number of groups are those of the design."""
    if result["kind"] == "without":
        return bool(result["verdict"] == "none")
    return bool(result["verdict"] in ("clear", "weak") and result["groups"] == result["true"])


def check(chosen: dict[str, Callable[[], Draw]]) -> int:
    """Print how well the oracle knows the planted groups; fail where it does not."""
    bad = 0
    for name, make in chosen.items():
        if name.startswith("planted/"):
            draw = make()
            agreement, least = draw.recovered
            smallest = float(np.bincount(draw.groups).min() / len(draw.groups))  # type: ignore[arg-type]
            bad += agreement < 0.9 or least < 0.95 or smallest < 0.08 or not 150 <= len(draw.frame) <= 1500
            print(
                f"{name}: {draw.name}: oracle ARI {agreement:.3f}, least {least:.2f}, smallest {smallest:.1%}",
                flush=True,
            )
        else:
            make()
    print(f"{bad} draws are not as they should be")
    return int(bad > 0)


def written(results: list[dict[str, Any]], package: Path, python: str) -> str:
    """The section of one checkout."""
    commit = _said(["git", "-C", str(package), "log", "-1", "--format=%h %s"])
    version = _said([python, "--version"])
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [f"## At {commit.split(' ')[0]}", "", f"{commit.partition(' ')[2]}. {today}, {_machine()}, {version}.", ""]
    lines += ["| | tables | right | mean ARI | median seconds |", "|---|---:|---:|---:|---:|"]
    for kind in KINDS:
        of_kind = [result for result in results if result["kind"] == kind]
        if of_kind:
            agreement = [result.get("ari", 0.0) for result in of_kind]
            share = f"{sum(map(right, of_kind))} of {len(of_kind)}" if kind != "real" else ""
            mean = f"{np.mean(agreement):.3f}" if kind != "without" else ""
            seconds = np.median([result["seconds"] for result in of_kind])
            lines.append(f"| {kind} | {len(of_kind)} | {share} | {mean} | {seconds:.0f} |")
    lines += ["", "| table | | true | found | verdict | right | ARI |", "|---|---|---:|---:|---|---|---:|"]
    for result in results:
        mark = ("yes" if right(result) else "no") if result["kind"] != "real" else ""
        ari = f"{result['ari']:.2f}" if "ari" in result else ""
        cells = (result["case"], result["name"], result["true"], result["groups"], result["verdict"], mark, ari)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _store(section: str, path: Path) -> None:
    """Put the section in place of the one of the same commit, or behind the others."""
    text = path.read_text("utf-8") if path.exists() else PREAMBLE
    preamble, *sections = re.split(r"(?m)^(?=## )", text)
    title = section.splitlines()[0]
    kept = [old for old in sections if old.splitlines()[0] != title]
    path.write_text("\n".join(part.strip() + "\n" for part in (preamble, *kept, section)), "utf-8")


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _machine() -> str:
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text()) if sys.platform == "linux" else None
    return f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} cores"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixed_tables", description="Groups in mixed tables.")
    parser.add_argument("--command-line", action="store_true", help="run the command line for every table")
    parser.add_argument("--package-path", type=Path, default=ROOT, help="checkout whose command line it is")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs it")
    parser.add_argument("--only", nargs="*", default=[], help="such as planted, without/3 or real/zoo; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="tables at the same time")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the tables of UCI")
    parser.add_argument("--penguins", type=Path, help="penguins.csv of palmerpenguins, if that is not installed")
    parser.add_argument("--log", type=Path, help="lines of JSON: tables found in it are not run again")
    parser.add_argument("--out", type=Path, default=TABLE, help="table to write")
    parser.add_argument("--check", action="store_true", help="verify that an oracle finds the planted groups")
    given = parser.parse_args(arguments)
    chosen = cases(given)
    if given.check:
        return check(chosen)
    known = (
        [json.loads(line) for line in given.log.read_text().splitlines()] if given.log and given.log.exists() else []
    )
    results = {result["case"]: result for result in known}

    def run(name: str) -> None:
        draw = chosen[name]()
        result = {"case": name, "kind": name.split("/")[0], "name": draw.name, "true": draw.count}
        if given.command_line:
            results[name] = result | explored(draw, given.package_path.resolve(), given.python)
        else:
            results[name] = result | grouped(draw)
        print(json.dumps(results[name]), flush=True)
        if given.log:
            with given.log.open("a") as file:
                file.write(json.dumps(results[name]) + "\n")

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(run, [name for name in chosen if name not in results]))
    section = written([results[name] for name in chosen], given.package_path.resolve(), given.python)
    _store(section, given.out)
    print(section)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
