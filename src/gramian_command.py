"""The program ``gramian``: a door before :mod:`gramian.cli` that is quiet when Ctrl-C comes while the library loads.

It lies beside the package, so that it runs before anything of the library is imported.
"""

from __future__ import annotations

import os
import signal

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it."""
    # Nothing has begun yet, so there is nothing to clean up.
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from gramian.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
