"""``gramian`` on the command line: explore, learn, network, forecast, cluster-images, and answers for new rows.

Every file holds the commands of one kind; :mod:`gramian.cli.terminal` holds what they share. Commands are listed in
the help in the order in which the files are imported here.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

import gramian
from gramian.cli.terminal import INTERRUPTED, app

# isort: off
# The order of the help.
from gramian.cli import tables  # noqa: F401
from gramian.cli import networks  # noqa: F401
from gramian.cli import series  # noqa: F401
from gramian.cli import images  # noqa: F401
from gramian.cli import rows  # noqa: F401
from gramian.cli import services  # noqa: F401
# isort: on

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; errors are one line."""
    # A polite kill ends like Ctrl-C: nothing half-written stays.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _version(asked: bool) -> None:
    if asked:
        print(f"gramian {gramian.__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
