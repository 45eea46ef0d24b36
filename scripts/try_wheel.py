"""Build the wheel and use it as a newcomer would: ``python scripts/try_wheel.py python3.11 python3.12``.

For each Python a fresh environment gets the wheel without extras, where the commands must name the extra they miss, and
then with ``app``, where ``gramian explore`` must write its page. Needs ``build`` here, and an index for pip.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

LARGEST_MB = 3.0


def output(*command: str | Path, fails: bool = False) -> str:
    """What a command prints; it must succeed, or fail where that is expected."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def built_wheel(folder: Path) -> Path:
    """The wheel, made from the source archive as an index would get it."""
    output(sys.executable, "-m", "build", "--outdir", folder, Path(__file__).parents[1])
    (wheel,) = folder.glob("*.whl")
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.1f} MB")
    if size > LARGEST_MB:
        sys.exit(f"the wheel is larger than {LARGEST_MB} MB")
    return wheel


def try_with(python: str, wheel: Path, folder: Path) -> None:
    """Install and run under one Python."""
    output(python, "-m", "venv", folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    install = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    output(*install, wheel)
    version = output(programs / "gramian", "--version").strip()
    if wheel.name.split("-")[1] not in version:
        sys.exit(f"gramian --version prints {version!r}, and the wheel is {wheel.name}")
    missing = output(programs / "gramian", "explore", "--out", folder / "report", fails=True)
    if "gramian[app]" not in " ".join(missing.split()):
        sys.exit(f"without extras, gramian explore does not name gramian[app]: {missing}")
    example = "from gramian import SpectralClustering as S; from gramian.datasets import load_table as t; "
    output(programs / "python", "-c", example + "S(3, random_state=0).fit(t('wine').X)")
    output(*install, f"{wheel}[app]")
    output(programs / "gramian", "explore", "--out", folder / "report")
    if not list((folder / "report").glob("*.html")):
        sys.exit("gramian explore wrote no page")
    print(f"{python}: {version}, without extras and with app")


def main() -> None:
    """Try every Python named on the command line, or this one."""
    with tempfile.TemporaryDirectory() as name:
        wheel = built_wheel(Path(name))
        for number, python in enumerate(sys.argv[1:] or [sys.executable]):
            try_with(python, wheel, Path(name) / f"environment{number}")


if __name__ == "__main__":
    main()
