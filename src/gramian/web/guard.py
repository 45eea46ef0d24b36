"""What stands in front of every route: name of the host, same origin, size and pace of the body, headers of the answer.

A page of some other site that is open in the same browser can send requests here, also under a name of its own that
leads here. It must not start, stop or delete anything, nor read or frame what is here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOADS = "/api/uploads"
FORM_BYTES = 64_000
"""Most bytes of a request beside a table."""

PATIENCE = 15.0
"""Seconds that a client may take to begin, or stop in the middle."""

MOST_UPLOADS = 8
"""Tables that may come in at the same time."""

_PACE = 10_000  # bytes a second that a body must bring, once patience is used up

_CLOSE = {"Connection": "close"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware that refuses other names, requests of other sites, and bodies that are too large, slow or many.

    Parameters
    ----------
    app : ASGI application
    hosts : collection of str
        Names and addresses under which browsers may reach this server; in lower case, IPv6 in brackets.
    max_bytes : int
        Of an uploaded table.
    patience : float
        Seconds that a body may be late; beyond them it must have brought 10 kB for every second.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], max_bytes: int, patience: float = PATIENCE) -> None:
        self.app, self.hosts, self.max_bytes, self.patience = app, hosts, max_bytes, patience
        self._uploads = 0  # that are coming in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        limit = FORM_BYTES + (self.max_bytes if scope["path"] == UPLOADS else 0)
        host = re.sub(r":\d*\Z", "", headers.get("host", "").lower())
        if host not in self.hosts:
            line = f"this server does not go by the name {host[:80]!r}; serve with --allow-host and that name"
            await _refusal(400, line)(scope, receive, send_guarded)
        elif scope["method"] not in ("GET", "HEAD") and not _same_origin(headers):
            refusal = _refusal(403, "this request comes from another site; open the page of this server itself")
            await refusal(scope, receive, send_guarded)
        elif _announced(headers) > limit:
            await _refusal(413, self._too_large(scope))(scope, receive, send_guarded)
        elif scope["path"] != UPLOADS:
            await self.app(scope, self._counted(scope, receive, limit), send_guarded)
        elif self._uploads >= MOST_UPLOADS:
            line = f"{MOST_UPLOADS} tables are coming in already; send this one again later"
            await _refusal(503, line)(scope, receive, send_guarded)
        else:
            self._uploads += 1
            try:
                await self.app(scope, self._counted(scope, receive, limit), send_guarded)
            finally:
                self._uploads -= 1

    def _counted(self, scope: Scope, receive: Receive, limit: int) -> Receive:
        total, more, begun = 0, True, asyncio.get_running_loop().time()

        async def receive_counted() -> Message:
            nonlocal total, more
            if not more:
                return await receive()  # nothing but the news that the client has gone, whenever that is
            try:
                async with asyncio.timeout_at(begun + self.patience + total / _PACE):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the request stopped in the middle; send it again", _CLOSE) from None
            more = message.get("more_body", False)
            total += len(message.get("body", b""))
            if total > limit:
                raise HTTPException(413, self._too_large(scope), _CLOSE)
            return message

        return receive_counted

    def _too_large(self, scope: Scope) -> str:
        return too_large(self.max_bytes) if scope["path"] == UPLOADS else "the request is too large"


def too_large(max_bytes: int) -> str:
    """The line for a table beyond the limit."""
    return (
        f"the file is larger than {max_bytes / 1e6:g} MB; take fewer rows or edges, or serve with a larger --max-size"
    )


def _same_origin(headers: Headers) -> bool:
    origin, host = headers.get("origin"), headers.get("host")
    if origin is not None:
        return origin in (f"http://{host}", f"https://{host}")
    # Browsers name the origin of every such request. A program that does not is no browser, and runs nobody's page.
    return headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _refusal(status: int, line: str) -> Any:
    return JSONResponse({"detail": line}, status, _CLOSE)
