"""Break modules on purpose and see whether their own tests notice.

    python scripts/mutants.py                      # every module, three breaks each
    python scripts/mutants.py grams/solve.py -n 8  # one module, eight breaks

A break turns + into −, · into /, < into >=, == into !=, or a number into another one, at places spread over the
file. It is made in a copy of the package; only the test file of the same name runs on it. Prints the breaks that
no test noticed. Not every one of them is a gap: some change nothing that can be seen, a speed or a chunk length.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "gramian"

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def places(tree: ast.Module) -> list[ast.AST]:
    """Nodes inside functions that can be broken."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
    good = [node for node in inside.values() if _breakable(node)]
    return sorted(good, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def _breakable(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=op):
            texts = (ast.JoinedStr, ast.Constant)
            return type(op) in SWAPS and not (isinstance(node.left, texts) or isinstance(node.right, ast.JoinedStr))
        case ast.BoolOp():
            return True
        case ast.Compare(ops=[op]):
            return type(op) in SWAPS
    return False


def broken(node: ast.AST) -> None:
    """Break one node in place."""
    match node:
        case ast.BinOp() | ast.BoolOp():
            node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        case ast.Compare():
            node.ops = [SWAPS[type(node.ops[0])]()]


def mutants(module: Path, count: int) -> Iterator[tuple[int, str]]:
    """Line and text of the module with one place broken, ``count`` times."""
    text = module.read_text()
    n_places = len(places(ast.parse(text)))
    for which in sorted({round(i * (n_places - 1) / max(1, count - 1)) for i in range(min(count, n_places))}):
        tree = ast.parse(text)
        node = places(tree)[which]
        broken(node)
        yield getattr(node, "lineno", 0), ast.unparse(tree)


def survivors(module: str, count: int) -> tuple[int, list[int]]:
    """How many breaks were tried, and the lines of those that no test noticed."""
    path = Path(module)
    tests = ROOT / "tests" / path.parent / f"test_{path.name.removeprefix('_')}"
    missed, tried = [], 0
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(SOURCE, Path(copy, "gramian"), ignore=shutil.ignore_patterns("__pycache__"))
        env = os.environ | {"PYTHONPATH": copy, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider", str(tests)]
        if subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=False).returncode:
            raise SystemExit(f"{tests.relative_to(ROOT)} is missing or fails before anything is broken")
        for line, text in mutants(SOURCE / path, count):
            tried += 1
            Path(copy, "gramian", path).write_text(text)
            try:
                done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=False, timeout=300)
                noticed = done.returncode != 0
            except subprocess.TimeoutExpired:
                noticed = True
            if not noticed:
                missed.append(line)
    return tried, missed


def main() -> int:
    parser = argparse.ArgumentParser(description="Break modules on purpose and see whether their own tests notice.")
    parser.add_argument("modules", nargs="*", help="paths below src/gramian; by default all")
    parser.add_argument("-n", type=int, default=3, help="breaks per module")
    options = parser.parse_args()
    every = (path for path in SOURCE.rglob("*.py") if path.name not in ("__init__.py", "typing.py"))
    modules = options.modules or sorted(str(path.relative_to(SOURCE)) for path in every)
    blind = 0
    for module in modules:
        tried, missed = survivors(module, options.n)
        blind += tried > 0 and len(missed) == tried
        lines = f"  unnoticed at {', '.join(map(str, missed))}" if missed else ""
        print(f"{tried - len(missed)} of {tried}  {module}{lines}", flush=True)
    return int(blind > 0)


if __name__ == "__main__":
    sys.exit(main())
