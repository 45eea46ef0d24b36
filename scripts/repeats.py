"""Which passages stand twice in the package? Count runs of six or more lines that are the same in two places.

    python scripts/repeats.py              # this checkout
    python scripts/repeats.py other/src    # another one

Blank lines, comments and imports are passed over, and indentation does not count. A run is as long as it can be; a
passage that stands three times is three pairs of places. Docstrings and the heads of functions (from ``def`` to the
colon) repeat where interfaces do; "code" counts the runs of six lines without them. ``--list`` prints the places.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

LEAST = 6
Line = tuple[str, int, str]  # file, number, text


def lines(path: Path, *, code: bool) -> Iterator[Line]:
    """Lines that count, in order; with ``code`` without docstrings and heads of functions."""
    text = path.read_text()
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        first = last = 0
        match node:
            case ast.Import() | ast.ImportFrom():
                first, last = node.lineno, node.end_lineno or 0
            case ast.Expr(value=ast.Constant(value=str())) if code:
                first, last = node.lineno, node.end_lineno or 0
            case ast.FunctionDef() | ast.AsyncFunctionDef() if code:
                first, last = node.lineno, node.body[0].lineno - 1
        left_out.update(range(first, last + 1))
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split())
        if words and not words.startswith("#") and number not in left_out:
            yield str(path), number, words


def runs(files: list[list[Line]]) -> Iterator[tuple[Line, Line, int]]:
    """Where two runs begin, and how many lines they share."""
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for f, file in enumerate(files):
        for i in range(len(file) - LEAST + 1):
            places[tuple(text for _, _, text in file[i : i + LEAST])].append((f, i))
    same = {pair for found in places.values() for pair in combinations(found, 2)}
    for (f, i), (g, j) in sorted(same):
        if ((f, i - 1), (g, j - 1)) in same:
            continue  # part of a run that begins earlier
        length = LEAST
        while ((f, i + length - LEAST + 1), (g, j + length - LEAST + 1)) in same:
            length += 1
        yield files[f][i], files[g][j], length


def main(arguments: list[str]) -> None:
    folders = [argument for argument in arguments if argument != "--list"]
    root = Path(folders[0]) if folders else Path(__file__).parent.parent / "src"
    for code in (False, True):
        files = [list(lines(path, code=code)) for path in sorted(root.rglob("*.py"))]
        found = sorted(runs(files), key=lambda run: -run[2])
        total = sum(map(len, files))
        print(f"{len(found)} pairs of places with {LEAST} or more equal lines of {total} lines{' of code' * code}")
        if "--list" in arguments:
            for (file, line, _), (other, other_line, _), length in found:
                print(
                    f"  {length:3} {Path(file).relative_to(root)}:{line} {Path(other).relative_to(root)}:{other_line}"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
