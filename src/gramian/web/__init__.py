"""``gramian serve``: explore tables and networks in a browser, on this machine.

The application lives in :mod:`gramian.web.app`, what can be done with a file in :mod:`gramian.web.kinds`, the queue in
:mod:`gramian.web.jobs`, and each job runs in a process of its own, :mod:`gramian.web.worker`. Needs the extra ``app``
(fastapi, uvicorn, python-multipart), which is imported when the server starts.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["serve"]


def serve(
    folder: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    also_known_as: Sequence[str] = (),
    ready: Callable[[str], None] | None = None,
    **limits: Any,
) -> None:
    """Serve the page until the process is told to stop.

    Parameters
    ----------
    folder : path-like
        Where tables and results are kept; made if it is missing.
    host : str, default "127.0.0.1"
        Address to listen at. Anybody who can reach it can read every table and result: there are no accounts.
    port : int, default 8765
        0 takes a free one.
    also_known_as : sequence of str
        Names under which browsers reach this machine, beside localhost and ``host``.
    ready : callable, optional
        Called with the address of the page once it can be opened.
    limits
        ``max_bytes``, ``time_limit``, ``memory_limit``, ``keep``, ``keep_bytes`` and ``patience`` of
        :func:`gramian.web.app.create_app`.

    Raises
    ------
    OSError
        If the address is taken or not one of this machine.
    ValueError
        If another server uses the folder.
    """
    import uvicorn

    from gramian.web.app import create_app
    from gramian.web.connections import Connection

    class Patient(Connection):
        patience = limits.get("patience", Connection.patience)

    app = create_app(Path(folder), hosts=[host, *also_known_as], **limits)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        line = f"cannot listen at {host}, port {port} ({error.strerror}); pass another --port or --host"
        raise OSError(line) from error
    with listening:
        app.state.jobs.open()  # here, so that a folder in use is an error of this function
        if ready is not None:
            shown = f"[{host}]" if ":" in host else host
            ready(f"http://{shown}:{listening.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            http=Patient,
            ws="none",
            log_level="warning",
            timeout_graceful_shutdown=3,
            server_header=False,
            proxy_headers=False,
        )
        with suppress(KeyboardInterrupt):  # the usual way to end it; the running exploration has been noted
            uvicorn.Server(config).run(sockets=[listening])
