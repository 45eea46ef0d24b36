"""The application: routes of the page, of jobs and of their results.

No path from a client is opened. Jobs are looked up by identifiers this server made, tables and files by name in fixed
lists, uploads get names of our own. Every error is ``{"detail": "one line"}``.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gramian.datasets import list_tables, load_table
from gramian.report import INK, PAPER, REPORT, css_variables
from gramian.web.guard import PATIENCE, UPLOADS, Guard
from gramian.web.jobs import FINISHED, WAITING, WORKER, Job, Jobs, NoRoom, UnknownJob, WrongMoment
from gramian.web.kinds import EXPLORE, KINDS, MOST
from gramian.web.query import rows_like
from gramian.web.upload import Form
from gramian.web.worker import LOG, RESULT

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".gramian": "application/octet-stream",
}
# A report shows what strangers wrote into a table. It draws, and can do nothing else in the name of this server.
_ALONE = "sandbox allow-scripts; frame-ancestors 'self'"
_ANSWER = "label"  # column of the bundled tables that has the known classes

routes = APIRouter()


def create_app(
    folder: Path,
    *,
    max_bytes: int = 200_000_000,
    time_limit: float = 1800,
    memory_limit: int = 6 * 2**30,
    keep: int = 100,
    keep_bytes: int = 10**10,
    patience: float = PATIENCE,
    hosts: Sequence[str] = (),
    worker: Sequence[str] = WORKER,
) -> FastAPI:
    """The application on a folder of jobs.

    Parameters
    ----------
    folder : Path
        Where tables and results are kept; made if it is missing.
    max_bytes : int
        Of an uploaded table.
    time_limit : float
        Seconds for one exploration.
    memory_limit : int
        Bytes of address space for one exploration.
    keep, keep_bytes : int
        How many explorations that have ended are kept, and how many bytes of them; the oldest are deleted first.
    patience : float
        Seconds that an upload may stop in the middle.
    hosts : sequence of str
        Names and addresses, beside those of this machine itself, that browsers may use for it.
    worker : sequence of str
        The command that works on a job.

    Returns
    -------
    app : FastAPI
        The jobs are in ``app.state.jobs``; they are worked on while the application runs.
    """
    if os.name != "posix":
        raise OSError("gramian serve needs Linux or macOS, for limits on its processes; use gramian explore instead")
    limits = {"keep": keep, "keep_bytes": keep_bytes}
    jobs = Jobs(folder, time_limit=time_limit, memory_limit=memory_limit, worker=worker, **limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        jobs.open()
        try:
            yield
        finally:
            await run_in_threadpool(jobs.close)

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.jobs, app.state.max_bytes = jobs, max_bytes
    app.include_router(routes)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnknownJob, _unknown)
    app.add_exception_handler(WrongMoment, _wrong_moment)
    app.add_exception_handler(NoRoom, _no_room)
    app.add_exception_handler(OSError, _not_written)
    names = {f"[{host}]" if ":" in host else host.lower() for host in ("localhost", "127.0.0.1", "::1", *hosts)}
    app.add_middleware(Guard, hosts=names, max_bytes=max_bytes, patience=patience)
    return app


# Errors, in one line -------------------------------------------------------------------------------------------------


def _line(status: int, text: str) -> JSONResponse:
    return JSONResponse({"detail": " ".join(text.split())}, status)


def _first_fault(error: RequestValidationError) -> str:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"] if part not in ("body", "query"))
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _line(422, _first_fault(error))


def _unknown(_: Request, error: Exception) -> Response:
    return _line(404, str(error))


def _wrong_moment(_: Request, error: Exception) -> Response:
    return _line(409, str(error))


def _no_room(_: Request, error: Exception) -> Response:
    return _line(507, str(error))


def _not_written(_: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _line(507, "the disk of the server is full; delete explorations")
    return _line(500, f"the server could not write or read a file ({error.strerror}); see that its folder is there")


# The page ------------------------------------------------------------------------------------------------------------


@cache
def _static(name: str) -> bytes:
    return (files("gramian.web") / "static" / name).read_bytes()


@cache
def _style() -> bytes:
    """The style sheet, with the colours of the reports in front."""
    light, dark = (f"--ink:{INK[theme]};--paper:{PAPER[theme]};{css_variables(theme)}" for theme in ("light", "dark"))
    colours = f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    return colours.encode() + _static("page.css")


@routes.get("/")
def page() -> Response:
    return Response(_static("index.html"), media_type="text/html")


@routes.get("/page.css")
def style() -> Response:
    return Response(_style(), media_type="text/css")


@routes.get("/page.js")
def script() -> Response:
    return Response(_static("page.js"), media_type="text/javascript")


# Jobs ----------------------------------------------------------------------------------------------------------------


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


AllJobs = Annotated[Jobs, Depends(_jobs)]


def _told(jobs: Jobs, job: Job) -> dict[str, Any]:
    """A job as the page gets it."""
    told = {name: getattr(job, name) for name in ("id", "name", "kind", "state", "message", "found")}
    told["asked"] = job.work.told(job.settings)
    told |= {name: getattr(job, name) for name in ("created", "started", "ended")}
    told["size"] = jobs.size(job)
    if job.state == WAITING:
        told["before"] = jobs.position(job)
    if job.state != FINISHED:
        told["progress"] = jobs.progress(job)
    return told


@cache
def _bundled() -> list[dict[str, str]]:
    return [{"name": name, "title": load_table(name).description.split(". Source:")[0]} for name in list_tables()]


@routes.get("/api/tables")
def bundled_tables() -> list[dict[str, str]]:
    return _bundled()


@routes.get("/api/kinds")
def kinds() -> list[dict[str, Any]]:
    """What files can be uploaded for, in the order of the page."""
    return [{"name": name} | kind.described() for name, kind in KINDS.items()]


@routes.get("/api/jobs")
def all_jobs(jobs: AllJobs, request: Request) -> dict[str, Any]:
    return {"jobs": [_told(jobs, job) for job in jobs], "max_bytes": request.app.state.max_bytes}


def _settings(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    if kind not in KINDS:
        raise HTTPException(422, f"kind: there is no {kind[:40]!r}; take one of {', '.join(KINDS)}")
    try:
        return KINDS[kind].read(given)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


@routes.post("/api/jobs", status_code=201)
def explore_bundled(jobs: AllJobs, order: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
    known = {name: name for name in list_tables()}
    wanted = str(order.pop("table", ""))
    if wanted not in known:
        raise HTTPException(422, f"there is no example {wanted[:40]!r}; take one of {', '.join(known)}")
    name = known[wanted]
    settings = _settings(EXPLORE, order)
    # Groups are to be found, not read off.
    settings["ignore"] = list(dict.fromkeys([*settings["ignore"], _ANSWER]))
    with jobs.draft() as draft, as_file(files("gramian.datasets") / "data" / f"{name}.csv.gz") as path:
        shutil.copyfile(path, draft / "table.csv.gz")
        return _told(jobs, jobs.add(draft, name=name, table="table.csv.gz", settings=settings))


@routes.post(UPLOADS, status_code=201)
async def upload(jobs: AllJobs, request: Request) -> Any:
    with jobs.draft() as draft:
        form = Form(request.headers.get("content-type", ""), draft, request.app.state.max_bytes)
        try:
            await form.read(request.stream())
        except ClientDisconnect:
            return _line(400, "the upload was broken off")  # nobody is there to read it
        kind = form.fields.pop("kind", EXPLORE)
        settings = _settings(kind, form.fields)
        return _told(jobs, jobs.add(draft, name=form.name, table=form.table, kind=kind, settings=settings))


@routes.get("/api/jobs/{id}")
def one_job(jobs: AllJobs, id: str) -> dict[str, Any]:
    return _told(jobs, jobs[id])


@routes.delete("/api/jobs/{id}", status_code=204)
def delete_job(jobs: AllJobs, id: str) -> None:
    jobs.delete(id)


@routes.post("/api/jobs/{id}/again", status_code=201)
def explore_again(
    jobs: AllJobs, id: str, clusters: Annotated[int | None, Body(ge=1, le=MOST, embed=True)] = None
) -> dict[str, Any]:
    return _told(jobs, jobs.again(id, clusters))


@routes.post("/api/jobs/{id}/restart")
def restart_job(jobs: AllJobs, id: str) -> dict[str, Any]:
    return _told(jobs, jobs.restart(id))


@routes.post("/api/jobs/{id}/cancel")
def cancel_job(jobs: AllJobs, id: str) -> dict[str, Any]:
    return _told(jobs, jobs.cancel(id))


# Results -------------------------------------------------------------------------------------------------------------


def _finished(jobs: AllJobs, id: str) -> tuple[Job, Path]:
    """A job that has results, and their folder."""
    job = jobs[id]
    if job.state != FINISHED:
        raise WrongMoment(f"this exploration is {job.state}; it has no results")
    return job, jobs.path(job) / RESULT


Finished = Annotated[tuple[Job, Path], Depends(_finished)]


@routes.get("/api/jobs/{id}/like")
def like(
    finished: Finished,
    row: Annotated[int, Query(ge=1, le=10**12)],
    top: Annotated[int, Query(ge=1, le=100)] = 10,
) -> dict[str, Any]:
    job, result = finished
    if not job.work.rows_like:
        raise HTTPException(422, f"similar rows are listed for {KINDS[EXPLORE].title} only; explore the table as such")
    try:
        return rows_like(result, row, top)
    except (ValueError, OSError) as error:  # no such row; a result that was tampered with
        raise HTTPException(422, " ".join(str(error).split())) from error


@routes.get("/api/jobs/{id}/files")
def result_files(finished: Finished) -> list[dict[str, Any]]:
    job, result = finished
    paths = {name: result / name for name in job.work.files}
    return [{"name": name, "size": path.stat().st_size} for name, path in paths.items() if path.is_file()]


@routes.get("/api/jobs/{id}/files/{name}")
def result_file(finished: Finished, name: str, download: bool = False) -> Response:
    job, result = finished
    for known in job.work.files:
        if name == known and (result / known).is_file():
            disposition = "inline" if known == REPORT and not download else "attachment"
            return FileResponse(
                result / known,
                headers={"Content-Security-Policy": _ALONE},
                media_type=_TYPES[Path(known).suffix],
                filename=known,
                content_disposition_type=disposition,
            )
    raise HTTPException(404, f"there is no such file; the files are {', '.join(job.work.files)}")


@routes.get("/api/jobs/{id}/log")
def log(jobs: AllJobs, id: str) -> Response:
    """What the process of a job said; for finding out why it broke down."""
    path = jobs.path(jobs[id]) / LOG
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    return Response(text[-100_000:], media_type="text/plain", headers={"Content-Security-Policy": _ALONE})
