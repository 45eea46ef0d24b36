"""Explorations on disk and the processes that make them: one at a time, the others wait.

Every job has a folder of its own, named by 32 random hexadecimal digits: ``job.json``, the table, ``progress.json``
and ``log.txt`` of its process, and at the end ``result``. Only this module changes ``job.json``. What is on disk is all
there is: a new server on the same folder goes on where the last one ended, however that was. The oldest jobs are
deleted when there are too many of them or they take too much of the disk.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any

from gramian.checks import whole
from gramian.web.kinds import EXPLORE, KINDS, Kind
from gramian.web.worker import BAD_INPUT, DONE, LOG, NO_MEMORY, NOTES, PROGRESS, RESULT, write_json

WAITING, RUNNING, FINISHED = "waiting", "running", "done"
FAILED, CANCELLED, INTERRUPTED = "failed", "cancelled", "interrupted"
WORKER = (sys.executable, "-P", "-m", "gramian.web.worker")

_ID = re.compile(r"[0-9a-f]{32}")
_SUMMARY = "summary.json"
_TICK = 0.05  # seconds between looks at a running process
_log = logging.getLogger(__name__)


class UnknownJob(LookupError):
    """There is no such job."""


class WrongMoment(RuntimeError):
    """The job is not in a state for that."""


class NoRoom(RuntimeError):
    """Too many jobs are waiting, or their tables take too much of the disk."""


@dataclass(frozen=True)
class Job:
    """One exploration, as ``job.json`` has it.

    Attributes
    ----------
    id : str
    name : str
        Of the file, for people.
    table : str
        Name of the file in the folder of the job.
    kind : str
        Of the work, a name in ``KINDS``.
    settings : dict
        What its kind reads.
    state : str
    message : str
        What went wrong, in one line.
    created, queued, started, ended : float
        Seconds since 1970; 0 for not yet.
    found : dict
        What its kind remembers, and the first sentence of the overview, once it is done.
    """

    id: str
    name: str
    table: str
    kind: str = EXPLORE
    settings: dict[str, Any] = field(default_factory=dict)
    state: str = WAITING
    message: str = ""
    created: float = 0.0
    queued: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def work(self) -> Kind:
        return KINDS[self.kind]


def _files_of(folder: Path) -> dict[tuple[int, int], int]:
    """Bytes of the files in a folder, each under the number it has on the disk."""
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(above, name))
            except FileNotFoundError:
                continue  # a draft that has just been moved
            found[status.st_dev, status.st_ino] = status.st_size
    return found


class Jobs:
    """The jobs of a folder, and the thread that runs them one after the other.

    Parameters
    ----------
    folder : Path
        Made if it is missing. One server at a time uses it.
    time_limit : float
        Seconds for one exploration.
    memory_limit : int
        Bytes of address space for one exploration.
    keep, keep_bytes : int
        How many jobs that have ended are kept, and how many bytes of them; the newest one always is. As many may wait.
    worker : sequence of str
        The command that gets the folder of a job and the memory limit.
    """

    def __init__(
        self,
        folder: Path,
        *,
        time_limit: float,
        memory_limit: int,
        keep: int = 100,
        keep_bytes: int = 10**10,
        worker: Sequence[str] = WORKER,
    ) -> None:
        self.folder = folder.resolve()
        self.keep, self.keep_bytes = whole(keep, "keep"), whole(keep_bytes, "keep_bytes")
        self.time_limit, self.memory_limit, self.worker = time_limit, memory_limit, worker
        self._jobs: dict[str, Job] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._cancelled: str | None = None  # the running job, once somebody asked to stop it
        self._thread: threading.Thread | None = None
        self._lock: IO[str] | None = None

    # Life of the queue -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Take the folder, find the jobs in it and begin to work; once is enough."""
        if self._thread is not None:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (self.folder / ".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            line = f"{self.folder} is used by another gramian serve; stop it or pass another folder"
            raise ValueError(line) from error
        for entry in self.folder.iterdir():
            if entry.name.startswith((".new-", ".gone-")):
                shutil.rmtree(entry, ignore_errors=True)
            elif _ID.fullmatch(entry.name) and entry.is_dir():
                self._jobs[entry.name] = self._recovered(entry)
        self._expire()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="explorations", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the running job, which is then interrupted, and leave the folder. Waiting jobs go on waiting."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._lock is not None:
            self._lock.close()

    def _recovered(self, folder: Path) -> Job:
        known = {item.name for item in fields(Job)}
        try:
            notes = json.loads((folder / NOTES).read_text("utf-8"))
            job = Job(**{name: value for name, value in notes.items() if name in known} | {"id": folder.name})
            job.work.read(job.settings)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return Job(folder.name, "damaged", "", state=FAILED, message=f"its {NOTES} cannot be read; delete it")
        if job.state != RUNNING:
            return job
        if (folder / RESULT / _SUMMARY).exists():  # the server ended between the result and the note of it
            return self._noted(self._done(job))
        return self._noted(
            replace(job, state=INTERRUPTED, message="the server ended while this was running; start it again")
        )

    # Questions -------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Job]:
        """All jobs, newest first."""
        with self._changed:
            return iter(sorted(self._jobs.values(), key=lambda job: -job.created))

    def __getitem__(self, id: str) -> Job:
        with self._changed:
            try:
                return self._jobs[id]
            except KeyError:
                raise UnknownJob("there is no such exploration; it may have been deleted") from None

    def path(self, job: Job) -> Path:
        return self.folder / job.id

    def position(self, job: Job) -> int:
        """How many jobs come before a waiting one."""
        with self._changed:
            others = self._jobs.values()
            running = sum(other.state == RUNNING for other in others)
            return running + sum(other.state == WAITING and other.queued < job.queued for other in others)

    def progress(self, job: Job) -> dict[str, Any]:
        """Stage, part of the work that is done, and the stages so far with their beginnings."""
        try:
            found: dict[str, Any] = json.loads((self.path(job) / PROGRESS).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def size(self, job: Job) -> int:
        """Bytes on disk; a table that several jobs share counts in parts."""
        total = 0.0
        for folder, _, names in os.walk(self.path(job)):
            for name in names:
                try:
                    status = os.lstat(os.path.join(folder, name))
                except FileNotFoundError:
                    continue  # a draft that has just been moved
                total += status.st_size / max(status.st_nlink, 1)
        return round(total)

    # Changes ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A folder to put the table of a new job into; cleared away unless the job is added."""
        folder = self.folder / f".new-{secrets.token_hex(16)}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def add(
        self,
        draft: Path,
        *,
        name: str,
        table: str,
        kind: str = EXPLORE,
        settings: dict[str, Any] | None = None,
    ) -> Job:
        """Turn a draft into a job that waits, if there is room."""
        now = time.time()
        id = secrets.token_hex(16)
        job = Job(id, name, table, kind, settings or {}, created=now, queued=now)
        write_json(draft / NOTES, asdict(job))
        with self._changed:
            self._check_room(draft)
            draft.rename(self.path(job))
            self._jobs[job.id] = job
            self._changed.notify_all()
        return job

    def again(self, id: str, clusters: int | None) -> Job:
        """A new job on the table of another one, with another number of groups."""
        job = self[id]
        if not job.work.again:
            raise WrongMoment("the number of groups of this exploration cannot be changed")
        with self.draft() as draft:
            source = self._table(job)
            try:
                os.link(source, draft / job.table)
            except OSError:  # not on every file system
                shutil.copyfile(source, draft / job.table)
            settings = job.settings | {"clusters": clusters}
            return self.add(draft, name=job.name, table=job.table, kind=job.kind, settings=settings)

    def restart(self, id: str) -> Job:
        """Let a job wait that did not come to its end."""
        with self._changed:
            job = self[id]
            if job.state not in (FAILED, CANCELLED, INTERRUPTED):
                raise WrongMoment(
                    f"this exploration is {job.state}; only one that failed or was stopped can be started again"
                )
            self._table(job)
            (self.path(job) / PROGRESS).unlink(missing_ok=True)
            job = self._noted(replace(job, state=WAITING, message="", queued=time.time(), started=0.0, ended=0.0))
            self._changed.notify_all()
            return job

    def cancel(self, id: str) -> Job:
        """Stop a running job or take a waiting one out of the queue."""
        with self._changed:
            job = self[id]
            if job.state == WAITING:
                return self._noted(replace(job, state=CANCELLED, message="cancelled", ended=time.time()))
            if job.state != RUNNING:
                raise WrongMoment(f"this exploration is {job.state}; there is nothing to cancel")
            self._cancelled = id
            return job

    def delete(self, id: str) -> None:
        """Forget a job and everything it wrote."""
        with self._changed:
            job = self[id]
            if job.state == RUNNING:
                raise WrongMoment("this exploration is running; cancel it first")
            gone = self.folder / f".gone-{secrets.token_hex(16)}"
            self.path(job).rename(gone)
            del self._jobs[id]
        shutil.rmtree(gone, ignore_errors=True)

    def _check_room(self, draft: Path) -> None:
        waiting = [job for job in self._jobs.values() if job.state == WAITING]
        files: dict[tuple[int, int], int] = {}
        for folder in (draft, *map(self.path, waiting)):
            files |= _files_of(folder)
        if waiting and (len(waiting) >= self.keep or sum(files.values()) > self.keep_bytes):
            raise NoRoom(
                f"{len(waiting)} explorations are waiting, and there is no room for more; try again when they have "
                "ended, or serve with a larger --keep or --keep-size"
            )

    def _expire(self) -> None:
        """Delete the oldest jobs that have ended, down to the limits."""
        with self._changed:
            ended = [job for job in self._jobs.values() if job.state not in (WAITING, RUNNING)]
            ended.sort(key=lambda job: max(job.ended, job.created), reverse=True)
            files: dict[tuple[int, int], int] = {}  # tables that several jobs share count once
            for place, job in enumerate(ended):
                files |= _files_of(self.path(job))
                if place and (place >= self.keep or sum(files.values()) > self.keep_bytes):
                    try:
                        self.delete(job.id)
                    except OSError:
                        _log.warning("%s could not be deleted", job.id, exc_info=True)

    def _table(self, job: Job) -> Path:
        path = self.path(job) / job.table
        if not job.table or not path.is_file():
            raise WrongMoment("the table of this exploration is gone; upload it again")
        return path

    def _noted(self, job: Job) -> Job:
        """Remember a job, and write it down if the disk lets us."""
        with self._changed:
            self._jobs[job.id] = job
        try:
            write_json(self.path(job) / NOTES, asdict(job))
        except OSError:
            _log.warning("%s of %s could not be written", NOTES, job.id, exc_info=True)
        return job

    # Work ------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                ended = self._worked(job)
            except Exception as error:  # no process, no disk, a damaged result: the queue goes on
                _log.exception("exploration %s", job.id)
                ended = replace(job, state=FAILED, message=f"it could not be run ({error}); start it again")
            for part in self.path(job).glob(f".{RESULT}.*.part"):
                shutil.rmtree(part, ignore_errors=True)
            self._noted(replace(ended, ended=time.time()))
            self._expire()

    def _next(self) -> Job | None:
        with self._changed:
            while not self._stopping:
                waiting = [job for job in self._jobs.values() if job.state == WAITING]
                if waiting:
                    self._cancelled = None
                    first = min(waiting, key=lambda job: job.queued)
                    return self._noted(replace(first, state=RUNNING, started=time.time()))
                self._changed.wait()
        return None

    def _worked(self, job: Job) -> Job:
        folder = self.path(job)
        deadline = time.monotonic() + self.time_limit
        # Address space counts, not use: pools that reserve much of it in advance would leave little for the work.
        environment = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
        with (folder / LOG).open("wb") as log:
            process = subprocess.Popen(
                [*self.worker, str(folder), str(self.memory_limit)],
                cwd=folder,
                stdin=subprocess.PIPE,  # its end tells the worker that this process is gone
                stdout=log,
                stderr=log,
                env=os.environ | environment,
                start_new_session=True,
            )
        assert process.stdin is not None
        with process.stdin:
            while True:
                try:
                    return self._outcome(job, process.wait(_TICK))
                except subprocess.TimeoutExpired:
                    reason = self._reason_to_stop(job, deadline)
                if reason is not None:
                    # Not waited for yet, so the number is still that of our process and its group.
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    return reason

    def _reason_to_stop(self, job: Job, deadline: float) -> Job | None:
        with self._changed:
            if self._cancelled == job.id:
                return replace(job, state=CANCELLED, message="cancelled")
            if self._stopping:
                return replace(job, state=INTERRUPTED, message="the server was stopped; start this again")
        if time.monotonic() > deadline:
            limit = f"{self.time_limit / 60:.3g} minutes" if self.time_limit >= 60 else f"{self.time_limit:.3g} seconds"
            less = f"take fewer {job.work.unit}, or serve with a larger --time-limit"
            text = f"stopped after {limit}, the time limit; {less}"
            return replace(job, state=FAILED, message=text)
        return None

    def _outcome(self, job: Job, code: int) -> Job:
        """What the exit code of the worker means."""
        limit = f"{self.memory_limit / 2**30:.3g} GiB"
        if code == DONE and (self.path(job) / RESULT / _SUMMARY).exists():
            return self._done(job)
        if code == BAD_INPUT:
            return replace(job, state=FAILED, message=str(self.progress(job).get("error", "the table is not usable")))
        if code == NO_MEMORY:
            less = f"take fewer {job.work.unit}, or serve with a larger --memory-limit"
            text = f"out of memory: it needs more than {limit}; {less}"
            return replace(job, state=FAILED, message=text)
        if code < 0:
            why = f"{signal.strsignal(-code)}, perhaps for want of memory: the limit is {limit}"
            text = f"its process was ended from outside or crashed ({why}); start it again"
            return replace(job, state=FAILED, message=text)
        lines = (self.path(job) / LOG).read_text("utf-8", "replace").split("\n")
        last = next((line.strip()[:200] for line in reversed(lines) if line.strip()), f"exit code {code}")
        return replace(job, state=FAILED, message=f"the exploration broke down ({last}); {LOG} has the details")

    def _done(self, job: Job) -> Job:
        summary = json.loads((self.path(job) / RESULT / _SUMMARY).read_text("utf-8"))
        found = {"sentence": next(iter(summary["overview"]), "")}
        return replace(job, state=FINISHED, message="", found=job.work.found(summary) | found)
