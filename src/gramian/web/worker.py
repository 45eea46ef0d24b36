"""The work of one job in a process of its own: ``python -m gramian.web.worker JOB_FOLDER [BYTES]``.

The folder holds ``job.json`` and the file; what is to be done with it stands in :mod:`gramian.web.kinds`. What is being
done is written to ``progress.json``, the results to ``result``, which appears whole or not at all. The exit code says
how it ended. The process ends itself when the one that started it is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

NOTES, PROGRESS, RESULT, LOG = "job.json", "progress.json", "result", "log.txt"
DONE, BAD_INPUT, NO_MEMORY = 0, 2, 3
"""Exit codes; with ``BAD_INPUT`` the progress has an ``error``, one line for people."""

_READING, _WRITING = 0.05, 0.95  # parts of the bar
_NICE = 10

Notify = Callable[[str, float], None]
Work = Callable[[Path, dict[str, Any], Notify], None]


def write_json(path: Path, value: Any) -> None:
    """A file that appears complete or not at all."""
    draft = path.with_name(f".{path.name}.part")
    draft.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    os.replace(draft, path)


def do_job(folder: Path, job: dict[str, Any], notify: Notify) -> None:
    """Read the file of a job, do with it what its kind says and write the results."""
    from gramian.web.kinds import KINDS

    notify("reading", 0.0)
    kind, path = KINDS[job["kind"]], folder / job["table"]

    def told(stage: str, done: float) -> None:
        notify(stage or "writing", _READING + done * (_WRITING - _READING))

    try:
        outcome = kind.run(path, job["name"], kind.read(job["settings"]), told)
    except ValueError as error:
        # The file has a name of our own; people know it by theirs.
        text = str(error)
        raise ValueError(job["name"] + text.removeprefix(path.name) if text.startswith(path.name) else text) from error
    outcome.save(folder / RESULT, force=True)


def main(arguments: Sequence[str], work: Work = do_job) -> int:
    """Do the work of a job folder, and say by the exit code how it went."""
    folder = Path(arguments[0])
    if len(arguments) > 1:
        _limit(int(arguments[1]))
    _end_with_parent()
    stages: list[dict[str, Any]] = []

    def notify(stage: str, done: float) -> None:
        if not stages or stages[-1]["name"] != stage:
            stages.append({"name": stage, "since": time.time()})
        write_json(folder / PROGRESS, {"stage": stage, "done": done, "stages": stages})

    from gramian.configuration import MemoryBudgetError

    try:
        work(folder, json.loads((folder / NOTES).read_text("utf-8")), notify)
    except (ValueError, OSError, MemoryBudgetError, ModuleNotFoundError) as error:  # torch may be missing
        traceback.print_exc()
        line = " ".join(str(error).split())
        write_json(folder / PROGRESS, {"stages": stages, "error": line})
        return BAD_INPUT
    except MemoryError:
        # Nothing is written here: there may be no memory to write with.
        return NO_MEMORY
    return DONE


def _limit(n_bytes: int) -> None:
    """Step behind other processes, and refuse memory beyond the limit."""
    import resource

    from gramian.configuration import config

    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    except (ValueError, OSError) as error:  # macOS refuses; the budget below still holds
        print(f"no limit on memory: {error}", file=sys.stderr)
    config(memory_budget=n_bytes // 4)


def _end_with_parent() -> None:
    """End when standard input ends: whoever started this holds the other end as long as it lives."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
