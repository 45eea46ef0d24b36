"""A worker that does what its table says, under the limits and rules of the real one."""

import json
import os
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    # The package without what it loads: that takes a second, and none of it is needed here.
    bare = ModuleType("gramian")
    bare.__path__ = list(find_spec("gramian").submodule_search_locations)
    sys.modules["gramian"] = bare

from gramian.web import worker


def work(folder, job, notify):
    told = (folder / job["table"]).read_text().split()
    (folder / "pid").write_text(str(os.getpid()))
    notify("reading", 0.0)
    if "wait" in told:
        notify("comparing rows", 0.3)
        while not (folder / "go").exists():
            time.sleep(0.01)
    if "refuse" in told:
        raise ValueError("table.csv, row 7:\nnot to my taste; cook it longer")
    if "break" in told:
        raise TypeError("a fault of our own")
    if "crash" in told:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "hoard" in told:
        hoard = []
        while True:
            hoard.append(bytearray(1 << 26))
    if "nothing" in told:
        return
    draft = folder / "draft"
    draft.mkdir()
    for name in ("report.html", "rows.csv", "model.gramian", "map.png"):
        (draft / name).write_text(f"{name} of {job['name']}")
    n = job["settings"].get("clusters") or 1
    found = {"rows": 3, "groups": [{}] * n, "nodes": 3, "number_of_communities": n, "target": "y"}
    found |= {"overview": ["It is a fake."]}  # a verdict has not every kind
    (draft / "summary.json").write_text(json.dumps(found))
    draft.rename(folder / "result")


if __name__ == "__main__":
    Path(sys.argv[1]).joinpath("nice").write_text(str(os.nice(0)))
    sys.exit(worker.main(sys.argv[1:], work))
