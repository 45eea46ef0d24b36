"""Connections to the server: how many there may be, and how long one may take to say what it wants.

A protocol for uvicorn. What a request may take once it has said what it wants is the business of
:mod:`gramian.web.guard`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from gramian.web.guard import PATIENCE

MOST_CONNECTIONS = 100
"""Connections at a time; a browser opens about six."""

_BODY = b'{"detail": "the server has too many connections; try again later"}'
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class Connection(H11Protocol):
    """One connection, closed if it is one too many or if the headers of a request do not arrive in time.

    Attributes
    ----------
    most : int
        Connections at a time.
    patience : float
        Seconds from the beginning of a request to the end of its headers.
    """

    most = MOST_CONNECTIONS
    patience = PATIENCE

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_BUSY)
            transport.close()
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget_deadline()  # the headers are there
        elif not self.transport.is_closing():
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        """Begin to count, unless the beginning of the same request has begun it."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.patience, self._end)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
